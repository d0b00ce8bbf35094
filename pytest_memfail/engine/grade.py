"""Judge questions in stages: stop at the first failed stage, and judge each (fact, listing) only once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

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
from pytest_memfail.engine.calls import Outcomes, called, raised_as


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
