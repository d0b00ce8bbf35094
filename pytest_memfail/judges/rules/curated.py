"""Curated details: the data, not a threshold, says which wordings keep them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pytest_memfail.core import Detail
from pytest_memfail.judges.rules.polarity import exclusive, is_negator
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.text import Word, plain, sentences_of
from pytest_memfail.judges.rules.view import Name, View, needs

PARTIAL: Final = 0.5
"""Share of a wording that shows the detail is there in some form."""
WHOLE: Final = 0.75
"""Share of a long wording that keeps it; short ones must be whole."""


@lru_cache(maxsize=8192)
def _read(wording: str) -> tuple[tuple[tuple[str, float], ...], tuple[Quantity, ...], tuple[Word, ...], bool]:
    sentences = sentences_of(wording)
    words = tuple(word for sentence in sentences for word in sentence.words)
    found = tuple(q for sentence in sentences for q in quantities(sentence.text, sentence.words))
    need = needs(key for sentence in sentences for key in sentence.keys)
    return tuple(need.items()), found, words, any(is_negator(w.lower) for w in words)


def coverage(detail: Detail, view: View, at: tuple[int, ...]) -> float:
    """The best share of any wording that stands in these sentences; 1.0 means it is kept."""
    best = 0.0
    sentences = [view.sentences[i] for i in at]
    keys = frozenset().union(*(s.keys for s in sentences)) if sentences else frozenset()
    for wording in detail.wordings:
        need, numbers, words, negative = _read(wording)
        if not need and not numbers:
            # Only function words ("only", "not"): they must stand there as written, or mean the same.
            said = any(f" {plain(wording).casefold()} " in f" {' '.join(w.lower for w in s.words)} " for s in sentences)
            if said or (detail.part == "exclusivity" and any(exclusive(s) for s in sentences)):
                return 1.0
            continue
        total = sum(value for _, value in need) + len(numbers)
        got = sum(value for key, value in need if key in keys)
        stated = [q for s in sentences for q in quantities(s.text, s.words)] if numbers else []
        for number in numbers:
            if any(number.same(q) and number.direction * q.direction >= 0 for q in stated):
                got += 1
            else:
                got = min(got, total * 0.4)  # a changed number is another detail, whatever its words
                break
        share = got / total
        if negative and not any(is_negator(w.lower) for s in sentences for w in s.words):
            share = min(share, 0.6)
        if share >= WHOLE and len(need) + len(numbers) >= 4:
            share = 1.0
        best = max(best, share)
        if best >= 1.0:
            return 1.0
    return best


def locate(detail: Detail, view: View, name: Name | None, least: int) -> tuple[float, tuple[int, ...]]:
    """How well the detail is kept in any one place tied to the entity (at least so closely), and where."""
    best, where = 0.0, ()
    for wording in detail.wordings:
        need, numbers, words, _ = _read(wording)
        if need:
            places = [w.sentences for w in view.search(dict(need), name) if w.link >= least]
        else:
            keys = {w.key for w in words if w.key and w.key[0].isdigit()}
            places = [(i,) for key in sorted(keys) for i in view.postings.get(key, ()) if view.link(i, name) >= least][
                :200
            ]
            if not keys and name is not None:
                places = [(i,) for i in view.about(name)]
        for at in places:
            share = coverage(detail, view, at)
            if share > best:
                best, where = share, at
        if best >= 1.0:
            break
    return best, where
