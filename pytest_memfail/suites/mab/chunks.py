"""Cut a context into chunks of about the same number of tokens; lines stay whole, so no fact is cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pytest_memfail.llm import count_tokens
from pytest_memfail.texts import sentences

LONGEST_TOKEN: Final = 16
"""More characters per token than any text has over a whole chunk, unless it is mostly blanks."""


def chunks_of(context: str, size: int) -> list[str]:
    """Return the chunks of a context, none with more than `size` tokens, each as full as whole lines allow.

    A line with more tokens is cut between sentences, and such a sentence between words.
    """
    return list(_packed(_lines(context, size), size))


def _packed(pieces: Iterable[tuple[str, int]], size: int) -> Iterator[str]:
    kept: list[str] = []
    used = 0
    for piece, tokens in pieces:
        if kept and used + tokens > size:
            if (chunk := "".join(kept).strip("\n")).strip():
                yield chunk
            kept, used = [], 0
        kept.append(piece)
        used += tokens
    if (last := "".join(kept).strip("\n")).strip():
        yield last


def _lines(context: str, size: int) -> Iterator[tuple[str, int]]:
    for line in context.splitlines(keepends=True):
        tokens = _tokens(line, size)
        if tokens <= size:
            yield line, tokens
            continue
        for sentence in sentences(line):
            yield from _halved(f"{sentence} ", size)


def _tokens(text: str, size: int) -> int:
    """Return the number of tokens of a text; for a text that is far too long, only a number above `size`.

    The tokenizer recurses once per character in a run of blanks.
    """
    return size + 1 if len(text) > LONGEST_TOKEN * size else count_tokens([text])


def _halved(text: str, size: int) -> Iterator[tuple[str, int]]:
    """Yield a text, split into halves until no part has too many tokens."""
    tokens = _tokens(text, size)
    words = text.split(" ")
    if tokens <= size or len(text) < 2:
        yield text, tokens
        return
    middle = len(" ".join(words[: len(words) // 2])) + 1 if len(words) > 2 else len(text) // 2
    yield from _halved(text[:middle], size)
    yield from _halved(text[middle:], size)
