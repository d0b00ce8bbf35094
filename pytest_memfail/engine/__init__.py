"""Run store plans: fill stores, ask their questions ahead, and judge the answers. Independent of any test runner."""

from __future__ import annotations

from pytest_memfail.engine.calls import CURRENT, Captured, DaemonPool, Lane, Limits, NoJournal, Resources, TokenRules
from pytest_memfail.engine.grade import Grader, Needed, Past
from pytest_memfail.engine.loop import Engine
from pytest_memfail.engine.questions import Result
from pytest_memfail.engine.shelf import Shelf, check_reusable, is_ours, kept_in
from pytest_memfail.engine.store import StoreRun
from pytest_memfail.engine.system import (
    Ask,
    StoreJob,
    StoreReport,
    check_factory,
    described_by,
    is_listed,
    memories_from,
    open_system,
)

__all__ = [
    "CURRENT",
    "Ask",
    "Captured",
    "DaemonPool",
    "Engine",
    "Grader",
    "Lane",
    "Limits",
    "Needed",
    "NoJournal",
    "Past",
    "Resources",
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
    "kept_in",
    "memories_from",
    "open_system",
]
