"""The deterministic judge: one small file per kind of evidence over a shared reading of texts."""

from __future__ import annotations

from pytest_memfail.judges.rules.judge import RulesJudge
from pytest_memfail.judges.rules.letters import parse_letter

__all__ = ["RulesJudge", "parse_letter"]
