"""`rules+MODEL`: the rules decide what they are sure of, the model only the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pytest_memfail.core import Evidence, Listing, Memory, Question, Reply, StageResult

if TYPE_CHECKING:
    from pytest_memfail.judges.model import ModelJudge
    from pytest_memfail.judges.rules import RulesJudge

SURE: Final = 0.9
"""The confidence from which a result of the rules stands."""


class CascadeJudge:
    """Two judges in one. Free text answers, of which the rules know nothing, always go to the model."""

    def __init__(self, rules: RulesJudge, model: ModelJudge, sure: float = SURE) -> None:
        """Raises `ValueError` if the two follow different protocols."""
        if rules.protocol != model.protocol:
            raise ValueError(
                f"got rules with protocol {rules.protocol!r} and a model with {model.protocol!r}, expected the same"
            )
        self.protocol = model.protocol
        self._rules = rules
        self._model = model
        self._sure = sure

    async def storage(self, evidence: Evidence, store: Listing) -> StageResult:
        """Is some version of the fact anywhere in the store?"""
        result = self._rules.storage(evidence, store)
        return result if self._stands(result) else await self._model.storage(evidence, store)

    async def summary(self, evidence: Evidence, store: Listing) -> StageResult:
        """Does the store keep what a right answer needs?"""
        result = self._rules.summary(evidence, store)
        return result if self._stands(result) else await self._model.summary(evidence, store)

    async def retrieval(self, evidence: Evidence, question: Question, shown: Sequence[Memory]) -> StageResult:
        """Can the fact be recovered from the memories shown?"""
        result = self._rules.retrieval(evidence, question, shown)
        return result if self._stands(result) else await self._model.retrieval(evidence, question, shown)

    async def answer(self, question: Question, evidence: Sequence[Evidence], reply: Reply | None) -> StageResult:
        """Did the reply use the facts rightly, or is its option letter right?"""
        return await self._model.answer(question, evidence, reply)

    async def warm(self, listing: Listing) -> None:
        """Nothing: a store about which the rules are sure is never sent."""

    def _stands(self, result: StageResult) -> bool:
        return (
            result.outcome in ("passed", "failed") and result.confidence is not None and result.confidence >= self._sure
        )
