"""How many tokens a question is shown: counted, each text once, and held to a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from pytest_memfail.core import Listing, Memory


@dataclass(frozen=True, slots=True)
class TokenRules:
    """How tokens are counted and cut, and how many a question may be shown."""

    count: Callable[[Sequence[str]], int]
    """Returns the tokens of all texts."""
    first: Callable[[str, int], str]
    """Returns the start of a text that so many tokens hold."""
    limit: int | None = None
    """Tokens shown per question, at most; None means no limit."""


class TokenCounts:
    """The tokens of one store's texts."""

    def __init__(self, rules: TokenRules | None, pool: Executor) -> None:
        self._rules, self._pool = rules, pool
        self._counts: dict[str, int] = {}
        self._listed: WeakKeyDictionary[Listing, int] = WeakKeyDictionary()

    async def total(self, texts: Iterable[str]) -> int | None:
        """Return the tokens of all texts; None where nothing is counted."""
        rules, given = self._rules, list(texts)
        if rules is None:
            return None
        if new := [text for text in dict.fromkeys(given) if text not in self._counts]:
            loop = asyncio.get_running_loop()
            counts = await loop.run_in_executor(self._pool, lambda: [rules.count([text]) for text in new])
            self._counts.update(zip(new, counts, strict=True))
        return sum(self._counts[text] for text in given)

    async def listed(self, listing: Listing) -> int | None:
        """Return the tokens of all memories listed; None where nothing is counted."""
        known = self._listed.get(listing)
        if known is None:
            known = await self.total(memory.text for memory in listing.memories)
            if known is not None:
                self._listed[listing] = known
        return known

    async def within_limit(self, memories: tuple[Memory, ...]) -> tuple[tuple[Memory, ...], int | None]:
        """Return what may be shown of the memories, best first, and its tokens.

        Whole entries in their order; the one that crosses the limit is cut to what is left of it.
        """
        total = await self.total(memory.text for memory in memories)
        if self._rules is None or total is None or self._rules.limit is None or total <= self._rules.limit:
            return memories, total
        kept, left = [], self._rules.limit
        for memory in memories:
            if self._counts[memory.text] > left:
                if start := self._rules.first(memory.text, left):
                    kept.append(replace(memory, text=start))
                break
            kept.append(memory)
            left -= self._counts[memory.text]
        return tuple(kept), self._rules.limit
