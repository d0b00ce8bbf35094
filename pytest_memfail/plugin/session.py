"""An active benchmark run in one process: collection, items, and what crosses to the controller."""

from __future__ import annotations

import os
import shutil
import uuid
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_memfail.core import UNGRADED, MemfailError, UnknownNameError
from pytest_memfail.engine import StoreReport
from pytest_memfail.plugin import marks
from pytest_memfail.plugin.capture import scrub
from pytest_memfail.plugin.cleaning import clean_report, clean_warning
from pytest_memfail.plugin.failures import MemoryFailure, ToldErrors
from pytest_memfail.plugin.gating import apply_known
from pytest_memfail.plugin.journal import DEATHS, last_progress, new_folder
from pytest_memfail.plugin.nodes import QuestionItem, attach, release, short_repr, shown_as, ungraded_reason
from pytest_memfail.plugin.progress import Progress, TerminalLine, Watcher
from pytest_memfail.plugin.properties import note
from pytest_memfail.plugin.recorded import latest_recorded
from pytest_memfail.plugin.resume import for_workers
from pytest_memfail.plugin.run import ROOT, Run, Unit
from pytest_memfail.plugin.runtime import Asked, Runtime
from pytest_memfail.plugin.stash import BROKEN_OFF, FINISHED, KNOWN, RESULT, RUNTIME

if TYPE_CHECKING:
    from pytest_memfail.results import QuestionRecord, StoreRecord

WORKER_INPUT = "memfail"
STORES: pytest.StashKey[list[StoreRecord]] = pytest.StashKey()


def asked_by(item: pytest.Item) -> Asked | None:
    """What a benchmark item or a test over a task asks; None for any other test."""
    if isinstance(item, QuestionItem):
        return item.asked
    callspec = getattr(item, "callspec", None)
    asked = callspec.params.get("memfail_question") if callspec is not None else None
    return asked if isinstance(asked, Asked) else None


class MemfailSession:
    """Registered only where a memory system was named."""

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self._config, self._run = config, run
        given = getattr(config, "workerinput", {}).get(WORKER_INPUT)
        self._is_worker = given is not None
        self._run_id = given["run_id"] if given else uuid.uuid4().hex[:8]
        self._journals: Path | None = _shared_folder(given["journals"]) if given else None
        self._journals_lock: int | None = None
        self._line: TerminalLine | None = None
        self._watcher: Watcher | None = None
        self._told = ToldErrors()
        process = os.environ.get("PYTEST_XDIST_WORKER", "main") if given else "main"
        self._progress = Progress(self._show)
        self._runtime = config.stash[RUNTIME] = Runtime(
            run,
            run_id=self._run_id,
            process=process,
            journals=self._journals,
            progress=self._progress.tick,
            show=self._show,
        )
        self._stood = ""

    # -- collection --------------------------------------------------------------------------------------------------

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
            from pytest_memfail.tasks import TASK_NAMES

            known = dict.fromkeys([*TASK_NAMES, *(task.name for task in self._run.tasks)])
            if name not in known:
                pytest.fail(
                    str(UnknownNameError("task", str(name), known, "in @pytest.mark.memfail(task=...)")), pytrace=False
                )
            skip = pytest.mark.skip(reason=f"the task {name} is not among --memfail-tasks")
            metafunc.parametrize("memfail_question", [pytest.param(None, marks=skip)], indirect=True, ids=[str(name)])
            return
        asked, ids = [], []
        for unit in units:
            for question in unit.plan.questions:
                for k in (question.k,) if question.k else self._run.settings.k:
                    asked.append(Asked(unit, question, k))
                    ids.append(f"{unit.id}/{self._run.item_name(question, k)}")
        metafunc.parametrize("memfail_question", asked, indirect=True, ids=ids)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, None, None]:
        marks.mark_items(self._config, self._run, items)  # before -m selects
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
                unit = item.unit
                if unit.id not in order:
                    order[unit.id] = _probe_order(unit)
                keys.append((first.setdefault(unit.id, index), order[unit.id][item.question.id]))
            else:
                keys.append((index, 0))
        ordered = [items[i] for i in sorted(range(len(items)), key=keys.__getitem__)]
        items[:] = ordered
        self._runtime.plan(
            [
                (item, asked)
                for item in items
                if (asked := asked_by(item)) is not None and not self._run.is_recorded(item.nodeid)
            ]
        )
        if self._config.pluginmanager.has_plugin("timeout"):
            for unit_id, index in first.items():
                # pytest-timeout would count the filling of the store against its first question
                item = next(i for i in items[index:] if isinstance(i, QuestionItem) and i.unit.id == unit_id)
                item.add_marker(pytest.mark.timeout(0))

    # -- running -----------------------------------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        if not self._is_worker:
            self._line = TerminalLine(self._config)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, Any, Any]:
        if any(asked_by(item) is not None for item in session.items):
            self._runtime.begin_tests()
        try:
            return (yield)
        except BaseException as error:
            # a second Ctrl-C may come before pytest has taken note of the first
            self._config.stash[BROKEN_OFF] = error
            raise
        finally:
            self._runtime.close()
            if self._watcher is not None:
                self._watcher.stop()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
        # before the fixtures' finalisers: a session fixture may end the server that the system talks to
        asked = asked_by(item)
        stores = item.stash[STORES] = []
        failure: MemfailError | None = None
        if asked is not None:
            following = asked_by(nextitem) if nextitem is not None else None
            try:
                for unit, report in self._runtime.finished(
                    item,
                    asked,
                    following.unit if following else None,
                    virtual=isinstance(item, QuestionItem),
                    last=nextitem is None,
                ):
                    stores.append(_store_record(unit, report))
            except MemfailError as error:
                failure = error
        result = yield
        if failure is not None:
            raise failure
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        asked = asked_by(item)
        if asked is None:
            return (yield)
        shown = None
        if call.excinfo is not None and call.when != "call":  # in the call phase pytest asks the item
            error = call.excinfo.value
            shown = short_repr(error, asked, self._config, self._told.alike(error, item.nodeid))
        with shown_as(item, shown):
            report = yield
        if call.when == "setup":
            self._report_setup(item, asked, call, report)
        elif call.when == "call" and (question := item.stash.get(FINISHED, None)) is not None:
            result = item.stash.get(RESULT, None)
            note(item, report, question)
            if result is not None:
                report.memfail = self._packed(question)
            else:
                report.memfail_recorded = True
            if isinstance(item, QuestionItem):
                report.memfail_verdict = question.verdict
                report.memfail_vacuous = question.vacuous
                if result is not None:
                    # its own time, not how long pytest waited for it
                    report.duration, report.start, report.stop = (
                        result.seconds,
                        result.started,
                        result.started + result.seconds,
                    )
                if question.verdict == UNGRADED and report.skipped:
                    # one place for all of a task, so that -rs folds them
                    report.longrepr = (f"{ROOT}/{asked.unit.task.name}", 1, ungraded_reason(question))
                if (known := self._config.stash[KNOWN].get(item.nodeid)) is not None:
                    apply_known(report, question, known, self._run.settings.protocol)
        elif call.when == "teardown":
            if stores := item.stash.get(STORES, None):
                report.memfail_stores = [self._packed(store) for store in stores]
            release(item)
        is_verdict = call.excinfo is not None and isinstance(call.excinfo.value, MemoryFailure)
        clean_report(report, is_error=report.failed and not is_verdict)
        return report

    def _report_setup(self, item: pytest.Item, asked: Asked, call: pytest.CallInfo[None], report: Any) -> None:
        if call.excinfo is not None and not report.skipped:
            from pytest_memfail.results import question_record

            error = call.excinfo.value
            if self._runtime.is_unopened(asked.unit):
                report.memfail_unopened = True
            question = question_record(item.nodeid, asked.unit.plan.id, asked.question, asked.k, (), error=error)
            note(item, report, question)
            report.memfail = self._packed(question)

    def _packed(self, record: QuestionRecord | StoreRecord) -> QuestionRecord | StoreRecord | str:
        """As text where it crosses a process: xdist takes no other types than JSON has, and no lone surrogates."""
        from pytest_memfail.results import to_text

        return to_text(record) if self._is_worker else record

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        session: Any = self._config.pluginmanager.get_plugin("session")
        if report.failed and session is not None and (session.shouldfail or session.shouldstop):
            self._runtime.cancel()

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        if type(excinfo.value) is KeyboardInterrupt:  # not one of pytest's own that ends a run
            waiting = [self._runtime.stands()]
            if self._journals is not None:
                waiting += [f"{process} {text}" for process, text in last_progress(self._journals).items() if text]
            self._stood = "; ".join(filter(None, waiting)) or "between two questions"
            if self._line is not None:
                self._line.show("")
        self._runtime.cancel()

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._stood and not self._is_worker:
            terminalreporter.write_line(
                f"memfail: interrupted at {self._stood}; the same command with --memfail-resume goes on from there",
                bold=True,
            )

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self) -> None:
        self._runtime.close()
        if self._watcher is not None:
            self._watcher.stop()
        if self._line is not None:
            self._line.close()
        if self._journals is not None and not self._is_worker:
            shutil.rmtree(self._journals, ignore_errors=True)
            if self._journals_lock is not None:
                os.close(self._journals_lock)
                self._journals_lock = None

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self) -> Generator[None, Any, Any]:
        data = yield
        return scrub(data)

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        clean_warning(warning_message)

    # -- xdist -------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        if self._journals is None:
            self._journals, self._journals_lock = new_folder()
            self._runtime.share(self._journals)
        known: dict[str, list[Any]] = dict(self._config.stash[KNOWN].items())
        node.workerinput[WORKER_INPUT] = {
            "run_id": self._run_id,
            "journals": str(self._journals),
            "settings": self._run.settings.shared(),
            "selection": [list(chosen) for chosen in self._run.selection],
            "recorded": for_workers(self._run.kept) if self._run.kept.questions else "",
            "known": known,
            "latest": dict(latest_recorded(self._config, self._run)),
        }
        if self._line is not None and self._line.is_shown and self._watcher is None:
            self._watcher = Watcher(self._line, self._journals)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        if error and self._journals is not None:
            (self._journals / DEATHS).touch()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        # xdist turns -n and -d into --dist=load in config.option, but leaves what the user said in the known arguments
        if config.known_args_namespace.dist != "no":
            return None
        from pytest_memfail.plugin.scheduling import StoreScheduling

        run = self._run

        def store_of(node_id: str) -> str | None:
            unit = run.unit_of(node_id)
            return None if unit is None else unit.id

        return StoreScheduling(
            config, log, store_of=store_of, weight=lambda store, n: run.unit(store).weight, journals=self._journals
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any) -> None:
        unit = self._run.unit_of(crashitem)
        if unit is None:
            return
        from pytest_memfail.results import question_record

        name = crashitem.rpartition("::")[2]
        found = next(((q, k) for n, q, k in self._run.items_of(unit) if n == name), None)
        report.when = "setup"  # an error of the item, not a failure
        report.longrepr = f"the process died while this question was asked ({report.longrepr})"
        clean_report(report, is_error=True)
        if found is not None:
            question, k = found
            error = MemfailError(report.longrepr)
            report.memfail = question_record(crashitem, unit.plan.id, question, k, (), error=error)

    def _show(self, text: str) -> None:
        if self._is_worker:
            self._runtime.show_progress(text)
        elif self._line is not None:
            self._line.show(text)


def _shared_folder(path: str) -> Path | None:
    """In a worker: the folder that all processes of the run share; None on another machine, which does not have it."""
    return Path(path) if Path(path).is_dir() else None


def _probe_order(unit: Unit) -> dict[str, int]:
    """The number of the probe that asks each question: a later one cannot be asked before an earlier one."""
    order = {}
    probe = -1
    for step in unit.plan.steps:
        questions = getattr(step, "questions", None)
        if questions is not None:
            probe += 1
            order.update({question.id: probe for question in questions})
    return order


def _store_record(unit: Unit, report: StoreReport) -> StoreRecord:
    from pytest_memfail.results import store_record

    return store_record(
        unit.plan.id,
        report.task,
        conversations=report.conversations,
        fill_seconds=report.fill_seconds,
        listings=report.listings,
        tokens=report.tokens,
        changed=report.changed,
        shared_with=report.shared_with,
        described=report.described,
        restored=report.restored,
    )
