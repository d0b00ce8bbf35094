"""Rank entries by the words they share with a text: deterministic, without a model, one index per listing."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from pytest_memfail.texts import searched

K1: Final = 1.2
B: Final = 0.75
"""BM25's usual saturation and length normalisation."""
STEM: Final = 5
"""The letters of a word to compare, which joins most inflected forms."""


class Ranking:
    """The entries of one listing, indexed once."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(_words(text)) for text in texts]
        lengths = [sum(count.values()) for count in counts]
        mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
        self._size = len(texts)
        self._norm = [K1 * (1 - B + B * length / mean) for length in lengths]
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, count in enumerate(counts):
            for word, times in count.items():
                self._postings[word].append((at, times))

    def closest(self, text: str, n: int) -> list[int]:
        """Return the indices of the n entries closest to the text, best first; ties in the order of the listing.

        Fills up with entries that share no word, because the caller wants n entries, not n matches.
        """
        scores = [0.0] * self._size
        for word in dict.fromkeys(_words(text)):  # in the text's order, so that sums are the same in every process
            found = self._postings.get(word, ())
            rarity = math.log(1 + (self._size - len(found) + 0.5) / (len(found) + 0.5))
            for at, times in found:
                scores[at] += rarity * times * (K1 + 1) / (times + self._norm[at])
        return sorted(range(self._size), key=lambda at: (-scores[at], at))[:n]


def _words(text: str) -> list[str]:
    return [word[:STEM] for word in searched(text)]
