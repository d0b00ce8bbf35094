"""Judge questions in stages: stop at the first failed stage, and judge each (fact, listing) only once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from typing import Any, TypeVar

from pytest_memfail.core import (
    CORRECT,
    UNREACHED,
    Evidence,
    Judge,
    JudgeError,
    Listing,
    Memory,
    Question,
    Reply,
    StageResult,
    Verdict,
    fact_verdict,
    one_line,
    question_verdict,
)
from pytest_memfail.engine.calls import DaemonPool, Outcomes, called, raised_as

T = TypeVar("T")
R = TypeVar("R")


class Grader:
    """One judge over the listings of one store."""

    def __init__(self, judge: Judge, pool: Executor, outcomes: Outcomes = ()) -> None:
        self._judge = judge
        self._pool = None if getattr(judge, "inline", False) else pool
        self._outcomes = outcomes
        self._warmed: dict[Listing, asyncio.Task[Any]] = {}
        self._stored: dict[tuple[str, Listing], asyncio.Task[tuple[StageResult, StageResult]]] = {}

    async def grade(
        self,
        question: Question,
        evidence: Sequence[Evidence],
        listing: Listing,
        shown: Sequence[Memory],
        reply: Reply | None,
    ) -> Verdict:
        """Return the verdict on one question.

        Raises `JudgeError` for whatever the judge raises: a broken judge makes an error, never a verdict.
        """
        facts = []
        for fact in evidence:
            storage, summary = await self._stored_once(fact, listing)
            retrieval = UNREACHED
            if storage.outcome == summary.outcome == "passed":
                retrieval = await self._ask("retrieval", fact, question, shown)
            facts.append(fact_verdict(fact.id, storage, summary, retrieval))
        held = all(fact.name == CORRECT for fact in facts) and not all(fact.vacuous for fact in facts)
        answer, credited = UNREACHED, None
        if held or (reply is not None and question.answer_format == "letter"):
            answer = await self._ask("answer", question, evidence, reply)
            if question.answer_format == "letter" and answer.outcome in ("passed", "failed"):
                credited = answer.outcome == "passed"
        return question_verdict(facts, answer, misleading=question.kind == "misleading", credited=credited)

    async def _stored_once(self, fact: Evidence, listing: Listing) -> tuple[StageResult, StageResult]:
        key = (fact.id, listing)
        if (task := self._stored.get(key)) is None:
            # a task of its own: the question that happens to come first may be cancelled, the others still need it
            task = self._stored[key] = asyncio.get_running_loop().create_task(self._storage_and_summary(fact, listing))
        return await asyncio.shield(task)

    async def _storage_and_summary(self, fact: Evidence, listing: Listing) -> tuple[StageResult, StageResult]:
        await self._warm(listing)
        storage = await self._ask("storage", fact, listing)
        if storage.outcome != "passed":
            return storage, UNREACHED
        return storage, await self._ask("summary", fact, listing)

    async def _warm(self, listing: Listing) -> None:
        """Let a judge that asks a provider warm up its prompt cache, once per listing and before all other calls."""
        if getattr(self._judge, "warm", None) is None:
            return
        if (task := self._warmed.get(listing)) is None:
            task = self._warmed[listing] = asyncio.get_running_loop().create_task(self._call("warm", None, listing))
        await asyncio.shield(task)

    async def _ask(self, stage: str, *args: Any) -> StageResult:
        result = await self._call(stage, self._pool, *args)
        if not isinstance(result, StageResult):
            raise JudgeError(
                f"the judge's {stage}() returned {type(result).__name__} {one_line(repr(result), 60)}; expected a StageResult"
            )
        return result

    async def _call(self, method: str, pool: Executor | None, *args: Any) -> Any:
        with raised_as(JudgeError, f"the judge's {method}()", outcomes=self._outcomes):
            return await called(getattr(self._judge, method), *args, pool=pool)


def judge_all(
    judge: Judge,
    cases: Sequence[T],
    one: Callable[[T, DaemonPool], Awaitable[R]],
    *,
    concurrency: int,
    progress: Callable[[int], object],
    close: Callable[[], Awaitable[None]] | None,
) -> list[R]:
    """Judge cases outside a run (labelled cases, recorded memories); return what `one` makes of each, in the order given.

    Args:
        judge: any judge.
        cases: what to judge.
        one: judges a case, with the threads that calls of a synchronous judge run on.
        concurrency: cases in flight at most; a judge that computes and never waits (`inline`) has one.
        progress: is called with how many are done.
        close: ends what the judge holds open, in the loop that it ran in.
    """
    at_once = 1 if getattr(judge, "inline", False) else concurrency
    free, pool = asyncio.Semaphore(at_once), DaemonPool(at_once, "memfail-judge")
    done = 0

    async def in_turn(case: T) -> R:
        nonlocal done
        async with free:
            result = await one(case, pool)
        done += 1
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
