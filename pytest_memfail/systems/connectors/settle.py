"""Wait for a memory that stores in the background: a status call, or a listing that stays the same."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import jmespath

from pytest_memfail.core import MemorySystemError
from pytest_memfail.systems.connectors.config import Settle


class Settling:
    """Decides whether a store has settled since the last conversation."""

    def __init__(
        self, settle: Settle, list_all: Callable[[], Awaitable[list[Any]]], status: Callable[[], Awaitable[Any]]
    ) -> None:
        """`list_all` returns the memories, `status` the reply to the status call; only one of them is used."""
        self._settle, self._list_all, self._status = settle, list_all, status
        self._began: float | None = None
        self._changed = 0.0
        self._last: list[str] | None = None

    def stored(self) -> None:
        """Start again, because something was stored."""
        self._began = self._last = None

    async def settled(self) -> bool:
        """Check once whether the store has settled. Raises `MemorySystemError` if it takes longer than the file allows."""
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        if self._settle.unchanged is None:
            is_settled = bool(jmespath.search(self._settle.done or "", await self._status()))
        else:
            listing = sorted(map(repr, await self._list_all()))
            if listing != self._last:
                self._last, self._changed = listing, time.monotonic()
            is_settled = time.monotonic() - self._changed >= self._settle.unchanged
        if not is_settled and time.monotonic() - self._began > self._settle.timeout:
            still = (
                f"`{self._settle.done}` is not true" if self._settle.unchanged is None else "its listing still changes"
            )
            raise MemorySystemError(
                f"the memory did not settle within {self._settle.timeout:g} s: {still}; check what it stores, or set a longer "
                "settle.timeout"
            )
        return is_settled
