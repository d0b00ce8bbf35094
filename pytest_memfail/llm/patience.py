"""How long a run waits for its endpoint: one clock, and one limit for all waits together."""

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
"""So long an outage, or a rate limit, costs no question."""
NEVER_ANSWERED_SECONDS: Final = 90.0
"""For an endpoint that has sent nothing at all yet: more often than not its address is wrong."""
SHORTEST_WAIT: Final = 0.001


@dataclass(frozen=True, slots=True)
class Clock:
    """What tells the time and lets it pass; tests have one of their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Patience:
    """Adds up the time in which something waited and nothing was answered. Lives on one event loop.

    Waits that overlap count once, and a wait beside calls that are answered counts nothing: a limit on the sum of all
    waits would end healthy runs of many calls.
    """

    def __init__(self, ledger: Ledger, max_seconds: float, clock: Clock) -> None:
        """Allow waits of `max_seconds` in all; when they are used up the ledger tells all processes of the run."""
        self._ledger = ledger
        self._max_seconds = max_seconds
        self._clock = clock
        self._waited = 0.0
        self._waiting = 0
        self._counted_until = 0.0
        self._has_answered = False
        self._reason = "the endpoint did not answer"

    def now(self) -> float:
        """The time on the clock of this client."""
        return self._clock.now()

    def answered(self) -> None:
        """The endpoint sent something, perhaps only that it is busy."""
        self._has_answered = True

    def served(self) -> None:
        """A call was answered: what was waited up to here beside it does not count."""
        self._counted_until = self.now()

    def failed(self, reason: str) -> None:
        """A request failed; `reason` is what a run that gives up says."""
        self._reason = reason

    def check(self) -> None:
        """Raise `WaitError` when the waits are used up, in this process or another one of the run."""
        said = self._ledger.given_up()
        if said is None and self._waited > 0 and self._left() <= 0:
            said = self._ledger.give_up(self._said())
        if said is not None:
            raise WaitError(said)

    async def pause(self, seconds: float) -> None:
        """Wait; not at all if `seconds` is not above 0. Raises `WaitError` when the waits are used up."""
        end = self.now() + seconds
        with self.waiting():
            while (rest := end - self.now()) > 0:
                self._count()
                self.check()
                await self._clock.sleep(max(min(rest, self._left()), SHORTEST_WAIT))
        self.check()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """The time in here is waited."""
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
        return f"{self._reason}; waited {self._waited:.0f} s for it in all, and no longer ({advice}); not asked"
