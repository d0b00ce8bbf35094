"""The memory system of one store: open it, fill or restore it, list it, retrieve from it, close it."""

from __future__ import annotations

import asyncio
import inspect
import math
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import (
    MAX_K,
    SEARCHING,
    Conversation,
    Doubt,
    Listing,
    MemfailError,
    Memory,
    MemorySystemError,
    Message,
    StorePlan,
    SystemContext,
    TruncatedListingError,
    UsageError,
    WrongTypeError,
    abbreviated,
    find_origins,
    is_listed,
    listing_doubts,
    one_line,
    said_entries,
    text_doubts,
)
from pytest_memfail.hosting.calls import Captured, Lane, ModelCalls, called, guarded, is_async, raised_as
from pytest_memfail.hosting.listing import StoredTexts, memories_from, truncation_message, unlisted_sentinels
from pytest_memfail.hosting.resources import Resources
from pytest_memfail.hosting.retries import NOW, Retries, with_place
from pytest_memfail.hosting.shelf import Reuse, Segments, Shelf, finds_of

PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "store_conversation": ("conversation",),
    "retrieve_memories": ("query", "conversation", "k"),
    "get_all_memories": (),
    "flush": (),
    "settled": (),
    "close": (),
    "describe": (),
    "snapshot": ("path",),
    "restore": ("path",),
    "extracted_since": ("conversation",),
    "forget": ("text",),
}
"""The parameters of each method, required ones first."""
METHODS: Final = tuple(PARAMETERS)[:3]
"""The methods that every memory system must have."""
ASYNC_READS: Final = 8
ADVICE: Final = "keep everything below context.path, or under the name context.store_id, nothing in a class or a module"
SETTLE_WAITS: Final = (0.05, 1.0)
"""Seconds between two calls of `settled()`: at first, and at most."""
LATE_SECONDS: Final = 2.0
"""Seconds after which a server whose listing or search lacked something is asked again."""
QUERY_CHARACTERS: Final = 300
SEARCHED: Final = "retrieve_memories() of the store {} returns"


@dataclass(frozen=True, kw_only=True)
class HostedStore:
    """A store, and how the memory system that holds it is made."""

    id: str
    plan: StorePlan
    factory: Callable[..., Any]
    context: SystemContext
    shelf: Shelf | None = None
    """Where filled stores are kept for later runs; None to always fill this store."""
    models: ModelCalls | None = None
    """The model calls of this store's system; None if nobody watches them."""


@dataclass(slots=True)
class StoreReport:
    """The report on a store, complete when its last question is answered."""

    id: str
    task: str
    conversations: int = 0
    fill_seconds: float = 0.0
    restored: bool = False
    """Whether the store was restored from an earlier run instead of filled."""
    listings: tuple[Listing, ...] = ()
    """One per probe reached, in order."""
    extracted: tuple[Listing, ...] = ()
    """What the system said that the conversations before each probe added, in order."""
    tokens: int | None = None
    """Tokens of the last listing."""
    changed: tuple[int, int] = (0, 0)
    """Entries added and removed in a second listing after the last question: queries must not write."""
    late: int = 0
    """The number of added entries that contain text stored before the first question: the system stores in the background."""
    shared_with: str | None = None
    """The other store that the added entries came from; if set, the queries did not write them."""
    doubts: list[Doubt] = field(default_factory=list)
    described: Mapping[str, str] = field(default_factory=dict)
    captured: Captured = field(default_factory=Captured)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What the system returned for a query."""

    memories: tuple[Memory, ...]
    """At most k, unless the system shows everything."""
    cut: int
    """Entries beyond k."""
    seconds: float
    """How long the system itself took."""
    is_oldest_first: bool = False
    """Whether they come in the order of storing, so that a token limit drops the first."""


class OpenSystem:
    """A memory system and the lane on which it is called. Runs on the engine's loop."""

    def __init__(
        self, resources: Resources, job: HostedStore, report: StoreReport, texts: StoredTexts, attempt: int = 1
    ) -> None:
        self._resources, self._job, self._report, self._texts = resources, job, report, texts
        self._context = job.context
        if attempt > 1:  # a hung call may still write to the old path
            path = job.context.path.with_name(f"{job.context.path.name}-{attempt}")
            self._context = replace(job.context, path=path, store_id=f"{job.context.store_id}-{attempt}")
        self.lane = Lane(job.id, limits=resources.limits, outcomes=resources.outcomes, models=job.models)
        self._system: Any = None
        self._reuse: Reuse | None = None
        self._retries: Retries | None = None
        self._retries_other: Retries | None = None
        self._is_late = False
        self.extracted: dict[str, tuple[Memory, ...]] = {}
        """What the system says that each conversation added, by its id; empty if it cannot say so."""
        self.filled = 0.0
        """When the store was filled or restored, in seconds since the epoch."""
        self._known: frozenset[str] = frozenset()
        """The texts of the last listing."""
        self._searches, self._leaks = 0, 0
        self._parts = Counter[str]()
        """The entries shown whose ids are listed, by which of their two texts is only a part."""
        conversations = job.plan.read_conversations()
        self._numbers = {conversation.id: i for i, conversation in enumerate(conversations, 1)}
        self._judges_unlisted = bool(job.plan.beside) or any(conversation.forgets for conversation in conversations)
        self._other: Any = None
        """The store of the other user, if the plan has one."""

    @property
    def is_open(self) -> bool:
        """True between `open()` and `abandon()`."""
        return self._system is not None

    @property
    def concurrent_stores(self) -> int:
        """How many stores of this system may be open at once."""
        return int(getattr(self._system, "concurrent_stores", 2))

    async def open(self) -> None:
        """Create the system, and ask it to describe itself."""
        if self._context is not self._job.context:
            self._context.path.mkdir()
        context = replace(self._context, clock=lambda: NOW.get() or datetime.now(timezone.utc))
        lane, factory, shelf = self.lane, self._job.factory, self._job.shelf
        self._system = system = await open_system(lane, factory, context)
        self._report.described = described = await described_by(lane, system)
        beside = self._context.path.parent  # pytest removes what a killed run leaves here
        self._retries = Retries(lane, system, self._resources.pause, beside)
        if self._job.plan.beside:
            await self._open_other(context)
        elif shelf is not None:  # a kept store has not what the other user said
            self._reuse = Reuse(shelf, lane, system, factory, described, self._resources.pool, beside)

    async def _open_other(self, context: SystemContext) -> None:
        """Create the store of the other user; raise `MemorySystemError` for a system that allows only one open store."""
        if self.concurrent_stores < 2:
            raise MemorySystemError(
                "the system declares concurrent_stores = 1, and this task needs the stores of two users at once; leave the task out"
            )
        path = self._other_path
        path.mkdir()
        other = replace(context, path=path, store_id=f"{context.store_id}-other")
        self._other = await open_system(self.lane, self._job.factory, other)

    @property
    def _other_path(self) -> Path:
        return self._context.path.with_name(f"{self._context.path.name}-other")

    async def _fill_other(self) -> None:
        """Store what the other user says."""
        self._retries_other = retries = Retries(self.lane, self._other, self._resources.pause, self._other_path.parent)
        for conversation in self._job.plan.beside:
            await retries.store([conversation], lambda _: " (of the other user)")
        retries.drop()
        if callable(flush := getattr(self._other, "flush", None)):
            await self.lane.call("flush", flush)
        await self._settle(self._other)

    async def restored(self, segments: Segments, total: int) -> bool:
        """Restore a kept store of these conversations; return False if none is kept."""
        started = time.perf_counter()
        if self._reuse is None or not await self._reuse.restore(segments):
            return False
        self._resources.journal.fill_started(self._job.id)
        if self._retries is not None:
            self._retries.drop()
        self._searches_now(now=True)
        self._report.restored = True
        self._report.conversations = sum(map(len, segments))
        self._report.fill_seconds += time.perf_counter() - started
        self.filled = time.time()
        self._resources.on_progress(self._job.id, self._report.conversations, total)
        return True

    async def ingest(self, conversations: Sequence[Conversation], before: int, total: int) -> None:
        """Store conversations and flush; `before` of the `total` are stored already."""
        lane, retries, resources = self.lane, self._retries, self._resources
        assert retries is not None
        resources.journal.fill_started(self._job.id)
        self._searches_now(now=False)
        started = time.perf_counter()

        # the assistant's turns do not depend on the memory system: all are fetched ahead, and stored in order
        turns = [asyncio.ensure_future(self._with_turns(c)) for c in conversations] if resources.assistant_turns else []
        try:
            for start in range(0, len(conversations), lane.writes):
                batch = conversations[start : start + lane.writes]
                if turns:
                    batch = await asyncio.gather(*turns[start : start + lane.writes])
                await retries.store(batch, lambda failed: f" (conversation {self._numbers[failed.id]} of {total})")
                if start + len(batch) < len(conversations):
                    await self._extract(batch)
                self._report.conversations = before + start + len(batch)
                resources.on_progress(self._job.id, self._report.conversations, total)
        finally:
            for turn in turns:
                turn.cancel()
        if conversations:
            if callable(flush := getattr(self._system, "flush", None)):
                await lane.call("flush", flush)
                retries.drop()  # the system holds nothing back any more: the next snapshot starts from here
            await self._settle(self._system)
            await self._extract(batch)
        if self._other is not None and conversations and not before:
            await self._fill_other()
        self._searches_now(now=True)
        self._report.fill_seconds += time.perf_counter() - started
        self.filled = time.time()

    def _searches_now(self, *, now: bool) -> None:
        if self._job.models is not None:
            self._job.models.searches(now=now)

    async def _settle(self, system: Any) -> None:
        """Wait until a system says that it has stored everything, if it can say so."""
        if not callable(settled := getattr(system, "settled", None)):
            return
        wait, most = SETTLE_WAITS
        limit = self._resources.limits.store
        end = time.monotonic() + (limit or math.inf)
        while not await self.lane.call("settled", settled, read=bool):
            if time.monotonic() > end:
                raise MemorySystemError(
                    f"settled() of the store {self._job.id} was still false after {limit:g} s; see what the system still stores, or "
                    "set a longer --memfail-timeout"
                )
            await asyncio.sleep(wait)
            wait = min(2 * wait, most)

    async def _with_turns(self, conversation: Conversation) -> Conversation:
        """Return the conversation with an answer of the assistant after each message of the user, unless it has answers."""
        respond: Any = getattr(self._resources.test_taker, "respond", None)
        if respond is None or any(message.role == "assistant" for message in conversation.messages):
            return conversation
        messages: list[Message] = []
        for message in conversation.messages:
            messages.append(message)
            if message.role == "user":
                with raised_as(MemfailError, "the test-taker's respond()", outcomes=self._resources.outcomes):
                    said = await called(respond, conversation, messages, pool=None)
                messages.append(Message("assistant", str(said), message.timestamp))
        return replace(conversation, messages=tuple(messages))

    async def list_all(self, segments: Segments, *, is_last: bool = True) -> Listing:
        """List the system; check that the listing is not another store's and, at the last probe, that it is complete.

        `segments` holds what is stored.
        """
        self._texts.announce(self._job.id)
        listing = await self.read_listing(len(segments) - 1)
        if self._reuse is not None:
            await self._reuse.check(listing, self._finds)
        texts = [memory.text for memory in listing.memories]
        if (foreign := self._texts.of_another(self._job.id, texts, self._job.plan.read_all())) is not None:
            raise self._shared("get_all_memories() of the store {} lists", *foreign)
        self._known = frozenset(texts)
        await self._check_search()
        earlier = self._report.listings[-1] if self._report.listings else None
        held = [conversation for segment in segments for conversation in segment]
        origins = find_origins(listing.memories, held, self.extracted, earlier)
        listing = replace(listing, origins=origins, said=said_entries(listing.memories, held, origins))
        self._report.listings += (listing,)
        self._texts.listed(self._job.id, texts)
        unlisted = unlisted_sentinels(held if is_last else [], listing)
        self._is_late = bool(unlisted)
        for sentinel in unlisted:
            # a message and not the whole conversation, which may be longer than a query can be
            query = next((message.content for message in sentinel.messages if message.content.strip()), "")
            if not query:
                continue
            found = await self.retrieve(query, 5, "")
            for memory in found.memories:
                if not is_listed(memory, listing) and not self._may_show_unlisted:
                    raise TruncatedListingError(truncation_message(memory, listing))
        return listing

    def _shared(self, where: str, text: str, other: str) -> MemorySystemError:
        return MemorySystemError(
            f"{where.format(self._job.id)} {one_line(repr(text), 60)}, which was stored in the store {other}: the stores share "
            f"state; {isolation_advice(self._system)}"
        )

    async def _finds(self, listing: Listing) -> list[list[str]]:
        """Return what three of the listed texts find."""
        texts = sorted({memory.text for memory in listing.memories if memory.text.strip()})
        places = sorted({0, len(texts) // 2, len(texts) - 1}) if texts else []
        found = [await self.retrieve(texts[i][:QUERY_CHARACTERS], 5, "") for i in places]
        return [finds_of(each.memories[:5]) for each in found]

    async def _check_search(self) -> None:
        """Ask a store at a shared server for what another store holds.

        Raises `MemorySystemError` if it is found.
        """
        if not getattr(self._system, "remote", False):
            return
        for sentinel, other in self._texts.sentinels_of_others(self._job.id, self._job.plan.read_all()):
            if any(sentinel in memory.text for memory in (await self.retrieve(sentinel, 5, "")).memories):
                raise self._shared(SEARCHED, sentinel, other)

    async def _leak(self, memories: Sequence[Memory], listing: Listing) -> MemorySystemError | None:
        """Return the error if a search returned an entry of another store, or one that this store does not list."""
        new = [memory for memory in memories if memory.text not in self._known]
        if not new:
            return None
        texts = [memory.text for memory in new]
        if foreign := self._texts.of_another(self._job.id, texts, self._job.plan.read_all(), self._known):
            return self._shared(SEARCHED, *foreign)
        unlisted = [] if self._may_show_unlisted else [memory for memory in new if not is_listed(memory, listing)]
        if unlisted:  # they may have come since
            now = await self.read_listing()
            unlisted = [memory for memory in unlisted if not is_listed(memory, now)]
        if not unlisted:
            return None
        return MemorySystemError(
            f"{SEARCHED.format(self._job.id)} {one_line(repr(unlisted[0].text), 60)}, which get_all_memories() does not list: if "
            f"it is of another store, {isolation_advice(self._system)}; else list every entry, or set search_rewrites to true if "
            "a search returns other texts than the listing"
        )

    async def keep(self, segments: Segments, listing: Listing) -> None:
        """Keep the store for later runs if the run reuses stores."""
        if self._reuse is not None and self._retries is not None and not self._retries.refusals.any_seen:
            await self._reuse.keep(segments, listing, self._finds)

    @property
    def rewrites(self) -> bool:
        """Whether a search may return other texts than the listing."""
        return bool(getattr(self._system, "search_rewrites", False))

    @property
    def _may_show_unlisted(self) -> bool:
        """Whether the judge decides about entries that only a search returns: forgotten ones, or those of another user."""
        return self.rewrites or self._judges_unlisted

    @property
    def settles(self) -> bool:
        """Whether the system says when it has stored everything."""
        return hasattr(self._system, "settled")

    @property
    def extracts(self) -> bool:
        """Whether the system says what each conversation added."""
        return callable(getattr(self._system, "extracted_since", None))

    async def wait_for_late_entries(self, *, is_lacking: bool) -> None:
        """Wait a moment if a server's listing or search lacked stored text: it may store in the background."""
        if (self._is_late or is_lacking) and getattr(self._system, "remote", False) and not self.settles:
            await asyncio.sleep(min(LATE_SECONDS, max(0.0, self.filled + LATE_SECONDS - time.time())))

    async def read_listing(self, number: int = 0) -> Listing:
        """List the system without checks; `number` is that of the probe."""
        found = await self._memories("get_all_memories", self._system.get_all_memories)
        return Listing(self._job.id, found, number)

    async def _memories(self, method: str, fn: Callable[..., Any], *args: Any) -> tuple[Memory, ...]:
        found: tuple[Memory, ...] = await self.lane.call(method, fn, *args, read=self._reader(method))
        return found

    def _reader(self, method: str) -> Callable[[object], tuple[Memory, ...]]:
        return lambda found: memories_from(found, method, self._resources.outcomes)

    async def _extract(self, conversations: Sequence[Conversation]) -> None:
        """Ask the system what these conversations, stored last, added, if it can say so."""
        for one in conversations if self.extracts else ():
            if not one.forgets:
                self.extracted[one.id] = await self._memories("extracted_since", self._system.extracted_since, one)

    def added_by(self, conversation: Conversation, before: Listing | None, after: Listing) -> tuple[Memory, ...]:
        """Return what a conversation added: as reported by the system, or else as the change of its listing.

        A restored system did not store the conversation itself, so it cannot say. An entry whose text changed is an
        added one.
        """
        if conversation.id in self.extracted:
            return self.extracted[conversation.id]
        known = Counter(memory.text for memory in (before.memories if before is not None else ()))
        return tuple(m for m in after.memories if not known[m.text] or known.subtract([m.text]))

    async def retrieve(
        self, query: str, k: int, about: str, asked_at: datetime | None = None, listing: Listing | None = None
    ) -> Retrieved:
        """Retrieve the memories for a query; `about` names the question in error messages.

        Raises `MemorySystemError` for an entry that the `listing`, if given, does not hold.
        """
        conversation = Conversation(f"{self._context.store_id}-query", (), asked_at)
        method = self._system.retrieve_memories
        token = SEARCHING.set(True)
        try:
            memories, seconds = await self.lane.read(
                "retrieve_memories", method, query, conversation, k, read=self._reader("retrieve_memories")
            )
            if listing is not None:
                self._searches += 1
                self._parts.update(() if self.rewrites else abbreviated(memories, listing))
                if (leak := await self._leak(memories, listing)) is not None:
                    self._leaks += 1
                    raise leak
        except MemorySystemError as error:
            raise with_place(error, about) from error.__cause__
        finally:
            SEARCHING.reset(token)
        shown = memories if getattr(self._system, "unlimited_k", False) else memories[:k]
        return Retrieved(shown, len(memories) - len(shown), seconds, bool(getattr(self._system, "oldest_first", False)))

    async def close(self) -> None:
        """Call the system's `close()` if it has one."""
        report = self._report
        refusals = [one.refusals for one in (self._retries, self._retries_other) if one is not None]
        report.doubts += [doubt for one in refusals for doubt in one.doubts]
        if refusals:
            was_refused = any(one.any_seen for one in refusals)
            listings, stored = (*report.listings, *report.extracted), 0 if was_refused else report.conversations
            found = listing_doubts(self._system, listings, stored, self._parts)
            report.doubts += [doubt for doubt in (*found, *text_doubts(listings)) if doubt.of]
        for system in (self._other, self._system):
            if callable(close := getattr(system, "close", None)):
                await self.lane.call("close", close)

    def abandon(self) -> None:
        """Drop the system, and remove the files made for it."""
        if self._leaks:
            text = "searches returned entries of other stores, or entries that are not listed"
            self._report.doubts.append(Doubt("leaks", text, self._leaks, self._searches, "question", 0.0))
        self._system = self._other = None
        self._texts.forget(self._job.id)
        if self._reuse is not None:
            self._reuse.close()
        if self._retries is not None:
            self._retries.drop()
        self.lane.stop()
        if self._job.plan.beside:
            shutil.rmtree(self._other_path, ignore_errors=True)
        if self._context is not self._job.context:
            shutil.rmtree(self._context.path, ignore_errors=True)


# -- opening ---------------------------------------------------------------------------------------------------------


async def open_system(lane: Lane, factory: Callable[..., Any], context: SystemContext) -> Any:
    """Create a fresh system on the lane, and widen the lane as the system declares.

    Raises `MemorySystemError` if the factory fails, and `WrongTypeError` if it returns no memory system, or one whose
    methods take other arguments.
    """
    signature = _signature(factory)
    takes_context = signature is None or any(
        p.kind not in (p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in signature.parameters.values()
    )
    arguments = [context] if takes_context else []
    system, widths = await lane.call("the factory", factory, *arguments, read=lambda system: (system, _widths(system)))
    lane.widen(*widths)
    return system


async def described_by(lane: Lane, system: Any) -> dict[str, str]:
    """Return the texts of the system's `describe()`; an empty mapping if it has no such method."""
    if not callable(describe := getattr(system, "describe", None)):
        return {}
    described: dict[str, str] = await lane.call("describe", describe, read=_description)
    return described


def _description(found: object) -> dict[str, str]:
    if not isinstance(found, Mapping):
        raise WrongTypeError(f"describe() returned {type(found).__name__}; expected a mapping of names to texts")
    with raised_as(MemorySystemError, "reading what describe() returned"):
        return guarded(lambda: {str(key): str(value) for key, value in islice(found.items(), MAX_K)})


def isolation_advice(system: object) -> str:
    """Return what an error about shared state tells the maker of a system to do."""
    return str(getattr(system, "isolation_advice", ADVICE))


def check_factory(factory: Callable[..., Any], option: str) -> None:
    """Raise `UsageError` for a factory that can be called neither with a context nor without."""
    signature = _signature(factory)
    if signature is not None and not any(_fits(signature, args) for args in ((None,), ())):
        name = getattr(factory, "__name__", type(factory).__name__)
        raise UsageError(f"{option}: got the factory {name}{signature}; expected one of {name}(context) or {name}()")


def _signature(fn: Callable[..., Any]) -> inspect.Signature | None:
    """Return a callable's signature; None for a builtin without one."""
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):
        return None


def _fits(signature: inspect.Signature, args: tuple[Any, ...]) -> bool:
    try:
        signature.bind(*args)
    except TypeError:
        return False
    return True


def _widths(system: Any) -> tuple[int, int]:
    """Return how many concurrent reads and writes a system declares; raise `WrongTypeError` if it is no memory system."""
    kind = type(system).__name__
    with raised_as(MemorySystemError, f"looking at what the factory returned ({kind})"):
        return guarded(_declared, system, kind)


def _declared(system: Any, kind: str) -> tuple[int, int]:
    if missing := [name for name in METHODS if not callable(getattr(system, name, None))]:
        raise WrongTypeError(
            f"the factory returned {kind}, which has no {'(), '.join(missing)}(); "
            f"expected a memory system with {'(), '.join(METHODS)}()"
        )
    for name, parameters in PARAMETERS.items():
        method = getattr(system, name, None)
        signature = _signature(method) if callable(method) else None
        if signature is not None and not _fits(signature, parameters):
            raise WrongTypeError(
                f"{kind}.{name}{signature} cannot be called with {len(parameters)} arguments; "
                f"expected {name}({', '.join(parameters)})"
            )
    _at_least(1, system, "concurrent_stores", 2)
    _at_least(0, system, "retries", 0)
    default = ASYNC_READS if is_async(system.retrieve_memories) else 1
    return _at_least(1, system, "concurrent_reads", default), _at_least(1, system, "concurrent_writes", 1)


def _at_least(least: int, system: object, name: str, default: int) -> int:
    value = getattr(system, name, default)
    if not isinstance(value, int) or value < least:
        raise WrongTypeError(f"the system's {name} is {value!r}; expected a whole number of at least {least}")
    return value
