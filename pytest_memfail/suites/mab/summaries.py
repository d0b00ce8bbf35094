"""Score a summary: its fluency, how many key points it has, and how much of it the reference supports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from pytest_memfail.core import AskModel, Fact, Question, StageResult
from pytest_memfail.grading import f1
from pytest_memfail.texts import sentences

PASSES_AT: Final = 0.5
"""The minimum score of a summary that counts as right in the table; the measure uses the score itself."""
FLUENT: Final = """\
Does the summary read as one piece of finished prose? false if it breaks off, repeats a sentence over and over, is a list \
of fragments, or has stretches that are no language.
{"reason": "one short sentence", "fluent": true or false}"""
POINTS: Final = """\
Which of the key points does the summary convey? A point counts if a reader of the summary alone would know it, be it in \
other words or spread over sentences. A point of which an essential part is missing or stated otherwise does not count.
{"reason": "one short sentence", "numbers": [the numbers of the key points conveyed]}"""
SUPPORTED: Final = """\
Which of the sentences of the summary does the reference bear out? A sentence counts if all that it claims is in the \
reference or follows from it. A sentence with one claim that the reference contradicts or does not have does not count, \
and neither does one that claims nothing.
{"reason": "one short sentence", "numbers": [the numbers of the sentences borne out]}"""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    reason: str


class Fluency(_Reply):
    """Whether a summary reads well."""

    fluent: bool


class Numbers(_Reply):
    """The texts to which something applies."""

    numbers: list[int]


def grade_empty(question: Question, facts: Sequence[Fact], reply: str) -> StageResult | None:  # noqa: ARG001
    """Fail an empty summary, and leave all others to the model."""
    if reply:
        return None
    return StageResult("failed", "the reply gives no answer", confidence=1.0, score=0.0)


async def ask_summary(ask_model: AskModel, question: Question, facts: Sequence[Fact], reply: str) -> StageResult:  # noqa: ARG001
    """Return fluency times F1 of precision and recall, by three calls (arXiv 2507.05257, appendix A.3.2)."""
    points = question.keys.get("points", ())
    if not points:
        return StageResult("ungraded", "the row names no key points to look for")
    said = sentences(reply)
    fluency, conveyed, supported = await asyncio.gather(
        ask_model(FLUENT, {"summary": [reply]}, Fluency),
        ask_model(POINTS, {"key_points": points, "summary": [reply]}, Numbers, _within(len(points))),
        ask_model(SUPPORTED, {"reference": question.gold[:1], "sentences": said}, Numbers, _within(len(said))),
    )
    recall, precision = len(set(conveyed.numbers)) / len(points), len(set(supported.numbers)) / len(said)
    score = f1(precision, recall) if fluency.fluent else 0.0
    lost = [point for number, point in enumerate(points, 1) if number not in conveyed.numbers]
    reason = (
        f"F1 {score:.2f}: {len(points) - len(lost)} of {len(points)} key points, {precision:.0%} of its sentences supported"
        + ("" if fluency.fluent else ", and it is not fluent")
    )
    return StageResult("passed" if score >= PASSES_AT else "failed", reason, missing=tuple(lost), score=score)


def _within(count: int) -> Callable[[Numbers], str | None]:
    """Return a check that a reply names only numbers that it was shown."""

    def check(reply: Numbers) -> str | None:
        unknown = [number for number in reply.numbers if not 1 <= number <= count]
        return f'"numbers" has {unknown[:5]}, but the texts are numbered 1 to {count}' if unknown else None

    return check
