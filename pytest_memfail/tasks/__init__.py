"""From rows to tasks: what is stored, what is asked, and in which order."""

from __future__ import annotations

from pytest_memfail.tasks.custom import read_custom
from pytest_memfail.tasks.layout import PROTOCOLS, Protocol
from pytest_memfail.tasks.load import (
    MEMFAIL_TASKS,
    TASK_NAMES,
    TaskRequest,
    load_tasks,
    match_tasks,
    sample,
    task_of_row,
)
from pytest_memfail.tasks.shipped import shipped_data
from pytest_memfail.tasks.validate import Finding, validate

__all__ = [
    "MEMFAIL_TASKS",
    "PROTOCOLS",
    "TASK_NAMES",
    "Finding",
    "Protocol",
    "TaskRequest",
    "load_tasks",
    "match_tasks",
    "read_custom",
    "sample",
    "shipped_data",
    "task_of_row",
    "validate",
]
