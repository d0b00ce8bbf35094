"""One background event loop for all stores of a process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol, TypeVar

from pytest_memfail.core import Judge, TestTaker
from pytest_memfail.engine.calls import DEFAULT_LIMITS, DaemonPool, Limits, Outcomes
from pytest_memfail.engine.jobs import StoreJob
from pytest_memfail.engine.sharing import Told
from pytest_memfail.engine.shown import TokenRules
from pytest_memfail.engine.store import StoreRun

T = TypeVar("T")

POLL_SECONDS: Final = 0.5
"""A plain wait cannot be interrupted by Ctrl-C on Windows, and would hang on a dead loop."""


class Journal(Protocol):
    """Told what begins and ends, so that after the death of the process its cause can be named."""

    def fill_started(self, store: str) -> None: ...
    def fill_ended(self, store: str) -> None: ...
    def question_started(self, key: str) -> None: ...
    def question_ended(self, key: str) -> None: ...


class NoJournal:
    """Writes nothing."""

    def fill_started(self, store: str) -> None: ...
    def fill_ended(self, store: str) -> None: ...
    def question_started(self, key: str) -> None: ...
    def question_ended(self, key: str) -> None: ...


def _ignore(*_: object) -> None:
    """Show no progress."""


class Engine:
    """Runs store plans on a daemon thread; the caller waits for results one by one."""

    def __init__(
        self,
        *,
        judge: Judge,
        test_taker: TestTaker | None = None,
        again: Sequence[tuple[Judge, TestTaker | None]] = (),
        assistant_turns: bool = False,
        concurrency: int = 32,
        tokens: TokenRules | None = None,
        journal: Journal | None = None,
        on_progress: Callable[[str, int, int], None] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        outcomes: Outcomes = (),
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Start the loop.

        Args:
            judge: decides the stages.
            test_taker: answers the questions from the memories shown.
            again: judge and test-taker of each further time that a question is asked.
            assistant_turns: whether the test-taker answers each message that is stored.
            concurrency: questions in flight at once, at most.
            tokens: counts the tokens of entries, and says how many a question may be shown; without it none are counted.
            journal: is told what begins and ends.
            on_progress: is told how many of a store's conversations are stored, and of how many.
            limits: how long a call of the memory system may take.
            outcomes: exceptions of a test runner that are no errors; a question ends with them as they are.
            pause: waits for so many seconds before a conversation is stored again.
        """
        self.judge = judge
        self.test_taker = test_taker
        self.times = ((judge, test_taker), *again)
        """Who judges and who answers, each time that a question is asked."""
        self.assistant_turns = assistant_turns and test_taker is not None
        self.tokens = tokens
        self.journal: Journal = journal or NoJournal()
        self.on_progress = on_progress or _ignore
        self.limits, self.outcomes, self.pause = limits, outcomes, pause
        self.window = max(64, 4 * concurrency)
        """How many questions of a store may be answered before anybody waits for them."""
        self.pool = DaemonPool(concurrency, "memfail-judge")
        self.running: set[asyncio.Task[None]] = set()
        self._finishing: set[asyncio.Task[None]] = set()
        self.told = Told()
        self._stores: list[StoreRun] = []
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._slots = asyncio.Semaphore(concurrency)
        self._gate = asyncio.Event()  # closed while a question must be alone
        self._gate.set()
        self._alone = asyncio.Lock()
        self._thread = threading.Thread(target=self._main, name="memfail-loop", daemon=True)
        self._thread.start()

    def begin(self, job: StoreJob) -> StoreRun:
        """Start to fill a store and to ask its questions."""
        self.told.add(job.id, job.plan.conversations)
        run = StoreRun(self, job)
        self._stores.append(run)
        self.call_soon(run.start)
        return run

    def wait(self, future: concurrent.futures.Future[T], meanwhile: Callable[[], object] = _ignore) -> T:
        """Wait interruptibly; `meanwhile` is called now and then.

        Raises what the future holds, or `RuntimeError` if the loop died.
        """
        if future.done():
            return future.result()
        while True:
            try:
                return future.result(timeout=POLL_SECONDS)
            except concurrent.futures.TimeoutError:
                if future.done():  # what was run timed out, not the wait
                    return future.result()
                if not self._thread.is_alive():
                    raise RuntimeError("the background loop died") from None
                meanwhile()

    def run(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the loop and wait for it."""
        return self.wait(asyncio.run_coroutine_threadsafe(make(), self._loop))

    def cancel(self, grace: float = 2.0) -> None:
        """Drop what waits, cancel what runs, and wait for it: fixtures' finalisers may come next.

        A system's own sync calls cannot be interrupted; after `grace` seconds they are left behind.
        """
        if self._closed:
            return
        self.call_soon(self._cancel)
        end = time.monotonic() + grace
        while self.running and time.monotonic() < end:
            time.sleep(0.01)

    def close(self, grace: float = 5.0) -> None:
        """Stop everything; the engine cannot be used again."""
        if self._closed:
            return
        self._closed = True
        self._loop.call_soon_threadsafe(self._shutdown)
        self._thread.join(grace)

    def call_soon(self, fn: Callable[..., Any], *args: Any) -> None:
        """Run it on the loop."""
        if not self._closed:
            self._loop.call_soon_threadsafe(fn, *args)

    # -- on the loop -------------------------------------------------------------------------------------------------

    async def slot(self) -> None:
        """Return when a further question may be started; the caller starts it at once, and releases the slot at its end."""
        while True:
            await self._gate.wait()
            await self._slots.acquire()
            if self._gate.is_set():
                return
            self._slots.release()

    def release_slot(self) -> None:
        """A question has ended."""
        self._slots.release()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Nothing else is asked in this process while this lasts."""
        async with self._alone:
            self._gate.clear()
            try:
                while self.running:
                    await asyncio.wait(self.running)
                yield
            finally:
                self._gate.set()

    def whose(self, run: StoreRun, texts: Collection[str]) -> str | None:
        """The other store that these texts, new in this one, came from; None if that cannot be seen."""
        if (found := self.told.elsewhere(run.job.id, texts)) is not None:
            return found[1]
        for other in self._stores:
            if other is not run and other.report.listings:
                listed = {memory.text for memory in other.report.listings[-1].memories}
                if 2 * sum(text in listed for text in texts) > len(texts):
                    return other.job.id
        return None

    def forget(self, run: StoreRun) -> None:
        """A store is closed: keep nothing of it."""
        if run in self._stores:
            self._stores.remove(run)

    def finishing(self, task: asyncio.Task[None]) -> None:
        """Keep a reference to it: the loop itself keeps none."""
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _cancel(self) -> None:
        for store in self._stores:
            store.cancel()

    def _shutdown(self) -> None:
        self._cancel()

        async def end() -> None:
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=3)
            await asyncio.sleep(0)  # what the tasks' ends set off
            self.pool.stop()
            self._loop.stop()

        self.finishing(self._loop.create_task(end()))
