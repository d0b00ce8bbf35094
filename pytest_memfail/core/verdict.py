"""The results of judging: a result per stage, a verdict per fact, a verdict per question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from pytest_memfail.core.taxonomy import (
    CORRECT,
    NOT_RETRIEVED,
    NOT_STORED,
    STAGE_FAILURE,
    SUMMARY_ERROR,
    UNGRADED,
    worst,
)

UNSURE: Final = 0.8
"""Below this confidence a verdict of the offline judge is unsure: the cascade asks a model, and reports mark it."""
TRIVIAL_PASS: Final = "trivial_pass"
LOST_LATER: Final = "lost_later"
"""The label of a lost fact that an earlier listing of the store contained."""
UNCONFIRMED: Final = "unconfirmed"
"""The label of a distractor that the store holds."""
UNREAD: Final = "unread"
"""The label of a fact that a judge cannot read, for its language or that of the memories."""
ADDED_STAGE: Final = "added"
"""The stage of a question about what a conversation added to the store; it has no facts."""
Outcome = Literal["passed", "failed", "ungraded", "not_reached"]


@dataclass(frozen=True, slots=True)
class StageResult:
    """The result of one stage for one fact (for the answer stage: for the question)."""

    outcome: Outcome
    reason: str = ""
    """One sentence for the reader of the failure."""
    entries: tuple[int, ...] = ()
    """Indices of the entries relied on, closest first: into the listing (storage, summary) or the memories shown
    (retrieval)."""
    found: tuple[str, ...] = ()
    """Details recognised in those entries."""
    missing: tuple[str, ...] = ()
    """Details looked for and not found, in the source's wording."""
    reported: tuple[str, ...] = ()
    """Lost details that this question does not need: reported, never a failure."""
    confidence: float | None = None
    """Between 0 and 1; None if the judge gives none."""
    label: str | None = None
    """A finer name within the verdict (`stale_value`, `over_update`, ...)."""
    vacuous: bool = False
    """Passed only because the entries mention neither a retracted state nor its end."""
    score: float | None = None
    """The score of an answer, between 0 and 1; None for a kind of answer without one."""
    estimated: bool = False
    """Whether it is only an estimate, which confirms nothing."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Numbers for the measures of a suite."""


UNREACHED = StageResult("not_reached")
NEEDS_MODEL = StageResult("ungraded", "the offline judge cannot decide this: give --memfail-judge a model")


@dataclass(frozen=True, slots=True)
class FactVerdict:
    """The verdict on one expected fact, with its three memory stages."""

    evidence_id: str
    name: str
    storage: StageResult
    summary: StageResult = UNREACHED
    retrieval: StageResult = UNREACHED
    is_distractor: bool = False
    """Whether the fact is a distractor, which the store must not hold."""

    @property
    def vacuous(self) -> bool:
        """Return whether neither the store nor the memories shown mention a retracted state."""
        return self.name == CORRECT and self.retrieval.vacuous

    @property
    def deciding(self) -> tuple[str, StageResult]:
        """Return the stage that decided and its result: the first that did not pass, else the last."""
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
    """Passed only because there was nothing to misuse: the essay of a misleading question, or a retracted state."""
    credited: bool | None = None
    """Whether the answer is right, even if a fact failed; False for a trivial pass, None if that was not judged."""
    label: str | None = None
    score: float | None = None
    """The score of the answer, even if a fact failed; None if it has none."""

    @property
    def memory_held(self) -> bool | None:
        """Return whether all expected facts were stored, faithful and retrieved; None if the memory was not tested."""
        names = {fact.name for fact in self.facts if not fact.is_distractor}
        if self.vacuous or not names:
            return None
        if names == {CORRECT}:
            return True
        return None if UNGRADED in names and worst(names) == UNGRADED else False


def fact_verdict(
    evidence_id: str, storage: StageResult, summary: StageResult = UNREACHED, retrieval: StageResult = UNREACHED
) -> FactVerdict:
    """Return the verdict of one fact, decided by its first stage that did not pass.

    A retracted state may be missing from the store. If the store says that it ended, the memories shown must say so too; if
    the store says nothing, they need not.
    """
    if retrieval.vacuous and not storage.vacuous:
        reason = "the store says that it has ended, and the entries shown do not"
        retrieval = replace(retrieval, outcome="failed", reason=reason, vacuous=False)
    for stage, result in (("storage", storage), ("summary", summary), ("retrieval", retrieval)):
        if result.outcome == "failed":
            return FactVerdict(evidence_id, STAGE_FAILURE[stage], storage, summary, retrieval)
        if result.outcome != "passed":
            return FactVerdict(evidence_id, UNGRADED, storage, summary, retrieval)
    return FactVerdict(evidence_id, CORRECT, storage, summary, retrieval)


def question_verdict(
    facts: Sequence[FactVerdict],
    answer: StageResult,
    *,
    misleading: bool = False,
    credited: bool | None = None,
    passed_before: bool | None = None,
    keeps_answer: bool = False,
) -> Verdict:
    """Return the verdict of a question: the worst of its facts, then the answer stage.

    A question passes vacuously if it is only about retracted states and memory holds nothing about them: a
    system that deletes looks the same as one that never stored. A misleading question passes vacuously if its expected
    essay was not stored or not retrieved: the model could not misuse what it did not see. A summary error stays one.

    `passed_before` says whether the same was answered right before something changed; None if that was not asked. A
    right answer after a wrong one is a trivial pass: it proves nothing (MEME, section 4.1). With `keeps_answer` the
    verdict has the result of the answer stage even where a fact failed.
    """
    name, score = worst(fact.name for fact in facts), answer.score
    if misleading and name in (NOT_STORED, NOT_RETRIEVED):
        return Verdict(CORRECT, tuple(facts), vacuous=True, credited=credited, score=score)
    if facts and all(fact.vacuous for fact in facts):
        kept = answer if keeps_answer else UNREACHED
        return Verdict(CORRECT, tuple(facts), kept, vacuous=True, credited=credited, score=score)
    stages = (stage for fact in facts for stage in (fact.storage, fact.summary, fact.retrieval))
    label = next((stage.label for stage in stages if stage.label and stage.outcome != "ungraded"), None)
    if name == CORRECT:
        name = {"passed": CORRECT, "failed": STAGE_FAILURE["answer"]}.get(answer.outcome, UNGRADED)
    elif not keeps_answer:
        answer = UNREACHED
    if name == CORRECT and passed_before is False:
        return Verdict(CORRECT, tuple(facts), answer, vacuous=True, credited=credited, label=TRIVIAL_PASS, score=score)
    return Verdict(name, tuple(facts), answer, credited=credited, label=label or answer.label, score=score)


def distractor_verdict(
    evidence_id: str, storage: StageResult, summary: StageResult, *, is_empty: bool = False
) -> FactVerdict:
    """Return the verdict of a fact that the store must not hold.

    Of an empty store (`is_empty`) the pass proves nothing. The metric `score` is 2 if the store holds all of it, 1 if it
    holds a part.
    """
    if storage.outcome == "failed":
        reason = f"not held, as it should be: {storage.reason}"
        resisted = replace(storage, outcome="passed", reason=reason, missing=(), label=None, vacuous=is_empty)
        return FactVerdict(evidence_id, CORRECT, resisted, resisted, resisted, is_distractor=True)
    if storage.outcome != "passed":
        return FactVerdict(evidence_id, UNGRADED, storage, is_distractor=True)
    score = {"score": 2.0 if summary.outcome == "passed" else 1.0}
    reason = f"held, and must not be: {summary.reason or storage.reason}"
    held = replace(storage, outcome="failed", reason=reason, label=UNCONFIRMED, metrics=score)
    return FactVerdict(evidence_id, SUMMARY_ERROR, storage, held, is_distractor=True)
