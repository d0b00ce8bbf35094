"""The user's own suite: cases in YAML files, and the tasks of hooks and installed packages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_memfail.core import Folders, Source, Suite, SuiteRequest, Task
from pytest_memfail.suites.kinds import ANSWERS, KINDS, OWN_ANSWERS
from pytest_memfail.suites.own.faults import faults
from pytest_memfail.suites.own.files import CUSTOM, case_schema, find_custom, needed_files, read_custom
from pytest_memfail.suites.own.haystacks import SUITES, HaystackFinder

if TYPE_CHECKING:
    from pytest_memfail.suites.load import Chosen

__all__ = [
    "CUSTOM",
    "SUITE",
    "HaystackFinder",
    "case_schema",
    "find_custom",
    "needed_files",
    "read_custom",
    "with_users_tasks",
]


def load(request: SuiteRequest) -> list[Task]:
    """Return the task of the cases in a folder; none without a folder, because a run finds them like test files.

    Raises `RowError` for the first fault.
    """
    if request.folder is None:
        return []
    haystacks = HaystackFinder(Folders(request.folder), request.seed)
    found = read_custom(find_custom([request.folder]), request.folder, haystacks)
    return [] if found is None else [found]


SUITE: Final = Suite(
    name="own",
    source=Source(url="", licence="the user's own", files={}),
    load=load,
    kinds=KINDS,
    answers={**ANSWERS, **OWN_ANSWERS},
    limits="questions",
    stands_alone=False,
    haystacks=SUITES,
    is_in=lambda folder: bool(find_custom([folder])),
    faults=faults,
)


def with_users_tasks(chosen: Sequence[Chosen], read: Callable[[], Sequence[Task]]) -> tuple[Chosen, ...]:
    """Return the suites of a run, with the user's tasks as those of this suite; `read` is called only if it is chosen."""
    return tuple(replace(one, suite=_of(read())) if one.suite.name == SUITE.name else one for one in chosen)


def _of(tasks: Sequence[Task]) -> Suite:
    def load(request: SuiteRequest) -> list[Task]:
        return [task for task in tasks if task.name in request.tasks]

    return replace(SUITE, load=load, parts={task.name: () for task in tasks})
