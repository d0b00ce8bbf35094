"""Compute the measures of MEME's paper from finished questions (arXiv 2605.12477, sections 4 and 4.1)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal, get_args

from pytest_memfail.core import (
    CORRECT,
    ERROR,
    LEFT_OPEN,
    LOST_LATER,
    NOT_STORED,
    SUMMARY_ERROR,
    TRIVIAL_PASS,
    UNGRADED,
    Measure,
    QuestionRecord,
    Score,
    answer_in,
)
from pytest_memfail.grading import longest_run
from pytest_memfail.suites.answers import is_right, right_although
from pytest_memfail.suites.meme.plan import steps_of

PARTS: Final = ("recall", "aggregation", "tracking", "deletion", "cascade", "absence")
"""The parts of the score; the questions before the change have a row of their own."""
PAIRED: Final = ("deletion", "cascade", "absence")
Z: Final = 1.959964
NO_ANSWER: Final = "needs models that answer and judge"

Test = Callable[[QuestionRecord], bool]


def after(questions: Iterable[QuestionRecord]) -> list[QuestionRecord]:
    """Return the questions asked after the change that did not end with an error."""
    return [q for q in questions if q.part in PARTS and q.verdict != ERROR]


def is_encoded(question: QuestionRecord) -> bool:
    """Return whether some version of each fact was stored at some time.

    The order of a history is nothing that a conversation states: it was stored if each value was.
    """
    stated = [fact for fact in question.facts if not fact.id.endswith("-order")]
    return all(fact.verdict != NOT_STORED or fact.label == LOST_LATER for fact in stated)


def is_maintained(question: QuestionRecord) -> bool:
    """Return whether each fact was in the store, with every needed detail, when the question was asked."""
    return all(fact.verdict not in (NOT_STORED, SUMMARY_ERROR) for fact in question.facts)


def is_retrieved(question: QuestionRecord) -> bool:
    """Return whether each fact was among the memories shown."""
    return all(fact.verdict == CORRECT for fact in question.facts)


def is_through(question: QuestionRecord) -> bool:
    """Return whether every stage passed, the answer too, and this proves something."""
    return question.verdict == CORRECT and not question.vacuous


def staged(questions: Iterable[QuestionRecord]) -> list[QuestionRecord]:
    """Return the questions after the change that the four shares count.

    Questions whose facts were not judged do not count. Nor does a question for which the memory shows nothing, because that says
    nothing about a stage.
    """
    return [
        q
        for q in after(questions)
        if q.facts
        and not any(fact.verdict in (UNGRADED, ERROR) for fact in q.facts)
        and (not q.vacuous or q.label == TRIVIAL_PASS)
    ]


def _stage(test: Test) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return a measure of the share that passes."""

    def of(questions: Sequence[QuestionRecord]) -> Score:
        known = staged(questions)
        if not known:
            return Score(None, 0, lacks="no fact was judged")
        return Score(sum(map(test, known)) / len(known), len(known))

    return of


def encoded(questions: Sequence[QuestionRecord]) -> Score:
    """Return the share whose facts were all stored at some time, with the number of questions where the shares leave some out."""
    found = _stage(is_encoded)(questions)
    return replace(found, note=f"of {found.n}") if 0 < found.n < len(after(questions)) else found


def answered(questions: Sequence[QuestionRecord]) -> Score:
    """Return the share that passed all stages and was then answered right."""
    known = staged(questions)
    if open_ := sum(q.verdict in LEFT_OPEN for q in known):
        return Score(None, len(known), lacks=_open(open_, len(known)))
    return _stage(is_through)(known)


def score(questions: Sequence[QuestionRecord]) -> Score:
    """Return the plain mean of the six parts' rates of right answers, with a 95 % interval.

    An answer counts whatever the memory stages say, unless it is a trivial pass. The interval is a normal approximation;
    its variance is that of the sums over stores of each question's deviation from its part's rate, because questions of
    one store are lost and found together.
    """
    asked = after(questions)
    groups = {part: [q for q in asked if q.part == part] for part in PARTS}
    if missing := [part for part in PARTS if not groups[part]]:
        return Score(None, len(asked), lacks=f"no question of {', '.join(missing)}")
    if open_ := sum(is_right(q) is None for q in asked):
        return Score(None, len(asked), lacks=_open(open_, len(asked)))
    before = _before(questions)
    counts = {id(q): _pairing(q, before(q)) == "real" for q in asked}
    rates = {part: sum(counts[id(q)] for q in group) / len(group) for part, group in groups.items()}
    value = macro_mean(list(rates.values()))
    shifts: dict[str, float] = defaultdict(float)
    for part, group in groups.items():
        for question in group:
            shifts[question.store] += (counts[id(question)] - rates[part]) / len(group) / len(PARTS)
    stores = len(shifts)
    variance = sum(shift**2 for shift in shifts.values()) * stores / (stores - 1) if stores > 1 else 0.0
    if variance < 1e-12:
        return Score(value, len(asked))
    half = Z * variance**0.5
    return Score(value, len(asked), max(0.0, value - half), min(1.0, value + half))


def macro_mean(rates: Sequence[float]) -> float:
    """Return the unweighted mean of the parts' rates."""
    return sum(rates) / len(rates)


def _open(number: int, asked: int) -> str:
    """Return that some answers were not judged."""
    return f"{NO_ANSWER}: {number} of {asked} have none"


# -- what was known before ---------------------------------------------------------------------------------------------


Pairing = Literal["real", "trivial", "knew_but_failed", "never_knew"]


def paired(part: str, wanted: Pairing) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return a measure that counts the questions of a part by whether the memory knew the entity before the change.

    Right after and known before is real; right after but unknown before is trivial. The other two are wrong after. These two cannot
    be told apart if the question before the change is not among the finished ones; whether a right answer counts is known anyway.
    """

    def of(questions: Sequence[QuestionRecord]) -> Score:
        before = _before(questions)
        asked = [q for q in after(questions) if q.part == part]
        pairs = [(q, before(q)) for q in asked]
        open_ = sum(_raw(q) is None or (old is not None and _knew(old) is None) for q, old in pairs)
        if not asked or open_:
            return Score(None, len(asked), lacks=_open(open_, len(asked)) if asked else "no question")
        unknown = sum(not _raw(q) and old is None for q, old in pairs)
        if unknown and wanted in ("knew_but_failed", "never_knew"):
            return Score(None, len(asked), lacks=f"{unknown} of {len(asked)} were not asked before the change")
        return Score(float(sum(_pairing(q, old) == wanted for q, old in pairs)), len(asked))

    return of


def _before(questions: Iterable[QuestionRecord]) -> Callable[[QuestionRecord], QuestionRecord | None]:
    """Return a function that finds the question about the same entity before the change; None if it is not among these."""
    known = {(q.store, q.k, _entity(q.question)): q for q in questions if q.part == "before"}
    return lambda q: known.get((q.store, q.k, _entity(q.question))) if q.part in PAIRED else None


def _raw(question: QuestionRecord) -> bool | None:
    """Return whether an answer is right, a trivial pass too."""
    is_trivial = question.credited is False and question.answer is not None and question.answer.outcome == "passed"
    return True if is_trivial else is_right(question)


def _knew(before: QuestionRecord) -> bool | None:
    return None if before.verdict == ERROR else is_right(before)


def _pairing(question: QuestionRecord, before: QuestionRecord | None) -> Pairing:
    knew = None if before is None else _knew(before)
    if _raw(question):
        # an answer that was graded says itself whether it counts
        is_real = not question.vacuous if question.credited is None else question.credited
        return "real" if is_real and knew is not False else "trivial"
    return "knew_but_failed" if knew else "never_knew"


def _entity(question: str) -> str:
    """Return the entity part of a question's id, without moment and type; of several questions about one entity the last counts."""
    match = re.fullmatch(r"(?:before|after)-[a-z]+-(.+?)(?:-\d+)?", question)
    return match[1] if match else question


def trivial(questions: Sequence[QuestionRecord]) -> Score:
    """Return how many right answers after the change do not count, because the entity was not known before."""
    before, asked = _before(questions), [q for q in after(questions) if q.part in PAIRED]
    if not asked:
        return Score(None, 0, lacks="no question")
    return Score(float(sum(_pairing(q, before(q)) == "trivial" for q in asked)), len(asked))


# -- partly right ------------------------------------------------------------------------------------------------------


def tracking_partial(questions: Sequence[QuestionRecord]) -> Score:
    """Return the mean share of a history that replies name in a row and in order, whatever the memory held.

    A reply that was judged right counts in full: it may tell the history from its end.
    """
    asked = [
        q for q in after(questions) if q.part == "tracking" and any(fact.id.endswith("-order") for fact in q.facts)
    ]
    replies = [q.reply for q in asked if q.reply is not None]
    if not asked or len(replies) < len(asked):
        missing = f"needs a model that answers: {len(asked) - len(replies)} of {len(asked)} have no answer"
        return Score(None, len(asked), lacks=missing if asked else "no question")
    return Score(sum(map(_share_in_order, asked)) / len(asked), len(asked))


def _share_in_order(question: QuestionRecord) -> float:
    if is_right(question):
        return 1.0
    orders = [steps_of(fact.text) for fact in question.facts if fact.id.endswith("-order")]
    named = sum(longest_run(steps, answer_in(question.reply or "")) for steps in orders)
    return named / sum(map(len, orders))


MEASURES: Final[tuple[Measure, ...]] = (
    Measure("encoded", "encoded", encoded, unit="percent"),
    Measure("maintained", "maintained", _stage(lambda q: is_encoded(q) and is_maintained(q)), unit="percent"),
    Measure("retrieved", "retrieved", _stage(is_retrieved), unit="percent"),
    Measure("answered", "answered", answered, unit="percent"),
    Measure("score", "score (macro of 6)", score, line=2),
    Measure("trivial_passes", "trivial passes, not credited", trivial, line=2, unit="count"),
    *(
        Measure(
            f"{part}_{pairing}",
            (f"{part}: " if pairing == "real" else "") + pairing.replace("_", " "),
            paired(part, pairing),
            line=3 + at,
            unit="count",
        )
        for at, part in enumerate(PAIRED)
        for pairing in get_args(Pairing)
    ),
    Measure("tracking_partial", "tracking: mean share in order", tracking_partial, line=3 + len(PAIRED)),
    Measure(
        "known_anyway",
        "right although a stage failed",
        lambda qs: right_although(lambda q: q.memory_held is False, after(qs)),
        line=4 + len(PAIRED),
        unit="count",
    ),
)
