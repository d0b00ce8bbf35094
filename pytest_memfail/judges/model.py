"""A judge that asks a model: structured replies, few tokens, and an error instead of a verdict when something fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args
from weakref import WeakKeyDictionary

from pytest_memfail.core import (
    AnswerKind,
    Fact,
    Kind,
    Listing,
    Memory,
    ProtocolName,
    Question,
    Reply,
    StageResult,
    one_line,
    rank_of,
)
from pytest_memfail.judges import prompts
from pytest_memfail.judges.examiner import FIRST_ENTRIES, Check, Examiner, numbered
from pytest_memfail.judges.kinds import SuiteKinds, said_in
from pytest_memfail.judges.plain import is_said, opposite, stated_at
from pytest_memfail.judges.replies import (
    AddedReply,
    AnswerReply,
    EntriesReply,
    FaithfulReply,
    LabelledReply,
    LabelledRetrieval,
    PresentReply,
    RetrievedReply,
    StateReply,
    StoredReply,
    Support,
    problem_of,
)
from pytest_memfail.llm import ContextLengthError

if TYPE_CHECKING:
    from pytest_memfail.llm import ModelClient

ADDED_AT_ONCE: Final = 20
"""The most added memories in one prompt."""
FULL: Final = 2
"""The support of a memory that the dialogue fully supports."""
T = TypeVar("T")
E = TypeVar("E", bound=EntriesReply)


Kept = tuple[StageResult, StageResult]
"""The results of storage and summary, which one check decides."""


class ModelJudge:
    """Judges every stage with a model, except option letters.

    Under `ours`, one call per fact and listing judges storage and summary, and a fact that each question needs a part of is checked
    once for all its questions. Under `paper`, each stage is a separate call with the published criteria, for kinds that have
    them. The grader of a kind grades the answers that it can decide.
    """

    def __init__(
        self,
        client: ModelClient,
        model: str,
        protocol: ProtocolName = "ours",
        parameters: Mapping[str, Any] | None = None,
        repeat: int = 0,
        first_entries: int = FIRST_ENTRIES,
        kinds: Mapping[str, Kind] = MappingProxyType({}),
        answers: Mapping[str, AnswerKind] = MappingProxyType({}),
    ) -> None:
        """Judge by `model` through `client`.

        Args:
            client: sends, retries, caches and accounts for requests.
            model: the model's name at the endpoint.
            protocol: `ours` or `paper`.
            parameters: the user's settings (temperature, seed, ...), passed through in each request.
            repeat: the number of the independent reply to request.
            first_entries: the number of entries to show before showing all.
            kinds: the kinds of facts of the run's suites. A fact of another kind raises `JudgeError`.
            answers: the kinds of questions of the run's suites.

        Raises `ValueError` for an unknown protocol or an invalid `first_entries`.
        """
        if protocol not in get_args(ProtocolName):
            raise ValueError(f"got protocol {protocol!r}, expected one of {', '.join(get_args(ProtocolName))}")
        if first_entries < 1:
            raise ValueError(f"got first_entries={first_entries}, expected a whole number of at least 1")
        self.protocol: ProtocolName = protocol
        self.model = model
        self._suite_kinds = SuiteKinds(kinds, answers)
        self._examiner = Examiner(client, model, parameters, repeat, first_entries)
        self._checks: WeakKeyDictionary[Listing, dict[Any, asyncio.Task[Any]]] = WeakKeyDictionary()
        self._supports: dict[Fact, set[tuple[str, ...]]] = {}

    # -- the stages --------------------------------------------------------------------------------------------------

    async def storage(self, fact: Fact, store: Listing) -> StageResult:
        """Judge whether some version of the fact is in the store (paper, section 3.2)."""
        if (plain := _without_model(fact, store.memories)) is not None:
            return plain
        if self._is_staged(fact):
            return _result(await self._check_store("storage", PresentReply, fact, store))
        storage, _ = await self._kept(fact, store)
        return storage

    async def summary(self, fact: Fact, store: Listing) -> StageResult:
        """Judge whether the store keeps everything that a right answer needs (paper, section 3.2)."""
        if (plain := _without_model(fact, store.memories)) is not None:
            return plain
        if self._is_staged(fact):
            return _result(await self._check_store("summary", FaithfulReply, fact, store))
        _, summary = await self._kept(fact, store)
        if summary.outcome == "passed" and summary.entries:
            texts = tuple(store.memories[at].text for at in summary.entries)
            self._supports.setdefault(fact, set()).add(texts)
        return self._suite_kinds.unfaithful(fact, summary)

    async def retrieval(self, fact: Fact, question: Question, shown: Sequence[Memory]) -> StageResult:
        """Judge whether the fact can be recovered from the memories shown alone."""
        if not shown:
            return _nothing("no memory was shown", fact)
        if fact.claim.has_ended:
            # they may say that it has ended, still state it, or not mention it
            ended = await self._examiner.of_entries(self._check("stored", StateReply, fact, "retrieval"), shown)
            is_gone = not ended.present and not ended.outdated
            return _nothing(one_line(ended.reason), fact) if is_gone else _result(ended)
        if self.protocol == "ours" and (stated := _stated(fact, shown)) is not None:
            return stated
        if (at := self._shown_support(fact, shown)) is not None:
            return StageResult("passed", "every entry by which the fact is stored was shown", at)
        labels = self._suite_kinds.kind(fact).labels
        schema = LabelledRetrieval if labels else RetrievedReply
        check = self._check("retrieval", schema, fact, "retrieval", question, labels)
        reply = await self._examiner.of_entries(check, shown)
        label = reply.label if isinstance(reply, LabelledRetrieval) and not reply.recoverable else None
        return replace(_result(reply), label=label)

    async def answer(self, question: Question, facts: Sequence[Fact], reply: Reply | None) -> StageResult:
        """Judge whether the reply uses the facts correctly (invocation, abstention), or chooses the right option
        letter.
        """
        if (graded := self._suite_kinds.answer(question, facts, reply)) is not None:
            return graded
        assert reply is not None
        kind = self._suite_kinds.answer_kind(question)
        if kind.ask is None and not kind.right:
            return StageResult("ungraded", f"questions of the kind {question.kind} have no criterion for a model")
        if not reply.answer:
            return StageResult("failed", "the reply gives no answer", missing=question.gold)
        said = said_in(reply, kind)
        if kind.ask is not None:
            return await kind.ask(self._examiner.about_material, question, facts, said)
        if opposite(question.gold, reply.answer):
            return StageResult(
                "failed", "the answer begins with the opposite of the expected one", missing=question.gold
            )
        judged = await self._examiner.ask(
            prompts.about_answer(question, facts, said, kind),
            LabelledReply if kind.labels else AnswerReply,
            "answer",
            lambda judged: problem_of(judged, (), kind.labels),
        )
        return StageResult(
            "passed" if judged.right else "failed",
            one_line(judged.reason),
            missing=tuple(map(one_line, judged.missing)),
            label=judged.label if isinstance(judged, LabelledReply) else None,
        )

    async def added(self, question: Question, added: Sequence[Memory]) -> StageResult:
        """Judge whether the dialogue supports each memory that it added to the store.

        The metrics are the number of memories, the number of memories about the expected points, and for both the sum of the support
        per memory, from 0 to 2.
        """
        kind = self._suite_kinds.answer_kind(question)
        entries = numbered(added)
        found: list[Support] = []
        for start in range(0, len(entries), ADDED_AT_ONCE):
            found += await self._supported(question, entries[start : start + ADDED_AT_ONCE], kind.right)
        said = str(question.keys["dialogue"])
        found = [
            one.model_copy(update={"support": FULL}) if is_said(added[one.entry - 1].text, said) else one
            for one in found
        ]
        targets = [one for one in found if one.target]
        wrong = [one for one in found if one.support < FULL]
        metrics = {
            "added": float(len(found)),
            "added_support": float(sum(one.support for one in found)),
            "target": float(len(targets)),
            "target_support": float(sum(one.support for one in targets)),
        }
        return StageResult(
            "failed" if wrong else "passed",
            f"the dialogue supports {len(found) - len(wrong)} of {len(found)} memories in full",
            missing=tuple(one_line(added[one.entry - 1].text) for one in wrong),
            label=kind.labels[0] if wrong and kind.labels else None,
            metrics=metrics,
        )

    async def _supported(
        self, question: Question, entries: Sequence[prompts.Entry], criteria: str
    ) -> Sequence[Support]:
        """Return how far the dialogue supports each of these entries; show fewer at once if they are too long."""
        shown = [entry.number for entry in entries]
        try:
            asked = prompts.about_added(question, entries, criteria)
            reply = await self._examiner.ask(asked, AddedReply, "added", lambda reply: problem_of(reply, shown))
        except ContextLengthError:
            if (half := len(entries) // 2) == 0:
                raise
            first = await self._supported(question, entries[:half], criteria)
            return [*first, *await self._supported(question, entries[half:], criteria)]
        return reply.memories

    def settles(self, question: Question) -> bool:
        """Return whether the reply is graded even if a fact failed: an option letter, or an answer with an exact grader."""
        return self._suite_kinds.settles(question)

    async def warm(self, listing: Listing) -> None:
        """Let the provider cache the store if every check will start with the whole of it."""
        await self._examiner.warm(listing)

    # -- storage and summary in one call (`ours`) --------------------------------------------------------------------

    async def _kept(self, fact: Fact, store: Listing) -> Kept:
        if not self._suite_kinds.kind(fact).needed or not prompts.fact_field(fact, "needed"):
            return await self._stored(fact, store)
        # check an essay once for all its questions; the needs of one answer matter only if something is lost
        whole = await self._stored(replace(fact, gold=None, claim=replace(fact.claim, parts=())), store)
        storage, summary = whole
        is_kept = summary.outcome == "passed" and not summary.reported
        # (curated details decide by themselves)
        if storage.outcome == "failed" or (is_kept and not fact.claim.listed):
            return whole
        needed = _result(await self._check_store("summary", FaithfulReply, fact, store))
        lost = (*summary.missing, *summary.reported)
        reported = tuple(detail for detail in lost if detail not in needed.missing)
        return replace(needed, outcome="passed", missing=()), replace(needed, reported=reported)

    def _is_staged(self, fact: Fact) -> bool:
        """Return whether storage and summary are separate calls."""
        return prompts.staged_criteria(fact, self._suite_kinds.kind(fact), self.protocol) is not None

    async def _stored(self, fact: Fact, store: Listing) -> Kept:
        kind = self._suite_kinds.kind(fact)
        schema = StateReply if prompts.asks_outdated(fact, kind) else StoredReply
        reply = await self._check_store("stored", schema, fact, store)
        has_ended, reason, label = fact.claim.has_ended, one_line(reply.reason), None
        if isinstance(reply, StateReply) and reply.outdated and not reply.passed:
            label = kind.still_held if has_ended else "stale_value"
        if has_ended and not reply.present and label is None:
            nothing = _nothing(reason, fact)
            return nothing, nothing
        summary = replace(_result(reply), label=label)
        if reply.passed:
            # losses from a faithfully kept fact fail no question
            return summary, replace(summary, reported=tuple(map(one_line, reply.missing)))
        if reply.present:
            return replace(summary, outcome="passed", missing=(), label=None), summary
        return replace(summary, missing=summary.missing or (fact.text,)), summary

    def _shown_support(self, fact: Fact, shown: Sequence[Memory]) -> tuple[int, ...] | None:
        """Return where the entries that keep the fact were shown, if all of them were; else None.

        Entries that keep the fact in the store also keep it when shown, so no call is needed. States that replace one
        another are the exception, because other memories shown may contradict.
        """
        if self.protocol == "paper" or fact.claim.replaced:
            return None
        for texts in sorted(self._supports.get(fact, ())):
            ranks = [rank_of(Memory(text), shown) for text in texts]
            if None not in ranks:
                return tuple(rank - 1 for rank in ranks if rank is not None)
        return None

    async def _check_store(self, name: prompts.Check, schema: type[E], fact: Fact, store: Listing) -> E:
        """Run one check of one fact over one listing, only once for all callers."""
        fact = _shareable(fact)

        def run() -> Awaitable[E]:
            check = self._check(name, schema, fact, "summary" if name == "summary" else "storage")
            return self._examiner.of_entries(check, store.memories, store)

        return await _shared(self._checks.setdefault(store, {}), (name, fact), run)

    def _check(
        self,
        name: prompts.Check,
        schema: type[E],
        fact: Fact,
        stage: str,
        question: Question | None = None,
        labels: Sequence[str] = (),
    ) -> Check[E]:
        kind = self._suite_kinds.kind(fact)
        return Check(
            lambda some: prompts.about_entries(name, fact, some, kind, self.protocol, question),
            schema,
            stage,
            fact.source or fact.text if "said" in kind.gold else fact.text,
            labels,
            prompts.must_keep(fact, kind),
        )


async def _shared(tasks: dict[Any, asyncio.Task[T]], key: Any, work: Callable[[], Awaitable[T]]) -> T:
    """Return the result of the work, run once per key; a failure is not kept."""
    task = tasks.get(key)
    if task is None:

        async def run() -> T:
            return await work()

        # a separate task, because the first caller may be cancelled while others still wait
        task = tasks[key] = asyncio.get_running_loop().create_task(run())

        def done(task: asyncio.Task[T]) -> None:
            if task.cancelled() or task.exception() is not None:
                tasks.pop(key, None)

        task.add_done_callback(done)
    return await asyncio.shield(task)


def _shareable(fact: Fact) -> Fact:
    """Return the fact without the fields that no prompt contains, so that questions about the same text share a
    check.
    """
    return replace(fact, id="", conversation_id="", claim=replace(fact.claim, parts=fact.claim.listed))


def _without_model(fact: Fact, memories: Sequence[Memory]) -> StageResult | None:
    """Return the result of a store that needs no model: it is empty, or an entry states the fact word for word."""
    return _stated(fact, memories) if memories else _nothing("the store is empty", fact)


def _stated(fact: Fact, memories: Sequence[Memory]) -> StageResult | None:
    """Return that an entry states the fact word for word; None if none does, or if another state may be stored too."""
    if fact.claim.replaced or fact.claim.has_ended:
        return None
    if (at := stated_at(fact.text, memories)) is not None:
        return StageResult("passed", f"entry {at + 1} states it word for word", (at,))
    # a text that only the assistant said may be part of a distractor's source
    if not fact.is_distractor and (at := stated_at(fact.source, memories)) is not None:
        return StageResult("passed", f"entry {at + 1} has the whole text that states it, word for word", (at,))
    return None


def _nothing(reason: str, fact: Fact) -> StageResult:
    """Return the result if no entry mentions the fact: passed for a retracted state, otherwise failed."""
    if fact.claim.has_ended:
        return StageResult("passed", reason, vacuous=True)
    return StageResult("failed", reason, missing=(fact.text,))


def _result(reply: EntriesReply) -> StageResult:
    lost = () if reply.passed else tuple(map(one_line, getattr(reply, "missing", ())))
    places = tuple(dict.fromkeys(number - 1 for number in reply.entries))
    return StageResult("passed" if reply.passed else "failed", one_line(reply.reason), places, missing=lost)
