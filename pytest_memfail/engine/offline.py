"""Judging what is there already, outside a run: labelled cases, recorded memories."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pytest_memfail.core import Judge
from pytest_memfail.engine.calls import DaemonPool

T = TypeVar("T")
R = TypeVar("R")


def judge_all(
    judge: Judge,
    cases: Sequence[T],
    one: Callable[[T, DaemonPool], Awaitable[R]],
    *,
    concurrency: int,
    progress: Callable[[int], object],
    close: Callable[[], Awaitable[None]] | None,
) -> list[R]:
    """What `one` makes of each case, in the order given.

    Args:
        judge: any judge.
        cases: what to judge.
        one: judges a case, with the threads that calls of a synchronous judge run on.
        concurrency: cases in flight at most; a judge that computes and never waits (`inline`) has one.
        progress: is told how many are done.
        close: ends what the judge holds open, in the loop that it ran in.
    """
    at_once = 1 if getattr(judge, "inline", False) else concurrency

    async def run() -> list[R]:
        try:
            return await _all(cases, one, at_once, progress)
        finally:
            if close is not None:
                await close()

    return asyncio.run(run())


async def _all(
    cases: Sequence[T],
    one: Callable[[T, DaemonPool], Awaitable[R]],
    at_once: int,
    progress: Callable[[int], object],
) -> list[R]:
    free = asyncio.Semaphore(at_once)
    pool = DaemonPool(at_once, "memfail-judge")
    done = 0

    async def in_turn(case: T) -> R:
        nonlocal done
        async with free:
            result = await one(case, pool)
        done += 1
        progress(done)
        return result

    try:
        return await asyncio.gather(*map(in_turn, cases))
    finally:
        pool.stop()
