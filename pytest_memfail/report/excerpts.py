"""Choose the part of a long text to show: the one that holds the lost details, or the one made from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from pytest_memfail.core import SUMMARY_ERROR, FactVerdict, one_line
from pytest_memfail.texts import word_set

LONG: Final = 170
"""Texts with more characters than this are shown in part."""
WHOLE: Final = 1_000_000
NEAR: Final = 0.3
"""Share of a sentence's words that another must contain to count as made from it."""


def excerpt(source: str, details: Sequence[str], near: str) -> str:
    """Return the part of a long text that holds the first detail, or else the sentence most like `near`."""
    text = one_line(source, WHOLE)
    if len(text) <= LONG:
        return text
    parts = _sentences(text)
    return _cut(text, *(_holding(parts, text, details) or _nearest(parts, text, _words(near))))


def stored_excerpt(fact: FactVerdict, entry: str) -> str:
    """Return the part of a stored entry that was made from the sentence with the lost words.

    If the fact lost no words, return the part that holds the words that were found.
    """
    text, source = one_line(entry, WHOLE), one_line(fact.source, WHOLE)
    lost = _holding(_sentences(source), source, fact.missing)
    if lost is not None and len(text) > LONG:
        wanted = _words(lost[1])
        start, chosen = _nearest(_sentences(text), text, wanted)
        if len(wanted & _words(chosen)) > NEAR * len(wanted):
            return _cut(text, start, chosen)
        if fact.verdict == SUMMARY_ERROR:  # another sentence would look as if it were made from the lost one
            return "no sentence near it in that entry"
    return excerpt(text, fact.deciding.found, fact.text)


def _sentences(text: str) -> list[tuple[int, str]]:
    """Return each sentence with its start."""
    return [(m.start(), m[0].strip()) for m in re.finditer(r"[^.!?]+(?:[.!?]+|$)", text)]


def _holding(parts: Sequence[tuple[int, str]], text: str, details: Sequence[str]) -> tuple[int, str] | None:
    """Return the sentence in which the first detail that the text contains begins; None if it contains no detail."""
    at = next((i for d in details if (i := text.casefold().find(d.casefold())) >= 0), -1)
    if at < 0:
        return None
    return next(((start, part) for start, part in reversed(parts) if start <= at), (0, text))


def _nearest(parts: Sequence[tuple[int, str]], text: str, wanted: set[str]) -> tuple[int, str]:
    """Return the sentence with most of these words; the whole text if it has no sentence."""
    return max(parts, key=lambda part: len(wanted & _words(part[1])), default=(0, text))


def _words(text: str) -> set[str]:
    """Return the first five letters of each longer word, which inflected forms share."""
    return {word[:5] for word in word_set(text) if len(word) > 3}


def _cut(text: str, start: int, chosen: str) -> str:
    return ("… " if start > 0 else "") + chosen + (" …" if start + len(chosen) < len(text) - 2 else "")


def mark(text: str, details: Iterable[str]) -> str:
    """Return the text with each detail in brackets.

    >>> mark("only at 8 out of 10", ["8 out of 10"])
    'only at [8 out of 10]'
    """
    for detail in sorted(set(details), key=len, reverse=True):
        if detail.strip():
            text = re.sub(
                rf"(?<![\[\w]){re.escape(detail)}(?![\w\]])", lambda m: f"[{m[0]}]", text, count=1, flags=re.IGNORECASE
            )
    return text
