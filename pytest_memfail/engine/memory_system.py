"""The memory system of one store: opened, filled or restored, listed, asked for memories, closed."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from pytest_memfail.core import (
    Conversation,
    Listing,
    MemfailError,
    Memory,
    MemorySystemError,
    Message,
    TimedOutError,
    TruncatedListingError,
)
from pytest_memfail.engine import listing as listings
from pytest_memfail.engine.calls import Lane, called, raised_as
from pytest_memfail.engine.jobs import StoreJob, StoreReport
from pytest_memfail.engine.normalise import memories_from
from pytest_memfail.engine.opening import described_by, open_system
from pytest_memfail.engine.retrying import NOW, Retries
from pytest_memfail.engine.reuse import Reuse
from pytest_memfail.engine.sharing import sharing_message

if TYPE_CHECKING:
    from pytest_memfail.engine.engine import Engine


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

    def __init__(self, engine: Engine, job: StoreJob, report: StoreReport, attempt: int = 1) -> None:
        self._engine = engine
        self._job = job
        self._report = report
        self._context = job.context
        if attempt > 1:  # what a hung call may still write must not be in the way
            path = job.context.path.with_name(f"{job.context.path.name}-{attempt}")
            self._context = replace(job.context, path=path, store_id=f"{job.context.store_id}-{attempt}")
        self._lane = Lane(job.id, limits=engine.limits, outcomes=engine.outcomes)
        self._system: Any = None
        self._reuse: Reuse | None = None
        self._retries: Retries | None = None
        self._numbers = {conversation.id: i for i, conversation in enumerate(job.plan.conversations, 1)}

    @property
    def is_open(self) -> bool:
        """Whether it was opened, and not let go of since."""
        return self._system is not None

    @property
    def is_busy(self) -> bool:
        """Whether a call of it is under way."""
        return self._lane.is_busy

    @property
    def is_hung(self) -> bool:
        """Whether a sync call did not return: nothing more can be asked of it."""
        return self._lane.is_hung

    @property
    def is_reusable(self) -> bool:
        """Whether what is stored is kept for later runs."""
        return self._reuse is not None

    @property
    def concurrent_stores(self) -> int:
        """How many stores of this system may be open at once."""
        return int(getattr(self._system, "concurrent_stores", 2))

    async def open(self) -> None:
        """Make the system, and ask it to describe itself."""
        lane = self._lane
        if self._context is not self._job.context:
            self._context.path.mkdir()
        context = replace(self._context, clock=self._now)
        self._system = await open_system(lane, self._job.factory, context)
        self._report.described = await described_by(lane, self._system)
        self._retries = Retries(lane, self._system, self._engine.pause)
        if (shelf := self._job.shelf) is not None:
            described = self._report.described
            self._reuse = Reuse(shelf, lane, self._system, self._job.factory, described, self._engine.pool)

    def _now(self) -> datetime:
        return NOW.get() or datetime.now(timezone.utc)

    async def restored(self, segments: Sequence[Sequence[Conversation]], total: int) -> bool:
        """Whether the system holds these conversations without their being stored."""
        started = time.perf_counter()
        if self._reuse is None or not await self._reuse.restore(segments):
            return False
        self._engine.journal.fill_started(self._job.id)
        if self._retries is not None:
            self._retries.drop()
        self._report.restored = True
        self._report.conversations = sum(map(len, segments))
        self._report.fill_seconds += time.perf_counter() - started
        self._engine.on_progress(self._job.id, self._report.conversations, total)
        return True

    async def ingest(self, conversations: Sequence[Conversation], before: int, total: int) -> None:
        lane, system, retries = self._lane, self._system, self._retries
        assert retries is not None
        self._engine.journal.fill_started(self._job.id)
        started = time.perf_counter()

        # the assistant's turns do not depend on the memory system: all are fetched ahead, and stored in order
        turns = (
            [asyncio.ensure_future(self._with_turns(c)) for c in conversations] if self._engine.assistant_turns else []
        )
        try:
            for start in range(0, len(conversations), lane.writes):
                batch = conversations[start : start + lane.writes]
                if turns:
                    batch = await asyncio.gather(*turns[start : start + lane.writes])
                await retries.store(batch, lambda failed: f" (conversation {self._numbers[failed.id]} of {total})")
                self._report.conversations = before + start + len(batch)
                self._engine.on_progress(self._job.id, self._report.conversations, total)
        finally:
            for turn in turns:
                turn.cancel()
        if conversations and callable(flush := getattr(system, "flush", None)):
            await lane.call("flush", flush)
            retries.flushed()
        self._report.fill_seconds += time.perf_counter() - started

    async def _with_turns(self, conversation: Conversation) -> Conversation:
        """The conversation with an answer of the assistant after each message of the user."""
        respond: Any = getattr(self._engine.test_taker, "respond", None)
        if respond is None:
            return conversation
        messages: list[Message] = []
        for message in conversation.messages:
            messages.append(message)
            if message.role == "user":
                with raised_as(MemfailError, "the test-taker's respond()", outcomes=self._engine.outcomes):
                    said = await called(respond, conversation, messages, pool=None)
                messages.append(Message("assistant", str(said), message.timestamp))
        return replace(conversation, messages=tuple(messages))

    async def list_all(self, stored: Sequence[Conversation]) -> Listing:
        listing = await self.read_listing()
        if self._reuse is not None:
            self._reuse.check(listing)
        texts = (memory.text for memory in listing.memories)
        if (foreign := self._engine.told.elsewhere(self._job.id, texts)) is not None:
            raise MemorySystemError(sharing_message(listing, *foreign))
        self._report.listings += (listing,)
        for sentinel in listings.unlisted_sentinels(stored, listing):
            found = await self.retrieve(sentinel.text, 5, "")
            for memory in found.memories:
                if not listings.is_listed(memory, listing):
                    raise TruncatedListingError(listings.truncation_message(memory, listing))
        return listing

    async def keep(self, segments: Sequence[Sequence[Conversation]], listing: Listing) -> None:
        """Keep what is stored for later runs, where that is wanted."""
        if self._reuse is not None:
            await self._reuse.keep(segments, listing)

    async def read_listing(self) -> Listing:
        found = await self._lane.call("get_all_memories", self._system.get_all_memories)
        return Listing(self._job.id, memories_from(found, "get_all_memories"))

    async def retrieve(self, query: str, k: int, about: str) -> Retrieved:
        conversation = Conversation(f"{self._context.store_id}-query", ())
        method = self._system.retrieve_memories
        try:
            found, seconds = await self._lane.read("retrieve_memories", method, query, conversation, k)
        except MemorySystemError as error:
            kind = TimedOutError if isinstance(error, TimedOutError) else MemorySystemError
            raise kind(f"{error}{about}") from error.__cause__
        memories = memories_from(found, "retrieve_memories", about)
        shown = memories if getattr(self._system, "unlimited_k", False) else memories[:k]
        return Retrieved(shown, len(memories) - len(shown), seconds)

    async def close(self) -> None:
        """Let the system close what it holds."""
        if callable(close := getattr(self._system, "close", None)):
            await self._lane.call("close", close)

    def let_go(self) -> None:
        """Nothing is called any more."""
        self._system = None
        if self._reuse is not None:
            self._reuse.close()
        if self._retries is not None:
            self._retries.drop()
        self._lane.stop()
        if self._context is not self._job.context:
            shutil.rmtree(self._context.path, ignore_errors=True)
