"""Storing a conversation again after an error, where the system declares that this is safe."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_memfail.core import Conversation, MemorySystemError, TimedOutError
from pytest_memfail.engine.calls import Lane

RETRIES: Final = 2
"""How often a conversation is stored again unless the system declares another number (`retries`)."""
FIRST_WAIT: Final = 1.0
"""Seconds before the first retry."""
BACKOFF: Final = 4.0
"""How many times as long each further wait is."""
SNAPSHOT_SHARE: Final = 0.1
"""Snapshots take at most about this share of the time that storing takes."""

NOW: Final[ContextVar[datetime | None]] = ContextVar("memfail_now", default=None)
"""The time of the conversation being stored; several may be at once."""

_Failure: TypeAlias = tuple[Conversation, MemorySystemError]


class _FailedError(Exception):
    """A conversation could not be stored."""

    def __init__(self, conversation: Conversation, error: MemorySystemError, note: str) -> None:
        super().__init__(str(error))
        self.conversation, self.error, self.note = conversation, error, note


class Retries:
    """Stores batches of conversations in one system.

    An idempotent system is simply given a conversation again. One with `snapshot()` and `restore()` is set back to its last
    snapshot first, and what was stored since is stored again: a call that failed halfway leaves nothing behind.
    """

    def __init__(self, lane: Lane, system: Any, pause: Callable[[float], Awaitable[None]]) -> None:
        self._lane, self._system, self._pause = lane, system, pause
        self._retries = int(getattr(system, "retries", RETRIES))
        self._idempotent = bool(getattr(system, "idempotent", False))
        self._snapshots = not self._idempotent and all(
            callable(getattr(system, method, None)) for method in ("snapshot", "restore")
        )
        # what a system holds back until it is flushed need not be in a snapshot
        self._between = not callable(getattr(system, "flush", None))
        self._folder: Path | None = None
        self._fault = ""
        self._since: list[Sequence[Conversation]] = []
        self._seconds = self._cost = 0.0

    async def store(self, batch: Sequence[Conversation], place: Callable[[Conversation], str]) -> None:
        """Store these conversations at once, again after an error where that is safe.

        Raises `MemorySystemError` saying which one failed (`place`) and how often it was tried, or why only once.
        """
        try:
            await self._store_batch(batch)
        except _FailedError as failed:
            error = failed.error
            kind = TimedOutError if isinstance(error, TimedOutError) else MemorySystemError
            raise kind(f"{error}{failed.note}{place(failed.conversation)}") from error.__cause__

    async def _store_batch(self, batch: Sequence[Conversation]) -> None:
        if self._is_due():
            await self._snapshot()
        began = time.perf_counter()
        failures = await self._try(batch)
        waits = list(self._waits())
        for seconds in waits:
            if not failures:
                break
            await self._pause(seconds)
            failures = await self._again(batch, failures)
        if failures:
            raise _FailedError(*failures[0], self._note(len(waits)))
        self._seconds += time.perf_counter() - began
        if self._snapshots:
            self._since.append(batch)

    def flushed(self) -> None:
        """Take note that the system holds nothing back any more: the next snapshot is taken of that."""
        if not self._between:
            self.drop()

    def drop(self) -> None:
        """Forget the snapshot: the system holds something else now, or is closed."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
        self._since.clear()

    def _waits(self) -> Iterator[float]:
        if self._idempotent or self._folder is not None:
            for i in range(self._retries):
                yield FIRST_WAIT * BACKOFF**i

    def _note(self, tried: int) -> str:
        if tried:
            return f", also in {tried} {'retry' if tried == 1 else 'retries'}"
        if self._retries == 0:
            return ", not retried: its retries are 0"
        if self._snapshots:
            return f", not retried: {self._fault or 'snapshot() has written nothing'}"
        return ", not retried: the system is not declared idempotent and has no snapshot() and restore()"

    async def _try(self, batch: Sequence[Conversation]) -> list[_Failure]:
        """Store a batch; returns which of it failed by an error that may pass.

        Raises any other error.
        """
        found = await asyncio.gather(*(self._store(each) for each in batch), return_exceptions=True)
        failures: list[_Failure] = []
        for conversation, error in zip(batch, found, strict=True):
            if error is None:
                continue
            if not isinstance(error, MemorySystemError):  # our own (a used-up budget), or a skip of the test runner
                raise error
            if (
                isinstance(error, TimedOutError) or error.__cause__ is None
            ):  # a hung call; what the adapter itself found
                raise _FailedError(conversation, error, "")
            failures.append((conversation, error))
        return failures

    async def _store(self, conversation: Conversation) -> None:
        NOW.set(conversation.timestamp)  # in the task of this conversation alone
        await self._lane.call("store_conversation", self._system.store_conversation, conversation)

    async def _again(self, batch: Sequence[Conversation], failures: Sequence[_Failure]) -> list[_Failure]:
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
        """Keep what the system holds now; what goes wrong shows only where the snapshot would be needed."""
        folder = Path(tempfile.mkdtemp(prefix="memfail-retry-"))
        began = time.perf_counter()
        try:
            await self._lane.call("snapshot", self._system.snapshot, folder)
        except TimedOutError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        except MemorySystemError as error:
            self._fault = str(error)
            shutil.rmtree(folder, ignore_errors=True)
            return
        finally:
            self._cost, self._seconds = time.perf_counter() - began, 0.0
        if not any(folder.iterdir()):
            folder.rmdir()
            return
        self.drop()
        self._folder = folder
