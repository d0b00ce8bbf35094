"""The results of judging: a result per stage, a verdict per fact, a verdict per question."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pytest_memfail.core.model import Fact, Memory, rank_of
from pytest_memfail.core.taxonomy import (
    CORRECT,
    FACT_HELD,
    NO_ANSWER,
    NOT_RETRIEVED,
    NOT_STORED,
    STAGE_FAILURE,
    UNGRADED,
    VERDICTS,
    WRONGLY_HELD,
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
if TYPE_CHECKING:
    VerdictName: TypeAlias = str
else:  # what a record that is read may say
    VerdictName = Literal[VERDICTS]
CLOSEST: Final = 2
"""How many of the entries that a judge relied on are kept with a fact."""
MemoryStage = Literal["storage", "summary", "retrieval"]
MEMORY_STAGES: Final[tuple[MemoryStage, ...]] = ("storage", "summary", "retrieval")


@dataclass(frozen=True, slots=True)
class StageResult:
    """The result of one stage for one fact (for the answer stage: for the question)."""

    outcome: Literal["passed", "failed", "ungraded", "not_reached"]
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
    """The score of an answer, between 0 and 1; None for a kind of answer without one. The verdict takes it over."""
    estimated: bool = False
    """Whether it is only an estimate, which confirms nothing."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Numbers for the measures of a suite."""


UNREACHED = StageResult("not_reached")
NEEDS_MODEL = StageResult("ungraded", "the offline judge cannot decide this: give --memfail-judge a model")


@dataclass(frozen=True, slots=True)
class Kept:
    """What a store kept of the conversation of a fact that it does not hold."""

    entries: tuple[int, ...] = ()
    """The places in the listing of the entries that came from the conversation."""
    texts: tuple[str, ...] = ()
    """The entries most like the fact, at most two."""
    is_likely: bool = False
    """Whether only words in common, or a lack of them, say so."""


@dataclass(frozen=True, slots=True)
class FactVerdict:
    """The verdict on one expected fact, with its three memory stages."""

    id: str
    verdict: VerdictName
    storage: StageResult
    summary: StageResult = UNREACHED
    retrieval: StageResult = UNREACHED
    text: str = ""
    source: str = ""
    """What was said."""
    closest: tuple[str, ...] = ()
    """The stored entries that the judge relied on, closest first."""
    ranks: tuple[int | None, ...] = ()
    """Ranks of these entries among those shown, from 1; None for one that was not shown."""
    conversation: str = ""
    """The id of the conversation that states the fact."""
    kept: Kept | None = None
    """What the store kept of that conversation, if the fact is not stored and this is known."""
    is_distractor: bool = False
    """Whether memory must not hold it."""

    @property
    def name(self) -> str:
        """The verdict, as a user's own test reads it."""
        return self.verdict

    @property
    def state(self) -> str:
        """The verdict as reports name it: `held` for a fact that passed every memory stage."""
        return FACT_HELD if self.verdict == CORRECT else self.verdict

    @property
    def vacuous(self) -> bool:
        """Whether neither the store nor the memories shown mention a retracted state."""
        return self.verdict == CORRECT and self.retrieval.vacuous

    @property
    def stages(self) -> tuple[StageResult, StageResult, StageResult]:
        """The results of storage, summary and retrieval."""
        return self.storage, self.summary, self.retrieval

    @property
    def decided_by(self) -> MemoryStage:
        """The stage that decided: the first that did not pass, else the last."""
        decided = zip(MEMORY_STAGES, self.stages, strict=True)
        return next((stage for stage, result in decided if result.outcome != "passed"), "retrieval")

    @property
    def deciding(self) -> StageResult:
        """The result of the stage that decided."""
        return next((result for result in self.stages if result.outcome != "passed"), self.retrieval)

    @property
    def confidence(self) -> float | None:
        """The judge's confidence: that of the stage that failed, or for a pass the least of all three."""
        deciding = self.stages if self.deciding.outcome == "passed" else (self.deciding,)
        known = [stage.confidence for stage in deciding if stage.confidence is not None]
        return min(known) if len(known) == len(deciding) else None

    @property
    def missing(self) -> tuple[str, ...]:
        """The details that the deciding stage did not find."""
        return self.deciding.missing

    @property
    def label(self) -> str | None:
        """The label that the deciding stage gave."""
        return self.deciding.label


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one question."""

    verdict: VerdictName
    facts: tuple[FactVerdict, ...] = ()
    answer: StageResult = UNREACHED
    vacuous: bool = False
    """Passed only because there was nothing to misuse: the facts of a question that must not use them, or a retracted state."""
    credited: bool | None = None
    """Whether the answer is right, even if a fact failed; False for a trivial pass, None if that was not judged."""
    label: str | None = None
    score: float | None = None
    """The score of the answer, even if a fact failed; None if it has none."""
    memory_held: bool | None = None
    """Whether all expected facts were stored, faithful and retrieved; None if the memory was not tested."""

    @property
    def name(self) -> str:
        """The verdict, as a user's own test reads it."""
        return self.verdict

    @property
    def is_estimated(self) -> bool:
        """Whether a judge only estimated a fact's stage, which counts towards no rate."""
        return any(stage.estimated for fact in self.facts for stage in fact.stages)

    @property
    def sought(self) -> tuple[set[int], set[int]]:
        """The places in the listing of the entries that hold the facts that were retrieved, and those that were not."""
        ended = {
            outcome: {i for fact in self.facts if fact.retrieval.outcome == outcome for i in fact.storage.entries}
            for outcome in ("passed", "failed")
        }
        return ended["passed"], ended["failed"]


def fact_verdict(
    fact_id: str, storage: StageResult, summary: StageResult = UNREACHED, retrieval: StageResult = UNREACHED
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
            return FactVerdict(fact_id, STAGE_FAILURE[stage], storage, summary, retrieval)
        if result.outcome != "passed":
            return FactVerdict(fact_id, UNGRADED, storage, summary, retrieval)
    return FactVerdict(fact_id, CORRECT, storage, summary, retrieval)


def question_verdict(
    facts: Sequence[FactVerdict],
    answer: StageResult,
    *,
    must_not_use: bool = False,
    credited: bool | None = None,
    passed_before: bool | None = None,
    keeps_answer: bool = False,
    is_answered: bool = True,
) -> Verdict:
    """Return the verdict of a question: the worst of its facts, then the answer stage.

    A question passes vacuously if it is only about retracted states and memory holds nothing about them: a
    system that deletes looks the same as one that never stored. A question whose answer must not use its facts passes vacuously if
    one was not stored or not retrieved: the model could not misuse what it did not see. A summary error stays one.

    `passed_before` says whether the same was answered right before something changed; None if that was not asked. A
    right answer after a wrong one is a trivial pass: it proves nothing. With `keeps_answer` the verdict has the result of
    the answer stage even where a fact failed. Facts that memory must not hold say nothing about whether it held the others.
    `is_answered` is false if a model had to answer, and none did.
    """
    name, label, vacuous = worst(fact.verdict for fact in facts), None, False
    if must_not_use and name in (NOT_STORED, NOT_RETRIEVED):
        name, kept, vacuous = CORRECT, UNREACHED, True
    elif facts and all(fact.vacuous for fact in facts):
        name, kept, vacuous = CORRECT, answer if keeps_answer else UNREACHED, True
    else:
        stages = (stage for fact in facts for stage in fact.stages)
        label = next((stage.label for stage in stages if stage.label and stage.outcome != "ungraded"), None)
        kept = answer if keeps_answer or name == CORRECT else UNREACHED
        if name == CORRECT:
            name = {"passed": CORRECT, "failed": STAGE_FAILURE["answer"]}.get(
                answer.outcome, UNGRADED if is_answered else NO_ANSWER
            )
        if name == CORRECT and passed_before is False:
            label, vacuous = TRIVIAL_PASS, True
        else:
            label = label or kept.label
    return Verdict(
        name,
        tuple(facts),
        kept if kept.score is None else replace(kept, score=None),
        vacuous,
        credited,
        label,
        answer.score,
        None if vacuous else _memory_held({fact.verdict for fact in facts if not fact.is_distractor}),
    )


def _memory_held(verdicts: Collection[str]) -> bool | None:
    """Return whether memory held the facts with these verdicts; None if that was not tested."""
    if not verdicts or (UNGRADED in verdicts and worst(verdicts) == UNGRADED):
        return None
    return worst(verdicts) == CORRECT


def described(found: FactVerdict, fact: Fact, memories: Sequence[Memory], shown: Sequence[Memory]) -> FactVerdict:
    """Add to a verdict what its fact says, the entries that the judge relied on, and their ranks among those shown."""
    stored = found.summary if found.summary.entries else found.storage
    closest = [memories[i] for i in stored.entries[:CLOSEST] if 0 <= i < len(memories)]
    return replace(
        found,
        text=fact.text,
        source=fact.source,
        closest=tuple(memory.text for memory in closest),
        ranks=tuple(rank_of(memory, shown) for memory in closest),
        conversation=fact.conversation_id,
    )


def distractor_verdict(
    fact: Fact,
    storage: StageResult,
    summary: StageResult,
    retrieval: StageResult = UNREACHED,
    *,
    proves_nothing: bool = False,
) -> FactVerdict:
    """Return the verdict of a fact that memory must not hold, from the results that an expected fact would get.

    A pass `proves_nothing` if the store never held it, or nothing at all. The metric `score` is 2 if the store holds all
    of it, 1 if it holds a part.
    """
    made = partial(FactVerdict, fact.id, is_distractor=True)
    if storage.outcome == "ungraded" or (
        storage.outcome == "passed" and summary.outcome == "ungraded" and fact.may_hold_part
    ):
        return made(UNGRADED, storage, summary)
    is_whole = summary.outcome == "passed"
    if storage.outcome == "passed" and (is_whole or not fact.may_hold_part):
        label = None if fact.may_hold_part else UNCONFIRMED
        last = summary if summary.outcome in ("passed", "failed") else storage
        reason = _because("held, and must not be", last.reason or storage.reason)
        score = {"score": 2.0 if is_whole else 1.0}
        return made(
            WRONGLY_HELD, replace(last, outcome="failed", reason=reason, missing=(), label=label, metrics=score)
        )
    lacking = storage if storage.outcome == "failed" else summary
    reason = _because("not held, as it should be", lacking.reason)
    resisted = StageResult("passed", reason, confidence=storage.confidence, vacuous=proves_nothing)
    if retrieval.outcome == "ungraded":
        return made(UNGRADED, resisted, resisted, retrieval)
    if retrieval.outcome == "passed":
        reason = _because("shown, and must not be", retrieval.reason)
        return made(WRONGLY_HELD, resisted, resisted, replace(retrieval, outcome="failed", reason=reason))
    return made(CORRECT, resisted, resisted, resisted)


def _because(what: str, reason: str) -> str:
    return f"{what}: {reason}" if reason else what
