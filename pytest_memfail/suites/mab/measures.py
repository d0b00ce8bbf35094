"""Compute MemoryAgentBench's main table from finished questions (arXiv 2507.05257, table 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pytest_memfail.core import ERROR, Measure, QuestionRecord, Score, counted
from pytest_memfail.suites.answers import NO_ANSWER, NO_JUDGE, is_right, known_anyway
from pytest_memfail.suites.mab.files import SIZES

NO_QUESTION: Final = "no question of"
CLASSES: Final = ("banking77", "clinic150", "nlu", "trec_coarse", "trec_fine")
CATEGORIES: Final[dict[str, tuple[str, ...]]] = {
    "retrieval": ("ruler_qa1", "ruler_qa2", "longmemeval", "eventqa"),
    "learning": ("classification", "recommendation"),
    "understanding": ("summary", "detective"),
    "forgetting": ("sh", "mh"),
}
"""Category to the columns of the paper's table whose mean it is."""
ASKED: Final = {
    "ruler_qa1": 100,
    "ruler_qa2": 100,
    "longmemeval": 300,
    "eventqa": 500,
    "classification": 500,
    "recommendation": 200,
    "summary": 100,
    "detective": 71,
    "sh": 100,
    "mh": 100,
}
"""The number of questions of each column in the paper (table 5)."""
SCORED: Final = ("recommendation", "summary")
"""Columns whose answers have a score from 0 to 1."""
BY_MODEL: Final = ("longmemeval", "summary")
"""Columns whose answers only a model can judge."""
LONGEST: Final = {
    "sh": [f"sh_{size}" for size in reversed(SIZES)],
    "mh": [f"mh_{size}" for size in reversed(SIZES)],
    "eventqa": ["eventqa_full", "eventqa_131072", "eventqa_65536"],
}
"""Columns with contexts of several lengths: their parts, longest first. Only the longest part of a run counts."""


def mean(rates: Iterable[float]) -> float:
    """Return the unweighted mean."""
    found = list(rates)
    return sum(found) / len(found)


def _rate(asked: Sequence[QuestionRecord], name: str) -> Score:
    """Return the mean score of the answers; an answer without a score counts as 1 if right, else 0.

    There is none if a question ended with an error: it is no wrong answer, and a mean of the others would look whole.
    """
    if not asked:
        return Score(None, 0, lacks=f"{NO_QUESTION} {name}")
    ended = [question for question in asked if question.verdict != ERROR]
    graded = [question.score if name in SCORED else is_right(question) for question in ended]
    known = [float(one) for one in graded if one is not None]
    if len(known) < len(ended):
        return Score(None, len(asked), lacks=NO_JUDGE if name in BY_MODEL else NO_ANSWER)
    if errors := len(asked) - len(ended):
        lacks = f"{name}: {errors} of {counted(len(asked), 'question')} ended with an error"
        return Score(None, len(asked), lacks=lacks)
    return Score(mean(known), len(asked))


def column(name: str) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return a measure of one column of the table."""

    def of(questions: Sequence[QuestionRecord]) -> Score:
        if name == "classification":
            return _mean([_rate(_of(questions, part), part) for part in CLASSES])
        parts = LONGEST.get(name, [name])
        present = {question.part for question in questions}
        part = next((part for part in parts if part in present), name)
        return _rate(_of(questions, part), name)

    return of


def category(name: str) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return a measure of one category, the mean of its columns."""
    return lambda questions: _mean([column(each)(questions) for each in CATEGORIES[name]])


def overall(questions: Sequence[QuestionRecord]) -> Score:
    """Return the mean of the four categories; none unless all of the paper's questions were asked."""
    found = _mean([category(name)(questions) for name in CATEGORIES])
    few = [
        f"{name} {n} of {ASKED[name]}"
        for names in CATEGORIES.values()
        for name in names
        if 0 < (n := column(name)(questions).n) < ASKED[name]
    ]
    if not few:
        return found
    lacks = "; ".join([*filter(None, [found.lacks]), f"not all of the paper's questions: {', '.join(few)}"])
    return Score(None, found.n, lacks=lacks)


def _of(questions: Iterable[QuestionRecord], part: str) -> list[QuestionRecord]:
    return [question for question in questions if question.part == part]


def _mean(scores: Sequence[Score]) -> Score:
    n = sum(score.n for score in scores)
    lacks = [each for score in scores if score.lacks for each in score.lacks.split("; ")]
    if lacks:
        others = [each for each in dict.fromkeys(lacks) if not each.startswith(NO_QUESTION)]
        missing = [each.removeprefix(f"{NO_QUESTION} ") for each in lacks if each.startswith(NO_QUESTION)]
        if missing:
            others.append(f"{NO_QUESTION} {', '.join(missing)}")
        return Score(None, n, lacks="; ".join(others))
    return Score(mean(score.value for score in scores if score.value is not None), n)


def _percent(name: str, title: str, of: Callable[[Sequence[QuestionRecord]], Score], line: int = 1) -> Measure:
    """Return a measure that sees errors too: they belong to the longest part, and leave a mean without a value."""
    return Measure(name, title, of, line=line, unit="percent", with_errors=True)


def _line(category_name: str, line: int) -> tuple[Measure, ...]:
    """Return the measures of a category: its columns, and then their mean."""
    return (
        *(_percent(name, name, column(name), line) for name in CATEGORIES[category_name]),
        _percent(category_name, f"{category_name} (mean)", category(category_name), line),
    )


MEASURES: Final[tuple[Measure, ...]] = (
    _percent("substring_em_sh", "substring_em sh", column("sh")),
    _percent("substring_em_mh", "mh", column("mh")),
    _percent("forgetting", "mean", category("forgetting")),
    Measure("known_anyway", "right, fact not shown", known_anyway, unit="count"),
    _percent("overall", "overall (mean of 4 categories)", overall, 2),
    *_line("retrieval", 3),
    *_line("learning", 4),
    *_line("understanding", 5),
)
