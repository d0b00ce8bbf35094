"""Run the items: manage the engine and its stores, the models it calls, and the data in each item's report.

The prints and logs of a question are kept with the question and shown with its item. pytest captures by time, but several
questions are in flight at once, so their output is routed by context variable.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import tempfile
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar

import pytest

from pytest_memfail import judge_names
from pytest_memfail.core import (
    UNGRADED,
    MemfailError,
    MemorySystemError,
    SystemContext,
    escape_controls,
    hold_lock,
    is_fresh,
    is_held,
    mask_known,
)
from pytest_memfail.engine import Ask, Engine, Result, StoreJob, StoreRun
from pytest_memfail.hosting import CURRENT, Captured, Journal, Limits, Resources, Shelf, StoreReport, TokenRules
from pytest_memfail.plugin.collection import QuestionItem, asked_by, release, short_repr, shown_as
from pytest_memfail.plugin.options import Settings
from pytest_memfail.plugin.outcome import (
    MemoryFailure,
    ToldErrors,
    apply_known,
    clean_record,
    clean_report,
    clean_warning,
    note,
    ungraded_reason,
)
from pytest_memfail.plugin.run import (
    BROKEN_OFF,
    FINISHED,
    JUDGE_OPTION,
    KNOWN,
    RESULT,
    ROOT,
    RUNTIME,
    Asked,
    Run,
    Unit,
    beside,
    cache_path,
    judge_model,
    own_prices,
)

if TYPE_CHECKING:
    from pytest_memfail.core import Chat, Judge, Suite, TestTaker
    from pytest_memfail.llm import Ledger, ModelClient, Proxy, ResponseCache
    from pytest_memfail.records import QuestionRecord, StoreRecord

T = TypeVar("T")

SHOWN_AFTER: Final = 1.0
"""Seconds of waiting after which the terminal shows what an item waits for."""
OUTCOMES = (pytest.skip.Exception, pytest.fail.Exception)
"""Exceptions of a system that end its question without an error; `pytest.xfail` raises the second."""
MAX_DEADLY_FILLS = 2
"""A store is given up after this many deaths of a process that was filling it."""
LEDGER_FILE: Final = "ledger.sqlite"
REPLAYED = "memfail_replayed"
KEPT = "memfail_kept"
REFRESH_SECONDS: Final = 0.25
WORKER_INPUT = "memfail"
STORES: pytest.StashKey[list[StoreRecord]] = pytest.StashKey()
HAS_FAILED: pytest.StashKey[bool] = pytest.StashKey()
"""Whether this attempt at an item has failed so far."""
JOURNAL_SUFFIX = ".journal"
DEATHS = "deaths"
"""A file that exists once a worker has died: before that nobody needs to read the others' journals."""
JOURNALS_PREFIX = "memfail-journals-"
JOURNALS_LOCK = "lock"


def handed_over(config: pytest.Config) -> dict[str, Any] | None:
    """Return the data that an xdist worker got from the process that the user started; None in that process."""
    return getattr(config, "workerinput", {}).get(WORKER_INPUT)


class Execution:
    """Run the items. Registered only if a memory system is named."""

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self._config, self._run = config, run
        given = handed_over(config)
        self._is_worker = bool(given)
        self.run_id: str = given["run_id"] if given else uuid.uuid4().hex[:8]
        self._journals: Path | None = _shared_folder(given["journals"]) if given else None
        self.line: TerminalLine | None = None
        self._told = ToldErrors()
        process = os.environ.get("PYTEST_XDIST_WORKER", "main") if given else "main"
        self._progress = Progress(self._show)
        self._runtime = config.stash[RUNTIME] = Runtime(
            run,
            run_id=self.run_id,
            process=process,
            journals=self._journals,
            progress=self._progress.tick,
            show=self._show,
        )
        self.stood = ""
        """What the run waited for when it was interrupted; empty if it was not."""

    def share(self, journals: Path) -> None:
        """Set the folder that workers share with this process."""
        self._journals = journals
        self._runtime.share(journals)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        if not self._is_worker:
            self.line = TerminalLine(self._config)

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
            question = question_record(item.nodeid, asked.unit.plan.id, asked.question, asked.k, (), error=error)
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
            waiting = [self._runtime.stands()]
            if self._journals is not None:
                waiting += [f"{process} {text}" for process, text in last_progress(self._journals).items() if text]
            self.stood = "; ".join(filter(None, waiting)) or "between two questions"
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

    def _show(self, text: str) -> None:
        if self._is_worker:
            self._runtime.show_progress(text)
        elif self.line is not None:
            self.line.show(text)


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


def _store_record(unit: Unit, report: StoreReport) -> StoreRecord:
    from pytest_memfail.records import store_record

    return store_record(
        unit.plan.id,
        report.task,
        conversations=report.conversations,
        fill_seconds=report.fill_seconds,
        listings=report.listings,
        tokens=report.tokens,
        changed=report.changed,
        late=report.late,
        shared_with=report.shared_with,
        described=report.described,
        restored=report.restored,
    )


# -- stores ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Open:
    run: StoreRun
    path: Path
    replayed: bool = False
    next_begun: bool = False


@dataclass(frozen=True, slots=True)
class Stands:
    """What an item waits for."""

    store: str
    doing: str
    done: int
    of: int
    since: float

    @property
    def seconds(self) -> float:
        """Seconds waited so far."""
        return time.monotonic() - self.since

    def __str__(self) -> str:
        which = f" {min(self.done + 1, self.of)} of {self.of}" if self.of else ""
        return f"{self.store}: {self.doing}{which}, {self.seconds:.0f} s"


class Runtime:
    """Manage the engine of this process and its open stores."""

    def __init__(
        self,
        run: Run,
        *,
        run_id: str,
        process: str,
        journals: Path | None,
        progress: Callable[[str, int, int], None],
        show: Callable[[str], None],
    ) -> None:
        self.run, self._run_id, self._process, self._journals = run, run_id, process, journals
        self._progress, self._show = progress, show
        self._journal = FileJournal(journals, process) if journals is not None else None
        self._engine: Engine | None = None
        self._models: Models | None = None
        self._open: dict[str, _Open] = {}
        self._todo: dict[str, dict[str, Ask]] = {}
        self._fills = 0
        self._routing = Routing(run.config)
        self._stands: Stands | None = None
        self._ahead = process == "main"  # under xdist the next store may be another worker's
        self._endpoint = os.environ.get("OPENAI_BASE_URL", "")  # before the proxy names itself

    def plan(self, items: Sequence[tuple[pytest.Item, Asked]]) -> None:
        """Record the selected items in the order in which they will run."""
        for item, asked in items:
            self._todo.setdefault(asked.unit.id, {})[item.nodeid] = self._ask(item, asked)

    def share(self, journals: Path) -> None:
        """Set the folder that xdist workers share, in the controller."""
        self._journals = journals

    def begin_tests(self) -> None:
        """Start routing prints and logs: the first item is about to run."""
        self._routing.start()
        if self.run.settings.proxy is not None:  # before fixtures make clients of it
            self._engine = self._make_engine()

    def result(self, item: pytest.Item, asked: Asked, factory: Any, request: pytest.FixtureRequest) -> Result:
        """Return the result of an item's question; fill its store first if necessary.

        Raises the error of the fill.
        """
        # a rerun comes after the item has ended once, and perhaps after its store was closed
        self._todo.setdefault(asked.unit.id, {}).setdefault(item.nodeid, self._ask(item, asked))
        try:
            opened = self.store(asked.unit, factory, request)
            assert self._engine is not None
            of = len(opened.job.asks)
            done = of - len(self._todo[asked.unit.id])
            return self._wait(opened.result(item.nodeid), Stands(asked.unit.id, "asking", done, of, time.monotonic()))
        except MemfailError as error:
            raise fresh(error) from error.__cause__

    def is_unopened(self, unit: Unit) -> bool:
        """Return whether the store of a unit could not be opened."""
        opened = self._open.get(unit.id)
        return opened is not None and opened.run.is_unopened

    def _ask(self, item: pytest.Item, asked: Asked) -> Ask:
        return Ask(item.nodeid, asked.question, asked.k)

    def store(self, unit: Unit, factory: Any, request: pytest.FixtureRequest) -> StoreRun:
        """Return the filled store of a unit."""
        self._routing.route_streams()
        opened = self._open.get(unit.id) or self._begin(unit, factory, request)
        assert self._engine is not None
        try:
            self._wait(opened.run.filled, Stands(unit.id, "opening", 0, 0, time.monotonic()))
        finally:
            if not opened.replayed:
                opened.replayed = True
                replay(opened.run.report.captured)
        self._begin_next(unit, opened, factory, request)
        return opened.run

    def finished(
        self, item: pytest.Item, asked: Asked, next_unit: Unit | None, *, virtual: bool, last: bool
    ) -> Iterator[tuple[Unit, StoreReport]]:
        """Close the stores that are no longer needed after an item has ended, and yield their reports."""
        todo = self._todo.get(asked.unit.id, {})
        todo.pop(item.nodeid, None)
        # a user's own tests over a task may be spread over the run; the benchmark's items are adjacent
        if next_unit is asked.unit or (todo and not virtual and not last):
            return
        for unit_id in list(self._open) if last else [asked.unit.id]:
            yield from self._close(unit_id)

    def _close(self, unit_id: str) -> Iterator[tuple[Unit, StoreReport]]:
        opened = self._open.pop(unit_id, None)
        if opened is None or self._engine is None:
            return
        try:
            report = self._engine.wait(opened.run.finish())
            if opened.replayed:  # else it was begun ahead, and the run was stopped before anybody waited for it
                yield self.run.unit(unit_id), report
        finally:
            shutil.rmtree(opened.path, ignore_errors=True)

    def _begin(self, unit: Unit, factory: Any, request: pytest.FixtureRequest) -> _Open:
        suspects: frozenset[str] = frozenset()
        if self._journals is not None and (self._journals / DEATHS).exists():
            deaths = unfinished_fills(self._journals, self._process)[unit.id]
            if deaths >= MAX_DEADLY_FILLS:
                raise MemorySystemError(
                    f"the process died {deaths} times while this store was being filled; it is given up"
                )
            suspects = suspects_of(self._journals, self._process)
        if self._engine is None:
            self._engine = self._make_engine()
        if self._models is not None:
            self._models.check()
        self._fills += 1
        store_id = f"{unit_digest(unit)}-{self._process}-{self._fills}"
        path = request.getfixturevalue("tmp_path_factory").mktemp(f"memfail-{store_id}")
        models = self._models
        calls = models.proxy.store(store_id, unit.id) if models is not None and models.proxy is not None else None
        context = SystemContext(
            self._run_id,
            store_id,
            path,
            self.run.settings.system_options,
            chat=None if models is None else models.chat,
            base_url=None if calls is None else calls.url,
        )
        job = StoreJob(
            id=unit.id,
            task=unit.task.name,
            plan=unit.plan,
            evidence=unit.task.evidence,
            factory=factory,
            context=context,
            asks=tuple(self._todo.get(unit.id, {}).values()),
            suspects=suspects,
            shelf=self._shelf(),
            known=self.run.recorded_of(unit),
            models=calls,
        )
        opened = self._open[unit.id] = _Open(self._engine.begin(job), path)
        return opened

    def _shelf(self) -> Shelf | None:
        """Return the shelf for filled stores, named by all settings that decide what is stored; None if none are kept."""
        settings = self.run.settings
        if settings.reuse_stores is None:
            return None
        about: dict[str, Any] = {"options": settings.system_options}
        if (settings.assistant_turns and settings.model is not None) or self.run.system_models:
            from pytest_memfail._version import __version__

            asked = {
                "options": settings.model_options,
                "endpoint": self._endpoint,
                "memfail": __version__,  # whose prompt it is
            }
            if settings.assistant_turns and settings.model is not None:
                about["assistant_turns"] = {**asked, "model": settings.model, "protocol": settings.protocol}
            if self.run.system_models:
                about["system_models"] = {**asked, "models": list(self.run.system_models)}
        return Shelf(settings.reuse_stores, settings.system, about)

    def _begin_next(self, unit: Unit, opened: _Open, factory: Any, request: pytest.FixtureRequest) -> None:
        """Fill the next store while this one is asked, if it will be needed and the system allows it."""
        if opened.next_begun:
            return
        opened.next_begun = True
        if not self._ahead or request.config.getoption("maxfail") or opened.run.concurrent_stores < 2:
            return
        waiting = [unit_id for unit_id, todo in self._todo.items() if todo]
        later = waiting[waiting.index(unit.id) + 1 :] if unit.id in waiting else []
        if later and later[0] not in self._open and len(self._open) < opened.run.concurrent_stores:
            self._begin(self.run.unit(later[0]), factory, request)

    def _make_engine(self) -> Engine:
        from pytest_memfail.llm import count_tokens, first_tokens

        settings = self.run.settings
        models = self._models = Models(
            self.run.config, settings, self._journals, self.run.system_models, self.run.suites, self.run.replay_ignore
        )
        resources = Resources(
            judge=models.judge,
            test_taker=models.test_taker,
            again=models.again,
            assistant_turns=settings.assistant_turns,
            concurrency=settings.concurrency,
            tokens=TokenRules(count_tokens, first_tokens, settings.shown_tokens),
            journal=self._journal or Journal(),
            shared=self._journals,
            on_progress=self._tick,
            limits=Limits(*settings.timeout),
            outcomes=OUTCOMES,
        )
        return Engine(resources)

    def _tick(self, store: str, done: int, total: int) -> None:
        self._progress(store, done, total)
        if self._stands is not None and self._stands.store == store and self._stands.doing != "asking":
            self._stands = Stands(store, "storing", done, total, time.monotonic())

    def _wait(self, future: Future[T], stands: Stands) -> T:
        """Wait for a future, and show a long wait on the terminal; after an interrupt `stands` names the wait."""
        assert self._engine is not None
        self._stands, shown = stands, False

        def meanwhile() -> None:
            nonlocal shown
            if self._stands is not None and self._stands.seconds >= SHOWN_AFTER:
                shown = True
                self._show(str(self._stands))

        def done() -> None:
            self._stands = None
            if shown:
                self._show("")

        try:
            result = self._engine.wait(future, meanwhile)
        except Exception:
            done()
            raise
        done()
        return result

    def stands(self) -> str:
        """Return what this process waits for, or waited for when it was interrupted; empty if nothing."""
        return "" if self._stands is None else str(self._stands)

    def cancel(self) -> None:
        """Ask no more questions, as the run ends early."""
        if self._engine is not None:
            self._engine.cancel()

    def show_progress(self, text: str) -> None:
        """Write a worker's progress to its journal for the controller to show."""
        if self._journal is not None:
            self._journal.progress(text)

    def spending(self) -> list[dict[str, Any]]:
        """Return the cost of models in this process, or in all processes that share its ledger."""
        if self._models is not None and self._models.ledger is not None:
            return self._models.ledger.totals().plain()
        if (
            self._journals is not None and (self._journals / LEDGER_FILE).exists()
        ):  # an xdist controller asks nothing itself
            ledger = open_ledger(self.run.settings, self._journals)
            try:
                return ledger.totals().plain()
            finally:
                ledger.close()
        return []

    def close(self) -> None:
        """Stop everything."""
        if self._engine is not None:
            if self._models is not None and self._models.client is not None:
                self._engine.cancel()
                self._engine.run(self._models.client.close)
            self._engine.close()
            self._engine = None
        if self._models is not None and self._models.proxy is not None:
            self._models.proxy.close()
        for opened in self._open.values():
            shutil.rmtree(opened.path, ignore_errors=True)
        self._open.clear()
        self._routing.stop()
        if self._journal is not None:
            self._journal.close()
            self._journal = None


def fresh(error: BaseException) -> BaseException:
    """Drop the frames of earlier raises: the same error ends many questions, and each raise would add its own."""
    return error.with_traceback(None) if isinstance(error, MemfailError) else error


def unit_digest(unit: Unit) -> str:
    """Return a name for the store that reveals nothing of the task to the system."""
    return hashlib.sha256(unit.id.encode()).hexdigest()[:8]


# -- models ------------------------------------------------------------------------------------------------------------


class Models:
    """The models of one process: its client, judge and test-taker."""

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        shared: Path | None,
        of_system: Sequence[str] = (),
        suites: Sequence[Suite] = (),
        replay_ignore: Sequence[str] = (),
    ) -> None:
        """`shared` is a folder that all processes of the run see; None for a run of one process."""
        model = judge_model(config, settings)
        asks = model is not None or settings.model is not None or bool(of_system)
        self.ledger: Ledger | None = open_ledger(settings, shared) if asks or settings.proxy else None
        cache = _cache(config, settings) if self.ledger is not None else None
        self.client = _client(settings, self.ledger, cache) if self.ledger is not None and asks else None
        self.proxy: Proxy | None = None
        """In front of the memory system's endpoint; started after our own client has read the environment."""
        if settings.proxy is not None and self.ledger is not None:
            self.proxy = _proxy(settings.proxy, self.ledger, cache, replay_ignore)
        kinds = judge_names.kinds_of(suites)
        self.judge: Judge = _judge(config, settings, model, self.client, kinds)
        self.test_taker = _test_taker(settings, self.client)
        self.chat = _chat(settings, self.client)
        """The chat through which the memory system calls models; None without a client."""
        self.again: list[tuple[Judge, TestTaker | None]] = []
        """The judge and test-taker of each repeat of a question.

        They are the same models, with replies cached by repeat. A model that does not vary gives its first replies.
        """
        for repeat in range(1, settings.repeats):
            judge, taker = self.judge, self.test_taker
            if model is not None and settings.vary != "answers":
                judge = _judge(config, settings, model, self.client, kinds, repeat)
            if settings.vary != "judge":
                taker = _test_taker(settings, self.client, repeat)
            self.again.append((judge, taker))

    def check(self) -> None:
        """Raise `WaitError` if models are no longer called: it would be useless to fill a store."""
        from pytest_memfail.llm import WaitError

        if self.ledger is not None and (said := self.ledger.given_up()) is not None:
            raise WaitError(said)


def _proxy(url: str, ledger: Ledger, cache: ResponseCache | None, ignore: Sequence[str]) -> Proxy:
    from pytest_memfail.llm import Proxy, check_patterns

    proxy = Proxy(ledger, cache, base_url=None if url == "on" else url, ignore=check_patterns(ignore))
    proxy.start()
    return proxy


def _cache(config: pytest.Config, settings: Settings) -> ResponseCache | None:
    if settings.cache == "off":
        return None
    from pytest_memfail.llm import ResponseCache

    path = cache_path(config, settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    return ResponseCache(path, settings.cache)  # type: ignore[arg-type]  # checked in read_settings


def _client(settings: Settings, ledger: Ledger, cache: ResponseCache | None) -> ModelClient:
    from pytest_memfail.llm import ModelClient

    base_url = None
    if cache is not None and settings.cache == "only" and not os.environ.get("OPENAI_BASE_URL"):
        recorded = cache.endpoints()  # a replay needs neither key nor endpoint: it is that of the recording
        base_url = recorded[0] if len(recorded) == 1 else None
    return ModelClient(
        ledger=ledger,
        cache=cache,
        concurrency=settings.concurrency,
        base_url=base_url,
        max_wait_seconds=settings.max_wait,
    )


def _test_taker(settings: Settings, client: ModelClient | None, repeat: int = 0) -> TestTaker | None:
    if settings.model is None or client is None:
        return None
    from pytest_memfail.llm import ModelTestTaker

    return ModelTestTaker(client, settings.model, settings.model_options, repeat)


def _chat(settings: Settings, client: ModelClient | None) -> Chat | None:
    if client is None:
        return None
    from pytest_memfail.llm import SystemChat

    return SystemChat(client, settings.model, settings.model_options)


def _judge(
    config: pytest.Config,
    settings: Settings,
    model: str | None,
    client: ModelClient | None,
    kinds: Mapping[str, Any],
    repeat: int = 0,
) -> Any:
    if model is None or client is None:
        return _named_judge(config, settings, kinds)
    return judge_names.model_judge(
        settings.judge,
        model,
        settings.protocol,
        client,
        settings.model_options,
        repeat,
        settings.judge_options,
        **kinds,
    )


def open_ledger(settings: Settings, shared: Path | None) -> Ledger:
    """Return the ledger of the run."""
    from pytest_memfail.llm import Ledger

    return Ledger(
        None if shared is None else shared / LEDGER_FILE,
        max_cost=settings.max_cost,
        max_tokens=settings.max_tokens,
        prices=own_prices(settings),
    )


def _named_judge(config: pytest.Config, settings: Settings, kinds: Mapping[str, Any]) -> Any:
    return judge_names.named_judge(
        settings.judge,
        settings.protocol,
        option=JUDGE_OPTION,
        judge_options=settings.judge_options,
        **kinds,
        **beside(config, settings),
    )


# -- prints and logs of questions --------------------------------------------------------------------------------------


class _Route(logging.Filter):
    """Filter pytest's own log handlers: keep the records of background questions until they are replayed."""

    def filter(self, record: logging.LogRecord) -> bool:
        captured = CURRENT.get()
        if captured is None or getattr(record, REPLAYED, False):
            return True
        if not getattr(record, KEPT, False):  # several handlers see the same record
            setattr(record, KEPT, True)
            captured.records.append(record)
        return False


class Routing:
    """Install and remove the routes of prints and logs."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._streams: list[TextIO] = []
        self._handlers: list[tuple[logging.Handler, _Route]] = []

    def start(self) -> None:
        """Route pytest's log handlers and the terminal's streams."""
        plugin = self._config.pluginmanager.get_plugin("logging-plugin")
        for name in ("caplog_handler", "report_handler", "log_cli_handler", "log_file_handler"):
            if (handler := getattr(plugin, name, None)) is not None:
                handler.addFilter(route := _Route())
                self._handlers.append((handler, route))
        self.route_streams()

    def route_streams(self) -> None:
        """Route the current `sys.stdout` and `sys.stderr`: pytest swaps two objects in and out."""
        for stream in (sys.stdout, sys.stderr):
            if any(stream is known for known in self._streams):
                continue
            try:
                stream.write = _routed(stream.write)  # type: ignore[method-assign]  # one object, not its class
            except AttributeError:
                continue  # a stream that takes no attribute keeps its prints
            self._streams.append(stream)

    def stop(self) -> None:
        """Remove all routes."""
        for handler, route in self._handlers:
            handler.removeFilter(route)
        for stream in self._streams:
            try:
                del stream.write  # the instance's; the class's shows again
            except AttributeError:
                continue
        self._handlers.clear()
        self._streams.clear()


def _routed(write: Callable[[str], int]) -> Callable[[str], int]:
    def routed(text: str) -> int:
        captured = CURRENT.get()
        if captured is None:
            return write(text)
        captured.output.append(text)
        return len(text)

    return routed


def replay(captured: Captured) -> None:
    """Write the prints and logs of a fill or a question while its item runs."""
    if captured.output:
        sys.stdout.write(mask_known(scrub("".join(captured.output))))
    for record in captured.records:
        setattr(record, REPLAYED, True)
        clean_record(record)
        logging.getLogger(record.name).handle(record)
    captured.output.clear()
    captured.records.clear()


def scrub(value: Any) -> Any:
    """Return plain data with lone surrogates escaped: models send them, and one of them ends an xdist worker."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "backslashreplace").decode()
        return value
    if isinstance(value, dict):
        return {scrub(key): scrub(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(scrub, value))
    return value


# -- what the user sees meanwhile --------------------------------------------------------------------------------------


class Progress:
    """Turn ticks into a line of text and show it."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._began: dict[str, float] = {}
        self._shown = 0.0

    def tick(self, store: str, done: int, total: int) -> None:
        """Show that `done` of `total` conversations are stored."""
        now = time.monotonic()
        began = self._began.setdefault(store, now)
        if done >= total:
            self._show("")
        elif now - self._shown >= REFRESH_SECONDS:
            self._shown = now
            rate = (done - 1) / (now - began) if now > began else 0.0
            left = f", {(total - done) / rate:.0f} s left" if rate else ""
            self._show(f"storing {store}: {done} of {total}{f' at {rate:.1f}/s' if rate else ''}{left}")


class TerminalLine:
    """A line below the cursor, which does not move: pytest's letters and its column count are not affected."""

    def __init__(self, config: pytest.Config) -> None:
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        self._writer = None if reporter is None else config.get_terminal_writer()
        self._fd: int | None = None
        self._shows = False
        if reporter is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
            # capture is suspended while a session starts, so this is the terminal and not pytest's capture file
            self._fd = os.dup(sys.stdout.fileno())

    @property
    def is_shown(self) -> bool:
        """Whether there is a terminal to write to."""
        return self._fd is not None

    def show(self, text: str) -> None:
        """Replace what is shown; the empty text removes it."""
        if self._fd is None:
            return
        room = 80 if self._writer is None else self._writer.fullwidth
        if text:
            line = escape_controls(text)[: room - 1]
            # down a line and up again makes room at the end of the screen, in the same column
            os.write(self._fd, f"\x1bD\x1bM\x1b7\x1b[B\r\x1b[K{line}\x1b8".encode())
        elif self._shows:
            os.write(self._fd, b"\x1b[J")
        self._shows = bool(text)

    def close(self) -> None:
        """Close the handle of the terminal."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


# -- journals: what each process is doing, so that after its death the cause can be named ------------------------------


def new_folder() -> tuple[Path, int]:
    """Create a temporary folder for the journals of a run; return it with a handle that locks it until it is closed.

    Folders that killed runs of this user left behind are removed.
    """
    folder = Path(tempfile.mkdtemp(prefix=JOURNALS_PREFIX))
    lock = hold_lock(folder / JOURNALS_LOCK)
    for left in folder.parent.glob(f"{JOURNALS_PREFIX}*"):
        with suppress(OSError):
            # a folder without a lock may be about to get one
            over = not is_held(left / JOURNALS_LOCK) if (left / JOURNALS_LOCK).exists() else not is_fresh(left)
            if over and not left.is_symlink() and left.stat().st_uid == folder.stat().st_uid:
                shutil.rmtree(left, ignore_errors=True)
    return folder, lock


class FileJournal(Journal):
    """Append events to the journal of this process. Plain writes survive the death of the process."""

    def __init__(self, folder: Path, process: str) -> None:
        self._fd = os.open(folder / f"{process}{JOURNAL_SUFFIX}", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def fill_started(self, store: str) -> None:
        """Record that the fill of a store started."""
        self._write("F", store)

    def fill_ended(self, store: str) -> None:
        """Record that the fill of a store ended, whether it succeeded or not."""
        self._write("G", store)

    def question_started(self, key: str) -> None:
        """Record that a question started."""
        self._write("S", key)

    def question_ended(self, key: str) -> None:
        """Record that a question ended."""
        self._write("E", key)

    def progress(self, text: str) -> None:
        """Record a progress text to show to the user."""
        self._write("P", text)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _write(self, event: str, text: str) -> None:
        os.write(self._fd, f"{event} {text}\n".encode("utf-8", "replace"))


def in_flight(folder: Path, process: str) -> list[str]:
    """Return the questions that a process began but did not end, in the order they began."""
    flying: dict[str, None] = {}
    for event, text in _events(folder / f"{process}{JOURNAL_SUFFIX}"):
        if event == "S":
            flying[text] = None
        elif event == "E":
            flying.pop(text, None)
    return list(flying)


def suspects_of(folder: Path, this_process: str) -> frozenset[str]:
    """Return the questions in flight in the journals of all other processes.

    This includes live processes, which does no harm: their items are not run here.
    """
    return frozenset(
        key for process in _processes(folder) if process != this_process for key in in_flight(folder, process)
    )


def unfinished_fills(folder: Path, this_process: str) -> Counter[str]:
    """Return how often each store's fill was begun but not ended in other processes."""
    counts: Counter[str] = Counter()
    for process in _processes(folder):
        if process == this_process:
            continue
        filling: Counter[str] = Counter()
        for event, text in _events(folder / f"{process}{JOURNAL_SUFFIX}"):
            if event == "F":
                filling[text] = 1
            elif event == "G":
                filling[text] = 0
        counts += filling
    return counts


def last_progress(folder: Path) -> dict[str, str]:
    """Return the last progress text of each process."""
    found = {}
    for process in _processes(folder):
        for event, text in _events(folder / f"{process}{JOURNAL_SUFFIX}"):
            if event == "P":
                found[process] = text
    return found


def _processes(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(JOURNAL_SUFFIX) for path in folder.glob(f"*{JOURNAL_SUFFIX}"))


def _events(path: Path) -> list[tuple[str, str]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:  # the process has asked nothing, or runs on another machine
        return []
    return [(line[0], line[2:]) for line in text.splitlines() if len(line) > 2]
