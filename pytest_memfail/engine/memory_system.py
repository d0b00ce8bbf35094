"""The memory system of one store: opened, filled or restored, listed, asked for memories, closed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import Conversation, Listing, Memory, MemorySystemError, Message, TruncatedListingError
from pytest_memfail.engine import listing as listings
from pytest_memfail.engine.calls import Lane, settle
from pytest_memfail.engine.jobs import StoreJob, StoreReport
from pytest_memfail.engine.normalise import memories_from
from pytest_memfail.engine.opening import described_by, open_system
from pytest_memfail.engine.reuse import Reuse

if TYPE_CHECKING:
    from pytest_memfail.engine.engine import Engine

NOW: Final[ContextVar[datetime | None]] = ContextVar("memfail_now", default=None)
"""The time of the conversation being stored; several may be at once."""


class OpenSystem:
    """A memory system and the lane on which it is called. Runs on the engine's loop."""

    def __init__(self, engine: Engine, job: StoreJob, report: StoreReport) -> None:
        self._engine = engine
        self._job = job
        self._report = report
        self._lane = Lane(job.id)
        self._system: Any = None
        self._reuse: Reuse | None = None

    @property
    def is_open(self) -> bool:
        """Whether it was opened, and not let go of since."""
        return self._system is not None

    @property
    def is_busy(self) -> bool:
        """Whether a call of it is under way."""
        return self._lane.is_busy

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
        context = replace(self._job.context, clock=self._now)
        self._system = await open_system(lane, self._job.factory, context)
        self._report.described = await described_by(lane, self._system)
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
        self._report.restored = True
        self._report.conversations = sum(map(len, segments))
        self._report.fill_seconds += time.perf_counter() - started
        self._engine.on_progress(self._job.id, self._report.conversations, total)
        return True

    async def ingest(self, conversations: Sequence[Conversation], before: int, total: int) -> None:
        lane, system = self._lane, self._system
        self._engine.journal.fill_started(self._job.id)
        started = time.perf_counter()
        done = before

        async def store(conversation: Conversation) -> None:
            nonlocal done
            NOW.set(conversation.timestamp)
            try:
                await lane.call("store_conversation", system.store_conversation, conversation)
            except MemorySystemError as error:
                cause = error.__cause__
                raise MemorySystemError(f"{error} (conversation {done + 1} of {total})") from cause
            done += 1
            self._report.conversations = done
            self._engine.on_progress(self._job.id, done, total)

        # the assistant's turns do not depend on the memory system: all are fetched ahead, and stored in order
        turns = (
            [asyncio.ensure_future(self._with_turns(c)) for c in conversations] if self._engine.assistant_turns else []
        )
        try:
            for start in range(0, len(conversations), lane.writes):
                batch = conversations[start : start + lane.writes]
                if turns:
                    batch = await asyncio.gather(*turns[start : start + lane.writes])
                if len(batch) == 1:
                    await store(batch[0])
                else:
                    await asyncio.gather(*map(store, batch))
        finally:
            for turn in turns:
                turn.cancel()
        if conversations and callable(flush := getattr(system, "flush", None)):
            await lane.call("flush", flush)
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
                said = await settle(respond(conversation, messages))
                messages.append(Message("assistant", str(said), message.timestamp))
        return replace(conversation, messages=tuple(messages))

    async def list_all(self, stored: Sequence[Conversation]) -> Listing:
        listing = await self.read_listing()
        if self._reuse is not None:
            self._reuse.check(listing)
        self._report.listings += (listing,)
        for sentinel in listings.unlisted_sentinels(stored, listing):
            found, _ = await self.retrieve(sentinel.text, 5, "")
            for memory in found:
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

    async def retrieve(self, query: str, k: int, about: str) -> tuple[tuple[Memory, ...], float]:
        conversation = Conversation(f"{self._job.context.store_id}-query", ())
        method = self._system.retrieve_memories
        try:
            found, seconds = await self._lane.read("retrieve_memories", method, query, conversation, k)
        except MemorySystemError as error:
            raise MemorySystemError(f"{error}{about}") from error.__cause__
        memories = memories_from(found, "retrieve_memories", about)
        return memories if getattr(self._system, "unlimited_k", False) else memories[:k], seconds

    async def close(self) -> None:
        """Let the system close what it holds."""
        if callable(close := getattr(self._system, "close", None)):
            await self._lane.call("close", close)

    def let_go(self) -> None:
        """Nothing is called any more."""
        self._system = None
        if self._reuse is not None:
            self._reuse.close()
        self._lane.stop()
