"""Call the user's code, sync code on threads and async code on one long-lived loop, and share resources between calls."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType, MethodType
from typing import Any, Final, Protocol, TypeVar

from pytest_memfail.core import Doubt, MemfailError, MemorySystemError, TimedOutError, one_line

T = TypeVar("T")

Outcomes = tuple[type[BaseException], ...]
"""A test runner's exceptions that are not errors (a skip). They pass through unchanged."""

BESIDE_SECONDS: Final = 0.02
"""Seconds between two looks at the calls beside one."""
GRACE_SECONDS: Final = 2.0
"""Seconds that a cancelled call may take to end."""


@dataclass(slots=True)
class Captured:
    """Output of background work: the text of its prints, and its log records."""

    output: list[str] = field(default_factory=list)
    records: list[Any] = field(default_factory=list)


CURRENT: contextvars.ContextVar[Captured | None] = contextvars.ContextVar("memfail_current", default=None)
"""Collects the prints and logs of the current fill or question."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Time limits for the calls of a memory system, in seconds; 0 means no limit."""

    store: float = 300.0
    """For every call except `retrieve_memories()`."""
    retrieve: float = 60.0


DEFAULT_LIMITS: Final = Limits()
NO_LIMITS: Final = Limits(0, 0)


class DaemonPool(Executor):
    """Run calls on at most n daemon threads.

    The interpreter joins the threads of the standard pool at exit, so one hung call would keep the process alive.
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
        """End the idle threads without waiting for a hung one."""
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
            del job, future, call  # an idle thread would keep what they hold alive: a closed system and its memories
            self._idle.release()


class ModelCalls(Protocol):
    """The calls of models that a memory system makes by itself, where somebody watches them."""

    @property
    def spent(self) -> Mapping[str, int]:
        """Return what they cost so far, by kind."""

    @property
    def failures(self) -> int:
        """Return how many failed so far."""

    def fault(self, since: int, *, only_final: bool = False) -> MemfailError | None:
        """Return a failure after the first `since` ones that no later try made good; perhaps only one that none can."""

    def searches(self, *, now: bool) -> None:
        """Say whether the calls are made to answer queries from now on, or to store."""

    def doubts(self) -> Sequence[Doubt]:
        """Return the doubts about the calls since they were last asked for."""


Read = Callable[[Any], Any]
"""Reads what a method returned."""


def as_it_is(result: Any) -> Any:
    """Return the result unread."""
    return result


class Lane:
    """Run the calls of one memory system.

    A sync system that does not declare concurrent reads runs on a single thread from its creation to its close.
    Thread-bound resources need this (a default SQLite connection).
    """

    def __init__(
        self, name: str, *, limits: Limits = NO_LIMITS, outcomes: Outcomes = (), models: ModelCalls | None = None
    ) -> None:
        self._name = name
        self._models = models
        self._inside: set[object] = set()
        self._checked = 0 if models is None else models.failures  # earlier ones are those of other stores
        self._pool = DaemonPool(1, f"memfail-{name}")
        self.reads = 1
        self.writes = 1
        self.is_hung = False
        """Whether a sync call has exceeded its limit. The thread is lost, with everything it holds."""
        self._limits, self._outcomes = limits, outcomes
        self._read_slots = asyncio.Semaphore(1)
        self._flying: set[Future[Any]] = set()

    def widen(self, reads: int, writes: int) -> None:
        """Allow this many reads and writes at once."""
        self.reads, self.writes = reads, writes
        self._pool.limit = max(reads, writes)
        self._read_slots = asyncio.Semaphore(reads)

    async def call(self, method: str, fn: Callable[..., Any], *args: Any, read: Read = as_it_is) -> Any:
        """Call a method within the limit for storing, await an awaitable result, and return what `read` makes of it.

        Raises `MemorySystemError` naming the method if the method raises, with the original error as the cause. Raises
        `TimedOutError` if the call exceeds its limit. A test runner's own outcomes (a skip) pass through.
        """
        result, _ = await self._call(method, fn, args, read, self._limits.store)
        return result

    async def read(self, method: str, fn: Callable[..., Any], *args: Any, read: Read = as_it_is) -> tuple[Any, float]:
        """Call a method as `call` does, but within the limit for retrieving.

        At most as many reads run at once as the system allows. Returns the result and the seconds that the system itself
        took.
        """
        async with self._read_slots:
            return await self._call(method, fn, args, read, self._limits.retrieve)

    async def _call(
        self, method: str, fn: Callable[..., Any], args: tuple[Any, ...], read: Read, seconds: float
    ) -> tuple[Any, float]:
        """Call a method. Raise the failure of a model call that the system hides: what it lacks is not forgotten by it."""
        what = method if " " in method else f"{method}()"
        if (models := self._models) is None or method == "close":  # all verdicts are given, and work may be broken off
            return await self._within(what, fn, args, read, seconds)
        # what failed between two calls belongs to the next one
        since = models.failures if self._inside else self._checked
        self._inside.add(call := object())
        fault = None
        try:
            result = await self._within(what, fn, args, read, seconds)
        except MemorySystemError:
            if (fault := models.fault(since, only_final=True)) is None:
                raise
        finally:
            self._inside.discard(call)
            if not self._inside:
                self._checked = models.failures
        # it may belong to a call beside this one, and be repeated there
        beside = frozenset(self._inside)
        while fault is None and (failed := models.fault(since)) is not None:
            if beside & self._inside:
                await asyncio.sleep(BESIDE_SECONDS)
            else:
                fault = failed
        if fault is not None:
            raise type(fault)(f"{what}: a model call of the memory system failed: {fault}")
        return result

    async def _within(
        self, what: str, fn: Callable[..., Any], args: tuple[Any, ...], read: Read, seconds: float
    ) -> tuple[Any, float]:
        """Call a method, and read its result on the system's thread: it may be lazy, endless, or bound to that thread.

        Returns the seconds that the method took too, without the wait for a thread or for the loop.
        """
        took = 0.0

        def at_once(*args: Any) -> Any:
            nonlocal took
            began = time.perf_counter()
            result = fn(*args)
            took = time.perf_counter() - began
            return result if inspect.isawaitable(result) else read(result)

        async def awaited(make: Callable[[], Any]) -> Any:
            nonlocal took
            began = time.perf_counter()
            result = make()
            result = await result if inspect.isawaitable(result) else result
            took += time.perf_counter() - began
            return result

        try:
            with raised_as(MemorySystemError, what, outcomes=self._outcomes):
                if is_async(fn):
                    result = await in_own_task(awaited, lambda: fn(*args), seconds=seconds)
                elif not inspect.isawaitable(result := await self._on_thread(at_once, args, seconds)):
                    return result, took
                else:
                    waited = result
                    result = await in_own_task(awaited, lambda: waited, seconds=seconds)
                return result if read is as_it_is else await self._on_thread(read, (result,), seconds), took
        except _OverdueError:
            raise TimedOutError(
                f"{what} of the store {self._name} did not return within {seconds:g} s; --memfail-timeout sets the limit"
            ) from None

    async def _on_thread(self, fn: Callable[..., Any], args: tuple[Any, ...], seconds: float) -> Any:
        future = self._pool.submit(contextvars.copy_context().run, guarded, fn, *args)
        self._flying.add(future)
        future.add_done_callback(self._flying.discard)
        waiting = asyncio.wrap_future(future)
        try:
            await asyncio.wait({waiting}, timeout=seconds or None)
        finally:
            waiting.cancel()  # no effect if it is done
        if waiting.cancelled():
            self.is_hung = True
            raise _OverdueError
        return waiting.result()

    @property
    def is_busy(self) -> bool:
        """Whether a call is still running in one of its threads, even one that nobody waits for."""
        return bool(self._flying)

    def stop(self) -> None:
        """End the threads."""
        self._pool.stop()


class CarriedError(Exception):
    """Carry an exception that the user's code raised.

    Raised directly, the exception could be misunderstood: an exit request would end the loop, a `StopIteration` would
    hang it, and a `CancelledError` would look like the end of our own task.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(type(error).__name__)
        self.error = error


class _OverdueError(Exception):
    """A call has exceeded its limit."""


class raised_as:  # noqa: N801 - used like a function; one of `contextlib` costs three times as much for each call
    """Turn an exception of the user's code into an error of this kind that names the call.

    Our own errors and a test runner's outcomes pass through.
    """

    __slots__ = ("_about", "_kind", "_outcomes", "_what")

    def __init__(self, kind: type[MemfailError], what: str, about: str = "", outcomes: Outcomes = ()) -> None:
        self._kind, self._what, self._about, self._outcomes = kind, what, about, outcomes

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Raise the error that names the call, if the call raised anything else."""
        if isinstance(error, CarriedError):
            error = error.error
            if isinstance(error, MemfailError):
                raise error
        elif not isinstance(error, Exception) or isinstance(error, (MemfailError, _OverdueError)):
            return
        if isinstance(error, self._outcomes):
            raise error
        raise self._kind(f"{self._what} raised {described(error)}{self._about}") from error


REMEDIES: Final = {
    "in that same thread": "async methods run on the event loop, sync ones on a thread of their own: make all methods sync "
    "or all async, or connect with check_same_thread=False",
    "different (event )?loop": "all async methods run on one event loop: make the client in one of them",
}
"""What to do about errors that come from where the methods run, by a pattern of their messages."""


def described(error: BaseException) -> str:
    """Return the type and the message of an error on one line, whatever its `__str__` does."""
    name = type(error).__name__
    try:
        message = one_line(error)
    except BaseException as another:
        return f"{name}, whose message cannot be read ({type(another).__name__})"
    if isinstance(error, Warning):
        message = f"{message} (a warning that filterwarnings turns into an error; pytest -W default does not)".lstrip()
    message += next((f" ({remedy})" for sign, remedy in REMEDIES.items() if re.search(sign, message)), "")
    return f"{name}: {message}" if message else name


def guarded(fn: Callable[..., T], *args: Any) -> T:
    """Call a function on the current thread, and wrap any exception in a `CarriedError`."""
    try:
        result = fn(*args)
        if isinstance(result, Iterator):
            return list(result)  # type: ignore[return-value]  # read where it was made: a cursor is bound to its thread
        return result
    except BaseException as error:
        if _is_ctrl_c(error):
            raise
        raise CarriedError(error) from error


def _is_ctrl_c(error: BaseException) -> bool:
    """Return whether Ctrl-C stopped a function, and not its own code; since Python 3.11 asyncio cancels what runs then."""
    on_main = threading.current_thread() is threading.main_thread()
    return sys.version_info < (3, 11) and on_main and type(error) is KeyboardInterrupt


async def in_own_task(fn: Callable[..., Any], *args: Any, seconds: float = 0.0) -> Any:
    """Call a function and await its result in a separate task, for at most `seconds` (0 for no limit).

    Wraps any exception in a `CarriedError`, including the task's own cancellation.
    """
    task = asyncio.ensure_future(_contained(fn, args))
    try:
        await asyncio.wait({task}, timeout=seconds or None)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task})
        raise
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=GRACE_SECONDS)
        raise _OverdueError
    result, error = task.result()
    if error is not None:
        raise CarriedError(error) from error
    return result


async def _contained(fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, BaseException | None]:
    try:
        result = fn(*args)
        return (await result if inspect.isawaitable(result) else result), None
    except BaseException as error:
        if _is_ctrl_c(error):
            raise
        return None, error


async def called(fn: Callable[..., Any], *args: Any, pool: Executor | None) -> Any:
    """Call the user's code, and wrap any exception in a `CarriedError`.

    Async code runs in a separate task. Sync code runs on the pool's threads or, without a pool, on the current thread.
    """
    if is_async(fn):
        return await in_own_task(fn, *args)
    if pool is None:
        result = guarded(fn, *args)
    else:
        run = contextvars.copy_context().run
        result = await asyncio.get_running_loop().run_in_executor(pool, run, guarded, fn, *args)
    return await in_own_task(lambda: result) if inspect.isawaitable(result) else result


def shared_task(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start work for several callers, who wait for it with `asyncio.shield`.

    If all of them are cancelled before it fails, its error is nobody's: asyncio would log it in the midst of a later test.
    """
    task = asyncio.get_running_loop().create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


def is_async(fn: object) -> bool:
    """Return whether calling an object gives a coroutine, as far as can be seen without a call."""
    if isinstance(fn, MethodType) and isinstance(fn.__func__, FunctionType):
        return _is_async_function(fn.__func__)  # asked for each call
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))  # noqa: B004


@lru_cache(maxsize=64)
def _is_async_function(function: FunctionType) -> bool:
    return inspect.iscoroutinefunction(function)
