"""The engine: one background event loop for all stores of a process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, TypeVar

from pytest_memfail.engine.questions import Slots
from pytest_memfail.engine.store import StoreJob, StoreRun
from pytest_memfail.hosting import GRACE_SECONDS, Resources, StoredTexts

T = TypeVar("T")

POLL_SECONDS: Final = 0.5
"""A plain wait cannot be interrupted by Ctrl-C on Windows, and would hang on a dead loop."""


class Engine:
    """Run store plans on a daemon thread; the caller waits for the results one by one."""

    def __init__(self, resources: Resources) -> None:
        """Start the loop."""
        self.resources = resources
        self._slots, self._texts = Slots(resources.concurrency), StoredTexts(resources.shared)
        self._stores: list[StoreRun] = []
        self._closed = self._is_over = False
        self._ending: asyncio.Task[None] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._main, name="memfail-loop", daemon=True)
        self._thread.start()

    def begin(self, job: StoreJob) -> StoreRun:
        """Start filling a store and asking its questions."""
        job = replace(job, plan=job.plan.opened())
        self._texts.add(job.id, job.plan.read_all())
        run = StoreRun(job, self.resources, self._slots, self._texts, self._call_soon)
        self._stores.append(run)
        run.finished.add_done_callback(lambda _: self._stores.remove(run))
        self._call_soon(run.start)
        return run

    def wait(self, future: concurrent.futures.Future[T], meanwhile: Callable[[], object] = lambda: None) -> T:
        """Wait for a future and return its result; call `meanwhile` at intervals.

        Ctrl-C interrupts the wait. Raises the error that the future holds, or `RuntimeError` if the loop died.
        """
        while not future.done():
            try:
                return future.result(timeout=POLL_SECONDS)
            except concurrent.futures.TimeoutError:
                if future.done():  # the work timed out, not the wait
                    break
                if not self._thread.is_alive():
                    raise RuntimeError("the background loop died") from None
                meanwhile()
        return future.result()

    def run(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the loop and wait for it."""
        return self.wait(asyncio.run_coroutine_threadsafe(make(), self._loop))

    def cancel(self) -> None:
        """Drop waiting questions, cancel running ones, and wait for them: fixture finalisers may run next.

        The sync calls of a system cannot be interrupted. After `GRACE_SECONDS` they are abandoned.
        """
        if self._closed:
            return
        self._call_soon(self._cancel)
        end = time.monotonic() + GRACE_SECONDS
        while self._slots.running and time.monotonic() < end:
            time.sleep(0.01)

    def close(self, grace: float = 5.0) -> None:
        """Stop everything; the engine cannot be used again."""
        if self._closed:
            return
        self._closed = True
        self._loop.call_soon_threadsafe(self._begin_end)
        self._thread.join(grace)

    def _call_soon(self, fn: Callable[..., Any], *args: Any) -> None:
        """Run a function on the loop, unless the engine is closed."""
        if not self._closed:
            self._loop.call_soon_threadsafe(fn, *args)

    # -- on the loop -------------------------------------------------------------------------------------------------

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            while not self._is_over:
                with suppress(SystemExit, KeyboardInterrupt):
                    self._loop.run_forever()  # a task of a memory system may raise them, or stop the loop
        finally:
            self._loop.close()

    def _cancel(self) -> None:
        for store in self._stores:
            store.cancel()

    def _begin_end(self) -> None:
        self._cancel()
        self._ending = self._loop.create_task(self._end())  # the loop itself keeps no reference to it

    async def _end(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=3)
        await asyncio.sleep(0)  # run the callbacks of the ended tasks
        self.resources.pool.stop()
        self._is_over = True
        self._loop.stop()
