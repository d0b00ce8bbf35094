"""Call the user's code: sync code on threads, async code on the one long-lived loop; and what all of these calls share."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol, TypeVar

from pytest_memfail.core import Judge, MemfailError, MemorySystemError, TestTaker, TimedOutError, one_line

T = TypeVar("T")

Outcomes = tuple[type[BaseException], ...]
"""Exceptions of a test runner that are no errors (a skip): they pass through as they are."""

GRACE_SECONDS: Final = 2.0
"""How long a call that was cancelled may take to end."""


@dataclass(slots=True)
class Captured:
    """Output of background work: the text of its prints, and its log records."""

    output: list[str] = field(default_factory=list)
    records: list[Any] = field(default_factory=list)


CURRENT: contextvars.ContextVar[Captured | None] = contextvars.ContextVar("memfail_current", default=None)
"""Where prints and logs of the current code belong: to the fill or question that it runs for."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many seconds a call of a memory system may take; 0 for no limit."""

    store: float = 300.0
    """For every call except `retrieve_memories()`."""
    retrieve: float = 60.0


DEFAULT_LIMITS: Final = Limits()
NO_LIMITS: Final = Limits(0, 0)


class DaemonPool(Executor):
    """Run calls on at most n daemon threads.

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


class Journal(Protocol):
    """Records what begins and ends, so that the cause of a process's death can be named afterwards."""

    def fill_started(self, store: str) -> None: ...
    def fill_ended(self, store: str) -> None: ...
    def question_started(self, key: str) -> None: ...
    def question_ended(self, key: str) -> None: ...


class NoJournal:
    """Records nothing."""

    def fill_started(self, store: str) -> None: ...
    def fill_ended(self, store: str) -> None: ...
    def question_started(self, key: str) -> None: ...
    def question_ended(self, key: str) -> None: ...


@dataclass(frozen=True, slots=True)
class TokenRules:
    """How tokens are counted and cut, and how many a question may be shown."""

    count: Callable[[Sequence[str]], int]
    """Returns the tokens of all texts."""
    first: Callable[[str, int], str]
    """Returns the start of a text that so many tokens hold."""
    limit: int | None = None
    """Tokens shown per question, at most; None means no limit."""


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What all stores of a process share."""

    judge: Judge
    test_taker: TestTaker | None = None
    """Answers the questions from the memories shown; None to ask no answers."""
    again: Sequence[tuple[Judge, TestTaker | None]] = ()
    """Judge and test-taker of each further time that a question is asked."""
    assistant_turns: bool = False
    """Whether the test-taker answers each message that is stored."""
    concurrency: int = 32
    """Questions in flight at once, at most."""
    tokens: TokenRules | None = None
    """How tokens are counted; None to count none."""
    journal: Journal = field(default_factory=NoJournal)
    on_progress: Callable[[str, int, int], object] = lambda *_: None
    """Called with the id of a store, how many of its conversations are stored, and how many it has."""
    limits: Limits = DEFAULT_LIMITS
    outcomes: Outcomes = ()
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits for so many seconds before a conversation is stored again."""

    @property
    def window(self) -> int:
        """How many questions of a store may be answered before anybody waits for them."""
        return max(64, 4 * self.concurrency)

    @cached_property
    def pool(self) -> DaemonPool:
        """The threads of sync judges and test-takers, and of work that would hold up the loop."""
        return DaemonPool(self.concurrency, "memfail-judge")


class Lane:
    """The calls of one memory system.

    A sync system whose reads are not declared concurrent runs on a single thread from its creation to its close, which is
    what thread-bound resources (a default SQLite connection) need.
    """

    def __init__(self, name: str, *, limits: Limits = NO_LIMITS, outcomes: Outcomes = ()) -> None:
        self._name = name
        self._pool = DaemonPool(1, f"memfail-{name}")
        self.reads = 1
        self.writes = 1
        self.is_hung = False
        """Whether a sync call has exceeded its limit: its thread is lost, and what it holds."""
        self._limits, self._outcomes = limits, outcomes
        self._read_slots = asyncio.Semaphore(1)
        self._flying: set[Future[Any]] = set()

    def widen(self, reads: int, writes: int) -> None:
        """Allow this many reads and writes at once."""
        self.reads, self.writes = reads, writes
        self._pool.limit = max(reads, writes)
        self._read_slots = asyncio.Semaphore(reads)

    async def call(self, method: str, fn: Callable[..., Any], *args: Any) -> Any:
        """Call it within the limit for storing; await the result if it is awaitable.

        Raises `MemorySystemError` naming the method for whatever it raises, with that as the cause, and `TimedOutError` for a
        call that exceeds its limit; a test runner's own outcomes (a skip) pass through.
        """
        return await self._call(method, fn, args, self._limits.store)

    async def read(self, method: str, fn: Callable[..., Any], *args: Any) -> tuple[Any, float]:
        """Call it as `call` does, within the limit for retrieving, with at most as many reads at once as the system allows.

        Returns the result, and the seconds that the system itself took.
        """
        timed = _Timed(fn)
        async with self._read_slots:
            call = timed.run_async if is_async(fn) else timed.run
            result = await self._call(method, call, args, self._limits.retrieve)
        return result, timed.seconds

    async def _call(self, method: str, fn: Callable[..., Any], args: tuple[Any, ...], seconds: float) -> Any:
        what = method if " " in method else f"{method}()"
        try:
            with raised_as(MemorySystemError, what, outcomes=self._outcomes):
                if is_async(fn):
                    return await in_own_task(fn, *args, seconds=seconds)
                result = await self._on_thread(fn, args, seconds)
                return await in_own_task(lambda: result, seconds=seconds) if inspect.isawaitable(result) else result
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
            waiting.cancel()  # does nothing where it is done
        if waiting.cancelled():
            self.is_hung = True
            raise _OverdueError
        return waiting.result()

    @property
    def is_busy(self) -> bool:
        """Whether a call is still running in one of its threads, even one that nobody waits for."""
        return bool(self._flying)

    def stop(self) -> None:
        """End its threads."""
        self._pool.stop()


class _Timed:
    """Measures a call where it runs: waiting for a thread or for the loop does not count."""

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
    """Carry an exception that the user's code raised.

    Raised as it is, it could be misunderstood: an exit request would end the loop, a `StopIteration` hang it, and a
    `CancelledError` look like the end of our own task.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(type(error).__name__)
        self.error = error


class _OverdueError(Exception):
    """A call has exceeded its limit."""


@contextmanager
def raised_as(kind: type[MemfailError], what: str, about: str = "", outcomes: Outcomes = ()) -> Iterator[None]:
    """Turn what the user's code raises into an error of this kind that names what was called.

    Our own errors and the outcomes of a test runner pass through.
    """
    try:
        yield
    except (MemfailError, _OverdueError):
        raise
    except CarriedError as carrier:
        error = carrier.error
    except Exception as raised:
        error = raised
    else:
        return
    if isinstance(error, (MemfailError, *outcomes)):
        raise error
    raise kind(f"{what} raised {described(error)}{about}") from error


def described(error: BaseException) -> str:
    """Return the type and the message of an error on one line, whatever its `__str__` does."""
    name = type(error).__name__
    try:
        message = one_line(error)
    except BaseException as another:
        return f"{name}, whose message cannot be read ({type(another).__name__})"
    return f"{name}: {message}" if message else name


def guarded(fn: Callable[..., T], *args: Any) -> T:
    """Call it right here, and wrap what it raises in a `CarriedError`."""
    try:
        result = fn(*args)
        if isinstance(result, Iterator):
            return list(result)  # type: ignore[return-value]  # read where it was made: a cursor is bound to its thread
        return result
    except BaseException as error:
        raise CarriedError(error) from error


async def in_own_task(fn: Callable[..., Any], *args: Any, seconds: float = 0.0) -> Any:
    """Call it and await the result in a task of its own, for at most so many seconds (0 for no limit).

    Wraps what it raises in a `CarriedError`, its own cancellation too.
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
        return None, error


async def called(fn: Callable[..., Any], *args: Any, pool: Executor | None) -> Any:
    """Call the user's code: async code in a task of its own, sync code on the pool's threads or, without a pool, right here.

    Wraps what it raises in a `CarriedError`.
    """
    if is_async(fn):
        return await in_own_task(fn, *args)
    if pool is None:
        result = guarded(fn, *args)
    else:
        run = contextvars.copy_context().run
        result = await asyncio.get_running_loop().run_in_executor(pool, run, guarded, fn, *args)
    return await in_own_task(lambda: result) if inspect.isawaitable(result) else result


def is_async(fn: object) -> bool:
    """Tell whether calling it gives a coroutine, as far as that shows without a call."""
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))  # noqa: B004
