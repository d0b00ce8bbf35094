"""An inverted index of memory texts: which statements share words with a claim, and how much."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, Final

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.readable import Words, words_of
from pytest_memfail.judges.offline.reading import Reading, owner_relation
from pytest_memfail.judges.offline.statements import Statement, read_entry
from pytest_memfail.texts import spelled

CORE, CONTEXT, SAID, OWNER, TAGS = 0.5, 0.25, 0.25, 0.15, 0.1
"""The weights of a candidate's score: the shares of the core, the context and the source sentence, its owner, being
keywords."""
MOST: Final = 12
"""The number of candidates to examine closely."""
FEW: Final = 1000
"""Up to this number of different words, all are compared with a word one by one."""


class Candidate:
    """A statement, with what it keeps of a claim."""

    __slots__ = ("at", "entry", "held", "owner", "score", "statement")

    def __init__(
        self, statement: Statement, entry: int, at: int, held: dict[str, float], owner: float, score: float
    ) -> None:
        self.statement = statement
        self.entry = entry
        self.at = at
        """Its position in the index; statements of an entry are adjacent."""
        self.held = held
        """For each key of the claim, how well the statement keeps it."""
        self.owner = owner
        self.score = score


class Index:
    """The statements of some memory texts, indexed by their keys."""

    def __init__(self, texts: Sequence[str], times: Sequence[str | None] = ()) -> None:
        """Read and index the texts.

        Args:
            texts: the memories.
            times: their timestamps, in a form that sorts by time; used only if every memory has one.
        """
        self.texts = tuple(texts)
        self.times: tuple[str, ...] = tuple(t for t in times if t) if all(times) else ()
        """Timestamps of the entries; empty unless all have one."""
        self.known = frozenset(self.texts)
        self.said: frozenset[str] = frozenset()
        """The texts of which each sentence was said, word for word, as far as that is known."""
        self.statements: list[Statement] = []
        self.entries: list[int] = []
        self._postings: dict[str, list[int]] = defaultdict(list)
        self._shadows: dict[str, list[int]] = defaultdict(list)
        """Statements by the meanings of their two-word phrases."""
        self.places: dict[str, list[int]] = {}
        """Statements by their words, for verbatim matches."""
        seen: set[str] = set()
        for entry, text in enumerate(self.texts):
            if text in seen:
                continue  # a repetition adds nothing
            seen.add(text)
            for statement in read_entry(text):
                at = len(self.statements)
                self.statements.append(statement)
                self.entries.append(entry)
                for key in statement.in_order:
                    self._postings[key].append(at)
                self.places.setdefault(statement.words, []).append(at)
                for key in statement.pairs:
                    self._shadows[key].append(at)
        self._kinds: dict[str, list[str]] | None = None
        self._kept: dict[str, dict[int, float]] = {}
        self.cache: dict[object, Any] = {}
        """Results by claim, for the judge."""

    def candidates(self, reading: Reading) -> list[Candidate]:
        """Return the statements that share most with the claim, best first; ties are ordered by text, not by
        position.
        """
        core, context, said = (self.shares(keys) for keys in (reading.core, reading.context, reading.said_keys))
        shares = {
            at: CORE * core.get(at, 0.0) + CONTEXT * context.get(at, 0.0) + SAID * said.get(at, 0.0)
            for at in core.keys() | context.keys() | said.keys()
        }
        if not shares:
            return []
        # owner and keywords change a score by at most this much, so all other statements cannot be among the best
        least = heapq.nlargest(MOST, shares.values())[-1] - OWNER - TAGS
        found = []
        for at, share in shares.items():
            if share < least:
                continue
            statement = self.statements[at]
            score = share + (OWNER * (owner_relation(reading, statement.owner) - 0.5) - TAGS * statement.is_tags)
            found.append((-score, statement.text, at))
        best = heapq.nsmallest(MOST, found)
        return [
            Candidate(
                self.statements[at],
                self.entries[at],
                at,
                self.held_at(at, reading.wanted),
                owner_relation(reading, self.statements[at].owner),
                -negative,
            )
            for negative, _, at in best
        ]

    def order(self, at: int) -> tuple[str, int]:
        """Return the statement's position in time: by its entry's timestamp, else by its place."""
        return (self.times[self.entries[at]] if self.times else "", at)

    def entry_order(self, entry: int) -> tuple[str, int]:
        """Return the entry's position in time, in the same way."""
        return (self.times[entry] if self.times else "", entry)

    @cached_property
    def spelled(self) -> tuple[str, ...]:
        """Return the entries as words, to find texts verbatim."""
        return tuple(map(spelled, self.texts))

    @cached_property
    def vocabulary(self) -> list[Words]:
        """Return the words of each different entry."""
        rows = groupby(zip(self.entries, self.statements, strict=True), lambda row: row[0])
        return [words_of((statement.text, statement.tokens) for _, statement in entry) for _, entry in rows]

    def held_at(self, at: int, keys: Sequence[str]) -> dict[str, float]:
        """Return how well the statement at this position keeps each key, without the keys it does not keep."""
        return {key: near for key in keys if (near := self._kept_by(key).get(at))}

    def shares(self, keys: Sequence[str], least: float = 0.0) -> dict[int, float]:
        """Return, per statement, the weighted share of the keys that it keeps.

        Args:
            keys: the keys to look for. Statements without any of them are left out.
            least: words with a lower similarity do not count.
        """
        kept: dict[int, float] = {}
        for key in keys:
            weight = lexicon.weight(key)
            for at, near in self._kept_by(key).items():
                kept[at] = kept.get(at, 0.0) + (weight * near if near >= least else 0.0)
        total = sum(map(lexicon.weight, keys))
        return {at: share / total for at, share in kept.items()}

    def exact_shares(self, keys: Sequence[str], at_least: int) -> dict[int, float]:
        """Return, per statement, the weighted share of the keys it contains literally, if it contains at least
        `at_least`.
        """
        kept: dict[int, float] = {}
        numbers: dict[int, int] = {}
        for key in keys:
            weight = lexicon.weight(key)
            for at in self._postings.get(key, ()):
                kept[at] = kept.get(at, 0.0) + weight
                numbers[at] = numbers.get(at, 0) + 1
        total = sum(map(lexicon.weight, keys))
        return {at: kept[at] / total for at, number in numbers.items() if number >= at_least}

    def _kept_by(self, key: str) -> dict[int, float]:
        """Return the statements with the key or a similar word, with the similarity; computed once."""
        known = self._kept.get(key)
        if known is None:
            others = {key, *(self._perhaps_similar(key) if key[:1].isalpha() else ())}
            known = self._kept[key] = {}
            for other in others & self._postings.keys():
                near = lexicon.similarity(key, other)
                for at in self._postings[other] if near > 0 else ():
                    known[at] = max(near, known.get(at, 0.0))
            for at in self._shadows.get(key, ()):
                known[at] = max(lexicon.SYNONYM, known.get(at, 0.0))
        return known

    def _perhaps_similar(self, key: str) -> Iterable[str]:
        """Return the indexed keys that may be similar to this key, and possibly others that are not indexed."""
        if len(self._postings) <= FEW:  # a table would cost more than it saves
            return lexicon.perhaps_similar(key, self._postings)
        if self._kinds is None:
            self._kinds = defaultdict(list)
            for other in self._postings:
                for kind in lexicon.related(other):
                    self._kinds[kind].append(other)
                self._kinds["^" + other[: lexicon.LOOKALIKE]].append(other)
        begins = self._kinds.get("^" + key[: lexicon.LOOKALIKE], ())
        return (*lexicon.related(key), *self._kinds.get(key, ()), *begins)
