"""Count the tokens that a provider would bill, and those of a prompt prefix that it has seen before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

PREFIX_MINIMUM: Final = 1024
"""The shortest prefix that providers cache, in tokens."""
PREFIX_STEP: Final = 128
"""The step in which cached prefixes are counted, in tokens."""
MAX_PREFIXES: Final = 1_000_000

# No token of cl100k_base spans such a place, so counting piece by piece is exact, and a store that is sent repeatedly
# is counted once.
_PIECES: Final = re.compile(r"(?<=\n)(?=\S)")


class PromptMeter:
    """Counts the tokens of prompts and finds the prefixes they share with earlier ones."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def measure(self, model: str, messages: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
        """Return the tokens of the messages, and how many of them a provider's prompt cache would hold."""
        total = cached = 0
        prefix = hash(model)
        still_known = True
        if len(self._seen) > MAX_PREFIXES:
            self._seen.clear()
        for message in messages:
            prefix = hash((prefix, message.get("role")))
            for piece in _PIECES.split(text_of(message)):
                total += count(piece)
                prefix = hash((prefix, piece))
                still_known = still_known and prefix in self._seen
                if still_known:
                    cached = total
                else:
                    self._seen.add(prefix)
        return total, cached // PREFIX_STEP * PREFIX_STEP if cached >= PREFIX_MINIMUM else 0


@lru_cache(maxsize=65536)
def count(text: str) -> int:
    """Return the tokens of a text."""
    from pytest_memfail.llm import count_tokens

    return count_tokens([text])


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message; of a content in parts, that of its text parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or () if isinstance(part, Mapping))
