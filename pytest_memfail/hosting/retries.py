"""Store conversations in one memory system, and again after an error where that is safe."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_memfail.core import Conversation, MemorySystemError, Refusals, TimedOutError, WrongTypeError, refusal
from pytest_memfail.hosting.calls import Lane

RETRIES: Final = 2
"""Default number of retries for storing a conversation; a system's `retries` overrides it."""
FIRST_WAIT: Final = 1.0
"""Seconds before the first retry."""
BACKOFF: Final = 4.0
"""Factor by which each further wait grows."""
SNAPSHOT_SHARE: Final = 0.1
"""Snapshots take at most about this share of the time that storing takes."""
NOW: Final[ContextVar[datetime | None]] = ContextVar("memfail_now", default=None)
"""The time of the conversation being stored; several may be stored at once."""

_Failures: TypeAlias = list[tuple[Conversation, MemorySystemError]]


class Retries:
    """Store batches of conversations in one system, and retry after an error if the system declares that this is safe.

    An idempotent system simply stores a conversation again. A system with `snapshot()` and `restore()` first returns to
    its last snapshot, then stores everything since again, so a call that failed halfway leaves nothing behind.
    """

    def __init__(self, lane: Lane, system: Any, pause: Callable[[float], Awaitable[None]], place: Path) -> None:
        """`place` is the folder for snapshots."""
        self._lane, self._system, self._pause, self._place = lane, system, pause, place
        self._retries = int(getattr(system, "retries", RETRIES))
        self._idempotent = bool(getattr(system, "idempotent", False))
        has_snapshots = all(callable(getattr(system, method, None)) for method in ("snapshot", "restore"))
        self._snapshots = has_snapshots and not self._idempotent
        # a snapshot may lack what a system holds back until it is flushed
        self._between = not callable(getattr(system, "flush", None))
        self._folder: Path | None = None
        self._fault = ""
        self._since: list[Sequence[Conversation]] = []
        self._seconds = self._cost = 0.0
        self.refusals = Refusals(system)

    async def store(self, batch: Sequence[Conversation], place: Callable[[Conversation], str]) -> None:
        """Store conversations concurrently, and retry after an error if that is safe.

        Raises `MemorySystemError` saying which conversation failed (`place`), and how often it was retried or why not.
        """
        if self._is_due():
            await self._snapshot()
        began = time.perf_counter()
        failures = await self._try(batch)
        retries = self._retries if self._idempotent or self._folder is not None else 0
        for i in range(retries):
            if not failures or _is_final(failures[0][1]):
                break
            self.refusals.repeat(failures)
            await self._pause(FIRST_WAIT * BACKOFF**i)
            failures = await self._again(batch, failures)
        if failures:
            conversation, error = failures[0]
            note = "" if _is_final(error) else self._note(retries)
            raise with_place(error, f"{note}{place(conversation)}") from error.__cause__
        self._seconds += time.perf_counter() - began
        if self._snapshots:
            self._since.append(batch)

    def drop(self) -> None:
        """Remove the snapshot: the system was flushed, restored or closed, or has a newer snapshot."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
        self._since.clear()

    def _note(self, tried: int) -> str:
        if tried:
            return f", also in {tried} {'retry' if tried == 1 else 'retries'}"
        if self._retries == 0:
            return ", not retried: its retries are 0"
        if self._snapshots:
            return f", not retried: {self._fault or 'snapshot() has written nothing'}"
        return ", not retried: the system is not declared idempotent and has no snapshot() and restore()"

    async def _try(self, batch: Sequence[Conversation]) -> _Failures:
        """Store a batch; return the failures that may be retried, or a single final one.

        Raises any error that is not a `MemorySystemError`.
        """
        found = await asyncio.gather(*map(self._store, batch), return_exceptions=True)
        failures: _Failures = []
        for conversation, error in zip(batch, found, strict=True):
            if error is None:
                continue
            if not isinstance(error, MemorySystemError):  # our own (a used-up budget), or a skip of the test runner
                raise error
            if _is_final(error):
                return [(conversation, error)]
            failures.append((conversation, error))
        return failures

    async def _store(self, conversation: Conversation) -> None:
        NOW.set(conversation.timestamp)  # in the task of this conversation alone
        forgets = conversation.forgets and callable(getattr(self._system, "forget", None))
        method = "forget" if forgets else "store_conversation"
        call, given = getattr(self._system, method), conversation.forgets if forgets else conversation
        self.refusals.add(method, conversation.id, await self._lane.call(method, call, given, read=refusal))

    async def _again(self, batch: Sequence[Conversation], failures: _Failures) -> _Failures:
        if self._idempotent:
            return await self._try([conversation for conversation, _ in failures])
        assert self._folder is not None
        await self._lane.call("restore", self._system.restore, self._folder)
        for each in (*self._since, batch):
            if found := await self._try(each):
                return found
        return []

    def _is_due(self) -> bool:
        if not self._snapshots or self._retries == 0 or self._fault:
            return False
        if not self._since:
            return True  # at the beginning, and after each flush
        return self._between and (self._folder is None or self._seconds * SNAPSHOT_SHARE >= self._cost)

    async def _snapshot(self) -> None:
        """Take a snapshot of the system; report an error only if the snapshot would be needed."""
        folder = Path(tempfile.mkdtemp(prefix="memfail-retry-", dir=self._place))
        began = time.perf_counter()
        try:
            await self._lane.call("snapshot", self._system.snapshot, folder)
            if any(folder.iterdir()):
                self.drop()
                self._folder = folder
        except MemorySystemError as error:
            if isinstance(error, TimedOutError):
                raise
            self._fault = str(error)
        finally:
            self._cost, self._seconds = time.perf_counter() - began, 0.0
            if folder != self._folder:
                shutil.rmtree(folder, ignore_errors=True)


def _is_final(error: MemorySystemError) -> bool:
    """Return whether a retry is pointless: after a hung call, or for an error that the adapter itself raised."""
    return isinstance(error, TimedOutError) or error.__cause__ is None


def with_place(error: MemorySystemError, place: str) -> MemorySystemError:
    """Return the error with the place added to its message."""
    kinds = TimedOutError, WrongTypeError, MemorySystemError
    kind = next(kind for kind in kinds if isinstance(error, kind))
    return kind(f"{error}{place}")
