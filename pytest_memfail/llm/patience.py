"""Limit how long a run waits for its endpoint, in all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from pytest_memfail.llm.errors import WaitError
from pytest_memfail.llm.ledger import Ledger

MAX_WAIT_SECONDS: Final = 600.0
"""An outage or rate limit up to this length costs no question."""
NEVER_ANSWERED_SECONDS: Final = 90.0
"""The limit for an endpoint that has not sent anything yet, usually because its address is wrong."""
SHORTEST_WAIT: Final = 0.001


@dataclass(frozen=True, slots=True)
class Clock:
    """A source of time that can wait; tests use their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Patience:
    """Adds up the time spent waiting while nothing was answered. Used on one event loop.

    Overlapping waits count once, and waits beside answered calls do not count: a limit on the sum of all waits would
    end healthy runs with many calls.
    """

    def __init__(self, ledger: Ledger, max_seconds: float, clock: Clock) -> None:
        """Allow waits of `max_seconds` in all; after that the ledger stops all processes of the run."""
        self._ledger = ledger
        self._max_seconds = max_seconds
        self._clock = clock
        self._waited = 0.0
        self._waiting = 0
        self._counted_until = 0.0
        self._has_answered = False
        self.has_served = False
        """Whether a call was answered with a reply."""
        self._reason = "the endpoint did not answer"

    def now(self) -> float:
        """Return the time on this client's clock."""
        return self._clock.now()

    def answered(self) -> None:
        """Record that the endpoint sent something, even if only that it is busy."""
        self._has_answered = True

    def served(self) -> None:
        """Record an answered call: waits until now do not count."""
        self.has_served = True
        self._counted_until = self.now()

    def failed(self, reason: str) -> None:
        """Record a failed request; `reason` explains giving up."""
        self._reason = reason

    def check(self) -> None:
        """Raise `WaitError` if the limit is reached, in this process or another one of the run."""
        said = self._ledger.given_up()
        if said is None and self._waited > 0 and self._left() <= 0:
            said = self._ledger.give_up(self._said())
        if said is not None:
            raise WaitError(said)

    async def pause(self, seconds: float) -> None:
        """Wait this long, if positive. Raise `WaitError` when the limit is reached."""
        end = self.now() + seconds
        with self.waiting():
            while (rest := end - self.now()) > 0:
                self._count()
                self.check()
                await self._clock.sleep(max(min(rest, self._left()), SHORTEST_WAIT))
        self.check()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time spent in the block as waiting."""
        self._count()
        self._waiting += 1
        try:
            yield
        finally:
            self._count()
            self._waiting -= 1

    def _count(self) -> None:
        now = self.now()
        if self._waiting:
            self._waited += now - self._counted_until
        self._counted_until = now

    def _left(self) -> float:
        most = self._max_seconds if self._has_answered else min(self._max_seconds, NEVER_ANSWERED_SECONDS)
        return most - self._waited

    def _said(self) -> str:
        advice = "see --memfail-max-wait" if self._has_answered else "is it up? check OPENAI_BASE_URL"
        return f"{self._reason}; gave up after waiting {self._waited:.0f} s in all ({advice}); not asked"
