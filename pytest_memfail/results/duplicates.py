"""Count the memories shown that repeat another one, word for word or nearly."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

from pytest_memfail.texts import NEGATIONS, fold, word_set

NEAR: Final = 0.8
"""The share of the words of two entries that both must have for one to repeat the other."""
VERY_NEAR: Final = 0.9
"""The same, if each has a word that the other lacks: it may be a name."""


@lru_cache(maxsize=4096)
def duplicates(shown: tuple[str, ...]) -> int:
    """Return how many of the texts, best first, repeat an earlier one; a changed number or negation is no repetition.

    >>> duplicates(("Ada bakes rye bread.", "ada bakes rye bread", "User: Ada bakes rye bread.", "Ada bakes no rye bread."))
    2
    """
    known: set[str] = set()
    places: dict[str, list[frozenset[str]]] = {}
    count = 0
    for text in shown:
        folded, words, first = _words(text)
        if folded in known or any(_is_near(words, other) for word in first for other in places.get(word, ())):
            count += 1
        known.add(folded)
        for word in first:
            places.setdefault(word, []).append(words)
    return count


@lru_cache(maxsize=65536)
def _words(text: str) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """Return a text in lower case, its words, and those of them that every near text shares at least one of.

    Two sets whose common part is 80 % of all their words share one of the first fifth of each, in any fixed order; long words
    are rare, which keeps the comparisons few.
    """
    words = frozenset(word_set(text))
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return fold(text), words, tuple(ordered[: len(words) - math.ceil(NEAR * len(words)) + 1])


def _is_near(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    every = len(one) + len(other) - common
    if common < NEAR * every:
        return False
    least = NEAR if one <= other or other <= one else VERY_NEAR
    return common >= least * every and not any(word in NEGATIONS or any(map(str.isdigit, word)) for word in one ^ other)
