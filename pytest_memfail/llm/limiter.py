"""Limit the calls in flight as TCP does: few at first, more while the endpoint copes, half of them when it does not."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

FIRST_IN_FLIGHT: Final = 4
"""The calls in flight at first. Each success then allows one more, until the endpoint first cannot cope."""
SUCCESSES_PER_STEP: Final = 5
"""After that, the number of successful calls after which one more may be in flight."""


class Limiter:
    """Slots for calls in flight. Used on one event loop."""

    def __init__(
        self,
        maximum: int,
        *,
        first: int = FIRST_IN_FLIGHT,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Allow `first` calls in flight, later up to `maximum`; `pause` waits, by the clock of `now`."""
        self._pause = pause
        self._now = now
        self.maximum = maximum
        self.limit = min(first, maximum)
        self._is_starting = True
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._successes = 0
        self._period = 0
        self._resume_at = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Hold one slot; yield the period in which it was taken, for `slow_down`."""
        await self._acquire()
        try:
            while (wait := self._resume_at - self._now()) > 0:
                await self._pause(wait)
            yield self._period
        finally:
            self.in_flight -= 1
            self._wake()

    def slow_down(self, period: int, pause_seconds: float) -> None:
        """Halve the calls in flight and pause, after the endpoint refused a call for its rate or was slow.

        Calls that were in flight together are refused together, so only the first refusal of a period counts.
        """
        self._resume_at = max(self._resume_at, self._now() + pause_seconds)
        if period != self._period:
            return
        self._period += 1
        self._successes = 0
        self._is_starting = False
        self.limit = max(1, min(self.limit, self.in_flight) // 2)

    def succeeded(self) -> None:
        """Record a successful call."""
        if self.limit == self.maximum:
            return
        self._successes += 1
        if self._is_starting or self._successes >= SUCCESSES_PER_STEP:
            self._successes = 0
            self.limit += 1
            self._wake()

    async def _acquire(self) -> None:
        if self.in_flight < self.limit and not self._waiting:
            self.in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # given a slot and cancelled at the same moment
                self.in_flight -= 1
                self._wake()
            raise

    def _wake(self) -> None:
        while self._waiting and self.in_flight < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)
