"""Runs store plans: fill, ask ahead, judge. Knows no test runner; systems and judges are handed to it."""

from __future__ import annotations

from pytest_memfail.engine.calls import DaemonPool
from pytest_memfail.engine.current import CURRENT, Captured
from pytest_memfail.engine.engine import Engine, Journal
from pytest_memfail.engine.grade import Grader
from pytest_memfail.engine.majority import majority
from pytest_memfail.engine.store import Ask, Result, StoreJob, StoreReport, StoreRun

__all__ = [
    "CURRENT",
    "Ask",
    "Captured",
    "DaemonPool",
    "Engine",
    "Grader",
    "Journal",
    "Result",
    "StoreJob",
    "StoreReport",
    "StoreRun",
    "majority",
]
