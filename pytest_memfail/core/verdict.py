"""What the judge decided: a result per stage, a verdict per fact, a verdict per question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_memfail.core.taxonomy import CORRECT, NOT_RETRIEVED, NOT_STORED, STAGE_FAILURE, UNGRADED, worst

Outcome = Literal["passed", "failed", "ungraded", "not_reached"]


@dataclass(frozen=True, slots=True)
class StageResult:
    """What one stage found for one fact (or, for the answer stage, for the question)."""

    outcome: Outcome
    reason: str = ""
    """One sentence for the person who reads the failure."""
    entries: tuple[int, ...] = ()
    """Indices of the entries relied on, closest first: into the listing (storage, summary) or the shown (retrieval)."""
    found: tuple[str, ...] = ()
    """Details recognised in those entries."""
    missing: tuple[str, ...] = ()
    """Details looked for and not found, in the wording of the source."""
    reported: tuple[str, ...] = ()
    """Details lost that this question does not need: visible, never a failure."""
    confidence: float | None = None
    """Between 0 and 1, or None where the judge gives none."""
    label: str | None = None
    """A finer name within the verdict (`stale_value`, `over_update`, ...)."""


UNREACHED = StageResult("not_reached")


@dataclass(frozen=True, slots=True)
class FactVerdict:
    """One expected fact through the three memory stages."""

    evidence_id: str
    name: str
    storage: StageResult
    summary: StageResult = UNREACHED
    retrieval: StageResult = UNREACHED

    @property
    def deciding(self) -> tuple[str, StageResult]:
        """The stage that decided, with its result: the first that did not pass, else the last."""
        for stage in ("storage", "summary", "retrieval"):
            result: StageResult = getattr(self, stage)
            if result.outcome != "passed":
                return stage, result
        return "retrieval", self.retrieval


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one question."""

    name: str
    facts: tuple[FactVerdict, ...] = ()
    answer: StageResult = UNREACHED
    vacuous: bool = False
    """A pass that only means the memory could not have been misused (misleading persona questions)."""
    credited: bool | None = None
    """Whether the raw answer matched, whatever the facts say (option letters); None where there is none."""
    label: str | None = None
    score: float | None = None

    @property
    def memory_held(self) -> bool | None:
        """Whether all expected facts were stored, faithful and retrieved; None where the memory was not tested."""
        if self.vacuous or not self.facts:
            return None
        names = {fact.name for fact in self.facts}
        if names == {CORRECT}:
            return True
        return None if UNGRADED in names and worst(names) == UNGRADED else False


def fact_verdict(
    evidence_id: str, storage: StageResult, summary: StageResult = UNREACHED, retrieval: StageResult = UNREACHED
) -> FactVerdict:
    """The verdict of one fact: the first stage that did not pass decides."""
    for stage, result in (("storage", storage), ("summary", summary), ("retrieval", retrieval)):
        if result.outcome == "failed":
            return FactVerdict(evidence_id, STAGE_FAILURE[stage], storage, summary, retrieval)
        if result.outcome != "passed":
            return FactVerdict(evidence_id, UNGRADED, storage, summary, retrieval)
    return FactVerdict(evidence_id, CORRECT, storage, summary, retrieval)


def question_verdict(
    facts: Sequence[FactVerdict], answer: StageResult, *, misleading: bool = False, credited: bool | None = None
) -> Verdict:
    """The verdict of a question: the worst of its facts, then the answer stage.

    A misleading question whose expected essay was not stored, or not retrieved, passes vacuously: the model could not
    have misused what it did not see. A summary error stays one.
    """
    name = worst(fact.name for fact in facts)
    if misleading and name in (NOT_STORED, NOT_RETRIEVED):
        return Verdict(CORRECT, tuple(facts), vacuous=True, credited=credited)
    label = next((s.label for f in facts for s in (f.storage, f.summary, f.retrieval) if s.label), None)
    if name == CORRECT:
        name = {"passed": CORRECT, "failed": STAGE_FAILURE["answer"]}.get(answer.outcome, UNGRADED)
    else:
        answer = UNREACHED
    return Verdict(name, tuple(facts), answer, credited=credited, label=label or answer.label)
