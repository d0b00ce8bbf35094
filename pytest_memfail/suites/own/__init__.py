"""The user's own suite: cases in YAML files, and the tasks of hooks and installed packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_memfail.core import Folders, Source, Suite, SuiteFault, SuiteRequest, Task
from pytest_memfail.suites.kinds import ANSWERS, KINDS, OWN_ANSWERS, UNWANTED_KINDS
from pytest_memfail.suites.own.finding import CUSTOM, find_custom, needed_files
from pytest_memfail.suites.own.haystacks import SUITES, HaystackFinder

if TYPE_CHECKING:
    from pytest_memfail.suites.load import Chosen

__all__ = [
    "CUSTOM",
    "SUITE",
    "HaystackFinder",
    "find_custom",
    "needed_files",
    "read_custom",
    "with_users_tasks",
]


def read_custom(
    paths: Sequence[Path],
    root: Path,
    haystacks: HaystackFinder | None = None,
    needed: Iterable[Path] | None = None,
) -> Task | None:
    """Return the task of these files; None if there are none. `haystacks` finds the conversations to store around a case.

    Raises `RowError` with file, line and key of the first fault in a file that is needed (None: all are). Others are left out,
    and the note of the task says so.
    """
    if not paths:
        return None
    from pytest_memfail.suites.own.files import read_custom as read

    return read(paths, root, haystacks, needed)


def faults(folder: Path) -> Iterable[SuiteFault]:
    """Return what `memfail validate` says of the cases in a folder."""
    from pytest_memfail.suites.own.faults import faults as found

    return found(folder)


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
    kinds={**KINDS, **UNWANTED_KINDS},
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
