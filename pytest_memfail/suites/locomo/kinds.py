"""Criteria by which a model judges LoCoMo's answers, strictly and leniently, and the answers to what was never said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from pydantic import BaseModel, ConfigDict

from pytest_memfail.core import AnswerKind, AskModel, Fact, Question, StageResult, one_line

STRICT: Final = "strict"
LENIENT: Final = "lenient"
TRAP: Final = "trap_answer"
CRITERIA: Final = """\
Compare the reply with the right answer to what was asked. Decide twice.
"lenient": true if the reply is about the same thing as the right answer and takes the same direction, even if it is vague, \
names only a part of several things, or gives a longer period that the right time lies in. false if it contradicts the right \
answer, answers something else, or says that it is not known.
"strict": true if a reader of the reply alone would know the right answer: each person, thing, place, number and reason that \
it consists of is there, in any wording, with no wrong one beside it. A time is as exact as in the right answer; another form \
of it counts, such as a date for "the Friday before 9 June". Further true detail is no fault. false if the reply would as well \
fit another answer to the same question. What is strictly right is leniently right too.
{"reason": "one short sentence", "lenient": true or false, "strict": true or false}"""


class Grades(BaseModel):
    """The model's reply."""

    model_config = ConfigDict(extra="forbid", strict=True)
    reason: str
    lenient: bool
    strict: bool


def _problem(reply: Grades) -> str | None:
    return '"strict" is true, but "lenient" is false' if reply.strict and not reply.lenient else None


def grade_empty(question: Question, _: Sequence[Fact], reply: str) -> StageResult | None:
    """Fail an empty reply, and leave all others to the model."""
    if reply:
        return None
    metrics = {STRICT: 0.0, LENIENT: 0.0}
    return StageResult("failed", "the reply gives no answer", missing=question.gold, confidence=1.0, metrics=metrics)


async def ask_both(deciding: str, ask: AskModel, question: Question, _: Sequence[Fact], reply: str) -> StageResult:
    """Grade a reply by both criteria in one call; that named `deciding` gives the outcome, and measures read both."""
    material = {"asked": [question.text], "right_answer": question.gold, "reply": [reply]}
    found = await ask(CRITERIA, material, Grades, _problem)
    metrics = {STRICT: float(found.strict), LENIENT: float(found.lenient)}
    is_right = bool(metrics[deciding])
    return StageResult(
        "passed" if is_right else "failed",
        f"{deciding}: {one_line(found.reason)}",
        missing=() if is_right else question.gold,
        metrics=metrics,
    )


ANSWERS: Final[dict[str, AnswerKind]] = {
    **{
        f"locomo_{name}": AnswerKind(right="", grade=grade_empty, ask=partial(ask_both, name))
        for name in (STRICT, LENIENT)
    },
    "locomo_never_said": AnswerKind(
        right="The reply says that this was not said, is not known, or is not so of the person asked about. A reply that gives an "
        f'answer as if it had been said is wrong; it is a "{TRAP}" if it says what "trap" says, in any wording.',
        labels=(TRAP,),
        gold=("gold", "trap"),
    ),
}
