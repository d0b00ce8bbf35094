"""The tasks by name, each made by its own file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from pytest_memfail.core import ProtocolName, Task
from pytest_memfail.suites.memfail import (
    coexisting_facts,
    conditional_facts,
    long_hop,
    persona_retrieval,
    updated_facts,
)
from pytest_memfail.suites.memfail.row_models import MODELS
from pytest_memfail.suites.memfail.rows import Rows, single_row

MODULES: Final[dict[str, ModuleType]] = {
    "conditional_facts_easy": conditional_facts,
    "conditional_facts_hard": conditional_facts,
    "coexisting_facts": coexisting_facts,
    "persona_retrieval": persona_retrieval,
    "long_hop": long_hop,
    "updated_facts": updated_facts,
}
TASK_NAMES: Final = tuple(MODULES)
"""The five tasks of the MemFail paper in its order, and our own."""
MEMFAIL_TASKS: Final = TASK_NAMES[:5]


def task_of_row(name: str, row: Mapping[str, Any], protocol: ProtocolName, file: Path, line: int) -> Task:
    """Return the task of a single row, with its cells as text or as values.

    Raises `RowError` with file, line and field of a fault.
    """
    module = MODULES[name]
    return module.build(name, single_row(file, line, row, MODELS[name]), protocol, 0)  # type: ignore[no-any-return]


def task_of_rows(name: str, rows: Sequence[tuple[str, Mapping[str, Any]]], protocol: ProtocolName = "ours") -> Task:
    """Return the task of rows that come with ids instead of a file.

    Raises `RowError` for the first faulty row.
    """
    single = [single_row(Path(row_id), 1, row, MODELS[name]) for row_id, row in rows]
    held = Rows(
        Path(name), "", tuple(one.rows[0] for one in single), tuple(row_id for row_id, _ in rows), (1,) * len(rows)
    )
    return MODULES[name].build(name, held, protocol, 0)  # type: ignore[no-any-return]
