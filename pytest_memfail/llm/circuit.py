"""Lets all requests pass while the endpoint answers, and one at a time while it does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from pytest_memfail.llm.patience import Patience

FAILURES_TO_OPEN: Final = 3


class Circuit:
    """Open after several requests in a row failed: then calls take turns to probe, ever more seldom, until one is answered.

    A call whose probe failed goes to the end of the queue, so that an outage does not use up the retries of one call.
    """

    def __init__(self, patience: Patience, delay: Callable[[int], float]) -> None:
        """`delay` gives the seconds before a probe, by how many have failed before it."""
        self._patience = patience
        self._delay = delay
        self._failures = 0
        self._probes = 0
        self._retry_at = 0.0
        self._turn = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        """Do calls wait for a probe?"""
        return self._failures >= FAILURES_TO_OPEN

    @asynccontextmanager
    async def passage(self, not_before: float) -> AsyncIterator[None]:
        """Wait until a request may be sent: till `not_before`, and while the circuit is open until it is this call's turn."""
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
        """The endpoint replied: it is alive."""
        self._failures = self._probes = 0
        self._retry_at = 0.0

    def failed(self, retry_at: float) -> None:
        """A request failed; the endpoint asks not to come back before `retry_at`."""
        self._probes += self.is_open
        self._failures += 1
        self._retry_at = max(self._retry_at, retry_at)
