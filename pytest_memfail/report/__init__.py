"""Results as text for people."""

from __future__ import annotations

from pytest_memfail.report.text import failure, headline, model_table, summary

__all__ = ["failure", "headline", "model_table", "summary"]
