"""The cases that clues are tested on: facts lost or held at a stage, and conversations kept or not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log

from pytest_memfail.core import (
    NOT_RETRIEVED,
    NOT_STORED,
    SUMMARY_ERROR,
    FactVerdict,
    QuestionRecord,
    Told,
)
from pytest_memfail.records import StoreRecord
from pytest_memfail.texts import STOP_WORDS, content, words

Place = tuple[str, str]
"""A task and a store."""


@dataclass(frozen=True)
class Case:
    """A fact in the question that needs it, lost or held at one stage."""

    question: QuestionRecord
    fact: FactVerdict
    told: Told | None
    """Its conversation, if the record says what the store kept of it."""
    number: int
    """The place of the conversation among those stored."""
    store: Store
    is_lost: bool
    is_search: bool = False
    """Whether the stage is retrieval."""

    @property
    def stratum(self) -> Hashable:
        """Tasks differ in everything, so facts are compared within them."""
        return self.question.task

    @property
    def cluster(self) -> Hashable:
        """Facts of one conversation are stored together; those of a row are looked for together."""
        if self.is_search:
            return self.question.cluster_key
        return self.question.store, self.told.id if self.told else self.fact.id

    @property
    def entry(self) -> int | None:
        """The place of the entry that holds the fact in the listing."""
        entries = self.fact.summary.entries or self.fact.storage.entries
        return entries[0] if entries else None

    @property
    def stated(self) -> tuple[int, int]:
        """The first and the last sentence that states the fact."""
        return (0, 0) if self.told is None else self.told.facts.get(self.fact.id, (0, 0))

    @property
    def lacks(self) -> tuple[str, ...]:
        """The kinds of words that the entries lack of these sentences."""
        return () if self.told is None else self.told.lacks.get(self.fact.id, ())

    @cached_property
    def shared(self) -> list[str]:
        """The words that the question and the source share, in the order of the question."""
        wanted = content(self.fact.source)
        return [word for word in dict.fromkeys(words(self.question.text)) if word in wanted and word not in STOP_WORDS]

    def share_of(self, kind: str, kinds: Mapping[str, str]) -> float:
        """Return the share of a kind of words in what question and source share, each word by how rare it is in the store."""
        weights = {word: log(1 + len(self.store.sources) / max(1, self.store.frequency(word))) for word in self.shared}
        of_kind = sum(weight for word, weight in weights.items() if kinds.get(word) == kind)
        return round(of_kind / sum(weights.values()), 2) if weights else 0.0


@dataclass(frozen=True)
class Session:
    """A conversation that was stored, with or without an entry."""

    told: Told
    number: int
    """Its place among those stored."""
    store: Store
    is_lost: bool
    """Whether it left no entry."""

    @property
    def stratum(self) -> Hashable:
        return self.store.task

    @property
    def cluster(self) -> Hashable:
        return self.store.place, self.number


@dataclass(eq=False)
class Store:
    """A store of the run, with what it was told."""

    place: Place
    record: StoreRecord | None
    sources: dict[str, frozenset[str]] = field(default_factory=dict)
    """The words of the sources of its facts."""

    @property
    def task(self) -> str:
        return self.place[0]

    @property
    def told(self) -> Sequence[Told]:
        """Its conversations in the order in which they were stored; empty if the record lacks them."""
        return () if self.record is None else self.record.told

    @property
    def size(self) -> int:
        """The number of its entries."""
        return 0 if self.record is None else self.record.memories

    @property
    def unlinked(self) -> int:
        """The number of its entries whose conversation is unknown: they may be those of conversations that seem to have none."""
        return self.size - len({entry for told in self.told for entry in told.entries}) if self.told else 0

    @cached_property
    def by_fact(self) -> Mapping[str, int]:
        """The place of the conversation of each fact."""
        return {name: number for number, told in enumerate(self.told) for name in told.facts}

    @cached_property
    def _frequencies(self) -> Mapping[str, int]:
        found: dict[str, int] = defaultdict(int)
        for source in self.sources.values():
            for word in source:
                found[word] += 1
        return found

    def frequency(self, word: str) -> int:
        """Return how many of the sources have a word."""
        return self._frequencies.get(word, 0)


class Evidence:
    """The facts and conversations of a run."""

    def __init__(self, questions: Iterable[QuestionRecord], stores: Iterable[StoreRecord]) -> None:
        self.stores = {(store.task, store.store): Store((store.task, store.store), store) for store in stores}
        at_k: dict[tuple[str, str, str], QuestionRecord] = {}
        for question in questions:
            key = question.key[:3]
            if question.error is None and (key not in at_k or at_k[key].k < question.k):
                at_k[key] = question  # what the largest k does not find, a smaller one does not either
        self.questions = list(at_k.values())
        for question in self.questions:
            store = self.stores.setdefault(
                (question.task, question.store), Store((question.task, question.store), None)
            )
            for fact in question.facts:
                store.sources.setdefault(fact.source, content(fact.source))

    @cached_property
    def sessions(self) -> list[Session]:
        """All conversations whose entries are known."""
        return [
            Session(told, number, store, not told.entries)
            for store in self.stores.values()
            for number, told in enumerate(store.told)
        ]

    @cached_property
    def stages(self) -> dict[str, list[Case]]:
        """The cases of each memory failure: what has it, and what passed its stage.

        A fact counts once for storage and summary, and in each question for retrieval. What the reference does not find either is
        no fault of the system's search.
        """
        found: dict[str, dict[Hashable, Case]] = {NOT_STORED: {}, SUMMARY_ERROR: {}, NOT_RETRIEVED: {}}
        for question in self.questions:
            store = self.stores[question.task, question.store]
            for fact in (one for one in question.facts if not one.is_distractor):
                number = store.by_fact.get(fact.id, -1)
                told = store.told[number] if number >= 0 else None
                key = (*store.place, fact.id)
                for verdict, stage in zip(found, fact.stages, strict=True):
                    if stage.outcome not in ("passed", "failed") or stage.vacuous or stage.estimated:
                        break
                    is_search = verdict == NOT_RETRIEVED
                    if not (is_search and (question.must_not_use or question.reference_held is False)):
                        case = Case(question, fact, told, number, store, stage.outcome == "failed", is_search)
                        found[verdict].setdefault((*key, question.question) if is_search else key, case)
                    if stage.outcome == "failed":
                        break
        return {verdict: list(cases.values()) for verdict, cases in found.items()}

    @cached_property
    def before_search(self) -> list[Case]:
        """Facts of conversations that left an entry, lost in storage or summary, or held by the store."""
        found: dict[Hashable, Case] = {}
        for verdict in (NOT_STORED, SUMMARY_ERROR):
            for case in self.stages[verdict]:
                if case.told is None or case.told.entries:
                    found[case.store.place, case.fact.id] = case
        return list(found.values())

    @cached_property
    def questions_of(self) -> Mapping[tuple[str, str, str], list[str]]:
        """The failed questions that need each fact."""
        found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for question in self.questions:
            for fact in question.facts if question.failed else ():
                found[question.task, question.store, fact.id].append(question.id)
        return found

    def asked(self, cases: Iterable[Case]) -> tuple[str, ...]:
        """Return the ids of the failed questions that need the facts of these cases."""
        return tuple(
            dict.fromkeys(
                name
                for case in cases
                for name in (
                    [case.question.id]
                    if case.is_search
                    else self.questions_of.get((*case.store.place, case.fact.id), ())
                )
            )
        )
