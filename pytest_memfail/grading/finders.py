"""Find values in memories by words that are close together, because an entry may be a whole conversation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from pytest_memfail.grading.answers import denied, fits, joined, stretch
from pytest_memfail.texts import NEGATIONS, Term, clauses, content, fold, sentences, terms, words

SLACK = 4
"""The number of other words allowed between the words of a value."""
BESIDE = 10
"""The number of words on either side of a value that may deny it or make another name of it."""
NEAR = 60
"""The number of words on either side of a value that count as near."""
KEPT = 32
"""The number of indexed sets of memories to keep."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A place in memories that contains a value, or a part of it."""

    entry: int
    first: int
    """Position of its first word among the words of all entries."""
    last: int
    share: float
    """The share of the value's meaningful words found there."""


class Entries:
    """An index of memories in store order: the positions of each word."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Index the texts, in time linear in their length."""
        self.texts = tuple(texts)
        self.folded = [fold(text) for text in texts]
        self._terms: list[Term] = []
        self._places: dict[str, list[int]] = {}
        self._starts: list[int] = []
        """Position of the first word of each entry."""
        self._clauses: list[tuple[int, int, str, str]] = []
        """First position, entry, sentence and clause of each clause."""
        for number, text in enumerate(texts):
            self._starts.append(len(self._terms))
            for sentence in sentences(text):
                for clause in clauses(sentence):
                    self._clauses.append((len(self._terms), number, sentence, clause))
                    for at, term in enumerate(terms(clause)):
                        self._places.setdefault(term.word, []).append(len(self._terms))
                        self._terms.append(term._replace(starts=term.starts or at == 0))
        self._words = [term.word for term in self._terms]
        self._clause_starts = [start for start, *_ in self._clauses]

    def hits(self, value: str, least: float = 1.0) -> list[Hit]:
        """Return the places where at least this share of a value's words is close together, in store order.

        If all its words must be there, what stands between or before them must not make something else of it (`fits`).
        """
        wanted = content(value) | (NEGATIONS & set(words(value)))
        if not wanted:
            return []
        size = len(words(value)) + SLACK
        places = sorted(at for word in wanted for at in self._places.get(word, ()))
        found: list[Hit] = []
        for entry, group in groupby(places, lambda at: bisect_right(self._starts, at) - 1):
            found += self._within(entry, list(group), len(wanted), size, value, least)
        return found or (self._spelled(value) if least == 1.0 else [])

    def _spelled(self, value: str) -> list[Hit]:
        """Return the places of a value that is spelled with other hyphens or blanks ("on-call", "oncall")."""
        wanted, found = joined(words(value)), []
        begins = (at for word, places in self._places.items() if wanted.lstrip().startswith(word) for at in places)
        for first in sorted(begins):
            entry, last = bisect_right(self._starts, first) - 1, stretch(wanted, self._words, first)
            if last is not None and last < self._stop(entry) and not denied(self._terms, first, last, ended=False):
                found.append(Hit(entry, first, last, 1.0))
        return found

    def _within(
        self, entry: int, places: Sequence[int], wanted: int, size: int, value: str, least: float
    ) -> Iterable[Hit]:
        """Yield the densest stretches of one entry, each starting at a word of the value."""
        start = 0
        while start < len(places):
            first = places[start]
            stop = start
            seen: set[str] = set()
            last = first
            while stop < len(places) and places[stop] < first + size and len(seen) < wanted:
                if self._words[places[stop]] not in seen:
                    seen.add(self._words[places[stop]])
                    last = places[stop]
                stop += 1
            share = len(seen) / wanted
            if share >= least and (least < 1.0 or self._fits(value, entry, first, last)):
                yield Hit(entry, first, last, share)
                start = stop
            else:
                start += 1

    def _fits(self, value: str, entry: int, first: int, last: int) -> bool:
        begin = max(self._starts[entry], first - BESIDE)
        said = self._terms[begin : min(self._stop(entry), last + BESIDE)]
        return fits(value, said, first - begin, last - begin)

    def near(self, hit: Hit) -> set[str]:
        """Return the words near the hit in its entry."""
        start, stop = self._starts[hit.entry], self._stop(hit.entry)
        return set(self._words[max(start, hit.first - NEAR) : min(stop, hit.last + NEAR + 1)])

    def _stop(self, entry: int) -> int:
        return self._starts[entry + 1] if entry + 1 < len(self._starts) else len(self._terms)

    def around(self, hit: Hit) -> str:
        """Return the text of the clauses near a hit."""
        low, high = self._clause_at(hit.first - NEAR), self._clause_at(hit.last + NEAR)
        return ", ".join(c for _, entry, _, c in self._clauses[low : high + 1] if entry == hit.entry)

    def clause(self, hit: Hit) -> str:
        """Return the clauses that contain a hit."""
        low, high = self._clause_at(hit.first), self._clause_at(hit.last)
        return ", ".join(clause for *_, clause in self._clauses[low : high + 1])

    def sentence(self, hit: Hit) -> str:
        """Return the sentence in which a hit starts."""
        return self._clauses[self._clause_at(hit.first)][2]

    def sentences(self) -> Iterable[tuple[int, str]]:
        """Yield each sentence with its entry, in store order."""
        for (entry, sentence), _ in groupby(self._clauses, lambda clause: (clause[1], clause[2])):
            yield entry, sentence

    def verbatim(self, text: str) -> list[int]:
        """Return the entries that contain a text verbatim, ignoring case and whitespace."""
        wanted = fold(text).strip("\"'").rstrip(".")
        return [number for number, entry in enumerate(self.folded) if wanted in entry] if wanted else []

    def _clause_at(self, place: int) -> int:
        return max(0, bisect_right(self._clause_starts, place) - 1)


@lru_cache(maxsize=KEPT)
def _indexed(texts: tuple[str, ...]) -> Entries:
    return Entries(texts)


def entries_of(texts: Sequence[str]) -> Entries:
    """Return the index of some memories; it is cached for the facts that look at the same ones."""
    return _indexed(tuple(texts))
