"""Run the items: manage the engine and its stores, the models it calls, and the data in each item's report.

The prints and logs of a question are kept with the question and shown with its item. pytest captures by time, but several
questions are in flight at once, so their output is routed by context variable.
"""

from __future__ import annotations

import os
import sys
import uuid
import warnings
from collections.abc import Generator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pytest

from pytest_memfail.core import LEFT_OPEN, MemfailError
from pytest_memfail.plugin.collection import QuestionItem, asked_by, release, short_repr, shown_as
from pytest_memfail.plugin.handover import handed_over
from pytest_memfail.plugin.outcome import (
    MemoryFailure,
    ShownErrors,
    apply_known,
    clean_report,
    clean_warning,
    note,
    open_reason,
)
from pytest_memfail.plugin.stash import BROKEN_OFF, FINISHED, RESULT, RUNTIME
from pytest_memfail.results import NO_TRUSTWORTHY_RESULT
from pytest_memfail.running import ROOT, Asked, Run, Runtime, TerminalLine, last_progress, loud_exit, scrub

if TYPE_CHECKING:
    from pytest_memfail.core import QuestionRecord
    from pytest_memfail.records import StoreRecord

T = TypeVar("T")

OUTCOMES: Final = (pytest.skip.Exception, pytest.fail.Exception)
"""Exceptions of a system that end its question without an error; `pytest.xfail` raises the second."""
LOG_HANDLERS: Final = ("caplog_handler", "report_handler", "log_cli_handler", "log_file_handler")
"""The attributes of pytest's logging plugin whose handlers keep the logs of questions until their items run."""
STORES: pytest.StashKey[list[StoreRecord]] = pytest.StashKey()
HAS_FAILED: pytest.StashKey[bool] = pytest.StashKey()
"""Whether this attempt at an item has failed so far."""


class Execution:
    """Run the items. Registered only if a memory system is named."""

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self._config, self._run = config, run
        given = handed_over(config)
        self._is_worker = bool(given)
        self.run_id: str = given["run_id"] if given else uuid.uuid4().hex[:8]
        self._journals: Path | None = _shared_folder(given["journals"]) if given else None
        self.line: TerminalLine | None = None
        self._shown_errors = ShownErrors()
        process = os.environ.get("PYTEST_XDIST_WORKER", "main") if given else "main"
        self._runtime = config.stash[RUNTIME] = Runtime(
            run,
            run_id=self.run_id,
            process=process,
            journals=self._journals,
            show=self.show,
            outcomes=OUTCOMES,
            # under xdist the next store may be another worker's, and -x may end the run before it is needed
            ahead=not given and not config.getoption("maxfail"),
        )
        self.waited_for = ""
        """What the run was waiting for when it was interrupted; empty if it was not interrupted."""

    def share(self, journals: Path) -> None:
        """Set the folder that workers share with this process."""
        self._journals = journals
        self._runtime.share(journals)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        if not self._is_worker:
            self.line = _terminal_line(self._config)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, Any, Any]:
        if any(asked_by(item) is not None for item in session.items):
            plugin = self._config.pluginmanager.get_plugin("logging-plugin")
            handlers = (getattr(plugin, name, None) for name in LOG_HANDLERS)
            self._runtime.begin_tests(handler for handler in handlers if handler is not None)
        # the death of a worker is seen without it
        watched = nullcontext() if self._is_worker else loud_exit(NO_TRUSTWORTHY_RESULT)
        try:
            with watched:
                return (yield)
        except BaseException as error:
            # a second Ctrl-C may come before pytest has taken note of the first
            self._config.stash[BROKEN_OFF] = error
            raise
        finally:
            self._runtime.close()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
        # before the fixtures' finalisers: a session fixture may end the server that the system talks to
        asked = asked_by(item)
        if asked is not None and _is_run_again(item):
            return (yield)  # its store stays open and is not filled again
        stores = item.stash[STORES] = []
        failure: MemfailError | None = None
        if asked is not None:
            following = asked_by(nextitem) if nextitem is not None else None
            try:
                for store in self._runtime.finished(
                    item.nodeid,
                    asked,
                    following.unit if following else None,
                    virtual=isinstance(item, QuestionItem),
                    last=nextitem is None,
                ):
                    stores.append(store)
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
        shown = alike = None
        if call.excinfo is not None and call.when != "call":  # in the call phase pytest asks the item
            error = call.excinfo.value
            alike = self._shown_errors.alike(error, item.nodeid)
            shown = short_repr(error, asked, self._config, alike)
        with shown_as(item, shown):
            report = yield
        report.memfail_alike = alike is not None
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
                report.memfail_verdict = question.state
                if result is not None:
                    # its own time, not how long pytest waited for it
                    report.duration, report.start, report.stop = (
                        result.seconds,
                        result.started,
                        result.started + result.seconds,
                    )
                if question.verdict in LEFT_OPEN and report.skipped:
                    # one place for all of a task, so that -rs folds them
                    report.longrepr = (f"{ROOT}/{asked.unit.task.name}", 1, open_reason(question))
                if (known := self._run.known.get(item.nodeid)) is not None:
                    apply_known(report, question, known, self._run.settings.protocol)
        elif call.when == "teardown":
            if stores := item.stash.get(STORES, None):
                report.memfail_stores = [self._packed(store) for store in stores]
            release(item)
        item.stash[HAS_FAILED] = report.failed or (call.when != "setup" and item.stash[HAS_FAILED])
        is_verdict = call.excinfo is not None and isinstance(call.excinfo.value, MemoryFailure)
        clean_report(report, is_error=report.failed and not is_verdict)
        return report

    def _report_setup(self, item: pytest.Item, asked: Asked, call: pytest.CallInfo[None], report: Any) -> None:
        if call.excinfo is not None and not report.skipped:
            from pytest_memfail.records import question_record

            error = call.excinfo.value
            if self._runtime.is_unopened(asked.unit):
                report.memfail_unopened = True
            result = item.stash.get(RESULT, None)
            names = () if result is None or result.error is not error else ("trace", "verdict", "listing")
            kept = {name: getattr(result, name) for name in names}
            question = question_record(item.nodeid, asked.unit.plan.id, asked.question, asked.k, **kept, error=error)
            note(item, report, question)
            report.memfail = self._packed(question)

    def _packed(self, record: QuestionRecord | StoreRecord) -> QuestionRecord | StoreRecord | str:
        """Return a record, in a worker as text: xdist accepts only JSON types, and no lone surrogates."""
        from pytest_memfail.records import to_text

        return to_text(record) if self._is_worker else record

    @pytest.hookimpl(specname="pytest_runtest_logreport", tryfirst=True)
    def pytest_runtest_logreport_first(self) -> None:
        if self.line is not None:
            self.line.show("")  # pytest may write on that line next

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        session: Any = self._config.pluginmanager.get_plugin("session")
        if report.failed and session is not None and (session.shouldfail or session.shouldstop):
            self._runtime.cancel()

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        if type(excinfo.value) is KeyboardInterrupt:  # not one of pytest's own that ends a run
            waiting = [self._runtime.waiting()]
            if self._journals is not None:
                waiting += [f"{process} {text}" for process, text in last_progress(self._journals).items() if text]
            self.waited_for = "; ".join(filter(None, waiting)) or "between two questions"
            if self.line is not None:
                self.line.show("")
        self._runtime.cancel()

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self) -> None:
        self._runtime.close()
        if self.line is not None:
            self.line.close()

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self) -> Generator[None, Any, Any]:
        data = yield
        return scrub(data)

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        clean_warning(warning_message)

    def show(self, text: str) -> None:
        """Show the progress below the cursor, or hand it to the process that has the terminal."""
        if self._is_worker:
            self._runtime.show_progress(text)
        elif self.line is not None:
            self.line.show(text)


def _terminal_line(config: pytest.Config) -> TerminalLine:
    """Return the line below the cursor, on a terminal that can show one."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return TerminalLine(None)
    # capture is suspended while a session starts, so this is the terminal and not pytest's capture file
    return TerminalLine(os.dup(sys.stdout.fileno()), lambda: config.get_terminal_writer().fullwidth)


def _is_run_again(item: pytest.Item) -> bool:
    """Return whether pytest-rerunfailures will certainly run a failed item again.

    This is not known yet if the plugin decides by the error, or limits the reruns of all items.
    """
    plugin: Any = item.config.pluginmanager.get_plugin("rerunfailures")
    count = getattr(plugin, "get_reruns_count", None)
    names = ("only_rerun", "rerun_except", "fail_on_flaky", "max_suite_reruns")
    if count is None or any(item.config.getoption(name, None) for name in names) or item.get_closest_marker("flaky"):
        return False
    attempt: int = getattr(item, "execution_count", 0)  # from 1 on
    return item.stash.get(HAS_FAILED, False) and 0 < attempt <= (count(item) or 0)


def _shared_folder(path: str) -> Path | None:
    """Return the folder that all processes of a run share; None in a worker on another machine, which lacks it."""
    return Path(path) if Path(path).is_dir() else None
