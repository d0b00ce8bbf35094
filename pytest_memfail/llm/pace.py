"""How long replies take: how long to wait for one, and whether the endpoint copes with the calls in flight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

FIRST_SECONDS: Final = 60.0
"""How long to wait for a reply unless the user says so; twice as long after each time that it was too short."""
MOST_SECONDS: Final = 600.0
QUEUE: Final = 10
"""A call that waits behind others is given up after this many times the wait, even if those are answered."""
TOGETHER: Final = 0.5
"""Calls sent within this many seconds arrive in any order."""
FIRST_REPLIES: Final = 4
"""The replies, while few calls are in flight, whose mean time is the usual one."""

Speed = Literal["quick", "usual", "slow"]


@dataclass(eq=False, slots=True)
class Waiting:
    """A call in flight."""

    begun: float
    since: float
    """When it was sent, or when a call sent before or together with it was answered, if that is later."""
    seconds: float
    """How long to wait after that."""


class Pace:
    """Judges the times of replies. Keeps no clock: the caller tells the time."""

    def __init__(self, seconds: float | None) -> None:
        """Wait this long for each reply; None adapts to the endpoint."""
        self.seconds = FIRST_SECONDS if seconds is None else seconds
        """How long to wait for a reply after a call sent before it was answered."""
        self._adapts = seconds is None
        self._waiting: list[Waiting] = []
        self._first: dict[tuple[str, str], list[float]] = {}

    @property
    def most_seconds(self) -> float:
        """Return how long a call sent now can take, its place in the endpoint's queue included."""
        return QUEUE * self.seconds

    def sent(self, now: float) -> Waiting:
        """Record a call; end it with `done`."""
        call = Waiting(now, now, self.seconds)
        self._waiting.append(call)
        return call

    def deadline(self, call: Waiting) -> float:
        """Return when the call is given up.

        A server with few slots answers calls in the order of their arrival, so a call waits for those sent before it or
        together with it: while they are answered, it is queued, not lost.
        """
        return min(call.since + call.seconds, call.begun + QUEUE * call.seconds)

    def done(self, call: Waiting, now: float, *, answered: bool) -> None:
        """End a call."""
        self._waiting.remove(call)
        if answered:
            for other in self._waiting:
                if call.begun <= other.begun + TOGETHER:
                    other.since = now

    def timed_out(self, call: Waiting) -> None:
        """Wait twice as long as this call did from now on, unless the user said how long.

        Calls in flight together time out together, and count once.
        """
        if self._adapts:
            self.seconds = max(self.seconds, min(2 * call.seconds, MOST_SECONDS))

    def speed(self, stage: str, model: str, seconds: float) -> Speed:
        """Return how a reply's time compares with that of the first replies of its kind, and with the limit.

        Models differ too much for a fixed number of seconds: one that reasons for a minute is not overloaded.
        """
        first = self._first.setdefault((stage, model), [])
        if len(first) < FIRST_REPLIES:
            first.append(seconds)
        usual = sum(first) / len(first)
        if seconds <= max(self.seconds / 6, 2 * usual):
            return "quick"
        return "slow" if seconds > max(self.seconds / 2, 3 * usual) else "usual"
