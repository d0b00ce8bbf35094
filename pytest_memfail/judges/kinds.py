"""What suites say about their kinds of facts and of questions, as far as it takes no model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary, WeakValueDictionary

from pytest_memfail.core import (
    NEEDS_MODEL,
    AnswerKind,
    Fact,
    Found,
    JudgeError,
    Kind,
    Listing,
    Memory,
    Question,
    Reply,
    StageResult,
)
from pytest_memfail.judges.letters import NO_REPLY, judge_letter


class SuiteKinds:
    """The kinds of a run's suites: finds facts and grades answers where they say how."""

    def __init__(self, kinds: Mapping[str, Kind], answers: Mapping[str, AnswerKind]) -> None:
        self.kinds, self.answers = kinds, answers
        self._found: WeakKeyDictionary[Listing, dict[Fact, Found | None]] = WeakKeyDictionary()
        self._judged: WeakValueDictionary[Fact, Listing] = WeakValueDictionary()
        """The listing that each fact was last looked for in."""

    def kind(self, fact: Fact) -> Kind:
        """Return the kind of a fact. Raise `JudgeError` if no suite has it, because then there are no criteria."""
        if (kind := self.kinds.get(fact.kind)) is None:
            raise JudgeError(_unknown("fact", fact.kind, self.kinds))
        return kind

    def answer_kind(self, question: Question) -> AnswerKind:
        """Return the kind of a question. Raise `JudgeError` if no suite has it."""
        if (kind := self.answers.get(question.kind)) is None:
            raise JudgeError(_unknown("question", question.kind, self.answers))
        return kind

    def offline(
        self, fact: Fact, stage: str, result: StageResult, *, is_empty: bool, is_found: bool = False
    ) -> StageResult:
        """Return a result of the offline judge with what it is worth; of no memories at all it is certain.

        `is_found` says whether the kind's finder decided; what it leaves open may only be estimated.
        """
        kind = self.kinds.get(fact.kind)
        if kind is None or is_empty:
            return result
        if kind.offline == "never":
            return NEEDS_MODEL
        result = replace(result, estimated=kind.offline == "estimates" and not is_found)
        return self.unfaithful(fact, result) if stage == "summary" else result

    def unfaithful(self, fact: Fact, result: StageResult) -> StageResult:
        """Return a result of the summary stage with the label of the kind, if it failed without one."""
        kind = self.kinds.get(fact.kind)
        if kind is None or result.outcome != "failed" or result.label is not None:
            return result
        return replace(result, label=kind.unfaithful)

    def of_store(self, fact: Fact, stage: str, store: Listing) -> StageResult | None:
        """Judge storage or summary by the kind's finder; None if it has none, or leaves it open."""
        kind = self.kinds.get(fact.kind)
        if kind is None or kind.find is None:
            return None
        self._judged[fact] = store
        known = self._found.setdefault(store, {})
        if fact not in known:
            texts = [memory.text for memory in store.memories]
            known[fact] = kind.find(fact, texts)
            if known[fact] is None and kind.find_said is not None and store.is_verbatim:
                known[fact] = kind.find_said(fact, texts)
        if (found := known[fact]) is None:
            return None
        if stage == "storage":
            reason = found.reason if found.faithful or not found.present else "some version of it is stored"
            return _result(found, fact, reason, passed=found.present)
        return _result(found, fact, found.reason, passed=found.present and found.faithful)

    def of_shown(self, fact: Fact, shown: Sequence[Memory]) -> StageResult | None:
        """Judge retrieval by the kind's finder; None if it has none, or leaves it open."""
        kind = self.kinds.get(fact.kind)
        if kind is None or kind.find is None:
            return None
        ranks = self._in_store_order(fact, shown)
        found = kind.find(fact, [shown[rank].text for rank in ranks])
        if found is None:
            listing = self._judged.get(fact)
            if listing is None or self._found[listing].get(fact) is None:
                return None
            # a store that was found to have its words has them where the finder looks
            found = Found(False, False, "no entry shown has it as the store does")
        found = replace(found, entries=tuple(ranks[entry] for entry in found.entries))
        return _result(found, fact, found.reason, passed=found.present and found.faithful)

    def _in_store_order(self, fact: Fact, shown: Sequence[Memory]) -> list[int]:
        """Return the places of the memories shown in the order of the listing, which tells what came later.

        What the listing lacks follows in the order shown.
        """
        listing = self._judged.get(fact)
        if listing is None:
            return list(range(len(shown)))
        place = {(memory.id, memory.text): i for i, memory in enumerate(listing.memories)}
        last = len(listing.memories)
        return sorted(range(len(shown)), key=lambda rank: place.get((shown[rank].id, shown[rank].text), last + rank))

    def answer(self, question: Question, facts: Sequence[Fact], reply: Reply | None) -> StageResult | None:
        """Return the grade of a reply, ungraded without one; None if only a model can tell."""
        if reply is None:
            return NO_REPLY
        kind = self.answers.get(question.kind)
        if (
            kind is not None
            and kind.grade is not None
            and (graded := kind.grade(question, facts, said_in(reply, kind)))
        ):
            return graded
        return judge_letter(question, reply) if question.letter is not None else None

    def settles(self, question: Question) -> bool:
        """Return whether a reply is always graded without a model, and so whatever became of the facts."""
        kind = self.answers.get(question.kind)
        return question.letter is not None or (kind is not None and kind.settles)


def said_in(reply: Reply, kind: AnswerKind) -> str:
    """Return what counts of a reply for a kind of question."""
    return reply.text if kind.restated else reply.answer


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    kinds = ", ".join(sorted(known)) or "none: the judge was made without kinds"
    return f"got a {what} of the kind {name!r}, expected one that a suite of the run has ({kinds})"


def _result(found: Found, fact: Fact, reason: str, *, passed: bool) -> StageResult:
    return StageResult(
        "passed" if passed else "failed",
        reason,
        found.entries,
        missing=() if passed else found.missing or (fact.text,),
        # words that are there, and a failure that was recognised, are certain; what was not found may be worded otherwise
        confidence=1.0 if passed or found.label else None,
        label=None if passed else found.label,
        vacuous=passed and found.vacuous,
    )
