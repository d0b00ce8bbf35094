"""Choose suites, and load their tasks by name or pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Final

from pytest_memfail.core import (
    Folders,
    ProtocolName,
    Suite,
    SuiteFault,
    SuiteRequest,
    Task,
    UnknownNameError,
    UsageError,
)
from pytest_memfail.safety import escape_controls
from pytest_memfail.suites.sampling import Haystack, keep_questions, sample, sample_stores
from pytest_memfail.suites.shipped import shipped_data

BUILT_IN: Final = ("memfail", "own", "meme", "mab", "halumem", "longmemeval", "locomo", "isolation")
"""The suites of this package: each is a folder beside this file, with `SUITE` in its `__init__`."""
DEFAULT: Final = ("memfail", "own")
"""The suites of a run that chooses none."""
BY_TASK: Final = ("isolation",)
"""Suites that run if the user names their only task, which has the same name."""
OPTION: Final = "--memfail-suite"


@dataclass(frozen=True, slots=True)
class Chosen:
    """One suite of a run."""

    name: str
    suite: Suite
    variant: str = ""
    """As the user gave it; empty for the default."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The user's settings of the suite."""


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """Which tasks to load, and how."""

    patterns: tuple[str, ...] = ()
    """Names or glob patterns of tasks or of their parts (`meme.cascade`); empty for all tasks."""
    data: Path | Folders | None = None
    """The folder of rows, or those of suites; None for the shipped ones."""
    protocol: ProtocolName = "ours"
    seed: int = 42
    limit: int | None = None
    """The maximum number of questions of each task, or of each part of a task with parts."""
    haystack: Haystack = "sample"
    """Whether a limited task whose suite draws single questions stores all conversations, or only those that they need."""
    suites: tuple[Chosen, ...] = field(default_factory=lambda: choose_suites(DEFAULT))

    def folder(self, suite: str) -> Path | None:
        """Return the folder with the rows of a suite; None for those shipped."""
        return self.data.of(suite) if isinstance(self.data, Folders) else self.data


def built_in_suite(name: str) -> Suite:
    """Return a suite of this package."""
    suite: Suite = import_module(f"pytest_memfail.suites.{name}").SUITE
    return suite


def choose_suites(names: Sequence[str], find: Callable[[str], Suite] = built_in_suite) -> tuple[Chosen, ...]:
    """Return the suites of a run, those that share a table first.

    Args:
        names: their names, each with its variant after a colon if the user gave one.
        find: returns the suite of a name, or raises `UsageError`.

    Raises `UsageError` for a missing name, a repeated name, an unknown variant, and an object that is no suite.
    """
    if not names:
        raise UsageError(f"{OPTION}: got nothing, expected names of suites such as {DEFAULT[0]},{BUILT_IN[2]}")
    chosen: dict[str, Chosen] = {}
    for given in names:
        # `module:attribute` has a colon too; a suite imported by its path has its default variant
        name, _, variant = given.partition(":")
        if name in chosen:
            raise UsageError(f"{OPTION}: got the suite {name!r} twice, expected it once")
        suite = find(name)
        if not isinstance(suite, Suite):
            raise UsageError(f"{OPTION}: {name!r} is {type(suite).__name__}, expected a Suite")
        if variant and variant not in suite.source.files:
            known = list(suite.source.files)
            if not known:
                raise UsageError(f"{OPTION}: got {given!r}, expected {name!r}: it has no variants")
            close = get_close_matches(variant, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known)}"
            raise UsageError(f"{OPTION}: the suite {name!r} has no variant {variant!r} ({hint})")
        chosen[name] = Chosen(name, suite, variant)
    return tuple(sorted(chosen.values(), key=lambda one: one.suite.stands_alone))


def with_named(suites: Sequence[str], tasks: Iterable[str]) -> tuple[str, ...]:
    """Return the names of suites, and those of the suites that are chosen by the names of tasks."""
    return (*suites, *(name for name in BY_TASK if name in tasks and name not in suites))


def with_options(chosen: Sequence[Chosen], given: Mapping[str, str]) -> tuple[Chosen, ...]:
    """Return the suites of a run with the user's settings, which are named `SUITE.NAME`.

    Raises `UsageError` for a suite that is not part of the run, or for an unknown setting.
    """
    found = {one.name: one for one in chosen}
    for key, value in given.items():
        suite, _, name = key.partition(".")
        if suite not in found:
            raise UsageError(
                f"{OPTION}-option: got {key!r}, expected SUITE.NAME=VALUE of a suite that runs: {', '.join(found)}"
            )
        if name not in (known := tuple(found[suite].suite.options)):
            raise UnknownNameError(f"setting of the suite {suite}", name, known)
        found[suite] = replace(found[suite], options={**found[suite].options, name: value})
    return tuple(found.values())


def task_names(suites: Iterable[Suite]) -> list[str]:
    """Return the names of the tasks of suites, each followed by the names of its parts."""
    return [
        name
        for suite in suites
        for task, parts in suite.parts.items()
        for name in (task, *(f"{task}.{part.name}" for part in parts))
    ]


def load_tasks(request: TaskRequest) -> tuple[Task, ...]:
    """Load the tasks that match the patterns and check every row.

    A task replaces that of the same name in an earlier suite. Raises `UsageError` for an unknown name or a folder without
    rows, `RowError` for a faulty row.
    """
    owners = {name: one for one in request.suites for name in task_names([one.suite])}
    wanted = _match(request, list(owners))
    tasks: list[Task] = []
    for one in request.suites:
        if not (mine := tuple(name for name in wanted if owners[name] is one)):
            continue
        named = tuple(name for name in mine if name in request.patterns)
        found = one.suite.load(
            SuiteRequest(
                request.folder(one.name), one.variant, request.protocol, request.seed, one.options, mine, named
            )
        )
        for task in found:
            _check_ids(task)
            kept = _chosen_parts(task, mine)
            if kept.questions or task.name in mine:
                tasks.append(replace(_limited(kept, one.suite, request), suite=one.name, k=task.k or one.suite.k))
    if not tasks:
        place = ", ".join({str(request.folder(one.name) or shipped_data()): None for one in request.suites})
        raise UsageError(f"{place} has no rows of {', '.join(request.patterns) or 'the suites that were asked for'}")
    order = {name: at for at, name in enumerate(owners)}
    return tuple(sorted(tasks, key=lambda task: order.get(task.name, len(order))))


def _match(request: TaskRequest, names: Sequence[str]) -> list[str]:
    try:
        return match_tasks(request.patterns, names)
    except UnknownNameError as error:
        chosen = {one.name for one in request.suites}
        others = {name: task_names([built_in_suite(name)]) for name in BUILT_IN if name not in chosen}
        for pattern in request.patterns:
            if any(fnmatchcase(name, pattern) for name in names):
                continue
            for suite, tasks in others.items():
                if any(fnmatchcase(name, pattern) for name in tasks):
                    raise UsageError(f"{pattern!r} is of the suite {suite}: {OPTION}={suite}") from None
        for suite, tasks in others.items() if not get_close_matches(error.got, names, 1) else ():
            if close := get_close_matches(error.got, tasks, 1):
                hint = f"did you mean {close[0]!r} of the suite {suite}?"
                raise UnknownNameError("task", error.got, names, hint) from None
        raise


def _chosen_parts(task: Task, wanted: Sequence[str]) -> Task:
    if task.name in wanted:
        return task
    kept = [(s.id, q.id) for s in task.stores for q in s.questions if f"{task.name}.{q.part}" in wanted]
    return keep_questions(task, kept)


def _limited(task: Task, suite: Suite, request: TaskRequest) -> Task:
    if request.limit is None:
        return task
    if suite.limits == "questions":
        return sample(task, request.limit, request.seed, request.haystack)
    return sample_stores(task, request.limit, request.seed)


def suites_in(folder: Path) -> list[Suite]:
    """Return the suites of this package whose files are in a folder; the first default suite if there are none.

    Files of a suite that stands alone are checked alone.
    """
    found = [suite for suite in map(built_in_suite, BUILT_IN) if _is_in(suite, folder)]
    alone = [suite for suite in found if suite.stands_alone]
    return alone[:1] or found or [built_in_suite(DEFAULT[0])]


def validate(folder: Path) -> list[SuiteFault]:
    """Return all faults of the files in a folder, by the suites that have them there.

    Raises `UsageError` if there are none.
    """
    return [fault for suite in suites_in(folder) if suite.faults is not None for fault in suite.faults(folder)]


def _is_in(suite: Suite, folder: Path) -> bool:
    if suite.is_in is not None:
        return suite.is_in(folder)
    names = {name for files in suite.source.files.values() for name in files}
    return any(path.is_file() for name in names for path in folder.glob(name))


def _check_ids(task: Task) -> None:
    """Raise `UsageError` for a name or id with control characters, because both are part of node ids."""
    for name in (task.name, *(s.id for s in task.stores), *(q.id for q in task.questions)):
        if escape_controls(name) != name or {"\n", "\t"} & set(name):
            raise UsageError(f"the task {task.name!r}: got the id {name!r}, expected an id without control characters")


def match_tasks(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names that match any of the patterns, in the order of `names`; without patterns, all.

    Raises `UnknownNameError` for a pattern without a match.
    """
    if not patterns:
        return list(names)
    chosen: set[str] = set()
    for pattern in patterns:
        found = [name for name in names if fnmatchcase(name, pattern)]
        if not found:
            raise UnknownNameError("task", pattern, names)
        chosen.update(found)
    return [name for name in names if name in chosen]
