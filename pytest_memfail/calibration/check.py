"""Judge labelled cases with the same code as in a run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_memfail.calibration.cases import LABEL_OF, Case
from pytest_memfail.core import Judge, MemfailError, worst
from pytest_memfail.engine import Grader
from pytest_memfail.hosting import DaemonPool

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Judged:
    """The judge's verdicts on one case."""

    case: Case
    predictions: tuple[str, ...]
    """One label per fact (or `ungraded`); empty if the judge failed."""
    reasons: tuple[str, ...] = ()
    """One reason per fact."""
    confidences: tuple[float | None, ...] = ()
    """The confidence per fact: the least of the stages it rests on; None if the judge gives none."""
    seconds: float = 0.0
    error: str | None = None
    """The judge's error; such a case counts neither as right nor as wrong."""


def judge_cases(
    judge: Judge,
    cases: Sequence[Case],
    *,
    concurrency: int = 32,
    progress: Callable[[int], object] = int,
    close: Callable[[], Awaitable[None]] | None = None,
    found: list[Judged] | None = None,
) -> list[Judged]:
    """Judge every case in a store of its own, in the given order.

    Args:
        judge: any judge.
        cases: the cases to judge.
        concurrency: the most cases in flight; 1 for a judge that computes and never waits (`inline`).
        progress: called with the number of finished cases.
        close: closes the judge's resources, in the event loop it ran in.
        found: receives each result at once, so that an interrupted caller has what was judged.
    """

    async def one(case: Case, pool: DaemonPool) -> Judged:
        return await _judge(Grader(judge, pool), case)

    return judge_all(judge, cases, one, concurrency=concurrency, progress=progress, close=close, found=found)


async def _judge(grader: Grader, case: Case) -> Judged:
    start = time.perf_counter()
    try:
        store = case.listing
        verdict = await grader.grade(case.question, case.evidence, store, case.shown, None, added=store)
    except MemfailError as error:
        return Judged(case, (), seconds=time.perf_counter() - start, error=str(error))
    facts, seconds = verdict.facts, time.perf_counter() - start
    if case.is_of_question:
        name = worst(fact.verdict for fact in facts)
        reasons = [fact.deciding.reason for fact in facts if fact.verdict == name]
        known = [fact.confidence for fact in facts if fact.verdict == name]
        sure = None if None in known else min((each for each in known if each is not None), default=None)
        return Judged(case, (LABEL_OF.get(name, name),), ("; ".join(reasons),), (sure,), seconds)
    return Judged(
        case,
        tuple(LABEL_OF.get(fact.verdict, fact.verdict) for fact in facts),
        tuple(fact.deciding.reason for fact in facts),
        tuple(fact.confidence for fact in facts),
        seconds,
    )


def judge_all(
    judge: Judge,
    cases: Sequence[T],
    one: Callable[[T, DaemonPool], Awaitable[R]],
    *,
    concurrency: int,
    progress: Callable[[int], object],
    close: Callable[[], Awaitable[None]] | None,
    found: list[R] | None = None,
) -> list[R]:
    """Judge cases outside a run (labelled cases, recorded memories); return the results of `one` in the order of the cases.

    Args:
        judge: any judge.
        cases: the cases to judge.
        one: judges a case; receives the thread pool for calls of a synchronous judge.
        concurrency: the most cases in flight; 1 for a judge that computes and never waits (`inline`).
        progress: called with the number of finished cases.
        close: closes the judge's resources, in the event loop it ran in.
        found: receives each result at once, so that an interrupted caller has what was judged.
    """
    at_once = 1 if getattr(judge, "inline", False) else concurrency
    free, pool = asyncio.Semaphore(at_once), DaemonPool(at_once, "memfail-judge")
    done = 0

    async def in_turn(case: T) -> R:
        nonlocal done
        async with free:
            result = await one(case, pool)
        done += 1
        if found is not None:
            found.append(result)
        progress(done)
        return result

    async def run() -> list[R]:
        try:
            return await asyncio.gather(*map(in_turn, cases))
        finally:
            pool.stop()
            if close is not None:
                await close()

    return asyncio.run(run())
