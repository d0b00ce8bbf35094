"""What a judge decides that knows only whether a text supports a claim; what is close to the claim, the offline judge says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from weakref import WeakKeyDictionary

from pytest_memfail.core import AnswerKind, Fact, Kind, Listing, Memory, ProtocolName, Question, Reply, StageResult
from pytest_memfail.judges.kinds import SuiteKinds
from pytest_memfail.judges.offline import OfflineJudge
from pytest_memfail.judges.plain import stated_at
from pytest_memfail.judges.rank import Ranking

CLOSEST: Final = 8
"""The number of entries of a store to read for one fact."""
SHOWN: Final = 20
"""The number of memories shown to read for one fact."""
TOGETHER: Final = 3
"""The number of closest entries that are also read as one text, because a fact may be spread over them."""


@dataclass(frozen=True, slots=True)
class Support:
    """What a text says of a claim."""

    held: bool
    confidence: float | None = None
    """How sure that is; None if the model does not say."""
    contradicts: bool = False
    entries: tuple[int, ...] = ()
    """The places of the memories that the text consists of."""


class SupportJudge:
    """Judges storage, summary and retrieval by a model of one question: does this text support this claim?

    A fact whose claim the closest entries support is stored and kept. Otherwise an entry that contradicts it, or that the offline
    judge takes for a version of it, makes it a summary error; without one, it is not stored. The offline judge also decides what is
    no claim of one text: the end of a state, kinds with a finder of their own, option letters.
    """

    one_by_one = True
    """Whether the model reads each entry alone, too."""

    def __init__(
        self,
        protocol: ProtocolName = "ours",
        kinds: Mapping[str, Kind] = MappingProxyType({}),
        answers: Mapping[str, AnswerKind] = MappingProxyType({}),
    ) -> None:
        """Take the protocol, and the kinds of the run's suites."""
        self.protocol: ProtocolName = protocol
        self._offline = OfflineJudge(protocol, None, kinds, answers)
        self._suite_kinds = SuiteKinds(kinds, answers)
        self._found: WeakKeyDictionary[Listing, dict[Fact, Support]] = WeakKeyDictionary()
        self._rankings: WeakKeyDictionary[Listing, Ranking] = WeakKeyDictionary()
        self._held_by: dict[Fact, tuple[str, ...]] = {}
        """The texts that support each fact in its store."""

    async def supports(self, documents: Sequence[Sequence[str]], claim: str, stage: str) -> list[Support]:
        """Return what each document, a sequence of memories, says of a claim."""
        raise NotImplementedError

    async def storage(self, fact: Fact, store: Listing) -> StageResult:
        """Judge whether some version of the fact is in the store."""
        near = self._offline.storage(fact, store)
        if self._is_settled(fact, store.memories):
            return near
        found = await self._of_store(fact, store)
        if found.held:
            return self._result(fact, "storage", found, f"supported by {_entries(found)}", passed=True)
        # a text with another value is no version of what replaced it, nor of what memory must not hold
        if found.contradicts and not fact.claim.replaced and not fact.is_distractor:
            said = f"contradicted by {_entries(found)}, so some version of it is stored"
            return self._result(fact, "storage", found, said, passed=True)
        must_not_hold = fact.is_distractor and not fact.may_hold_part
        if near.outcome == "failed" or (near.outcome == "passed" and not must_not_hold):
            return near
        return self._result(fact, "storage", found, "no entry supports it", passed=False)

    async def summary(self, fact: Fact, store: Listing) -> StageResult:
        """Judge whether the store keeps everything that a right answer needs."""
        if self._is_settled(fact, store.memories):
            return self._offline.summary(fact, store)
        found = await self._of_store(fact, store)
        how = "supported" if found.held else "contradicted" if found.contradicts else "not supported"
        reason = f"{how} by {_entries(found)}"
        return self._result(fact, "summary", found, reason, passed=found.held)

    async def retrieval(self, fact: Fact, question: Question, shown: Sequence[Memory]) -> StageResult:
        """Judge whether the fact can be recovered from the memories shown alone."""
        if self._is_settled(fact, shown):
            return self._offline.retrieval(fact, question, shown)
        texts = [memory.text for memory in shown]
        held_by = () if fact.claim.replaced else self._held_by.get(fact, ())
        if held_by and all(text in texts for text in held_by):
            places = tuple(texts.index(text) for text in held_by)
            found, said = Support(held=True, entries=places), "every entry by which the fact is stored was shown"
        else:
            found = await self._best(texts, Ranking(texts).closest(claim_text(fact), SHOWN), fact, "retrieval")
            said = f"supported by {_entries(found)}" if found.held else "no memory shown supports it"
        return self._result(fact, "retrieval", found, said, passed=found.held)

    async def answer(self, question: Question, facts: Sequence[Fact], reply: Reply | None) -> StageResult:
        """Judge the option letter, or by the suite's grader; other free text stays ungraded."""
        return self._offline.answer(question, facts, reply)

    async def added(self, question: Question, added: Sequence[Memory]) -> StageResult:  # noqa: ARG002 - the protocol's
        """Leave the memories that a dialogue added ungraded."""
        return StageResult(
            "ungraded", "only a model that writes JSON judges added memories: give one as --memfail-judge"
        )

    def settles(self, question: Question) -> bool:
        """Return whether the reply is graded even if a fact failed."""
        return self._offline.settles(question)

    async def warm(self, listing: Listing) -> None:
        """Do nothing: nothing is sent before a fact is judged."""

    def _is_settled(self, fact: Fact, memories: Sequence[Memory]) -> bool:
        """Return whether the offline judge decides, which may also say that only a model can."""
        kind = self._suite_kinds.kinds.get(fact.kind)
        if not memories or fact.claim.has_ended:
            return True
        if kind is not None and kind.find is not None:
            # of what memory must not hold, a finder may leave open what has no listed wordings
            return not fact.is_distractor or kind.find(fact, [memory.text for memory in memories]) is not None
        if kind is not None and kind.offline == "never":
            return True
        return not fact.claim.replaced and stated_at(fact.text, memories) is not None

    async def _of_store(self, fact: Fact, store: Listing) -> Support:
        known = self._found.setdefault(store, {})
        if fact not in known:
            texts = [memory.text for memory in store.memories]
            if (ranking := self._rankings.get(store)) is None:
                ranking = self._rankings[store] = Ranking(texts)
            # the offline judge knows synonyms, the ranking any language
            near = dict.fromkeys(
                [*self._offline.closest(fact, store, CLOSEST), *ranking.closest(claim_text(fact), CLOSEST)]
            )
            found = known[fact] = await self._best(texts, list(near)[:CLOSEST], fact, "storage")
            if found.held:
                self._held_by[fact] = tuple(texts[at] for at in found.entries)
        return known[fact]

    async def _best(self, texts: Sequence[str], near: Sequence[int], fact: Fact, stage: str) -> Support:
        """Return the support by one text or by the closest together; without any, whether one contradicts the claim."""
        chosen: list[tuple[int, ...]] = [(at,) for at in near] if self.one_by_one else [tuple(near)]
        if self.one_by_one and len(near) > 1:
            chosen.append(tuple(sorted(near[:TOGETHER])))
        asked = await self.supports([[texts[at] for at in some] for some in chosen], claim_text(fact), stage)
        found = [
            Support(one.held, one.confidence, one.contradicts, some) for one, some in zip(asked, chosen, strict=True)
        ]
        held = [one for one in found if one.held]
        if held:
            return max(held, key=lambda one: one.confidence or 0.0)
        # a claim is supported by none only as surely as by the likeliest
        sure = [one.confidence for one in found if one.confidence is not None]
        against = next((one for one in found if one.contradicts), found[0])
        return Support(False, min(sure, default=None), against.contradicts, against.entries)

    def _result(self, fact: Fact, stage: str, found: Support, reason: str, *, passed: bool) -> StageResult:
        sure = None if found.confidence is None or passed != found.held else round(found.confidence, 4)
        result = StageResult(
            "passed" if passed else "failed",
            reason,
            found.entries if passed or stage != "retrieval" else (),
            missing=() if passed else (fact.text,),
            confidence=sure,
        )
        return self._suite_kinds.offline(fact, stage, result, is_empty=False)


def claim_text(fact: Fact) -> str:
    """Return the claim as one text: that of the fact, or what the parts say if this is only an utterance or a whole essay."""
    topics = [part.text for part in fact.claim.parts if part.role == "topic" and part.required and not part.wordings]
    cores = fact.claim.texts("core")
    if fact.text != fact.source or not topics or not cores:
        return fact.text
    topic = ", ".join(topics)
    return f"{topic}{'' if topic.endswith('?') else ':'} {'; '.join(cores)}"


def _entries(found: Support) -> str:
    """Return which entries are meant, in words."""
    numbers = ", ".join(str(at + 1) for at in found.entries[:TOGETHER])
    return f"{'entry' if len(found.entries) == 1 else 'the entries'} {numbers}{' …' * (len(found.entries) > TOGETHER)}"
