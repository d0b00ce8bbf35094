"""Judge a store that keeps every message word for word, as the reference does: only retrieval has to be judged."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_memfail.core import Fact, Listing, Memory, Question, StageResult
from pytest_memfail.judges.offline.judge import OfflineJudge


class JudgeOfVerbatim(OfflineJudge):
    """The offline judge, but for storage and summary: a store that keeps every message keeps every fact.

    Searching the whole store for each fact is what the offline judge spends its time on.
    """

    def _of_store(self, stage: str, fact: Fact, store: Listing) -> StageResult:
        if fact.is_distractor:  # what no store was told is not kept
            return super()._of_store(stage, fact, store)
        found = self._suite_kinds.of_store(fact, stage, store)
        result = found or StageResult("passed", confidence=1.0)
        return self._suite_kinds.offline(fact, stage, result, is_empty=not store.memories, is_found=found is not None)

    def retrieval(self, fact: Fact, question: Question, shown: Sequence[Memory]) -> StageResult:
        """Judge as the offline judge does, which would also pass a fact whose stored entry is shown."""
        result = super().retrieval(fact, question, shown)
        if result.outcome == "failed" and fact.source and any(fact.source in memory.text for memory in shown):
            return StageResult("passed", "the entry that says it was shown", confidence=1.0)
        return result
