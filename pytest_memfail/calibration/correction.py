"""Learn a correction of the offline judge from a user's labels: slope and offset of its two probabilities.

The shipped model does not change. Both heads get a slope and an offset, fitted by regularised logistic regression on
the model's log odds. Regularisation draws them towards one and zero, so that few labels change little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_memfail.calibration.cases import OK, Case
from pytest_memfail.calibration.measures import by_row
from pytest_memfail.core import NOT_RETRIEVED, NOT_STORED, SUMMARY_ERROR, UsageError, counted
from pytest_memfail.judges import KEPT, OfflineJudge, sigmoid, weights_in_use

LEAST: Final = 50
"""The minimum number of labels."""
PRIOR: Final = 8.0
"""Weight of the shipped slope and offset, in labels."""
STEPS: Final = 30
FOLDS: Final = 10


@dataclass(frozen=True, slots=True)
class Change:
    """A share of facts with the shipped weights alone, and with the correction, cross-validated."""

    facts: int
    before: float
    after: float
    interval: tuple[float, float] | None
    """The 95 % interval of the difference, paired by row; None for fewer than two rows."""

    @property
    def is_more(self) -> bool:
        """Whether the share rises by more than chance explains."""
        return self.interval is not None and self.interval[0] > 0


@dataclass(frozen=True, slots=True)
class Correction:
    """The learned correction, and its benefit."""

    content: dict[str, Any]
    """The content of the file."""
    labels: int
    accepted: Change
    good_failed: Change
    damaged_passed: Change


@dataclass(frozen=True, slots=True)
class _Fact:
    row: str
    accepted: frozenset[str]
    label: str
    stored: tuple[float, float]
    """Log odds for the store: of kept, and of absent if not kept."""
    shown: tuple[float, float]


Line = tuple[float, float]
Lines = tuple[Line, Line]
IDENTITY: Final[Lines] = ((1.0, 0.0), (1.0, 0.0))


def train_correction(cases: Sequence[Case], protocol: Any, *, encoder: bool = False) -> Correction:
    """Fit a correction to labelled cases, of the judge with or without the encoder.

    Raises `UsageError` for fewer than 50 labels.
    """
    judge = OfflineJudge(protocol, encoder=encoder)
    facts = []
    for case in cases:
        store, shown = ([memory.text for memory in some] for some in (case.listing.memories, case.shown))
        for evidence, label in zip(case.evidence, case.labels, strict=True):
            stored, seen = judge.logits(evidence, store), judge.logits(evidence, store, shown)
            facts.append(_Fact(case.row, label.accepted, label.label, stored, seen))
    if len(facts) < LEAST:
        raise UsageError(
            f"--train: got {counted(len(facts), 'label')}, expected {LEAST} or more (memfail label makes them)"
        )
    rows = sorted({fact.row for fact in facts})
    before = [_verdict(fact, IDENTITY) for fact in facts]
    after = list(before)
    for fold in range(FOLDS):
        mine = set(rows[fold::FOLDS])
        lines = _fit([fact for fact in facts if fact.row not in mine])
        after = [_verdict(fact, lines) if fact.row in mine else said for fact, said in zip(facts, after, strict=True)]
    judged = list(zip(facts, before, after, strict=True))
    kept, absent = _fit(facts)
    content = {
        "base": weights_in_use(encoder=encoder),
        "labels": len(facts),
        "heads": {"kept": [round(v, 4) for v in kept], "absent": [round(v, 4) for v in absent]},
    }
    return Correction(
        content,
        len(facts),
        _change((fact.row, old in fact.accepted, new in fact.accepted) for fact, old, new in judged),
        _change((fact.row, old != OK, new != OK) for fact, old, new in judged if fact.label == OK),
        _change(
            (fact.row, old == OK, new == OK) for fact, old, new in judged if fact.label in (NOT_STORED, SUMMARY_ERROR)
        ),
    )


def _change(facts: Iterable[tuple[str, bool, bool]]) -> Change:
    """Return the change of a share: each fact with its row, and whether it counts before and after."""
    some = list(facts)
    n = len(some) or 1
    interval = by_row((row, new - old) for row, old, new in some)
    return Change(len(some), sum(old for _, old, _ in some) / n, sum(new for _, _, new in some) / n, interval)


def _verdict(fact: _Fact, lines: Lines) -> str:
    kept, absent = (slope * value + offset for (slope, offset), value in zip(lines, fact.stored, strict=True))
    if sigmoid(kept) < KEPT:
        return NOT_STORED if absent > 0 else SUMMARY_ERROR
    (slope, offset), _ = lines
    return OK if sigmoid(slope * fact.shown[0] + offset) >= KEPT else NOT_RETRIEVED


def _fit(facts: Sequence[_Fact]) -> Lines:
    kept = [(fact.stored[0], float(fact.label in (OK, NOT_RETRIEVED))) for fact in facts]
    kept += [(fact.shown[0], float(fact.label == OK)) for fact in facts if fact.label in (OK, NOT_RETRIEVED)]
    absent = [
        (fact.stored[1], float(fact.label == NOT_STORED)) for fact in facts if fact.label in (NOT_STORED, SUMMARY_ERROR)
    ]
    return _line(kept), _line(absent)


def _line(points: Sequence[tuple[float, float]]) -> Line:
    """Return slope and offset by Newton's method, drawn towards 1 and 0."""
    slope, offset = 1.0, 0.0
    for _ in range(STEPS):
        ga, gb = PRIOR * (slope - 1.0), PRIOR * offset
        haa, hbb, hab = PRIOR, PRIOR, 0.0
        for value, target in points:
            p = sigmoid(slope * value + offset)
            weight = p * (1 - p)
            ga += (p - target) * value
            gb += p - target
            haa += weight * value * value
            hbb += weight
            hab += weight * value
        det = haa * hbb - hab * hab
        slope -= (hbb * ga - hab * gb) / det
        offset -= (haa * gb - hab * ga) / det
    return max(0.05, slope), offset
