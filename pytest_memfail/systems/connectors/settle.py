"""Wait for a memory that stores in the background: a status call or a listing that stays the same, and then its search."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Final

import jmespath
from pydantic import Field, model_validator

from pytest_memfail.core import (
    LEAST_CHARACTERS,
    Conversation,
    Memory,
    MemorySystemError,
    SystemContext,
    memories_of,
    one_line,
)
from pytest_memfail.systems.connectors.config import JmesPath, MemoryFile, Part, Rewrites, Seconds

QUERY_CHARACTERS: Final = 300
"""How much of an entry is searched for: a query may have a maximum length."""
K: Final = 10


class Settle(Part):
    """When a memory that stores in the background has settled: by a status or its listing, and then its search."""

    unchanged: Annotated[Seconds | None, Field(description="Seconds that the listing must stay the same")] = None
    done: Annotated[
        JmesPath | None, Field(description="With a status call: true in its reply when everything is stored")
    ] = None
    timeout: Annotated[Seconds, Field(description="Seconds until waiting is an error")] = 120.0

    @model_validator(mode="after")
    def _one_way(self) -> Settle:
        if (self.unchanged is None) == (self.done is None) or (self.done is None) != (
            getattr(self, "call", None) is None
        ):
            raise ValueError("either `unchanged`, or `call` with `done`")
        return self


Reads = Annotated[int, Field(ge=1, le=64, description="How many questions at once are safe")]


class ServedMemory(MemoryFile):
    """The keys of a memory that answers questions itself, and may still store when it answers."""

    concurrent_reads: Reads = 4
    search_rewrites: Rewrites = False
    settle: Settle | None = None


class Settling:
    """Decides whether a store has settled since the last conversation."""

    def __init__(
        self,
        settle: Settle,
        list_all: Callable[[], Awaitable[list[Any]]],
        status: Callable[[], Awaitable[Any]],
        search: Callable[[str, int], Awaitable[list[Any]]] | None,
    ) -> None:
        """`list_all` returns the memories, `status` the reply to the status call, `search` the memories for a query.

        Without `search` it is not waited for.
        """
        self._settle, self._list_all, self._status, self._search = settle, list_all, status, search
        self._began: float | None = None
        self._changed = 0.0
        self._last: list[str] | None = None
        self._said = ""

    def stored(self, conversation: Conversation) -> None:
        """Start again, because a conversation was stored."""
        self._began = self._last = None
        self._said = max((message.content for message in conversation.messages), key=len, default="").strip()

    async def settled(self) -> bool:
        """Check once whether the store has settled. Raises `MemorySystemError` if it takes longer than the file allows."""
        began = self._began = time.monotonic() if self._began is None else self._began
        if (lacks := await self._lacks()) and time.monotonic() - began > self._settle.timeout:
            raise MemorySystemError(f"the memory did not settle within {self._settle.timeout:g} s: {lacks}")
        return not lacks

    async def _lacks(self) -> str:
        """Return what is not as it must be, and what to do about it; an empty text if the store has settled."""
        advice = "check what it stores, or set a longer settle.timeout"
        if self._settle.unchanged is None:
            if not jmespath.search(self._settle.done or "", await self._status()):
                return f"`{self._settle.done}` is not true; {advice}"
            entries = () if self._search is None else memories_of(await self._list_all(), "list")
        else:
            entries = memories_of(await self._list_all(), "list")
            listing = sorted(map(repr, entries))
            if listing != self._last:
                self._last, self._changed = listing, time.monotonic()
            if time.monotonic() - self._changed < self._settle.unchanged:
                return f"its listing still changes; {advice}"
        for entry in self._newest(entries):
            if not await self._finds(entry):
                return (
                    f"a search for the entry {one_line(repr(entry.text), 60)} does not find it; set a longer settle.timeout, or "
                    "search_rewrites: true if `search` gives other texts than `list`"
                )
        return ""

    async def _finds(self, entry: Memory) -> bool:
        if self._search is None:
            return True
        found = memories_of(await self._search(entry.text[:QUERY_CHARACTERS], K), "search")
        return any(_is_same(entry, memory) for memory in found)

    def _newest(self, entries: Sequence[Memory]) -> Sequence[Memory]:
        """Return an entry with what was said last; if there is none, the first and the last one: listings have any order."""
        entries = [entry for entry in entries if entry.text.strip()]
        verbatim = [entry for entry in entries if self._said and self._said in entry.text]
        return verbatim[-1:] or entries[:1] + entries[1:][-1:]


class ServedSystem:
    """The store of a memory that answers questions itself. Subclasses search, list, and ask for a status."""

    empty_listing = "set `settle` if the memory stores in the background, else check `list`"

    def __init__(self, context: SystemContext, config: ServedMemory) -> None:
        self._context = context
        self.concurrent_reads = config.concurrent_reads
        self.search_rewrites = config.search_rewrites
        self._settling: Settling | None = None
        if config.settle is not None:
            search = None if config.search_rewrites else self._search
            self._settling = Settling(config.settle, self.get_all_memories, self._status, search)
            self.settled = self._settling.settled
            self.empty_listing = "`settle` is true too early, or `list` lists something else"

    def stored(self, conversation: Conversation) -> None:
        """Record that something was stored, which may take effect later."""
        if self._settling is not None:
            self._settling.stored(conversation)

    async def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Return the memories for a query."""
        return await self._search(query, k)

    async def get_all_memories(self) -> list[Any]:
        """Return every memory."""
        raise NotImplementedError

    async def _search(self, query: str, k: int) -> list[Any]:
        raise NotImplementedError

    async def _status(self) -> Any:
        raise NotImplementedError


def _is_same(entry: Memory, found: Memory) -> bool:
    """Return whether a search found an entry: by id, or by a text that is, holds or is part of the other.

    Not by most of its words: the entry before it may differ in one.
    """
    if entry.id is not None and entry.id == found.id:
        return True
    short, long = sorted((" ".join(each.text.split()) for each in (entry, found)), key=len)
    return short == long or (len(short) >= LEAST_CHARACTERS and short in long)
