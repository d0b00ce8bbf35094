"""`offline+MODEL`: the offline judge decides what it is sure of, the model only the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_memfail.core import UNSURE, Evidence, Listing, Memory, Question, Reply, StageResult

if TYPE_CHECKING:
    from pytest_memfail.judges.model import ModelJudge
    from pytest_memfail.judges.offline import OfflineJudge


class CascadeJudge:
    """Two judges in one. Free-text answers, which the offline judge cannot grade, always go to the model."""

    def __init__(self, offline: OfflineJudge, model: ModelJudge, sure: float = UNSURE) -> None:
        """Raises `ValueError` if the two follow different protocols."""
        if offline.protocol != model.protocol:
            raise ValueError(
                f"got an offline judge with protocol {offline.protocol!r} and a model with {model.protocol!r}, expected the same"
            )
        self.protocol = model.protocol
        self._offline = offline
        self.identity = offline.identity
        self._model = model
        self._sure = sure

    async def storage(self, evidence: Evidence, store: Listing) -> StageResult:
        """Is some version of the fact anywhere in the store?"""
        result = self._offline.storage(evidence, store)
        return result if self._stands(result) else await self._model.storage(evidence, store)

    async def summary(self, evidence: Evidence, store: Listing) -> StageResult:
        """Does the store keep what a right answer needs?"""
        result = self._offline.summary(evidence, store)
        return result if self._stands(result) else await self._model.summary(evidence, store)

    async def retrieval(self, evidence: Evidence, question: Question, shown: Sequence[Memory]) -> StageResult:
        """Can the fact be recovered from the memories shown?"""
        result = self._offline.retrieval(evidence, question, shown)
        return result if self._stands(result) else await self._model.retrieval(evidence, question, shown)

    async def answer(self, question: Question, evidence: Sequence[Evidence], reply: Reply | None) -> StageResult:
        """Did the reply use the facts rightly, or is its option letter right?"""
        return await self._model.answer(question, evidence, reply)

    async def warm(self, listing: Listing) -> None:
        """Nothing: a store about which the offline judge is sure is never sent."""

    def _stands(self, result: StageResult) -> bool:
        return (
            result.outcome in ("passed", "failed") and result.confidence is not None and result.confidence >= self._sure
        )
