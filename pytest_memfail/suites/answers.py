"""Count answers apart from the memory stages, alike in all suites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_memfail.core import CORRECT, ERROR, LEFT_OPEN, MEMORY_FAILURES, QuestionRecord, Score

NO_ANSWER: Final = "needs a model that answers"
NO_JUDGE: Final = "needs models that answer and judge"


def is_right(question: QuestionRecord) -> bool | None:
    """Return whether an answer is right, even if a fact failed; None if it was not graded."""
    if question.credited is not None:
        return question.credited
    if question.answer.outcome in ("passed", "failed"):
        return question.answer.outcome == "passed"
    settled = {CORRECT: True, **dict.fromkeys(LEFT_OPEN)}
    return settled.get(question.verdict, None if question.verdict in MEMORY_FAILURES else False)


def known_anyway(questions: Sequence[QuestionRecord]) -> Score:
    """Return how many answers are right although the memories shown do not contain all facts."""
    graded = [q for q in questions if q.credited is not None and q.facts and q.verdict != ERROR]
    if not graded:
        return Score(None, 0, lacks=NO_ANSWER)
    return Score(float(sum(q.credited is True and q.memory_held is False for q in graded)), len(graded))
