"""Systems that go on when their model cannot be reached: what it raised is kept, to be raised where the adapter can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Watched:
    """Calls a function of the system that asks its model, and keeps the error of the last call if it failed."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask
        self._error: Exception | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Ask."""
        try:
            reply = self._ask(*args, **kwargs)
        except Exception as error:
            self._error = error
            raise
        self._error = None
        return reply

    def check(self) -> None:
        """Raise what the last call raised, which the system swallowed: an outage must not pass for a lost memory."""
        error, self._error = self._error, None
        if error is not None:
            raise error
