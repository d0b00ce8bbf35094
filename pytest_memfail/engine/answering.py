"""One question: what is retrieved for it, what the test-taker says, and the verdict; several times where wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pytest_memfail.core import Listing, MemfailError, Memory, Question, Reply, TestTaker, Trace, Verdict
from pytest_memfail.engine.calls import called, raised_as
from pytest_memfail.engine.grade import Grader
from pytest_memfail.engine.jobs import Ask, Result, StoreJob
from pytest_memfail.engine.majority import came_out, majority
from pytest_memfail.engine.memory_system import OpenSystem, Retrieved
from pytest_memfail.engine.shown import TokenCounts

if TYPE_CHECKING:
    from pytest_memfail.engine.engine import Engine


class Answerer:
    """Asks the questions of one store and has them judged."""

    def __init__(self, engine: Engine, job: StoreJob, tokens: TokenCounts) -> None:
        self._engine = engine
        self._tokens = tokens
        self._job = job
        # each its own: what was judged the first time is judged again
        self._graders = [Grader(judge, engine.pool, engine.outcomes) for judge, _ in engine.times]

    async def answer(
        self, system: OpenSystem, ask: Ask, listing: Listing, has_retrieved: Callable[[], None], result: Result
    ) -> None:
        """Fill in the result; `has_retrieved` is called once the system is not needed any more."""
        found = []
        try:
            for _ in self._engine.times:
                found.append(await system.retrieve(ask.question.query, ask.k, f" (question {ask.question.id})"))
        finally:
            has_retrieved()
        outcomes = [await self._judged(ask, listing, i, each) for i, each in enumerate(found)]
        names = tuple(came_out(verdict) for _, verdict in outcomes)
        result.trace, result.verdict = outcomes[majority(names)]
        if len(names) > 1:
            result.repeats = names

    async def _judged(self, ask: Ask, listing: Listing, time_asked: int, found: Retrieved) -> tuple[Trace, Verdict]:
        question, seconds = ask.question, {"retrieve": found.seconds}
        shown, shown_tokens = await self._tokens.within_limit(found.memories)
        store_tokens = await self._tokens.listed(listing)
        reply = None
        test_taker = self._engine.times[time_asked][1]
        if test_taker is not None:
            clock = time.perf_counter()
            reply = await self._reply(test_taker, question, shown)
            seconds["answer"] = time.perf_counter() - clock
        clock = time.perf_counter()
        evidence = [self._job.evidence[name] for name in question.evidence]
        verdict = await self._graders[time_asked].grade(question, evidence, listing, shown, reply)
        seconds["judge"] = time.perf_counter() - clock
        return Trace(question, ask.k, shown, reply, seconds, shown_tokens, store_tokens, found.cut), verdict

    async def _reply(self, test_taker: TestTaker, question: Question, shown: Sequence[Memory]) -> Reply:
        about = f" (question {question.id})"
        with raised_as(MemfailError, "the test-taker's answer()", about, self._engine.outcomes):
            reply = await called(test_taker.answer, question, shown, pool=self._engine.pool)
        if not isinstance(reply, Reply):
            raise MemfailError(f"the test-taker returned {type(reply).__name__}; expected a Reply{about}")
        return reply
