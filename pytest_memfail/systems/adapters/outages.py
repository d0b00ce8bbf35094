"""Keep the model errors that a system swallows, so that the adapter can raise them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Watched:
    """Call a function that asks the system's model, and keep the error if the last call failed."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask
        self._error: Exception | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Ask the model."""
        try:
            reply = self._ask(*args, **kwargs)
        except Exception as error:
            self._error = error
            raise
        self._error = None
        return reply

    def check(self) -> None:
        """Raise the error of the last call, which the system swallowed: an outage is not a lost memory."""
        error, self._error = self._error, None
        if error is not None:
            raise error
