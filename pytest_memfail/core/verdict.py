"""What the judge decided: a result per stage, a verdict per fact, a verdict per question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pytest_memfail.core.taxonomy import CORRECT, NOT_RETRIEVED, NOT_STORED, STAGE_FAILURE, UNGRADED, worst

UNSURE: Final = 0.8
"""Below this confidence a verdict of the offline judge counts as unsure: the cascade asks a model, and reports say so."""
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
    vacuous: bool = False
    """Passed only because nothing is there of a state that was taken back: neither the state nor its end."""


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
    def vacuous(self) -> bool:
        """Whether neither the store nor the entries shown say anything of a state that was taken back."""
        return self.name == CORRECT and self.retrieval.vacuous

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
    """A pass that only means that nothing was there to be misused: the essay of a misleading question, or a state that was
    taken back."""
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
    """The verdict of one fact: the first stage that did not pass decides.

    A state that was taken back may be gone altogether. Where the store says that it ended, the entries shown must say so
    too; where the store says nothing of it, they need not.
    """
    if retrieval.vacuous and not storage.vacuous:
        retrieval = replace(retrieval, outcome="failed", vacuous=False)
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

    A question about nothing but states that were taken back, of which nothing is in memory, passes vacuously: a system
    that deletes leaves the same as one that never stored.
    A misleading question whose expected essay was not stored, or not retrieved, passes vacuously: the model could not
    have misused what it did not see. A summary error stays one.
    """
    name = worst(fact.name for fact in facts)
    if misleading and name in (NOT_STORED, NOT_RETRIEVED):
        return Verdict(CORRECT, tuple(facts), vacuous=True, credited=credited)
    if facts and all(fact.vacuous for fact in facts):
        return Verdict(CORRECT, tuple(facts), vacuous=True, credited=credited)
    label = next((s.label for f in facts for s in (f.storage, f.summary, f.retrieval) if s.label), None)
    if name == CORRECT:
        name = {"passed": CORRECT, "failed": STAGE_FAILURE["answer"]}.get(answer.outcome, UNGRADED)
    else:
        answer = UNREACHED
    return Verdict(name, tuple(facts), answer, credited=credited, label=label or answer.label)
