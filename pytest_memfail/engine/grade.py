"""Judge questions in stages: stop at the first failed stage, and judge each (fact, listing) only once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, NamedTuple

from pytest_memfail.core import (
    ADDED_STAGE,
    CORRECT,
    DATE_LOST,
    ERROR,
    FAILURES,
    LOST_LATER,
    NEEDS_MODEL,
    NOT_STORED,
    SUMMARY_ERROR,
    UNGRADED,
    UNREACHED,
    Fact,
    FactVerdict,
    Judge,
    JudgeError,
    Listing,
    MemfailError,
    Memory,
    Question,
    Reply,
    StageResult,
    Verdict,
    checked_result,
    described,
    distractor_verdict,
    fact_verdict,
    in_time,
    kept_of,
    one_line,
    question_verdict,
    with_day,
)
from pytest_memfail.hosting import called, raised_as, shared_task

NOT_ASKED: Final = StageResult("passed", "this stage is not asked")


class EarlierListing(NamedTuple):
    """What the store held earlier: a listing, or what it said that some conversations added."""

    listing: Listing
    conversations: Collection[str]
    """Ids of the conversations whose facts it may hold."""


class NeededOutcome(NamedTuple):
    """The outcome of a question that another question needs."""

    verdict: str
    """A verdict, or `error`."""
    held: bool | None = None
    """Whether memory held the question's facts."""
    credited: bool | None = None
    """Whether it was answered right, even if a fact failed; None if the verdict decides."""

    @classmethod
    def of(cls, found: Verdict) -> NeededOutcome:
        """Return the outcome of a finished question.

        An answer that was asked for and left open says nothing, even if a fact failed.
        """
        verdict = UNGRADED if found.answer.outcome == "ungraded" and found.verdict != ERROR else found.verdict
        return cls(verdict, found.memory_held, found.credited)

    @property
    def is_right(self) -> bool | None:
        """Return whether it was answered right; None if nobody judged that."""
        right = True if self.verdict == CORRECT else False if self.verdict in FAILURES else None
        return right if self.credited is None else self.credited


class Grader:
    """Grade the questions of one store with one judge."""

    def __init__(self, judge: Judge, pool: Executor) -> None:
        self._judge = judge
        self._pool = None if getattr(judge, "inline", False) else pool
        self._warmed: dict[Listing, asyncio.Task[Any]] = {}
        self._computed: dict[tuple[str, str, Listing], StageResult] = {}
        self._stored: dict[tuple[str, str, Listing], asyncio.Task[StageResult]] = {}

    async def grade(
        self,
        question: Question,
        evidence: Sequence[Fact],
        listing: Listing,
        shown: Sequence[Memory],
        reply: Reply | None,
        *,
        earlier: Sequence[EarlierListing] = (),
        needed: Sequence[NeededOutcome] = (),
        added: Listing | None = None,
        broken: list[MemfailError] | None = None,
    ) -> Verdict:
        """Return the verdict on one question.

        Args:
            question: what was asked.
            evidence: its expected facts, in the row's order.
            listing: what the store held when it was asked.
            shown: the memories retrieved for it; for a question about what its conversation added, these memories.
            reply: the test-taker's reply; None without a test-taker.
            earlier: the earlier listings of the store, newest first.
            needed: the outcomes of the questions that it needs.
            added: what its conversation added, for a question that is judged by that.
            broken: takes the error of a memory stage if the question's answer, or else its search, is graded whatever that stage
                says. The verdict is then `error`, with that grade.

        Raises `JudgeError` if the judge raises and `broken` does not take it: a broken judge causes an error, never a verdict.
        Raises `MemfailError` if `added` is missing.
        """
        if ADDED_STAGE in question.stages:
            return await self._added(question, shown)
        was_held = all(one.held is True for one in needed) if needed else None
        judged_by = listing
        if question.of_additions:
            if added is None:
                raise MemfailError(
                    f"the question {question.id} names no conversation of its store in keys['conversation']"
                )
            judged_by, earlier = added, ()
        facts, broken = list[FactVerdict](), broken if question.is_independent else None
        for fact in evidence:
            facts.append(await self._fact(question, fact, judged_by, shown, earlier, was_held, broken))
            if broken and reply is not None:
                return Verdict(ERROR, answer=await self._ask("answer", question, evidence, reply))
            if broken and facts[-1].retrieval.outcome in ("passed", "failed"):
                return Verdict(ERROR, (facts[-1],))
            if broken:
                raise broken[0]
        if judged_by is not listing:
            facts = [_placed(fact, judged_by, listing) for fact in facts]
        for at, fact in enumerate(evidence):
            found = described(facts[at], fact, listing.memories, shown)
            facts[at] = replace(found, kept=kept_of(fact, listing) if found.verdict == NOT_STORED else None)
        held = all(fact.verdict == CORRECT for fact in facts) and not (facts and all(fact.vacuous for fact in facts))
        answer, credited = UNREACHED, None
        if "answer" not in question.stages:
            answer = NEEDS_MODEL if any(stage.estimated for fact in facts for stage in fact.stages) else NOT_ASKED
        elif held or reply is not None:
            counts = (question.is_independent and reply is not None) or await self._settles(question)
            if held or counts:
                answer = await self._ask("answer", question, evidence, reply)
            if counts and answer.outcome in ("passed", "failed"):
                credited = answer.outcome == "passed"
        known = [one.is_right for one in needed]
        before = False if False in known else True if needed and all(known) else None
        is_open = before is None and any(one.verdict == ERROR for one in needed)
        if credited and (before is False or is_open):
            credited = None if is_open else False
        verdict = question_verdict(
            facts,
            answer,
            must_not_use=question.must_not_use,
            credited=credited,
            passed_before=before,
            keeps_answer=question.is_independent,
            is_answered=reply is not None or "answer" not in question.stages,
        )
        if verdict.verdict == CORRECT and is_open:
            reason = f"must have been right before, and was an error: {', '.join(question.needs)}"
            answer = StageResult("ungraded", reason)
            return Verdict(UNGRADED, verdict.facts, answer, memory_held=True if facts else None)
        return verdict

    async def _fact(
        self,
        question: Question,
        fact: Fact,
        listing: Listing,
        shown: Sequence[Memory],
        earlier: Sequence[EarlierListing],
        was_held: bool | None,
        broken: list[MemfailError] | None,
    ) -> FactVerdict:
        """Judge the memory stages that the question asks, up to the first that fails.

        If a retracted state left no trace among the memories shown, this proves something only if memory held the state
        before (`was_held`; None if that was not asked).
        """
        stages, storage = question.stages, NOT_ASKED
        if fact.is_distractor:
            storage = await _tried(self._judged("storage", fact, listing), broken)
            is_held = storage.outcome == "passed"
            summary = await _tried(self._judged("summary", fact, listing), broken) if is_held else UNREACHED
            found = distractor_verdict(fact, storage, summary)
            if found.verdict != CORRECT:
                return found
            is_asked = "retrieval" in stages
            by_search = await _tried(self._ask("retrieval", fact, question, shown), broken) if is_asked else UNREACHED
            was_told = any(fact.conversation_id in conversations for _, conversations in earlier)
            is_empty = not listing.memories
            proves_nothing = (was_told or is_empty) and not await self._was_stored(fact, earlier, alone=is_empty)
            return distractor_verdict(fact, storage, summary, by_search, proves_nothing=proves_nothing)
        if "storage" in stages:
            storage = await _tried(self._judged("storage", fact, listing), broken)
            if storage.outcome == "failed" and await self._was_stored(fact, earlier):
                storage = replace(storage, reason=f"{storage.reason}; an earlier listing had it", label=LOST_LATER)
        summary = UNREACHED
        if storage.outcome == "passed":
            is_asked = "summary" in stages
            summary = await _tried(self._judged("summary", fact, listing), broken) if is_asked else NOT_ASKED
            if summary is not NOT_ASKED and summary.outcome == "passed":
                summary = in_time(fact, summary, listing)
        if summary.outcome != "passed":
            is_independent = question.is_independent and "answer" not in stages
            # recall counts what was shown, and the words of a fact without its date may be
            is_asked = "retrieval" in stages and (is_independent or summary.label == DATE_LOST)
            by_search = await _tried(self._ask("retrieval", fact, question, shown), broken) if is_asked else UNREACHED
            return fact_verdict(fact.id, storage, summary, by_search)
        if "retrieval" not in stages:
            return fact_verdict(fact.id, storage, summary, replace(NOT_ASKED, vacuous=storage.vacuous))
        retrieval = await _tried(self._ask("retrieval", fact, question, shown), broken)
        if retrieval.outcome == "passed":
            retrieval = with_day(fact, retrieval, shown)
        if retrieval.vacuous and was_held is not None:
            storage, retrieval = (replace(stage, vacuous=not was_held) for stage in (storage, retrieval))
        if storage is NOT_ASKED:  # it is unknown whether the store marks a state as ended
            storage = replace(storage, vacuous=retrieval.vacuous)
        return fact_verdict(fact.id, storage, summary, retrieval)

    async def _added(self, question: Question, added: Sequence[Memory]) -> Verdict:
        """Judge whether the conversation supports what it added to the store."""
        if not added:
            passed = StageResult("passed", "nothing was added", metrics={"added": 0.0})
            return Verdict(CORRECT, answer=passed, vacuous=True)
        if getattr(self._judge, "added", None) is None:
            return Verdict(UNGRADED, answer=NEEDS_MODEL)
        result = await self._ask("added", question, added)
        name = {"passed": CORRECT, "failed": SUMMARY_ERROR}.get(result.outcome, UNGRADED)
        return Verdict(name, answer=result, label=result.label)

    async def _was_stored(self, fact: Fact, earlier: Sequence[EarlierListing], *, alone: bool = False) -> bool:
        """Return whether an earlier listing held the fact, and perhaps no other entry. A judge that fails here changes no verdict."""
        for listing, conversations in earlier:
            if fact.conversation_id in conversations:
                with suppress(MemfailError):
                    found = await self._judged("storage", fact, listing)
                    if found.outcome == "passed" and fact.may_hold_part:
                        found = await self._judged("summary", fact, listing)
                    if found.outcome == "passed" and not found.vacuous:
                        return not alone or len(listing.memories) <= max(1, len(found.entries))
        return False

    async def _settles(self, question: Question) -> bool:
        if getattr(self._judge, "settles", None) is None:
            return question.letter is not None
        return bool(await self._call("settles", self._pool, question))

    def begin(self, question: Question, evidence: Sequence[Fact], listing: Listing) -> None:
        """Start to judge whether facts are stored, which `grade` needs whatever the test-taker replies."""
        # a judge that computes gains nothing from a head start
        for fact in evidence if self._pool is not None else ():
            if not question.of_additions and (fact.is_distractor or "storage" in question.stages):
                # if the question fails before it is graded, nobody else asks for the error
                self._once("storage", fact, listing).add_done_callback(lambda one: one.cancelled() or one.exception())

    async def _judged(self, stage: str, fact: Fact, listing: Listing) -> StageResult:
        """Return the judgment of a stage about a listing, made once for all questions."""
        if self._pool is not None:  # a task costs more than most judgments that only compute
            return await self._once(stage, fact, listing)
        key = (stage, fact.id, listing)
        if key not in self._computed:
            self._computed[key] = await self._of_store(stage, fact, listing)
        return self._computed[key]

    def _once(self, stage: str, fact: Fact, listing: Listing) -> asyncio.Future[StageResult]:
        """Return the future judgment of a judge that may wait."""
        if (key := (stage, fact.id, listing)) not in self._stored:
            # a separate task: the first question may be cancelled while others still need the result
            self._stored[key] = shared_task(self._of_store(stage, fact, listing))
        return asyncio.shield(self._stored[key])

    async def _of_store(self, stage: str, fact: Fact, listing: Listing) -> StageResult:
        await self._warm(listing)
        return await self._ask(stage, fact, listing)

    async def _warm(self, listing: Listing) -> None:
        """Let a judge that asks a provider warm up its prompt cache, once per listing and before all other calls."""
        if getattr(self._judge, "warm", None) is None:
            return
        if (task := self._warmed.get(listing)) is None:
            task = self._warmed[listing] = shared_task(self._call("warm", None, listing))
        await asyncio.shield(task)

    async def _ask(self, stage: str, *args: Any) -> StageResult:
        result = await self._call(stage, self._pool, *args)
        held = getattr(args[-1], "memories", args[-1])  # those listed, shown or added
        return checked_result(stage, result, None if stage == "answer" else len(held))

    async def _call(self, method: str, pool: Executor | None, *args: Any) -> Any:
        with raised_as(JudgeError, f"the judge's {method}()"):
            return await called(getattr(self._judge, method), *args, pool=pool)


async def _tried(stage: Awaitable[StageResult], broken: list[MemfailError] | None) -> StageResult:
    """Return the result of a memory stage, ungraded after an error that `broken` takes."""
    try:
        return await stage
    except MemfailError as error:
        if broken is None:
            raise
        broken.append(error)
        return StageResult("ungraded", one_line(error))


def _placed(fact: FactVerdict, added: Listing, listing: Listing) -> FactVerdict:
    """Return a fact judged by what was added, with its entries as places in the whole listing; others are left out."""
    places = {memory.text: at for at, memory in enumerate(listing.memories)}

    def placed(stage: StageResult) -> StageResult:
        found = (places.get(added.memories[at].text) for at in stage.entries if 0 <= at < len(added.memories))
        return replace(stage, entries=tuple(at for at in found if at is not None))

    return replace(fact, storage=placed(fact.storage), summary=placed(fact.summary))
