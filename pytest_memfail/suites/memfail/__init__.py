"""MemFail (arXiv 2605.26667): its five tasks, and our own `updated_facts`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import OURS, Plants, ProtocolName, Source, Suite, SuiteFault, SuiteRequest, Task, UsageError
from pytest_memfail.suites.memfail.kinds import ANSWERS, KINDS
from pytest_memfail.suites.memfail.task_names import MEMFAIL_TASKS, TASK_NAMES
from pytest_memfail.suites.shipped import shipped_data

__all__ = [
    "ANSWERS",
    "KINDS",
    "MEMFAIL_TASKS",
    "SUITE",
    "TASK_NAMES",
    "task_of_row",
]


def load(request: SuiteRequest) -> list[Task]:
    """Return the wanted tasks, from the files in the folder, or from our own rows if no folder is given.

    A folder may hold only some tasks. Raises `UsageError` for a missing file of a task that the user named and for a folder
    without rows, `RowError` for the first fault.
    """
    from pytest_memfail.suites.memfail.files import files_of_memfail
    from pytest_memfail.suites.memfail.plan import TASKS

    folder = request.folder or shipped_data()
    if not folder.is_dir():
        raise UsageError(f"--memfail-data: got {folder}, expected a folder with the rows of the tasks")
    files = files_of_memfail(folder)
    wanted = [name for name in TASK_NAMES if not request.tasks or name in request.tasks]
    if missing := [name for name in wanted if name not in files and (not files or name in request.named)]:
        raise UsageError(
            f"no rows of the task {missing[0]!r}: {folder / missing[0]}.csv is missing (--memfail-data names the folder)"
        )
    return [
        TASKS[name].build(name, TASKS[name].read(files[name]), request.protocol, request.seed)
        for name in wanted
        if name in files
    ]


def faults(folder: Path) -> Iterable[SuiteFault]:
    """Return what `memfail validate` says of the rows in a folder; a run needs none of these checks."""
    from pytest_memfail.suites.memfail.faults import faults as found

    return found(folder)


def task_of_row(name: str, row: Mapping[str, Any], protocol: ProtocolName, file: Path, line: int) -> Task:
    """Return the task of a single row, with its cells as text or as values.

    Raises `RowError` with file, line and field of a fault.
    """
    from pytest_memfail.suites.memfail.plan import TASKS
    from pytest_memfail.suites.memfail.rows import single_row

    return TASKS[name].build(name, single_row(file, line, row, TASKS[name].model), protocol, 0)


def recipes() -> Mapping[str, Any]:
    """Return what `memfail generate` makes, by name."""
    from pytest_memfail.suites.memfail.recipes import RECIPES

    return RECIPES


def plants() -> Plants:
    """Return the faults for `memfail judge-check --planted`."""
    from pytest_memfail.suites.memfail.plants import PLANTS

    return PLANTS


SUITE: Final = Suite(
    name="memfail",
    source=Source(
        url="https://arxiv.org/abs/2605.26667",
        licence="CC BY 4.0",
        files={OURS: tuple(f"{name}.csv" for name in TASK_NAMES)},
    ),
    load=load,
    parts=dict.fromkeys(TASK_NAMES, ()),
    kinds=KINDS,
    answers=ANSWERS,
    limits="questions",
    stands_alone=False,
    faults=faults,
    recipes=recipes,
    cases=lambda: shipped_data() / "calibration",
    row_task=task_of_row,
    plants=plants,
)
