"""One benchmark run as the user asked for it: settings, tasks, and which of their questions are selected."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_memfail import discovery
from pytest_memfail.core import Question, StorePlan, Task, UsageError
from pytest_memfail.plugin.models import check_models, models_of_system
from pytest_memfail.plugin.resume import read_own
from pytest_memfail.plugin.settings import Settings, read_settings
from pytest_memfail.results import Kept, Line, check_writable

ROOT: Final = "memfail"
SYSTEM_FROM_FIXTURE: Final = "fixture"
"""`--memfail-system=fixture` leaves the choice to the `memfail_system` fixture of the user's conftest.py."""


Selection = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A store of a task: what one process fills and asks."""

    task: Task
    plan: StorePlan
    id: str
    """`task::store`, or `task` alone for a store of the same name: it never depends on what else there is."""

    @property
    def weight(self) -> int:
        """What it roughly costs: each conversation and each question is at least one call."""
        return len(self.plan.conversations) + len(self.plan.questions)


class Run:
    """What the controller and every worker know alike."""

    def __init__(
        self, config: pytest.Config, settings: Settings, tasks: Sequence[Task], selection: Sequence[Selection]
    ):
        self.config = config
        self.settings = settings
        self.tasks = tuple(tasks)
        self.selection = tuple(selection)
        self.units = tuple(
            Unit(task, plan, task.name if plan.id == task.name else f"{task.name}::{plan.id}")
            for task in self.tasks
            for plan in task.stores
        )
        self._all_units = self.units
        if settings.shard is not None:
            self.units = shard_of(self.units, *settings.shard)
        self.kept = Kept()
        """What an earlier record holds of this run (--memfail-resume)."""
        self.system_models: tuple[str, ...] = ()
        """What the memory system asks through `context.chat`."""
        self._unit_by_id = {unit.id: unit for unit in self.units}

    def recorded(self, node_id: str) -> Line | None:
        """The line of a benchmark item that need not be asked again, else None."""
        return self.kept.questions.get(node_id) if self.is_recorded(node_id) else None

    def is_recorded(self, node_id: str) -> bool:
        """Whether an item is reported from the record. A user's own test is always run: it may look at more."""
        return node_id in self.kept.questions and node_id.startswith(f"{ROOT}/")

    def store_sizes(self) -> dict[str, int]:
        """How many questions each store of the whole run has (each k counts), other shards' too."""
        return {
            unit.id: sum(1 if q.k else len(self.settings.k) for q in unit.plan.questions) for unit in self._all_units
        }

    def unit(self, unit_id: str) -> Unit:
        """The unit of that id."""
        return self._unit_by_id[unit_id]

    def item_name(self, question: Question, k: int) -> str:
        """The last part of a node id."""
        return question.id if len(self.settings.k) == 1 else f"{question.id}[k={k}]"

    def items_of(self, unit: Unit) -> Iterator[tuple[str, Question, int]]:
        """Name, question and k of each selected item of a unit, in the order asked."""
        path = tuple(unit.id.split("::"))
        for question in unit.plan.questions:
            for k in (question.k,) if question.k else self.settings.k:
                name = self.item_name(question, k)
                full = (*path, name)
                if any(full[: len(chosen)] == chosen for chosen in self.selection):
                    yield name, question, k

    def selected(self) -> Iterator[tuple[str, Unit, Question, int]]:
        """Node id, unit, question and k of each selected item."""
        for unit in self.units:
            for name, question, k in self.items_of(unit):
                yield f"{ROOT}/{unit.id}::{name}", unit, question, k

    def unit_of(self, node_id: str) -> Unit | None:
        """The unit of a benchmark item, or of a user's test over a task; None for any other test."""
        if node_id.startswith(f"{ROOT}/"):
            parts = node_id[len(ROOT) + 1 :].split("::")
            return self._unit_by_id.get(parts[0]) or self._unit_by_id.get("::".join(parts[:2]))
        if node_id.endswith("]") and "[" in node_id:
            return self._unit_by_id.get(node_id.rpartition("[")[2][:-1].rpartition("/")[0])
        return None

    def check_selection(self) -> None:
        """Raise `pytest.UsageError` for a selected id that nothing matches, with the closest one that exists."""
        known: dict[Selection, None] = {(): None}
        for unit in self._all_units:
            path = tuple(unit.id.split("::"))
            for i in range(1, len(path) + 1):
                known[path[:i]] = None
            for question in unit.plan.questions:
                for k in (question.k,) if question.k else self.settings.k:
                    known[(*path, self.item_name(question, k))] = None
        faults = []
        for chosen in self.selection:
            if chosen not in known:
                names = [
                    _id(other).removeprefix(f"{ROOT}/")
                    for other in known
                    if other and (len(chosen) == 1 or other[0] == chosen[0])
                ]
                close = get_close_matches(_id(chosen).removeprefix(f"{ROOT}/"), names, 1, cutoff=0.6)
                tasks = ", ".join(task.name for task in self.tasks)
                hint = f"did you mean {ROOT}/{close[0]}?" if close else f"tasks: {tasks}"
                faults.append(f"no such benchmark item: {_id(chosen)} ({hint})")
        if faults:
            raise pytest.UsageError(*faults)


def shard_of(units: Sequence[Unit], number: int, of: int) -> tuple[Unit, ...]:
    """The stores of one shard: heaviest first, each into the lightest shard so far; the same on every machine.

    Raises `UsageError` if some shard would stay empty.
    """
    if of > len(units):
        raise UsageError(f"--memfail-shard: got {of} shards, expected at most {len(units)}: a store is not divided")
    loads = [0] * of
    chosen = set()
    for unit in sorted(units, key=lambda unit: (-unit.weight, unit.id)):
        lightest = loads.index(min(loads))
        loads[lightest] += unit.weight
        if lightest == number - 1:
            chosen.add(unit.id)
    return tuple(unit for unit in units if unit.id in chosen)


def _id(selection: Selection) -> str:
    return "::".join((f"{ROOT}/{selection[0]}", *selection[1:])) if selection else ROOT


def take_arguments(config: pytest.Config) -> tuple[Selection, ...]:
    """Move our own arguments out of `config.args`; what is left is pytest's.

    Without any path on the command line the benchmark is what runs, and nothing else: a run that may cost money runs
    what was asked for.
    """
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args.clear()
        return ((),)
    kept, ours = [], []
    for arg in config.args:
        selection = parse_argument(arg, config)
        if selection is None:
            kept.append(arg)
        else:
            ours.append(selection)
    config.args[:] = kept
    return tuple(dict.fromkeys(ours))


def parse_argument(arg: str, config: pytest.Config) -> Selection | None:
    """`memfail/task::store::question` as its parts; None for what is not ours.

    Ids are relative to the rootdir and can be pasted in any directory. A real file or folder of the user goes first,
    except that the bare word `memfail` is always ours (`memfail/` still means a folder).
    """
    base, _, rest = arg.partition("::")
    parts = tuple(part for part in rest.split("::") if part)
    if base == ROOT:
        return parts
    for start in dict.fromkeys((config.invocation_params.dir, config.rootpath)):
        path = Path(os.path.normpath(start / base))
        if path.exists():
            return None
        try:
            below = path.relative_to(config.rootpath).parts
        except ValueError:
            continue
        if below[:1] == (ROOT,) and len(below) > 1:
            return (*below[1:], *parts)
    return None


def build_run(config: pytest.Config, selection: Sequence[Selection], shared: Mapping[str, Any] | None = None) -> Run:
    """Check everything the user gave, before anything is stored; in a worker, `shared` is what it was handed of it.

    Raises `pytest.UsageError` (exit code 4) with one line.
    """
    from pytest_memfail.tasks import TaskRequest, load_tasks, read_custom

    settings = replace(read_settings(config), **(shared or {}))
    try:
        extra = [task for tasks in config.hook.pytest_memfail_tasks(config=config) for task in tasks]
        extra += [found() if callable(found) else found for _, found in discovery.load_all("pytest_memfail.tasks")]
        if (own := read_custom(find_cases(config), config.rootpath)) is not None:
            extra.append(own)
        tasks = load_tasks(
            TaskRequest(settings.tasks, settings.data, settings.protocol, settings.seed, settings.limit),  # type: ignore[arg-type]  # checked in read_settings
            extra,
        )
        run = Run(config, settings, tasks, selection)
        run.check_selection()
        if settings.system != SYSTEM_FROM_FIXTURE:
            factory = find_system(config, settings)
            run.system_models = models_of_system(factory, settings)
            if settings.reuse_stores is not None and isinstance(factory, type):
                from pytest_memfail.engine import check_reusable

                check_reusable(factory, settings.system)  # of other factories it shows with the first store
        check_models(config, settings, run.system_models)
        if settings.record is not None:
            check_writable(settings.record)
        check_reports(config, settings)
        if settings.resume and not hasattr(config, "workerinput"):  # a worker is told
            run.kept = read_own(config, run)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error.__cause__
    return run


def check_reports(config: pytest.Config, settings: Settings) -> None:
    """Refuse reports that could not be written at the end.

    Raises `UsageError`.
    """
    if not settings.reports:
        return
    from pytest_memfail.report import check_report

    for path in settings.reports:
        check_report(path, "--memfail-report")
    if settings.record is None and not config.pluginmanager.has_plugin("cacheprovider"):
        raise UsageError(
            "--memfail-report: a report is made from the record: without pytest's cache, give --memfail-record"
        )


def find_cases(config: pytest.Config) -> list[Path]:
    """The user's own cases: `*.memfail.yaml` where pytest looks for tests too, in `testpaths` or else below the rootdir."""
    from pytest_memfail.tasks import find_custom

    starts: list[Path] = []
    for path in config.getini("testpaths") or ["."]:
        starts += config.rootpath.glob(path) if path != "." else [config.rootpath]
    return find_custom(starts, config.getini("norecursedirs"))


def find_system(config: pytest.Config, settings: Settings) -> Any:
    """The factory of the memory system.

    Raises `UsageError` for a name nobody knows, or something that cannot be called.
    """
    from pytest_memfail.systems import SYSTEMS, built_in_system

    def find(name: str) -> Any:
        found = discovery.find(
            "memory system",
            name,
            option="--memfail-system",
            group="pytest_memfail.systems",
            built_in={n: (lambda n=n: built_in_system(n, find)) for n in SYSTEMS},  # type: ignore[misc]  # a default binds n
            hook=lambda: config.hook.pytest_memfail_make_system(config=config, name=name),
            hook_name="pytest_memfail_make_system",
            rootdir=config.rootpath,
        )
        if not callable(found):
            raise UsageError(
                f"--memfail-system: {name!r} is {type(found).__name__}, expected a factory: factory(context) -> system"
            )
        return found

    factory = find(settings.system)
    if callable(check := getattr(factory, "check_options", None)):
        check(settings.system_options)  # before anything is stored, where a system can tell
    return factory
