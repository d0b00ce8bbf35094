"""The memory system of one store: open it, fill or restore it, list it, retrieve from it, close it."""

from __future__ import annotations

import asyncio
import inspect
import math
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_memfail.core import (
    Conversation,
    Evidence,
    Listing,
    MemfailError,
    Memory,
    MemorySystemError,
    Message,
    Question,
    StorePlan,
    SystemContext,
    TimedOutError,
    TruncatedListingError,
    UsageError,
    WrongTypeError,
    one_line,
)
from pytest_memfail.engine.calls import Captured, Lane, Resources, called, guarded, is_async, raised_as
from pytest_memfail.engine.grade import Needed
from pytest_memfail.engine.shelf import Reuse, Segments, Shelf

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
}
"""The parameters of each method, required ones first."""
METHODS: Final = tuple(PARAMETERS)[:3]
"""The methods that every memory system must have."""
ASYNC_READS: Final = 8
TEXT_NAMES: Final = ("text", "memory", "content", "page_content")
TIME_NAMES: Final = ("timestamp", "created_at")
EXPECTED: Final = "expected a list of strings, of mappings with a 'text', or of objects with a .text"
SAME: Final = 0.8
"""Share of an entry's words that another must contain to count as the same entry with a prefix or changed punctuation."""
LEAST_CHARACTERS: Final = 20
"""Shorter texts may be alike by chance."""
ADVICE: Final = "keep everything below context.path, or under the name context.store_id, nothing in a class or a module"
RETRIES: Final = 2
"""Default number of retries for storing a conversation; a system's `retries` overrides it."""
FIRST_WAIT: Final = 1.0
"""Seconds before the first retry."""
BACKOFF: Final = 4.0
"""Factor by which each further wait grows."""
SNAPSHOT_SHARE: Final = 0.1
"""Snapshots take at most about this share of the time that storing takes."""
SETTLE_WAITS: Final = (0.05, 1.0)
"""Seconds between two calls of `settled()`: at first, and at most."""
LATE_SECONDS: Final = 2.0
"""How long after its listing a server that lacks something is listed again."""
NOW: Final[ContextVar[datetime | None]] = ContextVar("memfail_now", default=None)
"""The time of the conversation being stored; several may be stored at once."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question at one k; the key is unique within the run."""

    key: str
    question: Question
    k: int


@dataclass(frozen=True)
class StoreJob:
    """A store to fill, and its selected questions in the order in which the caller waits for them."""

    id: str
    task: str
    plan: StorePlan
    evidence: Mapping[str, Evidence]
    factory: Callable[..., Any]
    context: SystemContext
    asks: tuple[Ask, ...]
    suspects: frozenset[str] = frozenset()
    """Keys that were in flight when a process died. They are asked only when waited for, and alone."""
    shelf: Shelf | None = None
    """Where filled stores are kept for later runs; None to always fill this store."""
    known: Mapping[tuple[str, int], Needed] = field(default_factory=dict)
    """Outcomes of questions in an earlier run, by id and k. A needed question with a known outcome is not asked again."""


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
    tokens: int | None = None
    """Tokens of the last listing."""
    changed: tuple[int, int] = (0, 0)
    """Entries added and removed in a second listing after the last question: queries must not write."""
    late: int = 0
    """Those of the added entries that hold what was stored before the first question: the system stores in the background."""
    shared_with: str | None = None
    """The other store that the added entries came from; if set, the queries did not write them."""
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


class OpenSystem:
    """A memory system and the lane on which it is called. Runs on the engine's loop."""

    def __init__(
        self, resources: Resources, job: StoreJob, report: StoreReport, texts: StoredTexts, attempt: int = 1
    ) -> None:
        self._resources, self._job, self._report, self._texts = resources, job, report, texts
        self._context = job.context
        if attempt > 1:  # a hung call may still write to the old path
            path = job.context.path.with_name(f"{job.context.path.name}-{attempt}")
            self._context = replace(job.context, path=path, store_id=f"{job.context.store_id}-{attempt}")
        self.lane = Lane(job.id, limits=resources.limits, outcomes=resources.outcomes)
        self._system: Any = None
        self._reuse: Reuse | None = None
        self._retries: Retries | None = None
        self._late_until = 0.0
        self._numbers = {conversation.id: i for i, conversation in enumerate(job.plan.conversations, 1)}

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
        self._retries = Retries(lane, system, self._resources.pause)
        if shelf is not None:
            self._reuse = Reuse(shelf, lane, system, factory, described, self._resources.pool)

    async def restored(self, segments: Segments, total: int) -> bool:
        """Restore a kept store of these conversations; return False if none is kept."""
        started = time.perf_counter()
        if self._reuse is None or not await self._reuse.restore(segments):
            return False
        self._resources.journal.fill_started(self._job.id)
        if self._retries is not None:
            self._retries.drop()
        self._report.restored = True
        self._report.conversations = sum(map(len, segments))
        self._report.fill_seconds += time.perf_counter() - started
        self._resources.on_progress(self._job.id, self._report.conversations, total)
        return True

    async def ingest(self, conversations: Sequence[Conversation], before: int, total: int) -> None:
        """Store conversations and flush; `before` of the `total` are stored already."""
        lane, retries, resources = self.lane, self._retries, self._resources
        assert retries is not None
        resources.journal.fill_started(self._job.id)
        started = time.perf_counter()

        # the assistant's turns do not depend on the memory system: all are fetched ahead, and stored in order
        turns = [asyncio.ensure_future(self._with_turns(c)) for c in conversations] if resources.assistant_turns else []
        try:
            for start in range(0, len(conversations), lane.writes):
                batch = conversations[start : start + lane.writes]
                if turns:
                    batch = await asyncio.gather(*turns[start : start + lane.writes])
                await retries.store(batch, lambda failed: f" (conversation {self._numbers[failed.id]} of {total})")
                self._report.conversations = before + start + len(batch)
                resources.on_progress(self._job.id, self._report.conversations, total)
        finally:
            for turn in turns:
                turn.cancel()
        if conversations and callable(flush := getattr(self._system, "flush", None)):
            await lane.call("flush", flush)
            retries.drop()  # the system holds nothing back any more: the next snapshot starts from here
        if conversations:
            await self._settle()
        self._report.fill_seconds += time.perf_counter() - started

    async def _settle(self) -> None:
        """Wait until the system says that it has stored everything, if it can say so."""
        if not callable(settled := getattr(self._system, "settled", None)):
            return
        wait, most = SETTLE_WAITS
        limit = self._resources.limits.store
        end = time.monotonic() + (limit or math.inf)
        while not await self.lane.call("settled", settled):
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

    async def list_all(self, segments: Segments) -> Listing:
        """List the system; check that the listing is complete and not another store's. `segments` holds what is stored."""
        listing = await self.read_listing(len(segments) - 1)
        if self._reuse is not None:
            self._reuse.check(listing)
        texts = [memory.text for memory in listing.memories]
        if (foreign := self._texts.of_another(self._job.id, texts, self._job.plan.conversations)) is not None:
            text, other = foreign
            raise MemorySystemError(
                f"get_all_memories() of the store {listing.store_id} lists {one_line(repr(text), 60)}, which was stored in the "
                f"store {other}: the stores share state; {ADVICE}"
            )
        await self._check_search()
        self._report.listings += (listing,)
        self._texts.listed(self._job.id, texts)
        unlisted = unlisted_sentinels([conversation for segment in segments for conversation in segment], listing)
        if unlisted and getattr(self._system, "remote", False) and not hasattr(self._system, "settled"):
            self._late_until = time.monotonic() + LATE_SECONDS
        for sentinel in unlisted:
            found = await self.retrieve(sentinel.text, 5, "")
            for memory in found.memories:
                if not is_listed(memory, listing):
                    raise TruncatedListingError(truncation_message(memory, listing))
        return listing

    async def _check_search(self) -> None:
        """Ask a store at a shared server for what another store holds.

        Raises `MemorySystemError` if it is found.
        """
        if not getattr(self._system, "remote", False):
            return
        if (found := self._texts.sentinel_of_another(self._job.id, self._job.plan.conversations)) is None:
            return
        sentinel, other = found
        if any(sentinel in memory.text for memory in (await self.retrieve(sentinel, 5, "")).memories):
            raise MemorySystemError(
                f"retrieve_memories() of the store {self._job.id} returns {one_line(repr(sentinel), 60)}, which was stored in the "
                f"store {other}: the stores share state; {ADVICE}"
            )

    async def keep(self, segments: Segments, listing: Listing) -> None:
        """Keep the store for later runs if the run reuses stores."""
        if self._reuse is not None:
            await self._reuse.keep(segments, listing)

    async def wait_for_late_entries(self) -> None:
        """Wait a moment if a server lacked what was stored: it may store in the background, which is worth a warning."""
        await asyncio.sleep(max(0.0, self._late_until - time.monotonic()))

    async def read_listing(self, number: int = 0) -> Listing:
        """List the system without checks; `number` is that of the probe."""
        found = await self.lane.call("get_all_memories", self._system.get_all_memories)
        return Listing(self._job.id, memories_from(found, "get_all_memories"), number)

    async def added_by(
        self, conversation: Conversation, before: Listing | None, after: Listing, *, is_restored: bool
    ) -> tuple[Memory, ...]:
        """Return what a conversation added: as the system says or, if it says nothing, as its listing changed.

        A restored system did not store the conversation itself, so it is not asked. An entry whose text changed is an
        added one.
        """
        if callable(extracted := getattr(self._system, "extracted_since", None)) and not is_restored:
            return memories_from(await self.lane.call("extracted_since", extracted, conversation), "extracted_since")
        known = Counter(memory.text for memory in (before.memories if before is not None else ()))
        added = []
        for memory in after.memories:
            if known[memory.text]:
                known[memory.text] -= 1
            else:
                added.append(memory)
        return tuple(added)

    async def retrieve(self, query: str, k: int, about: str, asked_at: datetime | None = None) -> Retrieved:
        """Retrieve the memories for a query; `about` names the question in error messages."""
        conversation = Conversation(f"{self._context.store_id}-query", (), asked_at)
        method = self._system.retrieve_memories
        try:
            found, seconds = await self.lane.read("retrieve_memories", method, query, conversation, k)
        except MemorySystemError as error:
            raise _with_place(error, about) from error.__cause__
        memories = memories_from(found, "retrieve_memories", about)
        shown = memories if getattr(self._system, "unlimited_k", False) else memories[:k]
        return Retrieved(shown, len(memories) - len(shown), seconds)

    async def close(self) -> None:
        """Call the system's `close()` if it has one."""
        if callable(close := getattr(self._system, "close", None)):
            await self.lane.call("close", close)

    def abandon(self) -> None:
        """Drop the system, and remove the files made for it."""
        self._system = None
        self._texts.forget(self._job.id)
        if self._reuse is not None:
            self._reuse.close()
        if self._retries is not None:
            self._retries.drop()
        self.lane.stop()
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
    system = await lane.call("the factory", factory, *([context] if takes_context else []))
    with raised_as(MemorySystemError, f"looking at what the factory returned ({type(system).__name__})"):
        reads, writes = guarded(_widths, system)
    lane.widen(reads, writes)
    return system


async def described_by(lane: Lane, system: Any) -> dict[str, str]:
    """Return the texts of the system's `describe()`; an empty mapping if it has no such method."""
    if not callable(describe := getattr(system, "describe", None)):
        return {}
    found = await lane.call("describe", describe)
    if not isinstance(found, Mapping):
        raise WrongTypeError(f"describe() returned {type(found).__name__}; expected a mapping of names to texts")
    with raised_as(MemorySystemError, "reading what describe() returned"):
        return guarded(lambda: {str(key): str(value) for key, value in found.items()})


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


# -- storing ---------------------------------------------------------------------------------------------------------


_Failures: TypeAlias = list[tuple[Conversation, MemorySystemError]]


class Retries:
    """Store batches of conversations in one system, and retry after an error if the system declares that this is safe.

    An idempotent system simply stores a conversation again. A system with `snapshot()` and `restore()` first returns to
    its last snapshot, then stores everything since again, so a call that failed halfway leaves nothing behind.
    """

    def __init__(self, lane: Lane, system: Any, pause: Callable[[float], Awaitable[None]]) -> None:
        self._lane, self._system, self._pause = lane, system, pause
        self._retries = int(getattr(system, "retries", RETRIES))
        self._idempotent = bool(getattr(system, "idempotent", False))
        has_snapshots = all(callable(getattr(system, method, None)) for method in ("snapshot", "restore"))
        self._snapshots = has_snapshots and not self._idempotent
        # a snapshot may lack what a system holds back until it is flushed
        self._between = not callable(getattr(system, "flush", None))
        self._folder: Path | None = None
        self._fault = ""
        self._since: list[Sequence[Conversation]] = []
        self._seconds = self._cost = 0.0

    async def store(self, batch: Sequence[Conversation], place: Callable[[Conversation], str]) -> None:
        """Store conversations concurrently, and retry after an error if that is safe.

        Raises `MemorySystemError` saying which conversation failed (`place`), and how often it was retried or why not.
        """
        if self._is_due():
            await self._snapshot()
        began = time.perf_counter()
        failures = await self._try(batch)
        retries = self._retries if self._idempotent or self._folder is not None else 0
        for i in range(retries):
            if not failures or _is_final(failures[0][1]):
                break
            await self._pause(FIRST_WAIT * BACKOFF**i)
            failures = await self._again(batch, failures)
        if failures:
            conversation, error = failures[0]
            note = "" if _is_final(error) else self._note(retries)
            raise _with_place(error, f"{note}{place(conversation)}") from error.__cause__
        self._seconds += time.perf_counter() - began
        if self._snapshots:
            self._since.append(batch)

    def drop(self) -> None:
        """Remove the snapshot: the system was flushed, restored or closed, or has a newer snapshot."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
        self._since.clear()

    def _note(self, tried: int) -> str:
        if tried:
            return f", also in {tried} {'retry' if tried == 1 else 'retries'}"
        if self._retries == 0:
            return ", not retried: its retries are 0"
        if self._snapshots:
            return f", not retried: {self._fault or 'snapshot() has written nothing'}"
        return ", not retried: the system is not declared idempotent and has no snapshot() and restore()"

    async def _try(self, batch: Sequence[Conversation]) -> _Failures:
        """Store a batch; return the failures that may be retried, or a single final one.

        Raises any error that is not a `MemorySystemError`.
        """
        found = await asyncio.gather(*map(self._store, batch), return_exceptions=True)
        failures: _Failures = []
        for conversation, error in zip(batch, found, strict=True):
            if error is None:
                continue
            if not isinstance(error, MemorySystemError):  # our own (a used-up budget), or a skip of the test runner
                raise error
            if _is_final(error):
                return [(conversation, error)]
            failures.append((conversation, error))
        return failures

    async def _store(self, conversation: Conversation) -> None:
        NOW.set(conversation.timestamp)  # in the task of this conversation alone
        await self._lane.call("store_conversation", self._system.store_conversation, conversation)

    async def _again(self, batch: Sequence[Conversation], failures: _Failures) -> _Failures:
        if self._idempotent:
            return await self._try([conversation for conversation, _ in failures])
        assert self._folder is not None
        await self._lane.call("restore", self._system.restore, self._folder)
        for each in (*self._since, batch):
            if found := await self._try(each):
                return found
        return []

    def _is_due(self) -> bool:
        if not self._snapshots or self._retries == 0 or self._fault:
            return False
        if not self._since:
            return True  # at the beginning, and after each flush
        return self._between and (self._folder is None or self._seconds * SNAPSHOT_SHARE >= self._cost)

    async def _snapshot(self) -> None:
        """Take a snapshot of the system; report an error only if the snapshot would be needed."""
        folder = Path(tempfile.mkdtemp(prefix="memfail-retry-"))
        began = time.perf_counter()
        try:
            await self._lane.call("snapshot", self._system.snapshot, folder)
            if any(folder.iterdir()):
                self.drop()
                self._folder = folder
        except MemorySystemError as error:
            if isinstance(error, TimedOutError):
                raise
            self._fault = str(error)
        finally:
            self._cost, self._seconds = time.perf_counter() - began, 0.0
            if folder != self._folder:
                shutil.rmtree(folder, ignore_errors=True)


def _is_final(error: MemorySystemError) -> bool:
    """Return whether a retry is pointless: after a hung call, or for an error that the adapter itself raised."""
    return isinstance(error, TimedOutError) or error.__cause__ is None


def _with_place(error: MemorySystemError, place: str) -> MemorySystemError:
    """Return the error with the place added to its message."""
    kind = TimedOutError if isinstance(error, TimedOutError) else MemorySystemError
    return kind(f"{error}{place}")


# -- listing ---------------------------------------------------------------------------------------------------------


class StoredTexts:
    """Track the texts of all stores of a process, to detect stores that share state.

    Typical causes are a class attribute, a global, or a file or collection with a fixed name.
    """

    def __init__(self) -> None:
        self._stores: dict[int, set[str]] = {}
        """By the hash of a text: the texts themselves are dropped with their store."""
        self._listed: dict[str, set[str]] = {}
        self._longest: dict[str, str] = {}

    def add(self, store: str, conversations: Iterable[Conversation]) -> None:
        """Record the texts that will be stored in a store."""
        for conversation in conversations:
            for message in conversation.messages:
                if len(message.content) >= LEAST_CHARACTERS:
                    self._stores.setdefault(hash(message.content), set()).add(store)
                    if len(message.content) > len(self._longest.get(store, "")):
                        self._longest[store] = message.content

    def listed(self, store: str, texts: Iterable[str]) -> None:
        """Record the texts that an open store lists."""
        self._listed[store] = set(texts)

    def forget(self, store: str) -> None:
        """Forget the listing of a closed store."""
        self._listed.pop(store, None)

    def of_another(self, store: str, texts: Sequence[str], own: Sequence[Conversation] = ()) -> tuple[str, str] | None:
        """Return the first text that belongs to another store and not to this one, with that store; None without one.

        `own` is what is stored in this one.
        """
        for text in texts:
            stores = self._stores.get(hash(text))
            if stores is not None and store not in stores:
                return text, min(stores)
        for other, sentinel in self._longest.items():  # within an entry, beside a role or a time
            if other != store and any(sentinel in text for text in texts) and not holds(own, sentinel):
                return sentinel, other
        return None

    def sentinel_of_another(self, store: str, own: Sequence[Conversation]) -> tuple[str, str] | None:
        """Return a text that another open store holds and this one does not, with that store, the last that was listed."""
        others = [other for other in reversed(self._listed) if other != store and other in self._longest]
        return next(((text, other) for other in others if not holds(own, text := self._longest[other])), None)

    def source_of(self, store: str, texts: Sequence[str], own: Sequence[Conversation] = ()) -> str | None:
        """Return the other store that this store's new texts came from; None if unknown."""
        if (found := self.of_another(store, texts, own)) is not None:
            return found[1]
        for other, listed in self._listed.items():
            if other != store and 2 * sum(text in listed for text in texts) > len(texts):
                return other
        return None


def holds(conversations: Iterable[Conversation], text: str) -> bool:
    """Return whether a message of the conversations holds a text."""
    return any(text in message.content for conversation in conversations for message in conversation.messages)


def late_entries(conversations: Iterable[Conversation], texts: Sequence[str]) -> int:
    """Return how many of the texts hold a message of the conversations."""
    own = [m.content for c in conversations for m in c.messages if len(m.content) >= LEAST_CHARACTERS]
    return sum(any(message in text for message in own) for text in texts)


def unlisted_sentinels(conversations: Sequence[Conversation], listing: Listing) -> list[Conversation]:
    """Return those of the first, middle and last stored conversations that no entry of the listing seems to hold.

    A listing cut to a page misses at least two of them. The check costs nothing for most systems, and writes nothing.
    """
    if not conversations:
        return []
    last = len(conversations) - 1
    sentinels = [conversations[i] for i in sorted({0, last // 2, last})]
    texts = {memory.text for memory in listing.memories}
    return [c for c in sentinels if not any(m.content in texts for m in c.messages) and not _visible(c.text, listing)]


def is_listed(memory: Memory, listing: Listing) -> bool:
    """Return whether the listing holds a retrieved entry: by id, by text, or by most of its words (systems add prefixes)."""
    if memory.id is not None and any(other.id == memory.id for other in listing.memories):
        return True
    return any(memory.text == other.text for other in listing.memories) or _visible(memory.text, listing)


def truncation_message(memory: Memory, listing: Listing) -> str:
    """Return the error message for a listing that leaves out a retrieved entry."""
    return (
        f"get_all_memories() lists {len(listing.memories)} entries and leaves out one that retrieve_memories() returns "
        f"({one_line(repr(memory.text), 80)}): return every entry, not a page (default page sizes of 10 or 20 are common); or it "
        "came late: offer settled() if the system stores in the background"
    )


def changes(before: Listing, after: Listing) -> tuple[int, int]:
    """Return how many entries the second listing adds, and how many it lacks."""
    first, second = (Counter(memory.text for memory in listing.memories) for listing in (before, after))
    return (second - first).total(), (first - second).total()


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _visible(text: str, listing: Listing) -> bool:
    wanted = _words(text)
    need = SAME * len(wanted)
    return bool(wanted) and any(len(wanted & _words(memory.text)) >= need for memory in listing.memories)


# -- normalising -----------------------------------------------------------------------------------------------------


def memories_from(value: object, method: str, about: str = "") -> tuple[Memory, ...]:
    """Convert the value that `method` returned to memories; `about` names the question in error messages.

    Raises `WrongTypeError` naming the method, the type got and the type expected, and `MemorySystemError` if an entry
    raises while it is read.
    """
    with raised_as(MemorySystemError, f"reading what {method}() returned", about):
        return guarded(_memories, value, method, about)


def _memories(value: object, method: str, about: str) -> tuple[Memory, ...]:
    if value is None or isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise WrongTypeError(f"{method}() returned {_kind(value)}; {EXPECTED}{about}")
    return tuple(_memory(entry, i, method, about) for i, entry in enumerate(value))


def _memory(entry: object, i: int, method: str, about: str) -> Memory:
    if isinstance(entry, str):
        return Memory(entry)

    def get(*names: str) -> Any:
        """Return the first of these fields that the entry has; None if it has none."""
        values = (entry.get(name) if isinstance(entry, Mapping) else getattr(entry, name, None) for name in names)
        return next((value for value in values if value is not None), None)

    text = get(*TEXT_NAMES)
    if not isinstance(text, str):
        what = _kind(entry) if text is None else f"an entry whose text is {_kind(text)}"
        raise WrongTypeError(f"{method}() returned {what} at index {i}; {EXPECTED}{about}")
    identity, score, metadata, when = get("id"), get("score"), get("metadata"), get(*TIME_NAMES)
    return Memory(
        text,
        None if identity is None else str(identity),
        _score(score, i, method, about),
        when.isoformat() if isinstance(when, datetime) else None if when is None else str(when),
        {str(k): str(v) for k, v in metadata.items()} if isinstance(metadata, Mapping) else {},
    )


def _score(score: Any, i: int, method: str, about: str) -> float | None:
    if score is None:
        return None
    try:
        number = float(score)  # numpy's scalars too
    except (TypeError, ValueError, OverflowError):
        raise WrongTypeError(
            f"{method}() returned the score {one_line(repr(score), 40)} at index {i}; expected a number (higher is better) "
            f"or None{about}"
        ) from None
    # a score that is not finite counts as no score: it ranks nothing, and JSON cannot hold it
    return number if math.isfinite(number) else None


def _kind(value: object) -> str:
    name = type(value).__qualname__
    return name if value is None or name == "coroutine" else f"{name} {one_line(repr(value), 60)}"
