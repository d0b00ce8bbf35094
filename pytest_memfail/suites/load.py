"""Load the tasks of suites by name or pattern."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Final

from pytest_memfail.core import (
    Folders,
    ProtocolName,
    Source,
    Suite,
    SuiteFault,
    SuiteRequest,
    Task,
    TaskPart,
    UnknownNameError,
    UsageError,
)
from pytest_memfail.safety import (
    escape_controls,
)
from pytest_memfail.suites.memfail import MODULES, TASK_NAMES, files_of_memfail, shipped_data
from pytest_memfail.suites.sampling import Haystack, keep_questions, sample, sample_stores

MEMFAIL: Final = "memfail"
OWN: Final = "own"
"""The user's own suite: cases in YAML, and tasks of hooks and installed packages."""
BUILT_IN: Final = ("meme", "mab", "halumem")
"""Suites shipped in this folder, besides MemFail."""
OPTION: Final = "--memfail-suite"


@dataclass(frozen=True, slots=True)
class Chosen:
    """One suite of a run."""

    name: str
    suite: Suite | None = None
    """None for MemFail and for the user's own tasks, whose rows are loaded here."""
    variant: str = ""
    """As the user gave it; empty for the default."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The user's settings of the suite."""


DEFAULT: Final = (Chosen(MEMFAIL), Chosen(OWN))


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
    """Whether a limited task of MemFail stores all conversations, or only those that its questions need."""
    suites: tuple[Chosen, ...] = DEFAULT

    def folder(self, suite: str) -> Path | None:
        """Return the folder with the rows of a suite; None for those shipped."""
        return self.data.of(suite) if isinstance(self.data, Folders) else self.data


def built_in_suite(name: str) -> Suite:
    """Return a suite of this package."""
    suite: Suite = import_module(f"pytest_memfail.suites.{name}").SUITE
    return suite


def choose_suites(names: Sequence[str], find: Callable[[str], Suite]) -> tuple[Chosen, ...]:
    """Return the suites of a run; `find` returns the suite of a name, or raises `UsageError`.

    Raises `UsageError` for a missing name, a repeated name, an unknown variant, and an object that is no suite.
    """
    if not names:
        raise UsageError(f"{OPTION}: got nothing, expected names of suites such as {MEMFAIL},{BUILT_IN[0]}")
    chosen: dict[str, Chosen] = {}
    for given in names:
        # `module:attribute` has a colon too; a suite imported by its path has its default variant
        name, _, variant = given.partition(":")
        if name in chosen:
            raise UsageError(f"{OPTION}: got the suite {name!r} twice, expected it once")
        if name in (MEMFAIL, OWN):
            if variant:
                raise UsageError(f"{OPTION}: got {given!r}, expected {name!r}: it has no variants")
            chosen[name] = Chosen(name)
            continue
        suite = find(name)
        if not isinstance(suite, Suite):
            raise UsageError(f"{OPTION}: {name!r} is {type(suite).__name__}, expected a Suite")
        if variant and variant not in suite.source.files:
            known = list(suite.source.files)
            close = get_close_matches(variant, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known)}"
            raise UsageError(f"{OPTION}: the suite {name!r} has no variant {variant!r} ({hint})")
        chosen[name] = Chosen(name, suite, variant)
    return tuple(chosen.values())


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
        of_suite = found[suite].suite
        known = () if of_suite is None else tuple(of_suite.options)
        if name not in known:
            raise UnknownNameError(f"setting of the suite {suite}", name, known)
        found[suite] = replace(found[suite], options={**found[suite].options, name: value})
    return tuple(found.values())


def load_tasks(request: TaskRequest, extra: Sequence[Task] = ()) -> tuple[Task, ...]:
    """Load the tasks that match the patterns and check every row; `extra` are the user's own tasks.

    Raises `UsageError` for an unknown name or a folder without rows, `RowError` for a faulty row.
    """
    for task in extra:
        _check_ids(task)
    chosen = {one.name: one for one in request.suites}
    given = {task.name: task for task in extra} if OWN in chosen else {}
    of_memfail = TASK_NAMES if MEMFAIL in chosen else ()
    names = [*of_memfail, *(name for name in given if name not in of_memfail)]
    for one in request.suites:
        names += _names_of(one)
    wanted = _match(request.patterns, names, chosen)
    tasks = []
    files = _files(request) if set(wanted) & set(of_memfail) else {}
    for name in wanted:
        if name in given:
            tasks.append(_limited(given[name], request))
        elif name in of_memfail and (found := _of_memfail(name, files, request)) is not None:
            tasks.append(_limited(found, request))
    for one in request.suites:
        if one.suite is None or not set(_names_of(one)) & set(wanted):
            continue
        for task in one.suite.load(
            SuiteRequest(request.folder(one.name), one.variant, request.protocol, request.seed, one.options)
        ):
            _check_ids(task)
            if (kept := _chosen_parts(task, wanted)).questions:
                tasks.append(replace(_limited(kept, request), k=task.k or one.suite.k))
    if not tasks:
        place = ", ".join({str(request.folder(one.name) or shipped_data()): None for one in request.suites})
        raise UsageError(f"{place} has no rows of {', '.join(request.patterns) or 'the suites that were asked for'}")
    return tuple(tasks)


def _names_of(chosen: Chosen) -> list[str]:
    """Return the names of a suite's tasks, each followed by the names of its parts."""
    if chosen.suite is None:
        return []
    return [
        name
        for task, parts in chosen.suite.parts.items()
        for name in (task, *(f"{task}.{part.name}" for part in parts))
    ]


def _match(patterns: Sequence[str], names: Sequence[str], chosen: dict[str, Chosen]) -> list[str]:
    try:
        return match_tasks(patterns, names)
    except UnknownNameError:
        for pattern in patterns:
            if any(fnmatchcase(name, pattern) for name in names):
                continue
            others = {MEMFAIL: list(TASK_NAMES)} if MEMFAIL not in chosen else {}
            others |= {name: _names_of(Chosen(name, built_in_suite(name))) for name in BUILT_IN if name not in chosen}
            for suite, known in others.items():
                if any(fnmatchcase(name, pattern) for name in known):
                    raise UsageError(f"{pattern!r} is of the suite {suite}: {OPTION}={suite}") from None
        raise


def _files(request: TaskRequest) -> dict[str, Path]:
    folder = request.folder(MEMFAIL) or shipped_data()
    if not folder.is_dir():
        raise UsageError(f"--memfail-data: got {folder}, expected a folder with the rows of the tasks")
    return files_of_memfail(folder)


def _of_memfail(name: str, files: Mapping[str, Path], request: TaskRequest) -> Task | None:
    if name not in files:
        if files and name not in request.patterns:
            return None  # a folder may hold only some tasks, but the named ones must be there
        missing = (request.folder(MEMFAIL) or shipped_data()) / f"{name}.csv"
        raise UsageError(f"no rows of the task {name!r}: {missing} is missing (--memfail-data names the folder)")
    module = MODULES[name]
    task: Task = module.build(name, module.read(files[name]), request.protocol, request.seed)
    return task


def _chosen_parts(task: Task, wanted: Sequence[str]) -> Task:
    if task.name in wanted:
        return task
    kept = [(s.id, q.id) for s in task.stores for q in s.questions if f"{task.name}.{q.part}" in wanted]
    return keep_questions(task, kept)


def _limited(task: Task, request: TaskRequest) -> Task:
    if request.limit is None:
        return task
    if task.suite == MEMFAIL:
        return sample(task, request.limit, request.seed, request.haystack)
    return sample_stores(task, request.limit, request.seed)


def suites_with_recipes() -> list[Suite]:
    """Return the suites of this package that `memfail generate` makes rows of."""
    from pytest_memfail.suites.memfail.recipes import RECIPES
    from pytest_memfail.suites.memfail.validate import validate

    def faults(folder: Path) -> list[SuiteFault]:
        found = validate(folder)
        return [SuiteFault(f.file, f.field, f.message, f.severity == "error", f.line) for f in found]

    def load(request: SuiteRequest) -> tuple[Task, ...]:
        return load_tasks(TaskRequest(data=request.folder))

    source = Source("https://arxiv.org/abs/2605.26667", "CC BY 4.0", {})
    parts: dict[str, tuple[TaskPart, ...]] = dict.fromkeys(TASK_NAMES, ())
    of_memfail = Suite(MEMFAIL, source, load, parts, faults=faults, recipes=lambda: RECIPES)
    return [of_memfail, *(suite for suite in map(built_in_suite, BUILT_IN) if suite.recipes)]


def suite_in(folder: Path) -> Suite | None:
    """Return the suite of this package whose published files are in a folder; None if there is none."""
    for suite in map(built_in_suite, BUILT_IN):
        names = {name for files in suite.source.files.values() for name in files}
        if any(path.is_file() for name in names for path in folder.glob(name)):
            return suite
    return None


def _check_ids(task: Task) -> None:
    """Raise `UsageError` for a name or id with control characters, because both are part of node ids."""
    for name in (task.name, *(s.id for s in task.stores), *(q.id for q in task.questions)):
        if escape_controls(name) != name or {"\n", "\t"} & set(name):
            raise UsageError(f"the task {task.name!r}: got the id {name!r}, expected an id without control characters")


def match_tasks(patterns: Sequence[str], names: Sequence[str] = TASK_NAMES) -> list[str]:
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
