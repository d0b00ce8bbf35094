"""Results as text for people."""

from __future__ import annotations

from pytest_memfail.report.compare import comparison, percent, seed_lines
from pytest_memfail.report.data_report import data_report
from pytest_memfail.report.files import check_report, page, write_reports
from pytest_memfail.report.gate import gate, gate_outcome
from pytest_memfail.report.judge_check import judge_check
from pytest_memfail.report.model_card import model_card
from pytest_memfail.report.rerun import rerun_words
from pytest_memfail.report.runs import run_table
from pytest_memfail.report.terminal import Failed, cause_lines, closing, failed_question, most_lost, worst_first
from pytest_memfail.report.text import details, failure, headline, model_table, summary, verdict_table

__all__ = [
    "Failed",
    "cause_lines",
    "check_report",
    "closing",
    "comparison",
    "data_report",
    "details",
    "failed_question",
    "failure",
    "gate",
    "gate_outcome",
    "headline",
    "judge_check",
    "model_card",
    "model_table",
    "most_lost",
    "page",
    "percent",
    "rerun_words",
    "run_table",
    "seed_lines",
    "summary",
    "verdict_table",
    "worst_first",
    "write_reports",
]
