"""Results as text for people."""

from __future__ import annotations

from pytest_memfail.report.compare import comparison
from pytest_memfail.report.data_report import data_report
from pytest_memfail.report.files import check_report, write_reports
from pytest_memfail.report.gate import gate, gate_outcome
from pytest_memfail.report.judge_check import judge_check
from pytest_memfail.report.model_card import model_card
from pytest_memfail.report.rerun import rerun_words
from pytest_memfail.report.runs import run_table
from pytest_memfail.report.text import failure, headline, model_table, outcome, summary

__all__ = [
    "check_report",
    "comparison",
    "data_report",
    "failure",
    "gate",
    "gate_outcome",
    "headline",
    "judge_check",
    "model_card",
    "model_table",
    "outcome",
    "rerun_words",
    "run_table",
    "summary",
    "write_reports",
]
