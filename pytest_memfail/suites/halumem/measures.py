"""Compute HaluMem's main tables from finished questions (arXiv 2511.03506, section 5 and tables 3 and 4).

`(all)` divides by all judged questions. `(valid)` divides by those with a usable reply of the judge: a broken reply is an
error, which only `(all)` counts. Measures leave out estimates of the offline judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal

from pytest_memfail.core import (
    CORRECT,
    ERROR,
    NOT_RETRIEVED,
    NOT_STORED,
    SUMMARY_ERROR,
    WRONGLY_HELD,
    Measure,
    QuestionRecord,
    Score,
    counted,
)
from pytest_memfail.grading import f1
from pytest_memfail.suites.halumem.files import QUESTION_TYPES

NO_MODEL: Final = "needs a model as judge, MODEL or offline+MODEL; the offline judge only estimates recall"
EMPTY: Final = "nothing false is held, because nothing is held at all: read it beside R"
NO_ANSWER: Final = "needs models that answer and judge"
TYPES: Final = ("Persona", "Event", "Relationship")
FULL: Final = 2
"""The score of a point that is held completely."""
Part = Literal["update", "qa"]
PARTS: Final[tuple[Part, ...]] = ("update", "qa")
INTEGRITY: Final = {NOT_STORED: 0, WRONGLY_HELD: 1, SUMMARY_ERROR: 1, CORRECT: 2, NOT_RETRIEVED: 2}
"""The paper's score of a point, by its verdict: missing, partial, complete."""

Over = Literal["all", "valid"]
Outcome = Literal["correct", "hallucination", "omission", "other"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("correct", "hallucination", "omission")


def integrity(question: QuestionRecord) -> int | None:
    """Return 0, 1 or 2 for a point; None after an error.

    Raises `LookupError` if no model judged it.
    """
    if question.verdict == ERROR:
        return None
    (fact,) = question.facts
    stages = (fact.storage, fact.summary)
    if fact.verdict not in INTEGRITY or any(stage.estimated for stage in stages):
        raise LookupError(NO_MODEL)
    return INTEGRITY[fact.verdict]


def update(question: QuestionRecord) -> Outcome | None:
    """Return the outcome of an update, judged by the memories that a search for it returned; None if that is not known after an error.

    Raises `LookupError` if no model judged it.
    """
    if question.verdict == ERROR and not question.facts:
        return None
    (fact,) = question.facts
    shown = fact.retrieval
    if shown.estimated or shown.outcome not in ("passed", "failed"):
        raise LookupError(NO_MODEL)
    return "correct" if shown.outcome == "passed" else _failure(shown.label)


def answer(question: QuestionRecord) -> Outcome | None:
    """Return the outcome of an answer, even if a memory stage failed or could not be judged; None if that is not known after an error.

    Raises `LookupError` if it was not judged.
    """
    if question.answer.outcome not in ("passed", "failed"):
        if question.verdict == ERROR:
            return None
        raise LookupError(NO_ANSWER)
    return "correct" if question.answer.outcome == "passed" else _failure(question.answer.label)


def _failure(label: str | None) -> Outcome:
    return "hallucination" if label == "hallucination" else "other" if label == "other" else "omission"


def points_of(questions: Iterable[QuestionRecord], *, paper: bool) -> list[QuestionRecord]:
    """Return the questions that R counts: the points and, in the paper, updates whose search returned nothing."""
    return [q for q in questions if q.part == "points" or (paper and q.part == "update" and not _is_searched(q))]


def updates_of(questions: Iterable[QuestionRecord], *, paper: bool) -> list[QuestionRecord]:
    """Return the updates; in the paper, only those whose search returned something."""
    return [q for q in questions if q.part == "update" and (not paper or _is_searched(q))]


def _is_searched(question: QuestionRecord) -> bool:
    return (question.verdict == ERROR and not question.facts) or bool(question.retrieved)


def _mean(values: Sequence[float | None], over: Over, weights: Sequence[float] | None = None) -> Score:
    """Return the weighted mean of the values; None, an error, counts as 0 (`all`) or is left out (`valid`).

    Of errors alone there is no mean: nothing was judged.
    """
    errors = sum(value is None for value in values)
    if errors == len(values):
        return Score(None, errors, lacks=f"all {errors} ended with an error" if errors else "nothing to count")
    used = weights or [1.0] * len(values)
    weighing = [w for v, w in zip(values, used, strict=True) if over == "all" or v is not None]
    if not sum(weighing):
        return Score(None, len(weighing), lacks="nothing to count")
    total = sum(w * v for v, w in zip(values, used, strict=True) if v is not None)
    return Score(total / sum(weighing), len(weighing))


def _guarded(of: Callable[[Sequence[QuestionRecord]], Score]) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return a measure that has no value if a model did not judge one of its questions."""

    def measure(questions: Sequence[QuestionRecord]) -> Score:
        try:
            return of(questions)
        except LookupError as error:
            return Score(None, 0, lacks=str(error.args[0]))

    return measure


def recall(
    over: Over = "all", *, paper: bool = False, weighted: bool = False
) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return R, the share of points held completely; or weighted R, the mean of half a point's score, weighted by importance."""

    def of(questions: Sequence[QuestionRecord]) -> Score:
        points = points_of(questions, paper=paper)
        if not points:
            return Score(None, 0, lacks="no point")
        scores = [integrity(point) for point in points]
        if weighted:
            return _mean([None if s is None else s / 2 for s in scores], over, [point.weight for point in points])
        return _mean([None if s is None else float(s == FULL) for s in scores], over)

    return _guarded(of)


def resistance(over: Over = "all") -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return FMR, the share of distractors that the store does not hold at all."""

    def of(questions: Sequence[QuestionRecord]) -> Score:
        found = [question for question in questions if question.part == "distractors"]
        if not found:
            return Score(None, 0, lacks="no distractor")
        scores = [integrity(question) for question in found]
        score = _mean([None if s is None else float(s == FULL) for s in scores], over)
        return replace(score, note=EMPTY) if all(question.vacuous for question in found) else score

    return _guarded(of)


def accuracy(*, target: bool = False) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return the mean support of the added memories: of all, or (target precision) of those that concern the points.

    Each memory counts once. One reply judges all memories of a session, so a broken reply leaves nothing to count.
    """

    def of(questions: Sequence[QuestionRecord]) -> Score:
        found = [question for question in questions if question.part == "added"]
        if not found:
            return Score(None, 0, lacks="no session")
        if any(
            q.verdict != ERROR and (q.answer is None or q.answer.outcome not in ("passed", "failed")) for q in found
        ):
            raise LookupError(NO_MODEL)
        kept = [q.answer.metrics for q in found if q.answer is not None]
        name = "target" if target else "added"
        number = sum(metrics.get(name, 0.0) for metrics in kept)
        broken = sum(q.verdict == ERROR for q in found)
        if not number:
            lacks = "no memory was added" if not target else "no memory was added about what the points tell"
            if broken:
                lacks = f"{broken} of {counted(len(found), 'session')} ended with an error"
            return Score(None, 0, lacks=lacks)
        return Score(
            sum(metrics.get(f"{name}_support", 0.0) for metrics in kept) / 2 / number,
            int(number),
            note=f"of {number:,.0f}"
            + (f", without {counted(broken, 'session')} that ended with an error" if broken else ""),
        )

    return _guarded(of)


def f1_of(over: Over = "all", *, paper: bool = False) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return F1 of target precision and R."""

    def of(questions: Sequence[QuestionRecord]) -> Score:
        precision, found = accuracy(target=True)(questions), recall(over, paper=paper)(questions)
        if precision.value is None or found.value is None:
            return Score(None, found.n, lacks=found.lacks or precision.lacks)
        return Score(f1(precision.value, found.value), found.n)

    return of


def outcome(
    part: Part, name: Outcome, over: Over = "all", *, paper: bool = False
) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return C, H or O: the share of updates or answers that are correct, hallucinated or omitted."""

    def of(questions: Sequence[QuestionRecord]) -> Score:
        asked = updates_of(questions, paper=paper) if part == "update" else [q for q in questions if q.part == "qa"]
        if not asked:
            return Score(None, 0, lacks=f"no {'update' if part == 'update' else 'question'}")
        found = [update(q) if part == "update" else answer(q) for q in asked]
        return _mean([None if one is None else float(one == name) for one in found], over)

    return _guarded(of)


def answered(kind: str) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return the share of questions of one type that are answered correctly (figure 5)."""

    def of(questions: Sequence[QuestionRecord]) -> Score:
        asked = [q for q in questions if q.part == "qa" and q.stratum == kind]
        score = outcome("qa", "correct")(asked)
        return replace(score, note=f"of {score.n}") if score.value is not None else score

    return of


def type_accuracy(
    kind: str, *, distractors: bool = False, paper: bool = False
) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return the share of points and updates of one type that are right.

    The paper's text leaves distractors out; its code counts a held distractor as right.
    """

    def of(questions: Sequence[QuestionRecord]) -> Score:
        mine = [q for q in questions if q.stratum == kind]
        right = [
            None if (score := integrity(q)) is None else float(score == FULL) for q in points_of(mine, paper=paper)
        ]
        right += [
            None if (one := update(q)) is None else float(one == "correct") for q in updates_of(mine, paper=paper)
        ]
        if distractors:
            right += [_is_held(q) for q in mine if q.part == "distractors"]
        return _mean(right, "all")

    return _guarded(of)


def _is_held(distractor: QuestionRecord) -> float | None:
    """Return whether all of a distractor is held; None after an error."""
    if integrity(distractor) is None:
        return None
    return float(distractor.facts[0].storage.metrics.get("score", 0.0) == FULL)


def measures(*, paper: bool) -> tuple[Measure, ...]:
    """Return all measures, for all updates, or for those that the published code counts (`paper`).

    The title of a measure of points says what they are judged by: the whole store, or under `paper` what their session added.
    """

    def percent(name: str, title: str, of: Callable[[Sequence[QuestionRecord]], Score], line: int) -> Measure:
        return Measure(name, title, of, line=line, unit="percent", with_errors=True)

    def outcomes(over: Over, end: str, line: int) -> tuple[Measure, ...]:
        return tuple(
            percent(
                f"{part}_{name}{end}",
                f"{part}: correct" if name == "correct" else name,
                outcome(part, name, over, paper=paper),
                line,
            )
            for part in PARTS
            for name in OUTCOMES
        )

    held = "additions" if paper else "store"
    return (
        percent("recall", f"extraction: R ({held})", recall(paper=paper), 1),
        percent("weighted_recall", f"weighted R ({held})", recall(paper=paper, weighted=True), 1),
        percent("precision", "precision", accuracy(target=True), 1),
        percent("accuracy", "accuracy", accuracy(), 1),
        percent("fmr", f"FMR ({held})", resistance(), 1),
        percent("f1", "F1", f1_of(paper=paper), 1),
        *outcomes("all", "", 2),
        percent("recall_valid", f"without broken replies (valid): R ({held})", recall("valid", paper=paper), 3),
        percent("weighted_recall_valid", f"weighted R ({held})", recall("valid", paper=paper, weighted=True), 3),
        percent("fmr_valid", f"FMR ({held})", resistance("valid"), 3),
        percent("f1_valid", "F1", f1_of("valid", paper=paper), 3),
        *outcomes("valid", "_valid", 4),
        percent("update_other", "update: other", outcome("update", "other", paper=paper), 5),
        percent("update_other_valid", "(valid)", outcome("update", "other", "valid", paper=paper), 5),
        *(percent(f"type_{t.lower()}", _title(t, ""), type_accuracy(t, paper=paper), 6) for t in TYPES),
        *(
            percent(
                f"type_{t.lower()}_distractors",
                _title(t, ", distractors as points"),
                type_accuracy(t, distractors=True, paper=paper),
                7,
            )
            for t in TYPES
        ),
        *(
            percent(f"qa_{re.sub('[^a-z]+', '_', kind.lower())}", f"qa, {kind}: correct", answered(kind), line)
            for line, kind in enumerate(QUESTION_TYPES, 8)
        ),
    )


def _title(name: str, more: str) -> str:
    return f"by type{more}: {name}" if name == TYPES[0] else name


MEASURES: Final = measures(paper=False)
PAPER_MEASURES: Final = measures(paper=True)
