"""`offline+MODEL`: the offline judge decides the cases it is sure of, a model the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_memfail.core import UNSURE, Fact, Listing, Memory, Question, Reply, StageResult

if TYPE_CHECKING:
    from pytest_memfail.judges.model import ModelJudge
    from pytest_memfail.judges.offline import OfflineJudge
    from pytest_memfail.judges.yes_no import YesNoJudge


class CascadeJudge:
    """A judge that combines two judges. Free-text answers, which the offline judge cannot grade, always go to the model."""

    def __init__(self, offline: OfflineJudge, model: ModelJudge | YesNoJudge, sure: float = UNSURE) -> None:
        """Combine both judges. Raise `ValueError` if they follow different protocols."""
        if offline.protocol != model.protocol:
            raise ValueError(
                f"got an offline judge with protocol {offline.protocol!r} and a model with {model.protocol!r}, expected the same"
            )
        self.protocol = model.protocol
        self._offline = offline
        self.identity = offline.identity
        self._model = model
        self._sure = sure
        self._turn = asyncio.Semaphore()

    async def storage(self, fact: Fact, store: Listing) -> StageResult:
        """Judge whether some version of the fact is in the store."""
        return await self._judged("storage", fact, store)

    async def summary(self, fact: Fact, store: Listing) -> StageResult:
        """Judge whether the store keeps everything that a right answer needs."""
        return await self._judged("summary", fact, store)

    async def retrieval(self, fact: Fact, question: Question, shown: Sequence[Memory]) -> StageResult:
        """Judge whether the fact can be recovered from the memories shown."""
        return await self._judged("retrieval", fact, question, shown)

    async def answer(self, question: Question, facts: Sequence[Fact], reply: Reply | None) -> StageResult:
        """Judge whether the reply uses the facts correctly, or chooses the right option letter."""
        return await self._model.answer(question, facts, reply)

    async def added(self, question: Question, added: Sequence[Memory]) -> StageResult:
        """Judge whether the dialogue supports the memories that it added to the store."""
        return await self._model.added(question, added)

    def settles(self, question: Question) -> bool:
        """Return whether the reply is graded even if a fact failed."""
        return self._model.settles(question)

    async def warm(self, listing: Listing) -> None:
        """Do nothing, because a store that the offline judge is sure about is never sent to the model."""

    async def _judged(self, stage: str, *args: Any) -> StageResult:
        """Let the offline judge decide; ask the model if it is not sure.

        It looks once each time the event loop goes round, so that calls are sent and read in between.
        """
        async with self._turn:
            await asyncio.sleep(0)
            result: StageResult = getattr(self._offline, stage)(*args)
        is_decided = result.outcome in ("passed", "failed") and not result.estimated
        if is_decided and result.confidence is not None and result.confidence >= self._sure:
            return result
        asked: StageResult = await getattr(self._model, stage)(*args)
        return asked
