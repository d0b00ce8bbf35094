"""In the process that runs items: opens stores, waits for results, closes stores."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pytest

from pytest_memfail.core import MemfailError, MemorySystemError, Question, SystemContext
from pytest_memfail.engine import (
    Ask,
    Engine,
    Limits,
    NoJournal,
    Resources,
    Result,
    Shelf,
    StoreJob,
    StoreReport,
    StoreRun,
    TokenRules,
)
from pytest_memfail.plugin import journal
from pytest_memfail.plugin.capture import Routing, replay
from pytest_memfail.plugin.models import LEDGER_FILE, Models, open_ledger
from pytest_memfail.plugin.run import Run, Unit

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

SHOWN_AFTER: Final = 1.0
"""Seconds after which it is shown what an item waits for."""
OUTCOMES = (pytest.skip.Exception, pytest.fail.Exception)
"""What a system may raise to end its question otherwise than by an error; `pytest.xfail` raises the second."""
MAX_DEADLY_FILLS = 2
"""After so many deaths while it was being filled, a store is given up."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What an item asks: the value of a parametrised `memfail_question`, too."""

    unit: Unit
    question: Question
    k: int


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
        """How long so far."""
        return time.monotonic() - self.since

    def __str__(self) -> str:
        which = f" {min(self.done + 1, self.of)} of {self.of}" if self.of else ""
        return f"{self.store}: {self.doing}{which}, {self.seconds:.0f} s"


class Runtime:
    """The engine of this process and what is open in it."""

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
        self._journal = journal.FileJournal(journals, process) if journals is not None else None
        self._engine: Engine | None = None
        self._models: Models | None = None
        self._open: dict[str, _Open] = {}
        self._todo: dict[str, dict[str, Ask]] = {}
        self._fills = 0
        self._routing = Routing(run.config)
        self._stands: Stands | None = None
        self._ahead = process == "main"  # under xdist the next store may be another worker's

    def plan(self, items: Sequence[tuple[pytest.Item, Asked]]) -> None:
        """Take note of what was selected, in the order it will run."""
        for item, asked in items:
            self._todo.setdefault(asked.unit.id, {})[item.nodeid] = self._ask(item, asked)

    def share(self, journals: Path) -> None:
        """In an xdist controller: where the workers leave what they share."""
        self._journals = journals

    def begin_tests(self) -> None:
        """The first item is about to run."""
        self._routing.start()

    def result(self, item: pytest.Item, asked: Asked, factory: Any, request: pytest.FixtureRequest) -> Result:
        """The result of an item's question; fills its store first if need be.

        Raises whatever the fill raised.
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
        """Whether the store of a unit could not be opened."""
        opened = self._open.get(unit.id)
        return opened is not None and opened.run.is_unopened

    def _ask(self, item: pytest.Item, asked: Asked) -> Ask:
        return Ask(item.nodeid, asked.question, asked.k)

    def store(self, unit: Unit, factory: Any, request: pytest.FixtureRequest) -> StoreRun:
        """The filled store of a unit."""
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
        """An item has ended: close the stores that nobody will ask any more, and report them."""
        todo = self._todo.get(asked.unit.id, {})
        todo.pop(item.nodeid, None)
        # a user's own tests over a task may be spread over the run; the benchmark's items stand together
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
        if self._journals is not None and (self._journals / journal.DEATHS).exists():
            deaths = journal.unfinished_fills(self._journals, self._process)[unit.id]
            if deaths >= MAX_DEADLY_FILLS:
                raise MemorySystemError(
                    f"the process died {deaths} times while this store was being filled; it is given up"
                )
            suspects = journal.suspects(self._journals, self._process)
        if self._engine is None:
            self._engine = self._make_engine()
        if self._models is not None:
            self._models.check()
        self._fills += 1
        store_id = f"{unit_digest(unit)}-{self._process}-{self._fills}"
        path = request.getfixturevalue("tmp_path_factory").mktemp(f"memfail-{store_id}")
        chat = None if self._models is None else self._models.chat
        context = SystemContext(self._run_id, store_id, path, self.run.settings.system_options, chat=chat)
        asks = tuple(self._todo.get(unit.id, {}).values())
        job = StoreJob(
            unit.id, unit.task.name, unit.plan, unit.task.evidence, factory, context, asks, suspects, self._shelf()
        )
        opened = self._open[unit.id] = _Open(self._engine.begin(job), path)
        return opened

    def _shelf(self) -> Shelf | None:
        """Where filled stores are kept, named by all settings that decide what is stored."""
        settings = self.run.settings
        if settings.reuse_stores is None:
            return None
        about: dict[str, Any] = {"options": settings.system_options}
        if (settings.assistant_turns and settings.model is not None) or self.run.system_models:
            from pytest_memfail._version import __version__

            asked = {
                "options": settings.model_options,
                "endpoint": os.environ.get("OPENAI_BASE_URL", ""),
                "memfail": __version__,  # whose prompt it is
            }
            if settings.assistant_turns and settings.model is not None:
                about["assistant_turns"] = {**asked, "model": settings.model, "protocol": settings.protocol}
            if self.run.system_models:
                about["system_models"] = {**asked, "models": list(self.run.system_models)}
        return Shelf(settings.reuse_stores, settings.system, about)

    def _begin_next(self, unit: Unit, opened: _Open, factory: Any, request: pytest.FixtureRequest) -> None:
        """Fill the next store while this one is asked, unless that may be in vain or the system cannot bear it."""
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
        models = self._models = Models(self.run.config, settings, self._journals, self.run.system_models)
        resources = Resources(
            judge=models.judge,
            test_taker=models.test_taker,
            again=models.again,
            assistant_turns=settings.assistant_turns,
            concurrency=settings.concurrency,
            tokens=TokenRules(count_tokens, first_tokens, settings.shown_tokens),
            journal=self._journal or NoJournal(),
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
        """Wait, and show how long it has been where that is long; where it stood stays known if it is interrupted."""
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
        """What this process waits for, or has waited for when it was interrupted; empty if nothing."""
        return "" if self._stands is None else str(self._stands)

    def cancel(self) -> None:
        """The run is ending early: ask nothing more."""
        if self._engine is not None:
            self._engine.cancel()

    def show_progress(self, text: str) -> None:
        """In a worker: leave it in the journal for the controller to show."""
        if self._journal is not None:
            self._journal.progress(text)

    def spending(self) -> list[dict[str, Any]]:
        """What models have cost in this process, or in all that share its books."""
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
    """A name for the store that tells the system nothing of the task."""
    import hashlib

    return hashlib.sha256(unit.id.encode()).hexdigest()[:8]
