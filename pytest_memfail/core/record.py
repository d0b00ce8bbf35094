"""The record of a finished question: what was asked and shown, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pytest_memfail.core.model import Memory
from pytest_memfail.core.taxonomy import CORRECT, FAILURES, MEMORY_FAILURES, NO_ANSWER, UNGRADED, VACUOUS
from pytest_memfail.core.verdict import Verdict

Key: TypeAlias = tuple[str, str, str, int]
"""Task, store, question and k."""


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """Why a question has no verdict."""

    type: str
    message: str


class Comparable:
    """What two runs of the same question are compared by."""

    __slots__ = ()

    id: str
    task: str
    store: str
    question: str
    k: int
    verdict: str
    memory_held: bool | None
    vacuous: bool
    row: str | None
    part: str
    cluster: str

    @property
    def group(self) -> str:
        """The table row that the question counts in: its task, or `task.part`."""
        return f"{self.task}.{self.part}" if self.part else self.task

    @property
    def key(self) -> Key:
        """The question and its k, independent of the id of its item."""
        return self.task, self.store, self.question, self.k

    @property
    def cluster_key(self) -> tuple[str, ...]:
        """The group that paired tests treat as dependent, at any k: the recorded cluster, or else the question's row."""
        if self.cluster:
            return self.task, self.store, self.cluster
        # line 1 is the head of a table, and the default of a user's own task without lines
        known = self.row is not None and not self.row.endswith(":1")
        return self.task, self.store, (self.row or "") if known else self.question

    @property
    def failed(self) -> bool:
        """Whether the verdict is a failure."""
        return self.verdict in FAILURES

    @property
    def held(self) -> bool:
        """Whether every judged stage passed: the question is correct, or memory held and the answer was not judged."""
        return self.verdict in (CORRECT, NO_ANSWER) or (self.verdict == UNGRADED and self.memory_held is True)

    @property
    def is_undecided(self) -> bool:
        """Whether no judge decided what memory held of it."""
        return self.verdict == UNGRADED and self.memory_held is None

    @property
    def is_estimated(self) -> bool:
        """Whether a judge only estimated a stage of it, if that is known: a baseline does not say it."""
        return False

    @property
    def state(self) -> str:
        """How the question ended, one of `STATES`: its verdict, or `vacuous`."""
        return VACUOUS if self.vacuous else self.verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord(Verdict, Comparable):
    """A finished question, with everything needed to read its failure. Measures, reports and comparisons read it."""

    id: str
    """The node id of its item."""
    task: str
    store: str
    question: str
    k: int
    kind: str
    stratum: str
    text: str
    gold: tuple[str, ...]
    row: str | None
    """File and line of its row."""
    part: str = ""
    """The part of the task that the question counts in; empty for a task without parts."""
    cluster: str = ""
    """Questions with the same cluster depend on each other; empty: those of a row do."""
    listing: int = 0
    """The number of the store's listing by which the question was judged."""
    weight: float = 1.0
    """The question's weight in a weighted measure of its suite."""
    must_not_use: bool = False
    """Whether a right answer does not use the facts; a memory that lost them passes vacuously."""
    error: ErrorRecord | None = None
    """Set only with the verdict `error`."""
    reply: str | None = None
    retrieved: tuple[Memory, ...] = ()
    places: tuple[int, ...] = ()
    """The places of the memories shown in the listing; -1 for one that it lacks."""
    shown_tokens: int | None = None
    store_tokens: int | None = None
    cut: int = 0
    """Entries that the system returned beyond k."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    repeats: tuple[str, ...] = ()
    """How each repeat ended, if the question was asked more than once."""
    reference_held: bool | None = None
    """Whether the reference, a verbatim store, held the facts; None if it is not known. Set when the run has ended."""
    reference_verdict: str | None = None
    """The failure of the reference; None if it held the facts, or if that is not known."""

    @property
    def beyond_verbatim(self) -> bool:
        """Whether memory lost here what the reference held."""
        return self.reference_held is True and self.memory_held is False and not self.is_estimated

    @property
    def better_than_verbatim(self) -> bool:
        """Whether memory held here what the reference lost."""
        return self.reference_held is False and self.memory_held is True and not self.is_estimated

    @property
    def at_ceiling(self) -> bool:
        """Whether the reference lost it too, and no later than here: the limit of the benchmark, not a fault of the system."""
        return self._stages_after_reference in (0, 1, 2)

    @property
    def loses_earlier(self) -> bool:
        """Whether the reference lost it too, but at a later stage than here."""
        return self._stages_after_reference in (-1, -2)

    @property
    def _stages_after_reference(self) -> int | None:
        stages = MEMORY_FAILURES[
            1:
        ]  # to hold what it must not is a fault even if a store that never forgets has it too
        if self.verdict not in stages or self.reference_verdict not in stages:
            return None
        return stages.index(self.verdict) - stages.index(self.reference_verdict)

    @property
    def counts_as_held(self) -> bool | None:
        """Whether memory held the facts, as *memory held* counts it; None for a question that it leaves out."""
        return None if self.must_not_use or self.is_estimated else self.memory_held
