"""A clock on which waiting takes no time."""

from __future__ import annotations

import asyncio

from pytest_memfail.llm import Clock


class FakeClock:
    """A clock that advances only when somebody waits."""

    def __init__(self) -> None:
        self.time = 0.0
        self.waits: list[float] = []
        self.clock = Clock(lambda: self.time, self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        end = self.time + seconds
        await asyncio.sleep(0)
        self.time = max(self.time, end)
