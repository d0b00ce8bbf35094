"""Phrases of a table by their first word, so that a text is gone through once, whatever their number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from pytest_memfail.judges.rules.text import fold
from pytest_memfail.judges.rules.words import STOP

T = TypeVar("T")
Phrases = Mapping[str, Sequence[tuple[tuple[str, ...], T]]]
"""By the first word: the words behind it, and what the phrase stands for."""


def folded(token: str) -> str:
    """The key of a lower-case word; a word without content is itself."""
    return token if token in STOP else fold(token.removesuffix("'s"))


def by_first(phrases: Iterable[tuple[str, T]]) -> Phrases[T]:
    """The phrases by their first word, in the order given.

    >>> by_first([("low light", "dim"), ("lows", "sad")])["low"]
    [(('light',), 'dim'), ((), 'sad')]
    """
    found: dict[str, list[tuple[tuple[str, ...], T]]] = defaultdict(list)
    for phrase, meant in phrases:
        first, *rest = (folded(token) for token in phrase.split())
        found[first].append((tuple(rest), meant))
    return dict(found)


def stands(rest: tuple[str, ...], tokens: Sequence[str], at: int) -> bool:
    """Whether the words of a phrase stand behind the first, which is at this place."""
    return tuple(tokens[at + 1 : at + 1 + len(rest)]) == rest
