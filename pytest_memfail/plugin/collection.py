"""Add the benchmark to pytest's tree: a virtual directory, a node per task and store, an item per question, and markers.

An item requests its fixtures as core's `DoctestItem` does, but resolves their closure once per store and takes no autouse
fixtures: those of a user's tests would wrap whatever questions happen to be in flight. Only this file and `xdist.py` use
private names of pytest.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pytest
from _pytest._code.code import ExceptionChainRepr, ReprEntryNative, ReprFileLocation, ReprTraceback, TerminalRepr
from _pytest.fixtures import FuncFixtureInfo, TopRequest

from pytest_memfail.core import FAILURES, LEFT_OPEN, STATES, MemfailError, UnknownNameError
from pytest_memfail.plugin.asking import ask_question, verdict_of
from pytest_memfail.plugin.options import task_markers
from pytest_memfail.plugin.outcome import MemoryFailure, error_lines, open_reason
from pytest_memfail.plugin.stash import FINISHED, RESULT, RUN, RUNTIME, is_planned
from pytest_memfail.running import ROOT, Asked, Run, Unit, known_verdicts

SELECTABLE: Final = re.compile(r"(?!(?:and|or|not|None|True|False)$)[^\W_][\w.+/-]*")
"""A name that `-m` reads as one word, and that pytest accepts as the name of a marker."""
FIXTURES = ("memfail_system",)


class Collection:
    """Add the benchmark to the collected items. Registered only if a memory system is named."""

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self._config, self._run = config, run

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        report = yield
        if isinstance(collector, pytest.Session) and report.passed and self._run.selection:
            report.result = list(report.result)
            attach(collector, report.result, self._run)
        return report

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        mark = metafunc.definition.get_closest_marker("memfail")
        if mark is None:
            return
        name = mark.kwargs.get("task", mark.args[0] if mark.args else None)
        units = [unit for unit in self._run.units if unit.task.name == name]
        if not units:
            from pytest_memfail.suites import BUILT_IN, built_in_suite

            built_in = (name for suite in map(built_in_suite, BUILT_IN) for name in suite.parts)
            known = dict.fromkeys([*built_in, *(task.name for task in self._run.tasks)])
            if name not in known:
                pytest.fail(
                    str(UnknownNameError("task", str(name), known, "in @pytest.mark.memfail(task=...)")), pytrace=False
                )
            skip = pytest.mark.skip(reason=f"the task {name} is not among --memfail-tasks")
            metafunc.parametrize("memfail_question", [pytest.param(None, marks=skip)], indirect=True, ids=[str(name)])
            return
        every = [asked for unit in units for asked in self._run.all_of(unit)]
        ids = [f"{asked.unit.id}/{asked.name}" for asked in every]
        metafunc.parametrize("memfail_question", every, indirect=True, ids=ids)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, None, None]:
        mark_items(self._config, self._run, items)  # before -m selects
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep a store's questions together, whatever has selected and reordered the items before (-k, --lf, --ff)."""
        items = session.items
        first: dict[str, int] = {}
        order: dict[str, dict[str, int]] = {}
        keys = []
        for index, item in enumerate(items):
            if isinstance(item, QuestionItem):
                unit = item.asked.unit
                if unit.id not in order:
                    order[unit.id] = _probe_order(unit)
                keys.append((first.setdefault(unit.id, index), order[unit.id][item.asked.question.id]))
            else:
                keys.append((index, 0))
        ordered = [items[i] for i in sorted(range(len(items)), key=keys.__getitem__)]
        items[:] = ordered
        self._config.stash[RUNTIME].plan(
            [
                (item.nodeid, asked)
                for item in items
                if (asked := asked_by(item)) is not None and not self._run.is_recorded(item.nodeid)
            ]
        )
        if self._config.pluginmanager.has_plugin("timeout"):
            for unit_id, index in first.items():
                # pytest-timeout would count the filling of the store against its first question
                item = next(i for i in items[index:] if isinstance(i, QuestionItem) and i.asked.unit.id == unit_id)
                item.add_marker(pytest.mark.timeout(0))


def asked_by(item: pytest.Item) -> Asked | None:
    """Return what a benchmark item or a test over a task asks; None for any other test."""
    if isinstance(item, QuestionItem):
        return item.asked
    callspec = getattr(item, "callspec", None)
    asked = callspec.params.get("memfail_question") if callspec is not None else None
    return asked if isinstance(asked, Asked) else None


def _probe_order(unit: Unit) -> dict[str, int]:
    """Return the probe number of each question: questions of a later probe cannot be asked before earlier ones."""
    order = {}
    probe = -1
    for step in unit.plan.steps:
        questions = getattr(step, "questions", None)
        if questions is not None:
            probe += 1
            order.update({question.id: probe for question in questions})
    return order


# -- nodes -------------------------------------------------------------------------------------------------------------


class Benchmark(pytest.Directory):
    """The virtual directory `memfail`."""

    def __init__(self, *, run: Run, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run = run

    def collect(self) -> Iterator[pytest.Collector]:
        """Yield a directory per task."""
        for task in self.run.tasks:
            units = [unit for unit in self.run.units if unit.task is task]
            if any(True for unit in units for _ in self.run.items_of(unit)):
                yield TaskDirectory.from_parent(self, path=self.path / task.name, run=self.run, units=units)


class TaskDirectory(pytest.Directory):
    """A task; with a single store it holds the questions itself."""

    def __init__(self, *, run: Run, units: list[Unit], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run, self.units = run, units
        self.extra_keyword_matches.add(self.path.name)

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield the questions, or a node per store."""
        if len(self.units) == 1 and "::" not in self.units[0].id:
            yield from _items(self, self.run, self.units[0])
        else:
            for unit in self.units:
                if any(True for _ in self.run.items_of(unit)):
                    yield StoreNode.from_parent(self, name=unit.plan.id, run=self.run, unit=unit)


class StoreNode(pytest.Collector):
    """One store of a task with several."""

    def __init__(self, *, run: Run, unit: Unit, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run, self.unit = run, unit

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the questions."""
        yield from _items(self, self.run, self.unit)


def _items(parent: pytest.Collector, run: Run, unit: Unit) -> Iterator[pytest.Item]:
    info = _fixture_info(parent)
    # a path that exists, the rootdir's: the user's conftest hooks apply, and --nf asks for its age
    path = parent.config.rootpath
    for asked in run.items_of(unit):
        yield QuestionItem.from_parent(parent, name=asked.name, path=path, asked=asked, info=info)


class QuestionItem(pytest.Item):
    """One graded question: its setup gets the verdict, and its test fails if the verdict is a failure."""

    def __init__(self, *, asked: Asked, info: FuncFixtureInfo, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.asked = asked
        self.obj = None  # as core's `DoctestItem` has it: plugins such as pytest-trio read it of every item
        self._fixtureinfo = info
        self.fixturenames = info.names_closure
        self.funcargs: dict[str, Any] = {}
        self._request: TopRequest | None = None

    def _initrequest(self) -> None:
        """Reset the request; pytest-retry and pytest-rerunfailures call this on items that they run again."""
        self.funcargs = {}
        self._request = TopRequest(self, _ispytest=True)  # type: ignore[arg-type]  # as for core's DoctestItem

    @property
    def function(self) -> Any:
        """The function whose location `--fixtures-per-test` shows."""
        return type(self).runtest

    def setup(self) -> None:
        """Get the verdict; any exception on the way is an error, not a failure."""
        if is_planned(self.config):
            return
        if (scope := _narrow_scope(self)) is not None:
            raise MemfailError(
                f"the fixture memfail_system has {scope} scope, expected session: a store is shared by all its questions"
            )
        recorded = self.config.stash[RUN].recorded(self.nodeid)
        if recorded is not None:
            self.stash[FINISHED] = recorded
            return
        self._initrequest()
        assert self._request is not None
        # without the fixtures of a test over a task, which are slow to resolve for each item
        ask_question(self._request, self.asked)
        verdict_of(self._request)

    def runtest(self) -> None:
        """Fail if the verdict is a failure; skip if the question was left open."""
        question = self.stash[FINISHED]
        if question.failed:
            raise MemoryFailure(self)
        if question.verdict in LEFT_OPEN:
            pytest.skip(open_reason(question))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str | TerminalRepr:
        """Show our own exceptions in a few lines, and all others as pytest does."""
        return short_repr(excinfo.value, self.asked, self.config) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int, str]:
        """Return the virtual file, the row's line, and the rest of the id.

        The line is a number even if the row has none: pytest's report of a skip asserts one.
        """
        asked = self.asked
        return self.config.rootpath / ROOT / asked.unit.task.name, max(asked.question.line - 1, 0), self.name

    @property
    def location(self) -> tuple[str, int | None, str]:
        """Return what pytest makes of `reportinfo`, without the paths that this takes for each item."""
        return f"{ROOT}{os.sep}{self.asked.unit.task.name}", max(self.asked.question.line - 1, 0), self.name


def short_repr(
    error: BaseException, asked: Asked, config: pytest.Config, alike: str | None = None
) -> TerminalRepr | None:
    """Show our own exceptions in a few lines; None for all others, and with --full-trace.

    `alike` is the item whose error of the same kind is shown in full.
    """
    if config.getoption("fulltrace", False):
        return None
    if isinstance(error, MemoryFailure):
        lines, message = [] if config.getoption("tbstyle", "auto") == "line" else error.lines(), error.headline()
    elif isinstance(error, MemfailError):
        frames = config.getoption("tbstyle", "auto") not in ("no", "line")
        lines, message = error_lines(error, frames=frames) if alike is None else [f"as {alike}"], str(error)
    else:
        return None
    # this shape travels through xdist whole and gives the short summary its message
    entry = ReprEntryNative([f"{line}\n" for line in lines])
    where = ReprFileLocation(asked.question.file or asked.question.id, asked.question.line, message)
    return ExceptionChainRepr([(ReprTraceback([entry], None, "native"), where, None)])


@contextmanager
def shown_as(item: pytest.Item, shown: TerminalRepr | None) -> Iterator[None]:
    """Make pytest show this for an error in an item's setup or teardown, instead of building a traceback.

    If hundreds of questions end with the same error, building their tracebacks takes minutes, and nobody sees them.
    """
    if shown is None:
        yield
        return
    attributes: dict[str, Any] = vars(item)
    attributes["_repr_failure_py"] = lambda *_, **__: shown
    try:
        yield
    finally:
        del attributes["_repr_failure_py"]


def _fixture_info(parent: pytest.Collector) -> FuncFixtureInfo:
    manager = parent.session._fixturemanager
    closure, definitions = manager.getfixtureclosure(parentnode=parent, initialnames=FIXTURES, ignore_args=frozenset())
    return FuncFixtureInfo(FIXTURES, FIXTURES, list(closure), definitions)


def release(item: pytest.Item) -> None:
    """Drop the results of a question: pytest keeps every item to the end of the run."""
    if RESULT in item.stash:
        del item.stash[RESULT]
    if FINISHED in item.stash:
        del item.stash[FINISHED]
    if isinstance(item, QuestionItem):
        item.funcargs = {}
        item._request = None


def attach(session: pytest.Session, result: list[pytest.Item | pytest.Collector], run: Run) -> None:
    """Append the benchmark to what a session collects.

    Its parent is the rootdir's own directory node: a node directly under the session hides the fixtures of a conftest.py
    there on pytest 9.1.
    """
    rootpath = session.config.rootpath
    chain = (node for top in result for node in top.listchain())
    root = next((node for node in chain if isinstance(node, pytest.Directory) and node.path == rootpath), None)
    if root is None:
        root = pytest.Dir.from_parent(session, path=rootpath)
    # pytest 9.1.0 and 9.1.1 register a conftest's fixtures when its directory is collected, which this one never is
    # (pytest #14683)
    manager = session._fixturemanager
    module = getattr(manager, "_pending_conftests", {}).pop(rootpath, None)
    if module is not None:
        manager.parsefactories(holder=module, node=session)
    result.append(Benchmark.from_parent(root, path=rootpath / ROOT, run=run))


def _narrow_scope(item: QuestionItem) -> str | None:
    """Return the scope of the item's `memfail_system` fixture if it is too narrow, else None."""
    definitions = item._fixtureinfo.name2fixturedefs.get("memfail_system")
    scope = definitions[-1].scope if definitions else "session"
    return None if scope in ("session", "package") else str(scope)


# -- markers -----------------------------------------------------------------------------------------------------------


def own_marker_lines(run: Run) -> list[str]:
    """Return the marker lines of the user's own tasks and of parts, if their names can be markers."""
    known = set(task_markers())
    found = {t.name: t.description or "MemFail task of your own" for t in run.tasks if t.name not in known}
    for task in run.tasks:
        found |= {part: f"part of the task {task.name}" for part in run.parts_of(task) if part not in known}
    return [f"{name}: {meaning}" for name, meaning in found.items() if SELECTABLE.fullmatch(name)]


def verdicts_in(expression: str) -> list[str]:
    """Return the verdicts that an expression for `-m` names.

    >>> verdicts_in("summary_error or not correct")
    ['correct', 'summary_error']
    """
    words = set(re.findall(r"\w+", expression))
    return [verdict for verdict in STATES if verdict in words]


def mark_items(config: pytest.Config, run: Run, items: Sequence[pytest.Item]) -> None:
    """Add the markers to the benchmark's items."""
    known = known_verdicts(run)
    task_markers = _task_markers(config, run)
    shared: dict[tuple[str, int], pytest.MarkDecorator] = {}
    for item in items:
        if not isinstance(item, QuestionItem):
            continue
        unit, question, k = item.asked.unit, item.asked.question, item.asked.k
        key = (unit.id, k)
        if key not in shared:
            shared[key] = pytest.mark.memfail(task=unit.task.name, store=unit.plan.id, k=k)
        item.add_marker(shared[key])
        for name in (unit.task.name, question.part):
            if name in task_markers:
                item.add_marker(name)
        # once a sample has verdicts, other questions are unknown: they must not pass for failures of their task's kind
        for verdict in {known.get(item.nodeid, "")} & set(STATES) if known else _provoked(run, item.asked):
            item.add_marker(verdict)


def _task_markers(config: pytest.Config, run: Run) -> set[str]:
    """Return the tasks and parts that have a marker, without own ones whose name is already another marker (`skip`)."""
    registered = Counter(re.split(r"[:(]", line, maxsplit=1)[0].strip() for line in config.getini("markers"))
    known = set(task_markers())
    own = {name for task in run.tasks for name in (task.name, *run.parts_of(task))} - known
    return {*known, *(name for name in own if SELECTABLE.fullmatch(name) and registered[name] == 1)}


def _provoked(run: Run, asked: Asked) -> Iterator[str]:
    targets = run.targets_of(asked.unit.task, asked.question.part)
    return (failure for failure in targets if failure in FAILURES)
