"""Questions as the report reads them, made by the record's own functions."""

from __future__ import annotations

from pytest_memfail.core import (
    Fact,
    FactVerdict,
    Listing,
    Memory,
    Question,
    QuestionRecord,
    Reply,
    StageResult,
    Trace,
    described,
    distractor_verdict,
    fact_verdict,
    question_verdict,
)
from pytest_memfail.records import question_record

PASSED = StageResult("passed")
WRONG_ANSWER = StageResult("failed", "the answer contradicts the fact")

STAGES = {
    "correct": (PASSED, PASSED, PASSED),
    "wrongly_held": (PASSED, StageResult("passed", "{reason}", (0,), ("bread",), ("{lost}",))),
    "not_stored": (StageResult("failed", "{reason}", (0,), ("bread",), ("{lost}",)),),
    "summary_error": (PASSED, StageResult("failed", "{reason}", (0,), ("bread",), ("{lost}",))),
    "not_retrieved": (
        PASSED,
        StageResult("passed", entries=(0,)),
        StageResult("failed", "{reason}", (), (), ("{lost}",)),
    ),
}


def fill(stage: StageResult, reason: str, lost: str) -> StageResult:
    """The stage with its texts."""
    missing = tuple(lost for _ in stage.missing)
    return StageResult(stage.outcome, reason if stage.reason else "", stage.entries, stage.found, missing)


def verdict_of(verdict: str, name: str, *stages: StageResult) -> FactVerdict:
    """The verdict of an expected fact, or of one that memory must not hold."""
    if verdict == "wrongly_held":
        return distractor_verdict(Fact(name, "fact", "", "", "c-1", is_distractor=True, may_hold_part=True), *stages)
    return fact_verdict(name, *stages)


def failed(
    *verdicts: str,
    text: str = "Does Ada bake today?",
    gold: str = "Only when it rains.",
    source: str = "Ada bakes bread only when it rains.",
    stored: str = "Ada bakes bread.",
    reason: str = "the condition is gone",
    lost: str = "only when it rains",
    reply: str | None = None,
    shown: int = 2,
    answer: StageResult = WRONG_ANSWER,
    file: str = "rows.csv",
) -> QuestionRecord:
    """A question whose facts have these verdicts."""
    ids = [f"e-{i}" for i in range(len(verdicts))]
    memories = tuple(Memory(stored, f"m-{i}", 1.5 - i) for i in range(max(shown, 1)))
    question = Question("q-1", "t", text, text, (gold,), tuple(ids), "open", file=file, line=7)
    facts = [
        described(
            verdict_of(verdict, name, *(fill(stage, reason, lost) for stage in STAGES[verdict])),
            Fact(name, "fact", source, source, "c-1"),
            memories,
            memories[:shown],
        )
        for name, verdict in zip(ids, verdicts, strict=True)
    ]
    return question_record(
        "memfail/t::q-1",
        "s",
        question,
        5,
        trace=Trace(question, 5, memories[:shown], Reply(reply) if reply is not None else None),
        verdict=question_verdict(facts, answer),
        listing=Listing("s", memories),
    )
