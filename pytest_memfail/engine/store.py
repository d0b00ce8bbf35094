"""One store: fill a fresh memory system step by step, ask its questions ahead of whoever waits for them, judge them."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from pytest_memfail.core import Conversation, Ingest, Listing, MemfailError, MemorySystemError, TimedOutError
from pytest_memfail.engine.answering import Answerer
from pytest_memfail.engine.calls import GRACE_SECONDS, described
from pytest_memfail.engine.current import CURRENT
from pytest_memfail.engine.jobs import Ask, Result, StoreJob, StoreReport
from pytest_memfail.engine.listing import changes
from pytest_memfail.engine.memory_system import OpenSystem
from pytest_memfail.engine.shown import TokenCounts

if TYPE_CHECKING:
    from pytest_memfail.engine.engine import Engine

FILLS: Final = 2
"""How often a store is filled: once more after a call of the system has hung."""


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
        self._tokens = TokenCounts(engine.tokens, engine.pool)
        self._answerer = Answerer(engine, job, self._tokens)
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._retrieving: dict[asyncio.Future[None], asyncio.Task[None]] = {}
        self._asked_again: set[asyncio.Task[None]] = set()
        """Cancelled with a hung system, to be asked of the next one."""
        self._attempt = 1
        self._hung: TimedOutError | None = None
        self._replaced: list[Listing] = []  # what is judged over them is known by their ids, which must not come again
        self._main: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._is_opening = True

    # -- for the waiting thread --------------------------------------------------------------------------------------

    @property
    def concurrent_stores(self) -> int:
        """How many stores of this system may be open at once; known once it is filled."""
        return self._system.concurrent_stores if self._system is not None else 2

    @property
    def is_unopened(self) -> bool:
        """Whether the factory failed, or what it made is no memory system."""
        return self._failure is not None and self._is_opening

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
            while True:
                try:
                    await self._steps()
                    return
                except TimedOutError as error:
                    if self._attempt == FILLS:
                        raise TimedOutError(
                            f"{error}; the store was filled once more before, and is given up"
                        ) from None
                    if not await self._replace_system():
                        return
        except asyncio.CancelledError:
            self._fail_rest(None)
            raise
        except BaseException as error:
            self._failure = self._ours(error, f"filling the store {self.job.id}")
            self._fail_rest(self._failure)

    def _ours(self, error: BaseException, what: str) -> BaseException:
        """Make every error that reaches an item one of ours; a test runner's outcome is none."""
        if isinstance(error, (MemfailError, *self._engine.outcomes)):
            return error
        ours = MemfailError(f"{what} raised {described(error)}")
        ours.__cause__ = error
        return ours

    async def _replace_system(self) -> bool:
        """Leave a hung system behind; False if nothing is left to be asked."""
        self._attempt += 1
        self._hung = None
        while self._asked_again:
            await asyncio.wait(self._asked_again)
        if self._system is not None:
            self._system.let_go()
            self._system = None
        if not (open_asks := [ask for ask in self.job.asks if self._is_open(ask)]):
            return False
        self._replaced += self.report.listings
        self.report.listings, self.report.conversations, self.report.restored = (), 0, False
        self._probe = -1
        self._started = len(self.job.asks) - len(open_asks)
        self._wanted = deque(ask.key for ask in open_asks if ask.key in self._taken)
        return True

    def _is_open(self, ask: Ask) -> bool:
        """Whether it has no result yet, and is not on the way to one."""
        return not self._results[ask.key].done() and ask.key not in self._tasks.values()

    async def _steps(self) -> None:
        CURRENT.set(self.report.captured)
        self._engine.journal.fill_started(self.job.id)
        self._system = system = OpenSystem(self._engine, self.job, self.report, self._attempt)
        await system.open()
        self._is_opening = False
        steps = self.job.plan.steps
        last = max((i for i, step in enumerate(steps) if self._selected(step)), default=-1)
        total = sum(isinstance(step, Ingest) for step in steps[: last + 1])
        segments: list[list[Conversation]] = []  # what is stored before each probe
        held = 0  # of them
        waiting: list[Conversation] = []
        for step in steps[: last + 1]:
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
                await self._tokens.listed(listing)  # before all questions want to know it at once
                await self._ask_all(asks, listing)

    # -- on the loop: questions --------------------------------------------------------------------------------------

    def _selected(self, step: object) -> list[Ask]:
        if isinstance(step, Ingest):
            return []
        ids = {question.id for question in getattr(step, "questions", ())}
        return [ask for ask in self.job.asks if ask.question.id in ids and self._is_open(ask)]

    async def _ask_all(self, asks: Iterable[Ask], listing: Listing) -> None:
        """Start the asks, those waited for first, at most a window ahead of the waiting thread."""
        self._engine.journal.fill_ended(self.job.id)
        if not self.filled.done():
            self.filled.set_result(None)
        pending = OrderedDict((ask.key, ask) for ask in asks)
        while pending:
            self._check_hung()
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
        # the next conversations must not be stored under questions still being asked, and a system that hangs is replaced here
        while self._retrieving:
            await asyncio.wait(self._retrieving)
        self._check_hung()
        CURRENT.set(self.report.captured)

    def _check_hung(self) -> None:
        if self._hung is not None:
            raise self._hung

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
        if self._hung is not None:  # meanwhile
            self._engine.release_slot()
            return
        retrieved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.get_running_loop().create_task(self._one(ask, listing, future, retrieved))
        self._retrieving[retrieved] = task
        self._tasks[task] = ask.key
        self._engine.running.add(task)

        def done(task: asyncio.Task[None]) -> None:
            del self._tasks[task]
            self._engine.running.discard(task)
            self._engine.release_slot()
            self._has_retrieved(retrieved)
            if not future.done() and task not in self._asked_again:
                future.cancel()
            self._asked_again.discard(task)

        task.add_done_callback(done)

    def _has_retrieved(self, retrieved: asyncio.Future[None]) -> None:
        self._retrieving.pop(retrieved, None)
        if not retrieved.done():
            retrieved.set_result(None)

    async def _one(self, ask: Ask, listing: Listing, future: Future[Result], retrieved: asyncio.Future[None]) -> None:
        result = Result(ask, listing=listing, started=time.time())
        CURRENT.set(result.captured)
        began = time.perf_counter()
        self._engine.journal.question_started(ask.key)
        system = self._system
        try:
            assert system is not None
            await self._answerer.answer(system, ask, listing, lambda: self._has_retrieved(retrieved), result)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a skip of the test runner is no Exception
            result.error = self._ours(error, f"asking the question {ask.question.id}")
        finally:
            self._engine.journal.question_ended(ask.key)
        result.seconds = time.perf_counter() - began
        future.set_result(result)
        if isinstance(result.error, TimedOutError) and system is not None and system.is_hung:
            self._hang(result.error)

    def _hang(self, error: TimedOutError) -> None:
        """A sync system does not return: take its other questions back, to be asked of a new one."""
        if self._main is None or self._main.done():  # a rerun, after all others
            self._failure = error
        self._hung = error
        for task in self._retrieving.values():
            if task is not asyncio.current_task():
                self._asked_again.add(task)
                task.cancel()
        self._wake.set()

    # -- on the loop: the end ----------------------------------------------------------------------------------------

    def _begin_finish(self) -> None:
        task = asyncio.get_running_loop().create_task(self._finish())
        task.add_done_callback(lambda _: self.finished.cancel())  # does nothing where it was set
        self._engine.finishing(task)

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
                before, after = self.report.listings[-1], await system.read_listing()
                self.report.changed = changes(before, after)
                if self.report.changed[0]:
                    held = {memory.text for memory in before.memories}
                    added = [memory.text for memory in after.memories if memory.text not in held]
                    self.report.shared_with = self._engine.whose(self, added)
            if self.report.listings:
                self.report.tokens = await self._tokens.listed(self.report.listings[-1])
            if system is not None and not hangs:
                await system.close()
        except Exception as raised:
            error: BaseException | None = self._ours(raised, f"closing the store {self.job.id}")
        else:
            error = None
        finally:
            self._engine.forget(self)
            if system is not None:
                system.let_go()
        if error is None:
            self.finished.set_result(self.report)
        else:
            self.finished.set_exception(error)

    async def _came_to_rest(self) -> bool:
        """Wait a little for what was cancelled; False if a call of the system hangs, and further ones would hang behind it."""
        end = time.monotonic() + GRACE_SECONDS
        while self._tasks or (self._system is not None and self._system.is_busy):
            if self._system is not None and self._system.is_hung:
                return False
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
