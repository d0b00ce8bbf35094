"""Ask a model about entries: the closest first, and all of them before declaring anything lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

from pytest_memfail.core import Listing, Memory, Part
from pytest_memfail.judges import prompts
from pytest_memfail.judges.prompts import Entry, Messages
from pytest_memfail.judges.rank import Ranking
from pytest_memfail.judges.replies import EntriesReply, JudgeReply, echo_of, problem_of
from pytest_memfail.llm import CacheMissError, ContextLengthError, ModelCallError, ReplyError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pytest_memfail.llm import Completion, ModelClient

FIRST_ENTRIES: Final = 20
"""The number of entries shown first: those closest to the source."""
ATTEMPTS: Final = 2
"""The most requests for a reply that is valid JSON but inconsistent. (The client retries invalid JSON.)"""
WARM_CHARACTERS: Final = 4096
"""Providers do not cache shorter prompts (1,024 tokens)."""

T = TypeVar("T")
E = TypeVar("E", bound=EntriesReply)


@dataclass(frozen=True, slots=True)
class Check(Generic[E]):
    """One check of entries."""

    build: Callable[[Sequence[Entry]], Messages]
    """Returns the prompt that shows these entries."""
    schema: type[E]
    stage: str
    closest_to: str
    """The text whose words select the entries to show first."""
    labels: Collection[str] = ()
    must_keep: Collection[Part] = ()


class Examiner:
    """Shows numbered entries to a model, with as few tokens as the question allows."""

    def __init__(
        self,
        client: ModelClient,
        model: str,
        parameters: Mapping[str, Any] | None,
        repeat: int,
        first_entries: int,
    ) -> None:
        """Take the arguments of `ModelJudge`."""
        self._client = client
        self._model = model
        self._parameters = parameters
        self._repeat = repeat
        self._first = first_entries
        self._rankings: WeakKeyDictionary[Listing, Ranking] = WeakKeyDictionary()
        self._warmed: WeakKeyDictionary[Listing, asyncio.Event] = WeakKeyDictionary()
        self._pieces: WeakKeyDictionary[Listing, int] = WeakKeyDictionary()

    async def ask(
        self, messages: Messages, schema: type[T], stage: str, problem_of: Callable[[T], str | None] = lambda _: None
    ) -> T:
        """Return the model's reply; ask once more if it is inconsistent: `problem_of` says why, in words for the model.

        Raises `ReplyError` if the second reply is inconsistent too, and any error of the client.
        """
        first = messages
        while True:
            problem: str | None = None
            asked: list[Completion] = []
            for _ in range(ATTEMPTS):
                try:
                    done = await self._client.ask(
                        model=self._model,
                        messages=messages,
                        stage=stage,
                        schema=cast("type[BaseModel]", schema),
                        parameters=self._parameters,
                        repeat=self._repeat,
                    )
                except CacheMissError as error:
                    if problem is None:
                        raise
                    raise CacheMissError(f"the kept reply cannot be used ({problem}): {error}") from None
                reply = done.parsed
                assert isinstance(reply, schema)
                problem = problem_of(reply) or echo_of(reply, first[-1]["content"])
                if problem is None:
                    return reply
                asked.append(done)
                # quoting the refused reply changes the request, so the response cache cannot return the same reply
                messages = prompts.once_more(messages, done.text, problem)
            # a refused reply that was kept would be refused in every later run too
            are_forgotten = self._client.forget(asked)
            if not (are_forgotten and all(done.from_cache for done in asked)):
                break
            messages = first  # both were kept by an earlier run
        raise ReplyError(f"the judge {self._model} gave an impossible reply to the {stage} check twice: {problem}")

    async def about_material(
        self,
        criteria: str,
        material: Mapping[str, Sequence[str]],
        reply: type[T],
        check: Callable[[Any], str | None] = lambda _: None,
    ) -> T:
        """Return the model's reply to a suite's own check (`pytest_memfail.core.AskModel`)."""
        return await self.ask(prompts.about_material(criteria, material), reply, "answer", check)

    async def warm(self, listing: Listing) -> None:
        """Let the provider cache the store if every check will start with the whole of it.

        A larger store is shown whole only on demand, and its first such check fills the cache. A failed warm-up costs
        no question: the checks themselves find out what is wrong.
        """
        if len(listing.memories) <= self._first and _is_long(listing) and listing not in self._warmed:
            await self._behind_first(listing, lambda: self._warm_up(listing))

    async def _warm_up(self, listing: Listing) -> None:
        try:
            await self.ask(prompts.warm_up(numbered(listing.memories)), JudgeReply, "warm")
        except ContextLengthError:
            self._pieces[listing] = min(2, len(listing.memories))  # a check is longer still
        except ModelCallError:
            pass

    async def of_entries(self, check: Check[E], memories: Sequence[Memory], store: Listing | None = None) -> E:
        """Return the model's reply about the closest entries; before declaring anything lost, about all of them.

        `store` is the listing whose memories these are, if they are all of a store.
        """
        entries = numbered(memories)
        near: list[Entry] = []
        if len(entries) > self._first:
            closest = self._ranking(memories, store).closest(check.closest_to, self._first)
            near = [entries[at] for at in sorted(closest)]
            try:
                reply = await self._ask_about(check, near)
            except ContextLengthError:
                near = []  # even these are too long: use batches only
            else:
                if reply.passed:
                    return reply
        pieces = self._pieces.get(store, 1) if store is not None else 1
        while True:
            try:
                return await self._of_batches(check, _split(entries, pieces), near, store)
            except ContextLengthError:
                if pieces >= len(entries):
                    raise
                pieces = min(2 * pieces, len(entries))
                if store is not None:
                    # the store's next fact need not find this out again
                    self._pieces[store] = max(pieces, self._pieces.get(store, 1))

    def _ranking(self, memories: Sequence[Memory], store: Listing | None) -> Ranking:
        """Return an index of the memories, kept for a whole store."""
        known = None if store is None else self._rankings.get(store)
        if known is None:
            known = Ranking([memory.text for memory in memories])
            if store is not None:
                self._rankings[store] = known
        return known

    async def _of_batches(
        self, check: Check[E], batches: Sequence[Sequence[Entry]], near: Sequence[Entry], store: Listing | None
    ) -> E:
        """Check all batches until one passes; else check the entries they named together, as a fact may span several."""
        replies: list[E] = []
        for batch in batches:
            if batch is batches[0] and store is not None and _is_long(store):
                reply = await self._behind_first(store, partial(self._ask_about, check, batch))
            else:
                reply = await self._ask_about(check, batch)
            if reply.passed:
                return reply
            replies.append(reply)
        if len(batches) > 1:
            named = {number for reply in replies for number in reply.entries} | {entry.number for entry in near}
            if together := [entry for batch in batches for entry in batch if entry.number in named]:
                with suppress(ContextLengthError):  # every entry was checked; only the combined check is missing
                    replies.insert(0, await self._ask_about(check, together))
        return max(replies, key=lambda reply: (reply.passed, reply.found))

    async def _ask_about(self, check: Check[E], entries: Sequence[Entry]) -> E:
        numbers = frozenset(entry.number for entry in entries)

        def problem(reply: E) -> str | None:
            return problem_of(reply, numbers, check.labels, check.must_keep)

        return await self.ask(check.build(entries), check.schema, check.stage, problem)

    async def _behind_first(self, store: Listing, ask: Callable[[], Awaitable[T]]) -> T:
        """Run the first call about a store alone, so that later ones find it in the provider's prompt cache."""
        warmed = self._warmed.get(store)
        if warmed is not None:
            await warmed.wait()
            return await ask()
        warmed = self._warmed[store] = asyncio.Event()
        try:
            return await ask()
        finally:
            warmed.set()


def numbered(memories: Iterable[Memory]) -> list[Entry]:
    """Return memories as entries, numbered from 1."""
    return [Entry(number, memory) for number, memory in enumerate(memories, 1)]


def _split(entries: Sequence[Entry], pieces: int) -> list[Sequence[Entry]]:
    """Split the entries into runs of about equal length."""
    size = -(-len(entries) // pieces)
    return [entries[at : at + size] for at in range(0, len(entries), size)]


def _is_long(store: Listing) -> bool:
    return sum(len(memory.text) for memory in store.memories) >= WARM_CHARACTERS
