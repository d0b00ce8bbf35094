"""Results as text for people."""

from __future__ import annotations

from pytest_memfail.report.gate import gate
from pytest_memfail.report.judge_check import judge_check
from pytest_memfail.report.text import failure, headline, model_table, summary

__all__ = ["failure", "gate", "headline", "judge_check", "model_table", "summary"]
