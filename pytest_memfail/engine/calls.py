"""Calling a memory system: sync methods on its own threads, async ones on the one long-lived loop."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, TypeVar

from pytest_memfail.core import MemfailError, MemorySystemError, one_line

T = TypeVar("T")


class DaemonPool(Executor):
    """At most n daemon threads.

    The standard pool's threads are joined when the process ends, so that one hung call of a system would keep it alive.
    """

    def __init__(self, threads: int, name: str) -> None:
        self.limit = threads
        self._name = name
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._threads = 0
        self._idle = threading.Semaphore(0)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run the call on the next free thread."""
        future: Future[T] = Future()
        self._jobs.put((future, lambda: fn(*args, **kwargs)))
        if not self._idle.acquire(blocking=False) and self._threads < self.limit:
            self._threads += 1
            threading.Thread(target=self._work, daemon=True, name=f"{self._name}-{self._threads}").start()
        return future

    def stop(self) -> None:
        """Let the idle threads end; does not wait for a hung one."""
        for _ in range(self._threads):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, call = job
            if future.set_running_or_notify_cancel():
                try:
                    result = call()
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)
            del job, future, call
            self._idle.release()


class Lane:
    """The calls of one memory system.

    A sync system whose reads are not declared concurrent runs on a single thread from its creation to its close, which is
    what thread-bound resources (a default SQLite connection) need.
    """

    def __init__(self, name: str) -> None:
        self._pool = DaemonPool(1, f"memfail-{name}")
        self.reads = 1
        self.writes = 1
        self._read_slots = asyncio.Semaphore(1)
        self._async: dict[str, bool] = {}
        self._busy = 0

    def widen(self, reads: int, writes: int) -> None:
        """Allow this many reads and writes at once."""
        self.reads, self.writes = reads, writes
        self._pool.limit = max(reads, writes)
        self._read_slots = asyncio.Semaphore(reads)

    async def call(self, method: str, fn: Callable[..., Any], *args: Any) -> Any:
        """Call it, awaiting what it returns if that is awaitable.

        Raises `MemorySystemError` naming the method for whatever it raises, with that as the cause; a test runner's own
        outcomes (a skip) pass through.
        """
        with told_as(MemorySystemError, f"{method}()"):
            if self.is_async(method, fn):
                return await fn(*args)
            context = contextvars.copy_context()
            future = self._pool.submit(context.run, guarded, fn, *args)
            self._busy += 1
            future.add_done_callback(self._done)
            result = await asyncio.wrap_future(future)
            return await result if inspect.isawaitable(result) else result

    async def read(self, method: str, fn: Callable[..., Any], *args: Any) -> tuple[Any, float]:
        """`call`, with no more at once than the system's reads allow; also the seconds that the system itself took."""
        timed = _Timed(fn)
        async with self._read_slots:
            asynchronous = self.is_async(method, fn)
            result = await self.call(method, timed.run_async if asynchronous else timed.run, *args)
        return result, timed.seconds

    def is_async(self, method: str, fn: Callable[..., Any]) -> bool:
        """Whether the method of that name gives a coroutine: looked up once, it is the same for every call."""
        found = self._async.get(method)
        if found is None:
            found = self._async[method] = is_async(fn)
        return found

    @property
    def is_busy(self) -> bool:
        """Whether a call is still in one of its threads, waited for or not."""
        return self._busy > 0

    def _done(self, _: Future[Any]) -> None:
        self._busy -= 1

    def stop(self) -> None:
        """End its threads."""
        self._pool.stop()


class _Timed:
    """Measures where the call runs, so that waiting for a thread or for the loop does not count."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn
        self.seconds = 0.0

    def run(self, *args: Any) -> Any:
        began = time.perf_counter()
        try:
            result = self._fn(*args)
        finally:
            self.seconds = time.perf_counter() - began
        return self._rest(result) if inspect.isawaitable(result) else result

    async def run_async(self, *args: Any) -> Any:
        return await self._rest(self._fn(*args))

    async def _rest(self, awaitable: Awaitable[Any]) -> Any:
        began = time.perf_counter()
        try:
            return await awaitable
        finally:
            self.seconds += time.perf_counter() - began


class CarriedError(Exception):
    """Carries out of a thread what a future must not hold: an exit request would end the loop, a StopIteration hang it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(repr(error))
        self.error = error


@contextmanager
def told_as(kind: type[MemfailError], what: str) -> Iterator[None]:
    """Whatever the user's code raises becomes an error of this kind that names what was called; our own errors pass."""
    try:
        yield
    except MemfailError:
        raise
    except CarriedError as carrier:
        error = carrier.error
        raise kind(f"{what} raised {type(error).__name__}: {one_line(error)}") from error
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        raise kind(f"{what} raised {type(error).__name__}: {one_line(error)}") from error


def guarded(fn: Callable[..., T], *args: Any) -> T:
    """Call it in a thread; what a future must not hold comes as `CarriedError`."""
    try:
        result = fn(*args)
        if isinstance(result, Iterator):
            return list(result)  # type: ignore[return-value]  # read where it was made: a cursor is bound to its thread
        return result
    except (SystemExit, KeyboardInterrupt, StopIteration) as error:
        raise CarriedError(error) from error


def is_async(fn: object) -> bool:
    """Whether calling it gives a coroutine, as far as can be told without calling it."""
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))  # noqa: B004


async def settle(value: T | Awaitable[T]) -> T:
    """The value, awaited if it is awaitable."""
    return await value if inspect.isawaitable(value) else value
