"""Judges: what decides whether a fact was stored, kept faithfully, retrieved and used."""

from __future__ import annotations

from pytest_memfail.judges.rules import RulesJudge, parse_letter

__all__ = ["RulesJudge", "parse_letter"]
