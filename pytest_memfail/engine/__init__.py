"""Run store plans: fill stores, ask their questions ahead, and judge the answers. Independent of any test runner."""

from __future__ import annotations

from pytest_memfail.engine.grade import Grader, Needed, Past
from pytest_memfail.engine.loop import Engine
from pytest_memfail.engine.questions import Ask, Result, needs_additions, searches
from pytest_memfail.engine.store import StoreJob, StoreRun

__all__ = ["Ask", "Engine", "Grader", "Needed", "Past", "Result", "StoreJob", "StoreRun", "needs_additions", "searches"]
