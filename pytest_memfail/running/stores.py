"""Run the stores of one process: begin them, wait for their questions, close them."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from pytest_memfail import llm
from pytest_memfail._version import __version__
from pytest_memfail.core import Doubt, MemfailError, MemorySystemError, SystemContext, late_listing, told_of
from pytest_memfail.engine import Ask, Engine, Result, StoreJob, StoreRun
from pytest_memfail.hosting import Journal, Limits, Outcomes, Resources, Shelf, StoreReport, TokenRules
from pytest_memfail.records import StoreRecord, with_listings
from pytest_memfail.running.journals import DEATHS, FileJournal, suspects_of, unfinished_fills
from pytest_memfail.running.models import LEDGER_FILE, Models, open_ledger
from pytest_memfail.running.output import Progress, Routing, replay
from pytest_memfail.running.plan import Asked, Run, Unit
from pytest_memfail.safety import mask_options
from pytest_memfail.systems import for_store

T = TypeVar("T")
Prepare: TypeAlias = Callable[[str], tuple[Any, Path]]
"""Returns the factory of the memory system and a temporary folder of this name, when a store is opened."""

SHOWN_AFTER: Final = 1.0
"""Seconds of waiting after which the terminal shows what an item waits for."""
MAX_DEADLY_FILLS: Final = 2
"""After this many deaths of a process that was filling a store, the store is not filled again."""


@dataclass(slots=True)
class _Open:
    run: StoreRun
    path: Path
    replayed: bool = False
    next_begun: bool = False


@dataclass(slots=True)
class _Wait:
    """What an item waits for."""

    store: str
    doing: str
    done: int = 0
    of: int = 0
    since: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
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
        show: Callable[[str], None],
        outcomes: Outcomes,
        ahead: bool,
    ) -> None:
        """Manage no store yet.

        Args:
            run: the stores and their questions.
            run_id: distinguishes the stores of this run from those of others.
            process: distinguishes the stores of this process from those of others.
            journals: the folder that the processes of the run share; None for a run of one process.
            show: called with what is stored or waited for, and with an empty text when that ends.
            outcomes: exceptions of a system that end its question without an error.
            ahead: whether the next store may be filled while one is asked.
        """
        self.run, self._outcomes, self._ahead = run, outcomes, ahead
        self._run_id, self._process, self._journals = run_id, process, journals
        self._progress, self._show = Progress(show), show
        self._journal = FileJournal(journals, process) if journals is not None else None
        self._engine: Engine | None = None
        self._models: Models | None = None
        self._spent: list[dict[str, Any]] = []
        self._open: dict[str, _Open] = {}
        self._todo: dict[str, dict[str, Ask]] = {}
        self._fills = 0
        self._routing = Routing()
        self._waiting: _Wait | None = None
        self._endpoint = os.environ.get("OPENAI_BASE_URL", "")  # before the proxy names itself

    def plan(self, items: Iterable[tuple[str, Asked]]) -> None:
        """Record the selected items, by node id, in the order in which they will run."""
        for key, asked in items:
            self._todo.setdefault(asked.unit.id, {})[key] = Ask(key, asked.question, asked.k)

    def share(self, journals: Path) -> None:
        """Set the folder that xdist workers share, in the controller."""
        self._journals = journals

    def begin_tests(self, handlers: Iterable[logging.Handler]) -> None:
        """Start routing prints and the logs of these handlers: the first item is about to run."""
        self._routing.start(handlers)
        if self.run.settings.proxy is not None:  # before fixtures make clients of it
            self._engine = self._make_engine()

    def result(self, key: str, asked: Asked, prepare: Prepare) -> Result:
        """Return the result of an item's question; fill its store first if necessary.

        Raises the error of the fill.
        """
        # a rerun comes after the item has ended once, and perhaps after its store was closed
        self._todo.setdefault(asked.unit.id, {}).setdefault(key, Ask(key, asked.question, asked.k))
        try:
            opened = self._filled(asked.unit, prepare)
            assert self._engine is not None
            of = len(opened.job.asks)
            return self._wait(opened.result(key), asked.unit, "asking", of - len(self._todo[asked.unit.id]), of)
        except MemfailError as error:
            raise fresh(error) from error.__cause__

    def is_unopened(self, unit: Unit) -> bool:
        """Return whether the store of a unit could not be opened."""
        opened = self._open.get(unit.id)
        return opened is not None and opened.run.is_unopened

    def _filled(self, unit: Unit, prepare: Prepare) -> StoreRun:
        """Return the filled store of a unit."""
        self._routing.route_streams()
        opened = self._open.get(unit.id) or self._begin(unit, prepare)
        assert self._engine is not None
        try:
            self._wait(opened.run.filled, unit, "opening")
        finally:
            if not opened.replayed:
                opened.replayed = True
                replay(opened.run.report.captured)
        self._begin_next(unit, opened, prepare)
        return opened.run

    def finished(
        self, key: str, asked: Asked, next_unit: Unit | None, *, virtual: bool, last: bool
    ) -> Iterator[StoreRecord]:
        """Close the stores that are no longer needed after an item has ended, and yield their records."""
        todo = self._todo.get(asked.unit.id, {})
        todo.pop(key, None)
        # a user's own tests over a task may be spread over the run; the benchmark's items are adjacent
        if next_unit is asked.unit or (todo and not virtual and not last):
            return
        for unit_id in list(self._open) if last else [asked.unit.id]:
            yield from self._close(unit_id)

    def _close(self, unit_id: str) -> Iterator[StoreRecord]:
        opened = self._open.pop(unit_id, None)
        if opened is None or self._engine is None:
            return
        try:
            report = self._engine.wait(opened.run.finish())
            if opened.replayed:  # otherwise it was started ahead, and the run stopped before an item waited for it
                client = self._models.client if self._models is not None else None
                prompts = client.prompts.doubts() if client is not None else ()
                yield _store_record(opened.run.job, report, prompts)
        finally:
            shutil.rmtree(opened.path, ignore_errors=True)

    def _begin(self, unit: Unit, prepare: Prepare) -> _Open:
        suspects: frozenset[str] = frozenset()
        if self._journals is not None and (self._journals / DEATHS).exists():
            deaths = unfinished_fills(self._journals, self._process)[unit.id]
            if deaths >= MAX_DEADLY_FILLS:
                raise MemorySystemError(
                    f"the process died {deaths} times while this store was being filled; it is not filled again"
                )
            suspects = suspects_of(self._journals, self._process)
        self._fills += 1
        store_id = f"{unit_digest(unit)}-{self._process}-{self._fills}"
        factory, path = prepare(f"memfail-{store_id}")
        if self._engine is None:
            self._engine = self._make_engine()
        if self._models is not None:
            self._models.check()
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
            factory=for_store(factory, unit.plan, unit.task.evidence),
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
        about: dict[str, Any] = {"options": settings.system_options, "version": settings.system_version}
        if (settings.assistant_turns and settings.model is not None) or self.run.system_models:
            asked = {
                "options": settings.model_options,
                "endpoint": self._endpoint,
                "memfail": __version__,  # the model whose prompt decides the content
            }
            if settings.assistant_turns and settings.model is not None:
                about["assistant_turns"] = {**asked, "model": settings.model, "protocol": settings.protocol}
            if self.run.system_models:
                about["system_models"] = {**asked, "models": list(self.run.system_models)}
        return Shelf(settings.reuse_stores, settings.system, about)

    def _begin_next(self, unit: Unit, opened: _Open, prepare: Prepare) -> None:
        """Fill the next store while this one is asked, if it will be needed and the system allows it."""
        if opened.next_begun:
            return
        opened.next_begun = True
        if not self._ahead or opened.run.concurrent_stores < 2:
            return
        waiting = [unit_id for unit_id, todo in self._todo.items() if todo]
        later = waiting[waiting.index(unit.id) + 1 :] if unit.id in waiting else []
        if later and later[0] not in self._open and len(self._open) < opened.run.concurrent_stores:
            self._begin(self.run.unit(later[0]), prepare)

    def _make_engine(self) -> Engine:
        settings = self.run.settings
        models = self._models = Models(self.run, self._journals)
        resources = Resources(
            judge=models.judge,
            test_taker=models.test_taker,
            again=models.again,
            assistant_turns=settings.assistant_turns,
            concurrency=settings.concurrency,
            tokens=TokenRules(llm.count_tokens, llm.first_tokens, llm.last_tokens, settings.shown_tokens),
            journal=self._journal or Journal(),
            shared=self._journals,
            on_progress=self._tick,
            limits=Limits(*settings.timeout),
            outcomes=self._outcomes,
        )
        return Engine(resources)

    def _tick(self, store: str, done: int, total: int) -> None:
        self._progress.tick(store, done, total)
        if self._waiting is not None and self._waiting.store == store and self._waiting.doing != "asking":
            self._waiting = _Wait(store, "storing", done, total)

    def _wait(self, future: Future[T], unit: Unit, doing: str, done: int = 0, of: int = 0) -> T:
        """Wait for a future, and show a long wait on the terminal; after an interrupt `waiting()` names the wait."""
        if future.done():
            return future.result()
        assert self._engine is not None
        self._waiting, shown = _Wait(unit.id, doing, done, of), False

        def meanwhile() -> None:
            nonlocal shown
            if self._waiting is not None and self._waiting.seconds >= SHOWN_AFTER:
                shown = True
                self._show(str(self._waiting))

        interrupted = None
        try:
            return self._engine.wait(future, meanwhile)
        except KeyboardInterrupt:
            interrupted = self._waiting
            raise
        finally:
            self._waiting = interrupted
            if shown:
                self._show("")

    def waiting(self) -> str:
        """Return what this process waits for, or waited for when it was interrupted; empty if nothing."""
        return "" if self._waiting is None else str(self._waiting)

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
        # an xdist controller asks nothing itself
        if self._journals is not None and (self._journals / LEDGER_FILE).exists():
            with closing(open_ledger(self.run.settings, self._journals)) as ledger:
                return ledger.totals().plain()
        return self._spent

    def close(self) -> None:
        """Stop everything."""
        if self._engine is not None:
            if self._models is not None and self._models.client is not None:
                self._engine.cancel()
                self._engine.run(self._models.client.close)
            self._engine.close()
            self._engine = None
        if self._models is not None:
            if self._journals is None:  # else the controller reads the shared file
                self._spent = self.spending()
            self._models.close()
            self._models = None
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
    """Return a name for the store that does not reveal the task to the system."""
    return hashlib.sha256(unit.id.encode()).hexdigest()[:8]


def _store_record(job: StoreJob, report: StoreReport, prompts: Iterable[Doubt]) -> StoreRecord:
    models = job.models
    spent = {} if models is None else models.spent
    last = report.listings[-1] if report.listings else None
    late = late_listing(report.late, len(last.memories) if last else 0)
    record = StoreRecord(
        store=job.plan.id,
        task=report.task,
        conversations=report.conversations,
        fill_seconds=report.fill_seconds,
        restored=report.restored,
        memories=len(last.memories) if last else 0,
        tokens=report.tokens,
        changed_by_queries=report.changed,
        late=report.late,
        shared_with=report.shared_with,
        doubts=(*report.doubts, late, *(models.doubts() if models is not None else ()), *prompts),
        system=mask_options(report.described),
        model_calls=spent if any(spent.values()) else {},
        listings=(),
        told=told_of(job.plan.read_conversations(), last, job.evidence.values()) if last else (),
    )
    return with_listings(record, report.listings, report.extracted)
