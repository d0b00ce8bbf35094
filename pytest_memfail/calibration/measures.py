"""Measures of agreement between a judge and the labels, as plain values."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from pytest_memfail.calibration.cases import LABELS, OK, STYLES, WRITERS, Label
from pytest_memfail.calibration.check import Judged
from pytest_memfail.core import NOT_STORED, SUMMARY_ERROR, UNSURE, Fact

Z95: Final = 1.96
BANDS: Final = (0.95, 0.9, 0.8, 0.7, 0.0)
"""Lower bounds of the confidence bands, highest first."""


@dataclass(frozen=True, slots=True)
class _Fact:
    task: str
    style: str
    label: Label
    predicted: str
    confidence: float | None

    @property
    def accepted(self) -> bool:
        return self.predicted in self.label.accepted


def measure(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return all measures: `overall`, `tasks`, `bands` (accuracy by confidence), `kinds` (by kind of fault), `unsure`
    (right and all, by task and style), `errors`, `disagreements`.

    A case on which the judge failed counts only in `errors`.
    """
    sound = [result for result in judged if result.error is None]
    facts = [
        _Fact(result.case.task, result.case.style, label, predicted, confidence)
        for result in sound
        for label, predicted, confidence in zip(result.case.labels, result.predictions, result.confidences, strict=True)
    ]
    tasks = list(dict.fromkeys(result.case.task for result in judged))
    return {
        "overall": _agreement(facts, sound),
        "tasks": {
            task: _agreement([f for f in facts if f.task == task], [r for r in sound if r.case.task == task])
            for task in tasks
        },
        "styles": {
            style: _agreement([f for f in facts if f.style == style], [r for r in sound if r.case.style == style])
            for style in (*STYLES, *WRITERS)
            if any(fact.style == style for fact in facts)
        },
        "bands": _bands(facts),
        "kinds": _kinds(facts),
        "unsure": _unsure(facts),
        "errors": [{"case_id": result.case.id, "error": result.error} for result in judged if result.error is not None],
        "disagreements": list(_disagreements(sound)),
    }


def mutation_score(judged: Sequence[Judged]) -> float | None:
    """Return the share of planted faults that the judge names; facts without a fault do not count."""
    return _share(
        predicted in label.accepted
        for result in judged
        if result.error is None
        for label, predicted in zip(result.case.labels, result.predictions, strict=True)
        if label.label != OK
    )


def _agreement(facts: Sequence[_Fact], judged: Sequence[Judged]) -> dict[str, Any]:
    n = len(facts)
    confusion = Counter[tuple[str, str]]((fact.label.label, fact.predicted) for fact in facts)
    predictions = [*LABELS, *sorted({fact.predicted for fact in facts} - set(LABELS))]
    times = [1000 * result.seconds for result in judged]
    return {
        "cases": len(judged),
        "facts": n,
        "accuracy": _share(fact.predicted == fact.label.label for fact in facts),
        "accepted": _share(fact.accepted for fact in facts),
        "ok_versus_failure": _share((fact.predicted == OK) == (fact.label.label == OK) for fact in facts),
        "macro_f1": _macro_f1(confusion),
        "good_failed": _share(f.predicted != OK for f in facts if f.label.label == OK),
        "damaged_passed": _share(f.predicted == OK for f in facts if f.label.label in (NOT_STORED, SUMMARY_ERROR)),
        "interval": _interval(judged),
        "kappa": _kappa(confusion, n),
        "confusion": {label: {other: confusion[label, other] for other in predictions} for label in LABELS},
        "median_ms": round(median(times), 3) if times else None,
        "slowest_ms": round(max(times), 3) if times else None,
    }


def _share(outcomes: Iterable[bool]) -> float | None:
    values = list(outcomes)
    return round(sum(values) / len(values), 4) if values else None


def _interval(judged: Sequence[Judged]) -> tuple[float, float] | None:
    """Return the 95 % interval of the accepted share."""
    found = by_row(
        (result.case.row or result.case.id, predicted in label.accepted)
        for result in judged
        for label, predicted in zip(result.case.labels, result.predictions, strict=True)
    )
    return found and (round(max(0.0, found[0]), 4), round(min(1.0, found[1]), 4))


def by_row(values: Iterable[tuple[str, float]]) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean of values, each with its row; None for fewer than two rows.

    It is from the variance over rows, because facts of a row are not independent.
    """
    rows: dict[str, list[float]] = defaultdict(list)
    for row, value in values:
        rows[row].append(value)
    n, facts_n = len(rows), sum(map(len, rows.values()))
    if n < 2:
        return None
    mean = sum(map(sum, rows.values())) / facts_n
    spread = sum((sum(some) - mean * len(some)) ** 2 for some in rows.values())
    error = Z95 * math.sqrt(n / (n - 1) * spread) / facts_n
    return mean - error, mean + error


def _macro_f1(confusion: Counter[tuple[str, str]]) -> float | None:
    """Return the mean F1 over the labels that occur as label or prediction."""
    scores = []
    for label in LABELS:
        right = confusion[label, label]
        given = sum(count for (truth, _), count in confusion.items() if truth == label)
        said = sum(count for (_, predicted), count in confusion.items() if predicted == label)
        if given:
            scores.append(2 * right / (given + said))
    return round(sum(scores) / len(scores), 4) if scores else None


def _kappa(confusion: Counter[tuple[str, str]], n: int) -> float | None:
    """Return Cohen's kappa: agreement beyond chance, given both distributions of labels; None if chance alone agrees
    fully.
    """
    if not n:
        return None
    given, said = Counter[str](), Counter[str]()
    for (truth, predicted), count in confusion.items():
        given[truth] += count
        said[predicted] += count
    chance = sum(given[label] * said[label] for label in given) / n**2
    agreed = sum(count for (truth, predicted), count in confusion.items() if truth == predicted) / n
    return None if chance == 1 else round((agreed - chance) / (1 - chance), 4)


def _bands(facts: Sequence[_Fact]) -> list[dict[str, Any]]:
    """Return the accuracy (any accepted label) by confidence."""
    bands = []
    above = 1.01
    for least in BANDS:
        inside = [f for f in facts if f.confidence is not None and least <= f.confidence < above]
        if inside:
            bands.append(
                {
                    "from": least,
                    "to": min(above, 1.0),
                    "facts": len(inside),
                    "accepted": _share(f.accepted for f in inside),
                    "mean_confidence": round(sum(f.confidence or 0 for f in inside) / len(inside), 3),
                }
            )
        above = least
    return bands


def _unsure(facts: Sequence[_Fact]) -> dict[str, dict[str, list[int]]]:
    """Return by task and style how many facts the judge is unsure of: those judged right, and all."""
    found: dict[str, dict[str, list[int]]] = {}
    for fact in facts:
        if fact.confidence is not None and fact.confidence < UNSURE:
            counts = found.setdefault(fact.task, {}).setdefault(fact.style, [0, 0])
            counts[0] += fact.accepted
            counts[1] += 1
    return found


def _kinds(facts: Sequence[_Fact]) -> list[dict[str, Any]]:
    """Return the accuracy (any accepted label) by task and by recurring kind of fault."""
    found: dict[tuple[str, str], list[_Fact]] = defaultdict(list)
    for fact in facts:
        found[fact.task, fact.label.kind].append(fact)
    return [
        {"task": task, "kind": kind, "facts": len(some), "accepted": _share(fact.accepted for fact in some)}
        for (task, kind), some in found.items()
        if len(some) > 1 and kind
    ]


def _expected(fact: Fact) -> str:
    """Return what is needed of a fact, as short as its gold value says it."""
    return str(getattr(fact.gold, "value", None) or getattr(fact.gold, "needed", None) or fact.text)


def _disagreements(judged: Sequence[Judged]) -> Iterable[dict[str, Any]]:
    for result in judged:
        case = result.case
        expected = [" ".join(case.question.gold)] if case.is_of_question else list(map(_expected, case.evidence))
        rows = zip(
            expected,
            case.labels,
            result.predictions,
            result.reasons,
            result.confidences,
            strict=True,
        )
        for number, (wanted, label, predicted, reason, confidence) in enumerate(rows):
            if predicted not in label.accepted:
                yield {
                    "case_id": case.id,
                    "task": case.task,
                    "fact": number,
                    "facts": len(expected),
                    "label": label.label,
                    "accept": sorted(label.accepted),
                    "kind": label.kind,
                    "predicted": predicted,
                    "reason": reason,
                    "confidence": confidence,
                    "expected": wanted,
                }
