"""Count answers apart from the memory stages, alike in all suites."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from pytest_memfail.core import (
    CORRECT,
    ERROR,
    LEFT_OPEN,
    MEMORY_FAILURES,
    NOT_STORED,
    SUMMARY_ERROR,
    FactVerdict,
    QuestionRecord,
    Score,
)

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


def right_although(is_so: Callable[[QuestionRecord], bool], questions: Sequence[QuestionRecord]) -> Score:
    """Return how many answers are right although something is so of their questions."""
    graded = [q for q in questions if q.credited is not None and q.facts and q.verdict != ERROR]
    if not graded:
        return Score(None, 0, lacks=NO_ANSWER)
    return Score(float(sum(q.credited is True and is_so(q) for q in graded)), len(graded))


def known_anyway(questions: Sequence[QuestionRecord]) -> Score:
    """Return how many answers are right although the memories shown do not contain all facts."""
    return right_although(lacks_a_fact, questions)


def lacks_a_fact(question: QuestionRecord) -> bool:
    """Return whether the memories shown lack an expected fact.

    They may hold one that failed in the store: a damaged fact, or one whose date was lost, can be among them.
    """
    shown = set(question.places)
    return question.memory_held is False and any(_is_lacking(fact, shown) for fact in question.facts)


def _is_lacking(fact: FactVerdict, shown: Collection[int]) -> bool:
    """Return whether a fact is not in the store, was not found among the memories shown, or is damaged in entries that were not."""
    if fact.is_distractor or fact.retrieval.outcome == "passed":
        return False
    stored = {*fact.storage.entries, *fact.summary.entries}
    is_hidden = fact.verdict == SUMMARY_ERROR and bool(stored) and stored.isdisjoint(shown)
    return fact.verdict == NOT_STORED or fact.retrieval.outcome == "failed" or is_hidden
