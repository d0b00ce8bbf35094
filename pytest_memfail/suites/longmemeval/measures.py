"""Compute LongMemEval's figures from finished questions: answers, and retrieval by turn and by session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pytest_memfail.core import ERROR, Measure, QuestionRecord, Score
from pytest_memfail.suites.answers import NO_ANSWER, NO_JUDGE, is_right, known_anyway
from pytest_memfail.suites.longmemeval.files import TYPES
from pytest_memfail.suites.longmemeval.kinds import is_abstention
from pytest_memfail.suites.turns import Recall, Unit, recall

Choose = Callable[[QuestionRecord], bool]


def accuracy(of: Choose = lambda _: True, name: str = "question") -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return the share of right answers, whatever became of the facts."""

    def measure(questions: Sequence[QuestionRecord]) -> Score:
        asked = [question for question in questions if of(question) and question.verdict != ERROR]
        if not asked:
            return Score(None, 0, lacks=f"no {name} has a result")
        graded = [is_right(question) for question in asked]
        if None in graded:
            lacks = NO_ANSWER if all(question.reply is None for question in asked) else NO_JUDGE
            return Score(None, len(asked), lacks=lacks)
        return Score(graded.count(True) / len(graded), len(graded), note=f"of {len(graded)}")

    return measure


def mean_of_types(questions: Sequence[QuestionRecord]) -> Score:
    """Return the unweighted mean of the accuracies of the types that were asked."""
    found = [score for name in TYPES if (score := accuracy(_is_of(name))(questions)).n]
    if not found:
        return Score(None, 0, lacks="no question")
    values = [score.value for score in found if score.value is not None]
    if len(values) < len(found):
        return Score(None, len(questions), lacks=next(score.lacks for score in found if score.value is None))
    note = f"of {len(values)} types" if len(values) < len(TYPES) else None
    return Score(sum(values) / len(values), sum(score.n for score in found), note=note)


def _is_of(kind: str) -> Choose:
    part = kind.replace("-", "_")
    return lambda question: question.part == part


def _recalls(which: Recall, unit: Unit, line: int) -> tuple[Measure, ...]:
    """Return a measure over all questions with evidence, and over the turns of the user alone, as published."""
    name = "ndcg_any" if which == "ndcg" else f"recall_{which}"
    ending = "" if unit == "turn" else "_session"
    title = f"{unit}: {name}@k" if which == "any" else f"{name}@k"
    return (
        Measure(f"{name}{ending}", title, recall(which, unit), line=line),
        Measure(f"{name}{ending}_user", f"user's {title}", recall(which, unit, speaker="user"), line=line + 2),
    )


KINDS: Final[tuple[Recall, ...]] = ("any", "all", "ndcg")
MEASURES: Final = (
    Measure("accuracy", "accuracy", accuracy(), unit="percent"),
    Measure("mean_of_types", "mean of types", mean_of_types, unit="percent"),
    Measure(
        "abstention",
        "abstention",
        accuracy(lambda question: is_abstention(question.kind), "question that cannot be answered"),
        unit="percent",
    ),
    Measure("known_anyway", "right without the facts", known_anyway, unit="count"),
    *(
        Measure(
            f"accuracy_{name.replace('-', '_')}",
            f"accuracy, {name}" if name == TYPES[0] else name,
            accuracy(_is_of(name), f"question of {name}"),
            line=2,
            unit="percent",
        )
        for name in TYPES
    ),
    *(measure for which in KINDS for measure in _recalls(which, "turn", 3)),
    *(measure for which in KINDS for measure in _recalls(which, "session", 4)),
)
