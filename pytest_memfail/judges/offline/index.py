"""An inverted index of memory texts: which statements share words with a claim, and by how much."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.reading import Reading, owner_relation
from pytest_memfail.judges.offline.statements import Statement, read_entry

CORE, CONTEXT, SAID, OWNER, TAGS = 0.5, 0.25, 0.25, 0.15, 0.1
"""What makes a statement a candidate: shares of the core, the context and the source sentence, its owner, being keywords."""
MOST: Final = 12
"""How many candidates are looked at closely."""


class Candidate:
    """A statement with what it keeps of a claim."""

    __slots__ = ("at", "entry", "held", "owner", "score", "statement")

    def __init__(
        self, statement: Statement, entry: int, at: int, held: dict[str, float], owner: float, score: float
    ) -> None:
        self.statement = statement
        self.entry = entry
        self.at = at
        """Its place in the index; statements of an entry are neighbours."""
        self.held = held
        """For keys of the claim, how far some word of the statement keeps them."""
        self.owner = owner
        self.score = score


class Index:
    """The statements of some memory texts by their keys."""

    def __init__(self, texts: Sequence[str], times: Sequence[str | None] = ()) -> None:
        """Read and index the texts.

        Args:
            texts: the memories.
            times: their timestamps, in a form that sorts by time; used only if every memory has one.
        """
        self.texts = tuple(texts)
        self.times: tuple[str, ...] = tuple(t for t in times if t) if all(times) else ()
        """Timestamps of the entries; empty where any lacks one."""
        self.known = frozenset(self.texts)
        self.statements: list[Statement] = []
        self.entries: list[int] = []
        self._postings: dict[str, list[int]] = defaultdict(list)
        self._shadows: dict[str, list[int]] = defaultdict(list)
        """Words that two words of a statement mean together."""
        self.places: dict[str, list[int]] = {}
        """Statements by their words, for what stands word for word."""
        seen: set[str] = set()
        for entry, text in enumerate(self.texts):
            if text in seen:
                continue  # said once more it says nothing more
            seen.add(text)
            for statement in read_entry(text):
                at = len(self.statements)
                self.statements.append(statement)
                self.entries.append(entry)
                for key in statement.in_order:
                    self._postings[key].append(at)
                self.places.setdefault(statement_words(statement), []).append(at)
                last = ""
                for token in statement.tokens:
                    word = token.key or token.lower
                    if last:
                        for other in lexicon.phrase(f"{last} {word}"):
                            self._shadows[other].append(at)
                    last = token.key
        self._kinds: dict[str, list[str]] | None = None
        self._expanded: dict[str, tuple[tuple[str, float], ...]] = {}
        self.cache: dict[object, object] = {}
        """Results by claim, for whoever judges."""

    def candidates(self, reading: Reading) -> list[Candidate]:
        """Return the statements that share words with the claim, best first; ties go by text, not by place."""
        held = self.holding(reading.wanted)
        core, context, said = reading.core, reading.context, reading.said_keys
        totals = [reading.weigh(keys) or 1.0 for keys in (core, context, said)]
        found = []
        for at, kept in held.items():
            statement = self.statements[at]
            owner = owner_relation(reading, statement.owner)
            shares = [
                sum(lexicon.weight(key) * kept[key] for key in keys if key in kept) / total
                for keys, total in zip((core, context, said), totals, strict=True)
            ]
            score = CORE * shares[0] + CONTEXT * shares[1] + SAID * shares[2]
            score += OWNER * (owner - 0.5) - TAGS * statement.is_tags
            found.append(Candidate(statement, self.entries[at], at, kept, owner, score))
        found.sort(key=lambda c: (-c.score, c.statement.text, c.at))
        return found

    def order(self, at: int) -> tuple[str, int]:
        """Return where the statement stands in time: by the timestamp of its entry, else by its place."""
        return (self.times[self.entries[at]] if self.times else "", at)

    def holding(self, keys: Sequence[str]) -> dict[int, dict[str, float]]:
        """Return, by statement, how far it keeps each of the keys; statements that keep none are left out."""
        held: dict[int, dict[str, float]] = {}
        for key in keys:
            for other, near in self._expand(key):
                for at in self._postings.get(other, ()):
                    kept = held.setdefault(at, {})
                    if kept.get(key, 0.0) < near:
                        kept[key] = near
            for at in self._shadows.get(key, ()):
                kept = held.setdefault(at, {})
                if kept.get(key, 0.0) < lexicon.SYNONYM:
                    kept[key] = lexicon.SYNONYM
        return held

    def holding_exactly(self, keys: Sequence[str]) -> dict[int, dict[str, float]]:
        """Return, by statement, which of the keys it has word for word."""
        held: dict[int, dict[str, float]] = {}
        for key in keys:
            for at in self._postings.get(key, ()):
                held.setdefault(at, {})[key] = 1.0
        return held

    def _expand(self, key: str) -> tuple[tuple[str, float], ...]:
        """Return the indexed keys that are like the key, with their similarity."""
        known = self._expanded.get(key)
        if known is None:
            others: set[str] = {key}
            if key[:1].isalpha():
                entry = lexicon.lookup(key)
                others |= entry.same | entry.close | entry.parents | entry.general
                others.update(self._kinds_below().get(key, ()))
                others.update(self._kinds_below().get("^" + key[: lexicon.LOOKALIKE], ()))
            pairs = ((other, lexicon.similarity(key, other)) for other in others if other in self._postings)
            known = self._expanded[key] = tuple((other, near) for other, near in pairs if near > 0)
        return known

    def _kinds_below(self) -> dict[str, list[str]]:
        """Return the indexed keys by what they are a kind of, what they mean, and how they begin; made once."""
        if self._kinds is None:
            kinds: dict[str, list[str]] = defaultdict(list)
            for key in self._postings:
                if key[:1].isalpha():
                    entry = lexicon.lookup(key)
                    for other in entry.parents | entry.general | entry.same | entry.close:
                        kinds[other].append(key)
                    if len(key) >= lexicon.LOOKALIKE:
                        kinds["^" + key[: lexicon.LOOKALIKE]].append(key)
            self._kinds = kinds
        return self._kinds


def statement_words(statement: Statement) -> str:
    """Return the lower-case words of a statement, with a space between and around them."""
    return f" {' '.join(token.lower for token in statement.tokens)} "
