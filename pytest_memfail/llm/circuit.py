"""A circuit breaker: all requests pass while the endpoint answers, one at a time while it does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from pytest_memfail.llm.patience import Patience

FAILURES_TO_OPEN: Final = 3


class Circuit:
    """Opens after several consecutive failures: then calls take turns to probe, at growing intervals, until one is
    answered.

    A call whose probe failed goes to the end of the queue, so that an outage does not use up the retries of one call.
    """

    def __init__(self, patience: Patience, delay: Callable[[int], float]) -> None:
        """Take `delay`, which returns the seconds before a probe, given the number of failed probes."""
        self._patience = patience
        self._delay = delay
        self._failures = 0
        self._probes = 0
        self._retry_at = 0.0
        self._turn = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        """Return whether calls wait for a probe."""
        return self._failures >= FAILURES_TO_OPEN

    @asynccontextmanager
    async def passage(self, not_before: float) -> AsyncIterator[None]:
        """Wait until a request may be sent: until `not_before`, and if the circuit is open, until it is this call's
        turn.
        """
        if not self.is_open:
            await self._patience.pause(not_before - self._patience.now())
        if self.is_open:
            with self._patience.waiting():
                async with self._turn:
                    if self.is_open:
                        start = max(not_before, self._retry_at) - self._patience.now()
                        await self._patience.pause(max(start, self._delay(self._probes)))
                        yield
                        return
        yield

    def answered(self) -> None:
        """Record that the endpoint replied."""
        self._failures = self._probes = 0
        self._retry_at = 0.0

    def failed(self, retry_at: float) -> None:
        """Record a failed request; the endpoint asks for no requests before `retry_at`."""
        self._probes += self.is_open
        self._failures += 1
        self._retry_at = max(self._retry_at, retry_at)
