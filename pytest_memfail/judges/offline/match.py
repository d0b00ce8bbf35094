"""The statements in some memories that are closest to a claim."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.index import Candidate, Index
from pytest_memfail.judges.offline.numbers import Quantity, quantities
from pytest_memfail.judges.offline.reading import Reading
from pytest_memfail.judges.offline.statements import Statement

NEIGHBOURS: Final = 2
ENTRY: Final = 12
"""The most statements to either side that are read as the same entry, because an entry may be a whole book."""
ADDS: Final = 0.1
"""The share of the claim that a further entry must add."""
RELIED: Final = 4
COMBINED: Final = 0.12
"""Statements with at least this score are read together."""


class Match:
    """A claim matched against memories that may hold it."""

    def __init__(self, reading: Reading, index: Index, *, is_shown: bool = False, store: Match | None = None) -> None:
        """Find the closest statements.

        Args:
            reading: the claim.
            index: the memories.
            is_shown: whether these are the memories shown to a question.
            store: for memories shown, the claim matched against their store, if known.
        """
        self.reading = reading
        self.index = index
        self.is_shown = is_shown
        self.store = store
        self.candidates = index.candidates(reading)
        self.best: Candidate | None = self.candidates[0] if self.candidates else None
        self.second = next((c for c in self.candidates if self.best and c.entry != self.best.entry), None)

    def _around(self, reach: int) -> list[int]:
        """Return the positions of statements in the best one's entry within this distance of it."""
        if self.best is None:
            return []
        at, entries = self.best.at, self.index.entries
        first = max(0, at - reach)
        places = range(first, min(len(entries), at + reach + 1))
        return [place for place in places if entries[place] == self.best.entry]

    @cached_property
    def local(self) -> dict[str, float]:
        """Return what the best statement and its neighbours keep of the claim's keys."""
        return self._merged(self.index.held_at(at, self.reading.wanted) for at in self._around(NEIGHBOURS))

    @cached_property
    def entry(self) -> dict[str, float]:
        """Return what the best statement's entry keeps."""
        return self._merged(self.index.held_at(at, self.reading.wanted) for at in self._around(ENTRY))

    @cached_property
    def together(self) -> list[Candidate]:
        """Return the statements that are read together: close to the claim and not about somebody else."""
        return [c for c in self.candidates if c.owner >= 0.5 and c.score >= COMBINED]

    @cached_property
    def union(self) -> dict[str, float]:
        """Return what these statements keep together."""
        return self._merged(c.held for c in self.together)

    @property
    def held(self) -> dict[str, float]:
        """Return what the best statement keeps."""
        return self.best.held if self.best else {}

    @cached_property
    def relied_on(self) -> tuple[int, ...]:
        """Return the entries that hold the parts of the claim found, closest first."""
        if self.best is None:
            return ()
        keys = (*self.reading.core, *self.reading.context)
        entries = [self.best.entry]
        held = dict(self.entry)
        for candidate in self.together:
            if candidate.entry in entries or len(entries) == RELIED:
                continue
            more = {key: max(held.get(key, 0.0), candidate.held.get(key, 0.0)) for key in keys}
            if coverage(keys, more) - coverage(keys, held) >= ADDS:
                entries.append(candidate.entry)
                held.update(more)
        return tuple(entries)

    @staticmethod
    def _merged(some: Iterable[dict[str, float]]) -> dict[str, float]:
        merged: dict[str, float] = {}
        for held in some:
            for key, near in held.items():
                if merged.get(key, 0.0) < near:
                    merged[key] = near
        return merged

    @cached_property
    def entry_statements(self) -> list[Statement]:
        """Return the statements of the best one's entry."""
        return [self.index.statements[place] for place in self._around(ENTRY)]

    @cached_property
    def new_keys(self) -> list[str]:
        """Return the keys of the best statement that have no similar word in source or claim."""
        if self.best is None:
            return []
        full = self.reading.full
        keys = dict.fromkeys(t.key.lstrip("@") for t in self.best.statement.tokens if t.key)
        return [
            key
            for key in keys
            if key not in full
            and key not in self.reading.owner
            and not any(lexicon.similarity(wanted, key) >= lexicon.CLOSE for wanted in self.reading.said_keys)
        ]

    @cached_property
    def source(self) -> Statement | None:
        """Return the sentence of the source that shares most with the best statement."""
        said = self.reading.said
        if self.best is None or not said:
            return said[0] if said else None
        held = self.best.held
        return max(said, key=lambda s: sum(lexicon.weight(k) * held.get(k, 0.0) for k in s.in_order))

    def numbers(self, statements: Iterable[Statement]) -> list[Quantity]:
        """Return the quantities of the statements."""
        return [q for s in statements for q in quantities(s.text, s.tokens)]


def coverage(keys: Iterable[str], held: dict[str, float]) -> float:
    """Return the weighted share of the keys that is held; 1 without keys."""
    total = kept = 0.0
    for key in keys:
        weight = lexicon.weight(key)
        total += weight
        kept += weight * held.get(key, 0.0)
    return kept / total if total else 1.0


def is_near_copy(one: Iterable[str], other: Iterable[str], least: float) -> bool:
    """Return whether two runs of words differ in only a few words."""
    matcher = SequenceMatcher(None, list(one), list(other), autojunk=False)
    return matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least and matcher.ratio() >= least
