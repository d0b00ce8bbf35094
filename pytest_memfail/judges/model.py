"""The judge that asks a model: structured replies, as few tokens as the question allows, and no verdict out of a fault."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args
from weakref import WeakKeyDictionary

from pytest_memfail.core import Evidence, Listing, Memory, Question, Reply, StageResult, one_line, rank_of
from pytest_memfail.judges import prompts
from pytest_memfail.judges.prompts import Entry, Messages, Protocol
from pytest_memfail.judges.rank import Ranking
from pytest_memfail.judges.replies import (
    AnswerReply,
    EntriesReply,
    FaithfulReply,
    JudgeReply,
    PresentReply,
    RetrievedReply,
    StateReply,
    StoredReply,
    problem_of,
)
from pytest_memfail.judges.rules import RulesJudge
from pytest_memfail.llm import ContextLengthError, ReplyError

if TYPE_CHECKING:
    from pytest_memfail.llm import ModelClient

FIRST_ENTRIES: Final = 20
"""How many entries are shown at first: those closest to what was said."""
ATTEMPTS: Final = 2
"""How often a reply is asked for that parses but cannot be (the client asks again for those that do not parse)."""
WARM_CHARACTERS: Final = 4096
"""Providers cache no prompt that begins with less (1,024 tokens)."""

T = TypeVar("T")
R = TypeVar("R", bound=JudgeReply)
E = TypeVar("E", bound=EntriesReply)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a store keeps of one fact."""

    present: bool
    faithful: bool
    reason: str
    entries: tuple[int, ...]
    missing: tuple[str, ...]
    reported: tuple[str, ...] = ()
    label: str | None = None


class ModelJudge:
    """Decides every stage by a model, the option letter aside.

    Under `ours` storage and summary are one call per fact and listing; the essay of a persona is checked once for all its
    questions. Under `paper` each stage is a call of its own, with the published readings.
    """

    def __init__(
        self,
        client: ModelClient,
        model: str,
        protocol: Protocol = "ours",
        parameters: Mapping[str, Any] | None = None,
        repeat: int = 0,
        first_entries: int = FIRST_ENTRIES,
    ) -> None:
        """Judge by `model` through `client`.

        Args:
            client: asks, retries, caches and keeps the books.
            model: its name at the endpoint.
            protocol: our readings or the published ones.
            parameters: what the user set: temperature, seed, ...; they go into each request as they are.
            repeat: which of several independent replies to the same request is wanted.
            first_entries: how many entries are shown before all are.

        Raises `ValueError` for another protocol, or a number that is none.
        """
        if protocol not in get_args(Protocol):
            raise ValueError(f"got protocol {protocol!r}, expected one of {', '.join(get_args(Protocol))}")
        if first_entries < 1:
            raise ValueError(f"got first_entries={first_entries}, expected a whole number of at least 1")
        self.protocol: Protocol = protocol
        self.model = model
        self._client = client
        self._parameters = parameters
        self._repeat = repeat
        self._first = first_entries
        self._letters = RulesJudge(protocol)
        self._rankings: WeakKeyDictionary[Listing, Ranking] = WeakKeyDictionary()
        self._checks: WeakKeyDictionary[Listing, dict[Any, asyncio.Task[Any]]] = WeakKeyDictionary()
        self._warmed: WeakKeyDictionary[Listing, asyncio.Event] = WeakKeyDictionary()
        self._pieces: WeakKeyDictionary[Listing, int] = WeakKeyDictionary()
        self._supports: dict[Evidence, set[tuple[str, ...]]] = {}

    # -- the stages --------------------------------------------------------------------------------------------------

    async def storage(self, evidence: Evidence, store: Listing) -> StageResult:
        """Is some version of the fact anywhere in the store (paper, section 3.2)?"""
        if not store.memories:
            return StageResult("failed", "the store is empty", missing=(evidence.text,))
        if self.protocol == "paper":
            reply = await self._check_store("storage", PresentReply, _shareable(evidence), store)
            return _result(reply, passed=reply.present)
        kept = await self._kept(evidence, store)
        missing = () if kept.present else kept.missing or (evidence.text,)
        return StageResult(
            "passed" if kept.present else "failed",
            kept.reason,
            kept.entries,
            missing=missing,
            label=None if kept.present else kept.label,
        )

    async def summary(self, evidence: Evidence, store: Listing) -> StageResult:
        """Does the store keep what a right answer needs (paper, section 3.2)?"""
        if self.protocol == "paper":
            reply = await self._check_store("summary", FaithfulReply, _shareable(evidence), store)
            return _result(reply, passed=reply.faithful)
        kept = await self._kept(evidence, store)
        if not kept.faithful:
            return StageResult(
                "failed", kept.reason, kept.entries, missing=kept.missing, reported=kept.reported, label=kept.label
            )
        if kept.entries:
            texts = tuple(store.memories[at].text for at in kept.entries)
            self._supports.setdefault(evidence, set()).add(texts)
        return StageResult("passed", kept.reason, kept.entries, reported=kept.reported)

    async def retrieval(self, evidence: Evidence, question: Question, shown: Sequence[Memory]) -> StageResult:
        """Can the fact be recovered from the memories shown, and from them alone?"""
        if not shown:
            return StageResult("failed", "no memory was shown", missing=(evidence.text,))
        if (at := self._shown_support(evidence, shown)) is not None:
            return StageResult("passed", "every entry by which the fact is stored was shown", at)
        entries = _numbered(shown)
        reply = await self._check_entries(
            lambda some: prompts.about_entries("retrieval", evidence, some, self.protocol, question),
            RetrievedReply,
            "retrieval",
            entries,
            lambda: Ranking([memory.text for memory in shown]).closest(evidence.source, self._first),
        )
        return _result(reply, passed=reply.recoverable)

    async def answer(self, question: Question, evidence: Sequence[Evidence], reply: Reply | None) -> StageResult:
        """Did the reply use the facts rightly (invocation, abstention), or is its option letter right?"""
        if reply is None or question.answer_format == "letter":
            return self._letters.answer(question, evidence, reply)
        if not reply.text.strip():
            return StageResult("failed", "the reply is empty", missing=question.gold)
        judged = await self._ask(prompts.about_answer(question, evidence, reply.text), AnswerReply, "answer", ())
        return StageResult(
            "passed" if judged.right else "failed",
            one_line(judged.reason),
            missing=tuple(map(one_line, judged.missing)),
        )

    async def warm(self, listing: Listing) -> None:
        """Let the provider read the store once, if every check of it will begin with the whole of it.

        Larger stores are shown whole only on demand; there the first such check does the warming.
        """
        if len(listing.memories) <= self._first and _is_long(listing) and listing not in self._warmed:
            await self._behind_first(listing, lambda: self._warm_up(listing))

    async def _warm_up(self, listing: Listing) -> None:
        await self._ask(prompts.warm_up(_numbered(listing.memories)), JudgeReply, "warm", ())

    # -- storage and summary in one call (`ours`) --------------------------------------------------------------------

    async def _kept(self, evidence: Evidence, store: Listing) -> _Kept:
        if evidence.kind != "persona" or not evidence.value:
            return await self._stored(evidence, store)
        # an essay is checked once for all that is asked about it; what one answer needs matters only if something is lost
        essay = await self._stored(replace(evidence, value=None, details=()), store)
        # (curated details decide themselves)
        if not essay.present or (essay.faithful and not essay.reported and not evidence.details):
            return essay
        needed = await self._check_store("summary", FaithfulReply, _shareable(evidence), store)
        missing = () if needed.faithful else tuple(map(one_line, needed.missing))
        reported = tuple(detail for detail in (*essay.missing, *essay.reported) if detail not in missing)
        return _Kept(True, needed.faithful, one_line(needed.reason), _places(needed), missing, reported)

    async def _stored(self, evidence: Evidence, store: Listing) -> _Kept:
        schema = StateReply if evidence.kind == "fact" else StoredReply
        reply = await self._check_store("stored", schema, _shareable(evidence), store)
        lost = tuple(map(one_line, reply.missing))
        # what a faithfully kept fact has lost fails nobody
        missing, reported = ((), lost) if reply.passed else (lost, ())
        label = "stale_value" if isinstance(reply, StateReply) and reply.outdated and not reply.passed else None
        return _Kept(reply.present, reply.passed, one_line(reply.reason), _places(reply), missing, reported, label)

    def _shown_support(self, evidence: Evidence, shown: Sequence[Memory]) -> tuple[int, ...] | None:
        """Where the entries are that keep the fact, if all of them were shown; else None.

        What keeps the fact faithfully in the store does so in what was shown: no call can tell more. States that replace
        one another are the exception, since other entries shown may contradict.
        """
        if self.protocol == "paper" or evidence.stale_values:
            return None
        for texts in sorted(self._supports.get(evidence, ())):
            ranks = [rank_of(Memory(text), shown) for text in texts]
            if None not in ranks:
                return tuple(rank - 1 for rank in ranks if rank is not None)
        return None

    # -- showing entries ---------------------------------------------------------------------------------------------

    async def _check_store(self, check: prompts.Check, schema: type[E], evidence: Evidence, store: Listing) -> E:
        """One check of one fact over one listing, made once however many ask for it at the same time or later."""

        def closest() -> list[int]:
            ranking = self._rankings.get(store)
            if ranking is None:
                ranking = self._rankings[store] = Ranking([memory.text for memory in store.memories])
            return ranking.closest(evidence.source, self._first)

        async def run() -> E:
            return await self._check_entries(
                lambda some: prompts.about_entries(check, evidence, some, self.protocol),
                schema,
                "summary" if check == "summary" else "storage",
                _numbered(store.memories),
                closest,
                store,
            )

        return await _shared(self._checks.setdefault(store, {}), (check, evidence), run)

    async def _check_entries(
        self,
        build: Callable[[Sequence[Entry]], Messages],
        schema: type[E],
        stage: str,
        entries: Sequence[Entry],
        closest: Callable[[], list[int]],
        store: Listing | None = None,
    ) -> E:
        """The closest entries first; all of them before anything is said to be lost."""
        near: list[Entry] = []
        if len(entries) > self._first:
            near = [entries[at] for at in sorted(closest())]
            try:
                reply = await self._ask(build(near), schema, stage, _numbers(near))
            except ContextLengthError:
                near = []  # even these are too long: only batches are left
            else:
                if reply.passed:
                    return reply
        pieces = self._pieces.get(store, 1) if store is not None else 1
        while True:
            try:
                return await self._check_batches(build, schema, stage, _split(entries, pieces), near, store)
            except ContextLengthError:
                if pieces >= len(entries):
                    raise
                pieces = min(2 * pieces, len(entries))
                if store is not None:
                    # a fact of the same store need not find out again
                    self._pieces[store] = max(pieces, self._pieces.get(store, 1))

    async def _check_batches(
        self,
        build: Callable[[Sequence[Entry]], Messages],
        schema: type[E],
        stage: str,
        batches: Sequence[Sequence[Entry]],
        near: Sequence[Entry],
        store: Listing | None,
    ) -> E:
        """All batches until one passes; then, as a fact may be spread over several, what they named together."""
        replies: list[E] = []
        for batch in batches:

            async def ask(batch: Sequence[Entry] = batch) -> E:
                return await self._ask(build(batch), schema, stage, _numbers(batch))

            if batch is batches[0] and store is not None and _is_long(store):
                reply = await self._behind_first(store, ask)
            else:
                reply = await ask()
            if reply.passed:
                return reply
            replies.append(reply)
        if len(batches) > 1:
            named = {number for reply in replies for number in reply.entries} | _numbers(near)
            together = [entry for batch in batches for entry in batch if entry.number in named]
            if together:
                with suppress(ContextLengthError):  # every entry was shown; only the combined view would be missing
                    replies.insert(0, await self._ask(build(together), schema, stage, _numbers(together)))
        return max(replies, key=lambda reply: (reply.passed, reply.found))

    async def _behind_first(self, store: Listing, ask: Callable[[], Awaitable[T]]) -> T:
        """The first call that begins with a store goes alone: the others then find it in the provider's prompt cache."""
        warmed = self._warmed.get(store)
        if warmed is not None:
            await warmed.wait()
            return await ask()
        warmed = self._warmed[store] = asyncio.Event()
        try:
            return await ask()
        finally:
            warmed.set()

    # -- one call ----------------------------------------------------------------------------------------------------

    async def _ask(self, messages: Messages, schema: type[R], stage: str, shown: Iterable[int]) -> R:
        """The model's reply, asked for once more if it cannot be.

        Raises `ReplyError` if the second one cannot be either, and whatever the client raises.
        """
        numbers = frozenset(shown)
        problem: str | None = None
        for _ in range(ATTEMPTS):
            done = await self._client.ask(
                model=self.model,
                messages=messages,
                stage=stage,
                schema=schema,
                parameters=self._parameters,
                repeat=self._repeat,
            )
            reply = done.parsed
            assert isinstance(reply, schema)
            problem = problem_of(reply, numbers)
            if problem is None:
                return reply
            # the refused reply becomes part of the question, so that the response cache does not give it again
            messages = prompts.once_more(messages, done.text, problem)
        raise ReplyError(f"the judge {self.model} gave an impossible reply to the {stage} check twice: {problem}")


async def _shared(tasks: dict[Any, asyncio.Task[T]], key: Any, work: Callable[[], Awaitable[T]]) -> T:
    """The result of the work, done once per key; a failure is not kept."""
    task = tasks.get(key)
    if task is None:

        async def run() -> T:
            return await work()

        # a task of its own: whoever comes first may be cancelled, the others still need it
        task = tasks[key] = asyncio.get_running_loop().create_task(run())

        def done(task: asyncio.Task[T]) -> None:
            if task.cancelled() or task.exception() is not None:
                tasks.pop(key, None)

        task.add_done_callback(done)
    return await asyncio.shield(task)


def _shareable(evidence: Evidence) -> Evidence:
    """The evidence without what no prompt contains, so that questions about the same text share one check."""
    return replace(evidence, id="", conversation_id="", importance=1.0)


def _numbered(memories: Iterable[Memory]) -> list[Entry]:
    return [Entry(number, memory) for number, memory in enumerate(memories, 1)]


def _numbers(entries: Iterable[Entry]) -> set[int]:
    return {entry.number for entry in entries}


def _places(reply: EntriesReply) -> tuple[int, ...]:
    """The entries of a reply as indices, each once."""
    return tuple(dict.fromkeys(number - 1 for number in reply.entries))


def _result(reply: EntriesReply, *, passed: bool) -> StageResult:
    missing = () if passed else tuple(map(one_line, reply.lost))
    return StageResult("passed" if passed else "failed", one_line(reply.reason), _places(reply), missing=missing)


def _split(entries: Sequence[Entry], pieces: int) -> list[Sequence[Entry]]:
    """The entries in so many runs of about equal number."""
    size = -(-len(entries) // pieces)
    return [entries[at : at + size] for at in range(0, len(entries), size)]


def _is_long(store: Listing) -> bool:
    return sum(len(memory.text) for memory in store.memories) >= WARM_CHARACTERS
