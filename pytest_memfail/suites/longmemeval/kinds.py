"""Criteria by which a model grades LongMemEval's answers, by the type of the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from pytest_memfail.core import AnswerKind, AskModel, Fact, GradeWithModel, Question, StageResult
from pytest_memfail.suites.longmemeval.files import Row

PAPER: Final = "_paper"
PLAIN: Final = "lme_plain"
ROLES: Final = {
    PLAIN: "The reply gives the right answer, in any words, whole: a part of it is not enough. Steps that lead to it "
    "are no fault, nor is more than was asked, unless it contradicts.",
    "lme_temporal": "The reply gives the right answer, in any words, whole. A number of days, weeks, months or years may be "
    "off by one; a date may not.",
    "lme_update": "The reply gives the present value, in any words. An earlier value beside it is no fault as long as the reply "
    "makes the present one its answer.",
    "lme_preference": "The right answer describes what this user would like. The reply is right if it recalls what the user said "
    "of themselves and fits it; it need not have every point of the description. Advice that would do for anybody is wrong.",
    "lme_abstention": "What is asked was never said, and the right answer explains why. The reply is right if it "
    "recognises that this is not known, whatever else it tells of what is. A reply that answers is wrong.",
}
"""Kind of a question to the criteria of its answer."""
BY_TYPE: Final = {
    "temporal-reasoning": "lme_temporal",
    "knowledge-update": "lme_update",
    "single-session-preference": "lme_preference",
}
_YES: Final = """\
Grade a reply to a question by the right answer. {}
{{"verdict": "yes or no: is the reply right?"}}"""


def kind_of(row: Row, *, is_paper: bool = False) -> str:
    """Return the kind of a question: by its type, or that it cannot be answered."""
    kind = "lme_abstention" if row.is_abstention else BY_TYPE.get(row.question_type, PLAIN)
    return kind + PAPER if is_paper else kind


def is_abstention(kind: str) -> bool:
    """Return whether questions of a kind cannot be answered."""
    return kind.removesuffix(PAPER) == "lme_abstention"


class YesOrNo(BaseModel):
    """A grade as the published code reads it: right if it has a "yes" anywhere."""

    model_config = ConfigDict(extra="ignore")
    verdict: str


def _by_yes(criteria: str) -> GradeWithModel:
    async def ask(ask_model: AskModel, question: Question, facts: Sequence[Fact], reply: str) -> StageResult:  # noqa: ARG001
        material = {"asked": [question.text], "right_answer": list(question.gold), "reply": [reply]}
        said = (await ask_model(_YES.format(criteria), material, YesOrNo)).verdict
        is_right = "yes" in said.casefold()
        return StageResult("passed" if is_right else "failed", f"the model says {said[:80]!r}")

    return ask


ANSWERS: Final[dict[str, AnswerKind]] = {
    **{name: AnswerKind(right=right, gold=("gold",)) for name, right in ROLES.items()},
    **{name + PAPER: AnswerKind(right=right, ask=_by_yes(right), gold=("gold",)) for name, right in ROLES.items()},
}
