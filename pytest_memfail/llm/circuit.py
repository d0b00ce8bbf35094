"""Stops asking an endpoint that is dead, so that hundreds of questions do not each wait for all retries."""

from __future__ import annotations

import time
from typing import Final

FAILURES_TO_OPEN: Final = 3


class Circuit:
    """Open after several calls in a row failed; lets one call through now and then to see whether it is back."""

    def __init__(self, probe_seconds: float) -> None:
        """`probe_seconds`: at most one probe per so many seconds while open."""
        self._probe_seconds = probe_seconds
        self._failures = 0
        self._next_probe = 0.0
        self._reason = ""

    @property
    def is_open(self) -> bool:
        """Are calls turned away?"""
        return self._failures >= FAILURES_TO_OPEN

    @property
    def reason(self) -> str:
        """What the last failed call met."""
        return self._reason

    def may_probe(self) -> bool:
        """While open: may this call be the one that tries? Claims the chance if so."""
        now = time.monotonic()
        if now < self._next_probe:
            return False
        self._next_probe = now + self._probe_seconds
        return True

    def answered(self) -> None:
        """The endpoint replied: it is alive."""
        self._failures = 0

    def failed(self, reason: str) -> None:
        """A call failed for good."""
        self._failures += 1
        self._reason = reason
        if self._failures == FAILURES_TO_OPEN:
            self._next_probe = time.monotonic() + self._probe_seconds
