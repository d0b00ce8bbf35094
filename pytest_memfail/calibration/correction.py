"""Learn a correction of the offline judge from a user's labels: slope and offset of its two probabilities.

The shipped model does not change. Both heads get a slope and an offset, fitted by regularised logistic regression on
the model's log odds. Regularisation draws them towards one and zero, so that few labels change little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_memfail.calibration.cases import Case
from pytest_memfail.core import NOT_RETRIEVED, NOT_STORED, SUMMARY_ERROR, UsageError, counted
from pytest_memfail.judges import KEPT, OfflineJudge, sigmoid, weights_in_use

LEAST: Final = 50
"""The minimum number of labels."""
PRIOR: Final = 8.0
"""Weight of the shipped slope and offset, in labels."""
STEPS: Final = 30
FOLDS: Final = 10


@dataclass(frozen=True, slots=True)
class Correction:
    """The learned correction, and its benefit."""

    content: dict[str, Any]
    """The content of the file."""
    labels: int
    before: float
    """Accepted share with the shipped weights alone."""
    after: float
    """Accepted share with the correction, cross-validated."""


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
    right = 0
    for fold in range(FOLDS):
        mine = set(rows[fold::FOLDS])
        lines = _fit([fact for fact in facts if fact.row not in mine])
        right += sum(_verdict(fact, lines) in fact.accepted for fact in facts if fact.row in mine)
    before = sum(_verdict(fact, IDENTITY) in fact.accepted for fact in facts)
    kept, absent = _fit(facts)
    content = {
        "base": weights_in_use(encoder=encoder),
        "labels": len(facts),
        "heads": {"kept": [round(v, 4) for v in kept], "absent": [round(v, 4) for v in absent]},
    }
    return Correction(content, len(facts), before / len(facts), right / len(facts))


def _verdict(fact: _Fact, lines: Lines) -> str:
    kept, absent = (slope * value + offset for (slope, offset), value in zip(lines, fact.stored, strict=True))
    if sigmoid(kept) < KEPT:
        return NOT_STORED if absent > 0 else SUMMARY_ERROR
    (slope, offset), _ = lines
    return "ok" if sigmoid(slope * fact.shown[0] + offset) >= KEPT else NOT_RETRIEVED


def _fit(facts: Sequence[_Fact]) -> Lines:
    kept = [(fact.stored[0], float(fact.label in ("ok", NOT_RETRIEVED))) for fact in facts]
    kept += [(fact.shown[0], float(fact.label == "ok")) for fact in facts if fact.label in ("ok", NOT_RETRIEVED)]
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
