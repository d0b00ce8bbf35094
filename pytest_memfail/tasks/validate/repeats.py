"""Rows that say the same: near-duplicates, and runs of words that two rows share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

PERMUTATIONS: Final = 128
RUN: Final = 8
"""Words in a row that no two rows may share."""
WORD: Final = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")


def words_of(text: str) -> list[str]:
    """Lower-case words, punctuation aside."""
    return WORD.findall(text.casefold().replace("’", "'"))


def trigrams(text: str) -> frozenset[tuple[str, ...]]:
    """Word trigrams; a shorter text is one of its own."""
    words = words_of(text)
    return frozenset(tuple(words[i : i + 3]) for i in range(max(1, len(words) - 2)))


def near_duplicates(texts: Mapping[str, str], threshold: float) -> Iterator[tuple[str, str, float]]:
    """Pairs of texts whose word trigrams have at least this Jaccard similarity, found by MinHash and then confirmed.

    Appendix B.1 of the paper: 0.8 for essays of conditional facts, 0.7 for everything else.
    """
    from datasketch import MinHash, MinHashLSH

    # candidates are looked for a little below the threshold, as the estimate may be low; the exact value decides
    index = MinHashLSH(threshold=max(0.1, threshold - 0.15), num_perm=PERMUTATIONS)
    shingles = {key: trigrams(text) for key, text in texts.items()}
    for key, shingle in shingles.items():
        sketch = MinHash(num_perm=PERMUTATIONS)
        sketch.update_batch([" ".join(gram).encode() for gram in shingle])
        for other in sorted(index.query(sketch)):
            alike = len(shingle & shingles[other]) / len(shingle | shingles[other])
            if alike >= threshold:
                yield other, key, alike
        index.insert(key, sketch)


def shared_runs(texts: Mapping[str, str], groups: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Runs of eight words that stand in two texts of different groups: the two keys and the run, once a pair."""
    first: dict[tuple[str, ...], str] = {}
    told: set[tuple[str, str]] = set()
    for key, text in texts.items():
        for run in runs_of(text):
            other = first.setdefault(run, key)
            if groups[other] != groups[key] and (other, key) not in told:
                told.add((other, key))
                yield other, key, " ".join(run)


def runs_of(text: str) -> Iterable[tuple[str, ...]]:
    """Every run of eight words."""
    words = words_of(text)
    return (tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1))


def stands(phrase: str, text: str) -> bool:
    """Whether the phrase's words stand in the text, one after the other.

    >>> stands("jasmine tea", "Jasmine tea, please.")
    True
    """
    wanted, words = words_of(phrase), words_of(text)
    n = len(wanted)
    return any(words[i : i + n] == wanted for i in range(len(words) - n + 1))
