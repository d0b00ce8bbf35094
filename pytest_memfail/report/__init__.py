"""Results as text for people."""

from __future__ import annotations

from pytest_memfail.report.text import failure, headline, summary

__all__ = ["failure", "headline", "summary"]
