"""MemFail (arXiv 2605.26667): its five tasks, and our own `updated_facts`."""

from __future__ import annotations

from pytest_memfail.suites.memfail.files import files_by_name, files_of_memfail
from pytest_memfail.suites.memfail.kinds import MEMFAIL_ANSWERS, MEMFAIL_KINDS
from pytest_memfail.suites.memfail.layout import PROTOCOLS, by_digest
from pytest_memfail.suites.memfail.row_models import ID_PATTERN, LETTERS, MODELS, Text
from pytest_memfail.suites.memfail.shipped import shipped_data, shipped_sample
from pytest_memfail.suites.memfail.tasks import (
    MEMFAIL_TASKS,
    MODULES,
    TASK_NAMES,
    task_of_row,
    task_of_rows,
)

__all__ = [
    "ID_PATTERN",
    "LETTERS",
    "MEMFAIL_ANSWERS",
    "MEMFAIL_KINDS",
    "MEMFAIL_TASKS",
    "MODELS",
    "MODULES",
    "PROTOCOLS",
    "TASK_NAMES",
    "Text",
    "by_digest",
    "files_by_name",
    "files_of_memfail",
    "shipped_data",
    "shipped_sample",
    "task_of_row",
    "task_of_rows",
]
