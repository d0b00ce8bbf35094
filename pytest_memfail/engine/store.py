"""One store: fill a fresh memory system step by step, ask its questions ahead of whoever waits for them, judge them."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from pytest_memfail.core import Conversation, Ingest, Listing, MemorySystemError
from pytest_memfail.engine.answering import Answerer
from pytest_memfail.engine.current import CURRENT
from pytest_memfail.engine.jobs import Ask, Result, StoreJob, StoreReport
from pytest_memfail.engine.listing import changes
from pytest_memfail.engine.memory_system import OpenSystem

if TYPE_CHECKING:
    from pytest_memfail.engine.engine import Engine

GRACE_SECONDS: Final = 2.0
"""How long a store that is being closed waits for calls that were given up."""


class StoreRun:
    """A store in the making. Public methods are for the waiting thread; the rest runs on the engine's loop."""

    def __init__(self, engine: Engine, job: StoreJob) -> None:
        self.job = job
        self.filled: Future[None] = Future()
        """Done when the first questions are being asked; holds the error of a failed fill."""
        self.finished: Future[StoreReport] = Future()
        self.report = StoreReport(job.id, job.task)
        self._engine = engine
        self._results = {ask.key: Future[Result]() for ask in job.asks}
        self._asks = {ask.key: ask for ask in job.asks}
        probes = [step.questions for step in job.plan.steps if not isinstance(step, Ingest)]
        self._probe_of = {q.id: i for i, questions in enumerate(probes) for q in questions}
        self._probe = -1
        self._wanted: deque[str] = deque()
        self._taken: set[str] = set()
        self._started = 0
        self._wake = asyncio.Event()
        self._paused = False
        self._system: OpenSystem | None = None
        self._answerer = Answerer(engine, job)
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._retrieving: set[asyncio.Future[None]] = set()
        self._main: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None

    # -- for the waiting thread --------------------------------------------------------------------------------------

    @property
    def concurrent_stores(self) -> int:
        """How many stores of this system may be open at once; known once it is filled."""
        return self._system.concurrent_stores if self._system is not None else 2

    def result(self, key: str) -> Future[Result]:
        """The future result of an ask; a key taken before is asked again (a rerun)."""
        if key in self._taken:
            future = self._results[key] = Future()
            self._engine.call_soon(self._ask_again, key, future)
            return future
        self._taken.add(key)
        future = self._results[key]
        if self._paused or not future.done():  # waking the loop for each answer that is there would cost more than it
            self._engine.call_soon(self._want, key)
        return future

    def finish(self) -> Future[StoreReport]:
        """No more questions will be waited for: list once more, close the system, and report."""
        self._engine.call_soon(self._begin_finish)
        return self.finished

    # -- on the loop: life of a store --------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to fill."""
        self._main = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            await self._steps()
        except asyncio.CancelledError:
            self._fail_rest(None)
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and isinstance(error, (SystemExit, KeyboardInterrupt)):
                error = MemorySystemError(f"asked the process to end: {error!r}")
            self._failure = error
            self._fail_rest(error)

    async def _steps(self) -> None:
        CURRENT.set(self.report.captured)
        self._engine.journal.fill_started(self.job.id)
        self._system = system = OpenSystem(self._engine, self.job, self.report)
        await system.open()
        steps = self.job.plan.steps
        last = max((i for i, step in enumerate(steps) if self._selected(step)), default=-1)
        total = sum(isinstance(step, Ingest) for step in steps[: last + 1])
        segments: list[list[Conversation]] = []  # what is stored before each probe
        held = 0  # of them
        waiting: list[Conversation] = []
        for i, step in enumerate(steps[: last + 1]):
            if isinstance(step, Ingest):
                waiting.append(step.conversation)
                continue
            segments.append(waiting)
            waiting = []
            self._probe += 1
            asks = self._selected(step)
            if system.is_reusable and not asks:
                continue  # what is kept for a later probe may spare it
            if not await system.restored(segments, total):
                for n in range(held, len(segments)):
                    await system.ingest(segments[n], sum(map(len, segments[:n])), total)
            held = len(segments)
            if asks:
                listing = await system.list_all([conversation for segment in segments for conversation in segment])
                await system.keep(segments, listing)
                await self._ask_all(asks, listing, last=i == last)

    # -- on the loop: questions --------------------------------------------------------------------------------------

    def _selected(self, step: object) -> list[Ask]:
        if isinstance(step, Ingest):
            return []
        ids = {question.id for question in getattr(step, "questions", ())}
        return [ask for ask in self.job.asks if ask.question.id in ids]

    async def _ask_all(self, asks: Iterable[Ask], listing: Listing, *, last: bool) -> None:
        """Start the asks, those waited for first, at most a window ahead of the waiting thread."""
        self._engine.journal.fill_ended(self.job.id)
        if not self.filled.done():
            self.filled.set_result(None)
        pending = OrderedDict((ask.key, ask) for ask in asks)
        while pending:
            ask = self._next(pending)
            if ask is None:
                self._wake.clear()
                self._paused = True
                # looked at again: the waiting thread may have taken an answer before it could see the pause
                if (ask := self._next(pending)) is None:
                    await self._wake.wait()
                self._paused = False
                if ask is None:
                    continue
            del pending[ask.key]
            await self._start(ask, listing, self._results[ask.key])
            self._started += 1
        if not last:  # the next conversations must not be stored under questions still being asked
            while self._retrieving:
                await asyncio.wait(self._retrieving)
        CURRENT.set(self.report.captured)

    def _next(self, pending: Mapping[str, Ask]) -> Ask | None:
        while self._wanted:
            key = self._wanted[0]
            if key in pending:
                self._wanted.popleft()
                return pending[key]
            if self._probe_of[self._asks[key].question.id] > self._probe:
                return next(iter(pending.values()))  # somebody waits for a later probe: finish this one
            self._wanted.popleft()
        if self._started - len(self._taken) >= self._engine.window:
            return None
        return next((ask for ask in pending.values() if ask.key not in self.job.suspects), None)

    def _want(self, key: str) -> None:
        if not self._results[key].done():
            self._wanted.append(key)
        self._wake.set()

    def _ask_again(self, key: str, future: Future[Result]) -> None:
        ask = self._asks[key]
        probe = self._probe_of[ask.question.id]
        error: BaseException | None = None
        if self._failure is not None or self._system is None or not self._system.is_open:
            error = self._failure or MemorySystemError("the store is closed")
        elif probe != self._probe:
            error = MemorySystemError("cannot be asked again: the store was filled further")
        if error is not None:
            future.set_result(Result(ask, error=error))
        else:
            listing = self.report.listings[-1]
            self._engine.finishing(asyncio.get_running_loop().create_task(self._start(ask, listing, future)))

    async def _start(self, ask: Ask, listing: Listing, future: Future[Result]) -> None:
        """Let the question run beside others, or, if it may have killed a process, alone to its end."""
        if ask.key in self.job.suspects:
            async with self._engine.alone():
                await self._one(ask, listing, future, asyncio.get_running_loop().create_future())
            return
        await self._engine.slot()
        retrieved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._retrieving.add(retrieved)
        task = asyncio.get_running_loop().create_task(self._one(ask, listing, future, retrieved))
        self._tasks[task] = ask.key
        self._engine.running.add(task)

        def done(task: asyncio.Task[None]) -> None:
            del self._tasks[task]
            self._engine.running.discard(task)
            self._engine.release_slot()
            self._has_retrieved(retrieved)
            if not future.done():
                future.cancel()

        task.add_done_callback(done)

    def _has_retrieved(self, retrieved: asyncio.Future[None]) -> None:
        self._retrieving.discard(retrieved)
        if not retrieved.done():
            retrieved.set_result(None)

    async def _one(self, ask: Ask, listing: Listing, future: Future[Result], retrieved: asyncio.Future[None]) -> None:
        result = Result(ask, listing=listing, started=time.time())
        CURRENT.set(result.captured)
        began = time.perf_counter()
        self._engine.journal.question_started(ask.key)
        try:
            assert self._system is not None
            await self._answerer.answer(self._system, ask, listing, lambda: self._has_retrieved(retrieved), result)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a skip of the test runner is no Exception
            result.error = error
        finally:
            self._engine.journal.question_ended(ask.key)
        result.seconds = time.perf_counter() - began
        future.set_result(result)

    # -- on the loop: the end ----------------------------------------------------------------------------------------

    def _begin_finish(self) -> None:
        self._engine.finishing(asyncio.get_running_loop().create_task(self._finish()))

    async def _finish(self) -> None:
        if self._main is not None and not self._main.done():
            self._main.cancel()  # questions nobody waits for
            await asyncio.wait([self._main])
        for task in self._tasks:  # abandoned: nobody waits for them any more
            task.cancel()
        hangs = not await self._came_to_rest()
        system = self._system
        try:
            if system is not None and self._failure is None and self.report.listings and not hangs:
                self.report.changed = changes(self.report.listings[-1], await system.read_listing())
            if self.report.listings and self._engine.count_tokens is not None:
                texts = [memory.text for memory in self.report.listings[-1].memories]
                loop = asyncio.get_running_loop()
                self.report.tokens = await loop.run_in_executor(self._engine.pool, self._engine.count_tokens, texts)
            if system is not None and not hangs:
                await system.close()
        except Exception as error:
            self.finished.set_exception(error)
        else:
            self.finished.set_result(self.report)
        finally:
            self._engine.forget(self)
            if system is not None:
                system.let_go()
            if not self.finished.done():
                self.finished.cancel()

    async def _came_to_rest(self) -> bool:
        """Wait a little for what was cancelled; False if a call of the system hangs, and further ones would hang behind it."""
        end = time.monotonic() + GRACE_SECONDS
        while self._tasks or (self._system is not None and self._system.is_busy):
            if time.monotonic() > end:
                return False
            await asyncio.sleep(0.01)
        return True

    def cancel(self) -> None:
        """Drop what has not begun, cancel what runs."""
        for task in self._tasks:
            task.cancel()
        if self._main is not None:
            self._main.cancel()

    def _fail_rest(self, error: BaseException | None) -> None:
        if not self.filled.done():
            # a fill that failed by an exception did not kill the process
            self._engine.journal.fill_ended(self.job.id)
            if error is None:
                self.filled.cancel()
            else:
                self.filled.set_exception(error)
        asked = set(self._tasks.values())
        for key, future in self._results.items():
            if future.done() or key in asked:
                continue
            if error is None:
                future.cancel()
            else:
                future.set_result(Result(self._asks[key], error=error))
