"""The stores of the checks, operated as the engine does: same threads, same loop, same normalising."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from pytest_memfail.core import (
    Chat,
    Conversation,
    Memory,
    MemorySystemError,
    SystemContext,
    counted,
    looks_refused,
    refusal,
)
from pytest_memfail.hosting import Lane, described_by, memories_from, open_system
from pytest_memfail.testing.contract.samples import MANY, numbered, without


class BrokenError(Exception):
    """A check has failed: what was got, what is expected, what to do."""


class NotApplicableError(Exception):
    """A check does not apply to this system; the message says why."""


@dataclass
class Store:
    """One memory system, and the calls that checks make."""

    name: str
    system: Any
    lane: Lane
    clock: dict[str, datetime]
    is_open: bool = True
    refused: dict[str, list[str]] = field(default_factory=dict)
    """By method, replies that look like refusals."""

    def offers(self, *methods: str) -> bool:
        """Return whether it has all of these optional methods."""
        return all(callable(getattr(self.system, method, None)) for method in methods)

    @property
    def loses_on_purpose(self) -> bool:
        """Return whether it declares that stored information need not come back."""
        return bool(getattr(self.system, "loses_on_purpose", False))

    def must_keep(self) -> None:
        """Skip the check for a system that loses on purpose."""
        if self.loses_on_purpose:
            raise NotApplicableError("the system loses on purpose (loses_on_purpose)")

    def must_list(self, names: Sequence[str], held: Sequence[Memory], what: str) -> None:
        """Fail unless each name is in the listing; skip this for a system that loses on purpose."""
        if not self.loses_on_purpose and (lost := without(names, held)):
            self.blame_refusals()
            raise BrokenError(
                f"{what}: {', '.join(lost)} in none of {got(held)} listed; expected all of it: store the messages as text"
            )

    async def add(self, conversations: Iterable[Conversation]) -> None:
        """Store the conversations in order and flush, as a run does."""
        for conversation in conversations:
            self.clock.pop("now", None)
            if conversation.timestamp is not None:
                self.clock["now"] = conversation.timestamp
            await self.write("store_conversation", conversation)
        await self.flush()

    async def write(self, method: str, given: Any) -> None:
        """Store or forget, and keep a reply that looks like a refusal."""
        if (said := refusal(await self.call(method, given))) is not None:
            self.refused.setdefault(method, []).append(said)

    async def flush(self) -> None:
        """Call `flush` if the system has it, and wait until it has settled."""
        if self.offers("flush"):
            await self.call("flush")
        if self.offers("settled"):
            while not await self.call("settled"):
                await asyncio.sleep(0.05)

    def blame_refusals(self, method: str = "store_conversation", outcome: str = "not all is listed") -> None:
        """Fail for an outcome with the replies of a method that look like refusals, if there are any."""
        if refused := self.refused.get(method):
            said = looks_refused(self.system, method, refused[0])
            raise BrokenError(f"{outcome}, and {counted(len(refused), 'call')} of {method}() answered with {said}")

    async def call(self, method: str, *args: Any) -> Any:
        """Call any method."""
        return await self.lane.call(method, getattr(self.system, method), *args)

    async def listing(self) -> tuple[Memory, ...]:
        """Return everything it holds."""
        read = partial(memories_from, method="get_all_memories")
        found: tuple[Memory, ...] = await self.lane.call("get_all_memories", self.system.get_all_memories, read=read)
        return found

    async def texts(self) -> Counter[str]:
        """Return the texts of everything it holds."""
        return Counter(memory.text for memory in await self.listing())

    async def retrieve(self, query: str, k: int = 5) -> tuple[Memory, ...]:
        """Return what it retrieves, not cut to k."""
        asked_in = Conversation(f"{self.name}-query", ())
        method, read = self.system.retrieve_memories, partial(memories_from, method="retrieve_memories")
        found, _ = await self.lane.read("retrieve_memories", method, query, asked_in, k, read=read)
        return tuple(found)

    async def describe(self) -> dict[str, str]:
        """Return its description."""
        return await described_by(self.lane, self.system)

    async def close(self) -> None:
        """Close it once if it can be closed, and end its threads; abandon a call that hangs."""
        if not self.is_open:
            return
        self.is_open = False
        try:
            if self.offers("close") and not self.lane.is_busy:
                await self.call("close")
        finally:
            self.lane.stop()


class Bench:
    """Creates stores, each with its own path and name, and removes them."""

    def __init__(self, factory: Callable[..., Any], options: Mapping[str, str], folder: Path) -> None:
        self._factory, self._options, self._folder = factory, options, folder
        self.chat: Chat | None = None
        self._stores: list[Store] = []
        self._shared: Store | None = None
        self._shared_error: str | None = None
        self._made = 0

    async def open(self) -> Store:
        """Return a fresh store."""
        self._made += 1
        name = f"check-{self._made}"
        path = self.folder(name)
        clock: dict[str, datetime] = {}
        context = SystemContext(
            "check", name, path, self._options, lambda: clock.get("now", datetime.now(timezone.utc)), self.chat
        )
        lane = Lane(name)
        try:
            system = await open_system(lane, self._factory, context)
        except BaseException:
            lane.stop()
            raise
        store = Store(name, system, lane, clock)
        self._stores.append(store)
        return store

    async def shared(self) -> Store:
        """Return the store with many conversations, which several checks read.

        If filling it raises, the first check that asks gets the error; the others do not apply.
        """
        if self._shared_error is not None:
            raise NotApplicableError(f"the store with {MANY} conversations could not be filled: {self._shared_error}")
        if self._shared is None:
            store = await self.open()
            try:
                await store.add(numbered(range(MANY)))
            except BaseException as error:
                self._shared_error = "timed out" if isinstance(error, asyncio.CancelledError) else "see above"
                raise
            self._shared = store
        return self._shared

    def folder(self, name: str) -> Path:
        """Return an empty folder."""
        path = self._folder / name
        path.mkdir()
        return path

    async def clear(self, *, shared: bool) -> None:
        """Close the stores of the last check, and the shared store if `shared`."""
        kept: list[Store] = []
        closing: list[Store] = []
        for store in self._stores:
            (kept if store is self._shared and not shared else closing).append(store)
        self._stores = kept
        if shared:
            self._shared = None
        for store in closing:
            with suppress(MemorySystemError):  # the check "close" reports that
                await store.close()


def got(memories: Sequence[Memory]) -> str:
    """Return the number of entries for a message."""
    return f"{len(memories)} {'entry' if len(memories) == 1 else 'entries'}"
