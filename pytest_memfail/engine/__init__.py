"""Runs store plans: fill, ask ahead, judge. Knows no test runner; systems and judges are handed to it."""

from __future__ import annotations

from pytest_memfail.engine.calls import DaemonPool, Lane, Limits
from pytest_memfail.engine.current import CURRENT, Captured
from pytest_memfail.engine.engine import Engine, Journal
from pytest_memfail.engine.grade import Grader
from pytest_memfail.engine.jobs import Ask, Result, StoreJob, StoreReport
from pytest_memfail.engine.listing import is_listed
from pytest_memfail.engine.majority import majority
from pytest_memfail.engine.normalise import memories_from
from pytest_memfail.engine.offline import judge_all
from pytest_memfail.engine.opening import check_factory, described_by, open_system
from pytest_memfail.engine.reuse import check_reusable
from pytest_memfail.engine.shelf import Shelf, is_ours, kept_in
from pytest_memfail.engine.shown import TokenRules
from pytest_memfail.engine.store import StoreRun

__all__ = [
    "CURRENT",
    "Ask",
    "Captured",
    "DaemonPool",
    "Engine",
    "Grader",
    "Journal",
    "Lane",
    "Limits",
    "Result",
    "Shelf",
    "StoreJob",
    "StoreReport",
    "StoreRun",
    "TokenRules",
    "check_factory",
    "check_reusable",
    "described_by",
    "is_listed",
    "is_ours",
    "judge_all",
    "kept_in",
    "majority",
    "memories_from",
    "open_system",
]
