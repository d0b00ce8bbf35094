"""Find repeated text: near-duplicates, and runs of words that two rows share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pytest_memfail.texts import plain_words

PERMUTATIONS: Final = 128
RUN: Final = 8
"""The number of consecutive words that no two rows may share."""


def trigrams(text: str) -> frozenset[tuple[str, ...]]:
    """Return the word trigrams of a text; a text of one or two words is a single item."""
    words = plain_words(text)
    return frozenset(tuple(words[i : i + 3]) for i in range(max(1, len(words) - 2)))


def near_duplicates(texts: Mapping[str, str], threshold: float) -> Iterator[tuple[str, str, float]]:
    """Yield pairs of texts whose word trigrams have at least this Jaccard similarity; MinHash finds them, an exact
    check confirms.

    The paper's thresholds (appendix B.1) are 0.8 for essays and 0.7 for everything else.
    """
    from datasketch import MinHash, MinHashLSH

    # search a little below the threshold, because the estimate may be too low; the exact value decides
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
    """Yield runs of eight words that texts of two different groups share: both keys and the run, once per pair."""
    first: dict[tuple[str, ...], str] = {}
    reported: set[tuple[str, str]] = set()
    for key, text in texts.items():
        for run in runs_of(text):
            other = first.setdefault(run, key)
            if groups[other] != groups[key] and (other, key) not in reported:
                reported.add((other, key))
                yield other, key, " ".join(run)


def runs_of(text: str) -> Iterable[tuple[str, ...]]:
    """Return every run of eight words."""
    words = plain_words(text)
    return (tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1))
