"""Measure how reliable a judge is: labelled cases, the judge's verdicts on them, and measures of agreement."""

from __future__ import annotations

from pytest_memfail.calibration.balance import Balance, balance
from pytest_memfail.calibration.cases import (
    LABELS,
    POINTS,
    SPLITS,
    STYLES,
    Case,
    Label,
    calibration_folder,
    data_hash,
    read_cases,
    shipped_cases,
)
from pytest_memfail.calibration.check import Judged, judge_all, judge_cases
from pytest_memfail.calibration.correction import Correction, train_correction
from pytest_memfail.calibration.measures import measure, mutation_score
from pytest_memfail.calibration.planting import planted_cases
from pytest_memfail.calibration.suite_cases import (
    GradedReply,
    LabelledReply,
    grade_replies,
    reply_measures,
    suite_cases,
)

__all__ = [
    "LABELS",
    "POINTS",
    "SPLITS",
    "STYLES",
    "Balance",
    "Case",
    "Correction",
    "GradedReply",
    "Judged",
    "Label",
    "LabelledReply",
    "balance",
    "calibration_folder",
    "data_hash",
    "grade_replies",
    "judge_all",
    "judge_cases",
    "measure",
    "mutation_score",
    "planted_cases",
    "read_cases",
    "reply_measures",
    "shipped_cases",
    "suite_cases",
    "train_correction",
]
