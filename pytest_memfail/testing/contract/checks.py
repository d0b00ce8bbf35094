"""The checks of every memory system, in order: here those of input and output, in `lifecycle` the others."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Final

from pytest_memfail.core import (
    TIMES_UNREAD,
    Conversation,
    Listing,
    Message,
    is_listed,
    moment_of,
    one_line,
    unread_times,
)
from pytest_memfail.testing.contract.bench import Bench, BrokenError, NotApplicableError, got
from pytest_memfail.testing.contract.lifecycle import close, describe, errors, forgetting, isolation, snapshot
from pytest_memfail.testing.contract.samples import (
    LONG,
    MANY,
    long_text,
    mark,
    numbered,
    query,
    saying,
    statement,
    without,
)

UNICODE: Final = ("Łódź", "東京", "القاهرة", "Zoë", "𝄞", "👩‍🚀")


@dataclass(frozen=True, slots=True)
class Check:
    """One required property."""

    name: str
    run: Callable[[Bench], Awaitable[None]]
    """Raises `BrokenError`, `NotApplicableError`, or the system's own error."""
    shares: bool = False
    """Whether it reads the shared store."""

    @property
    def about(self) -> str:
        """Return the property, in one line."""
        return (self.run.__doc__ or "").strip().splitlines()[0].rstrip(".")


async def methods(bench: Bench) -> None:
    """The factory returns an object with valid methods and attributes."""
    await bench.open()


async def empty(bench: Bench) -> None:
    """A fresh store lists nothing and finds nothing, without an error."""
    store = await bench.open()
    if held := await store.listing():
        raise BrokenError(
            f"a fresh store lists {got(held)} ({one_line(repr(held[0].text), 60)}), expected none: begin empty in context.path"
        )
    if found := await store.retrieve(query(0)):
        raise BrokenError(f"a fresh store retrieves {got(found)}, expected none: begin empty in context.path")


async def round_trip(bench: Bench) -> None:
    """Stored conversations are listed, and retrieved when asked for."""
    store = await bench.open()
    store.must_keep()
    await store.add(numbered(range(3)))
    held = await store.listing()
    if lost := without(map(mark, range(3)), held):
        store.blame_refusals()
        raise BrokenError(
            f"of 3 conversations stored, get_all_memories() lists {got(held)}, and none names {', '.join(lost)}: list what is "
            "stored; a system that stores later needs a flush()"
        )
    for i in range(3):
        if without([mark(i)], found := await store.retrieve(query(i))):
            raise BrokenError(
                f"retrieve_memories({query(i)!r}, k=5) gives {got(found)} of 3, and none names {mark(i)}; expected it among "
                "them: see how the query is searched"
            )


async def listing(bench: Bench) -> None:
    """All 30 conversations are listed, not only a page of them."""
    store = await bench.shared()
    held = await store.listing()
    lost = [] if store.loses_on_purpose else without(map(mark, range(MANY)), held)
    if lost:
        store.blame_refusals()
        raise BrokenError(
            f"of {MANY} conversations stored, get_all_memories() lists {got(held)}, {len(lost)} conversations in none of them "
            f"({', '.join(lost[:3])}, ...): list all, not a page (page sizes of 10 or 20 are common defaults)"
        )
    if getattr(store.system, "search_rewrites", False):
        return
    whole = Listing(store.name, held)
    for i in (0, MANY // 2, MANY - 1):
        for memory in await store.retrieve(query(i)):
            if not is_listed(memory, whole):
                raise BrokenError(
                    f"retrieve_memories() gives {one_line(repr(memory.text), 60)}, which is not among the {got(held)} of "
                    "get_all_memories(): list every entry that can be retrieved, or set search_rewrites to true if a search "
                    "returns other texts"
                )


async def search(bench: Bench) -> None:
    """Different queries find different memories."""
    store = await bench.shared()
    store.must_keep()
    queries = [query(i) for i in range(0, MANY, 3)]
    lists = [[memory.text for memory in await store.retrieve(text)] for text in queries]
    held = await store.listing()
    if not 0 < len(lists[0]) < len(held):
        raise NotApplicableError("a search shows all or nothing")
    if all(found == lists[0] for found in lists):
        raise BrokenError(
            f"{len(queries)} different queries all give the same {len(lists[0])} of {got(held)}; expected those that fit the query: "
            "see whether the search reads it"
        )


async def top_k(bench: Bench) -> None:
    """At most k memories are retrieved, for any k."""
    store = await bench.shared()
    if getattr(store.system, "unlimited_k", False):
        raise NotApplicableError("the system shows everything (unlimited_k)")
    for k in (1, 3, 10):
        found = await store.retrieve(query(0), k)
        if len(found) > k:
            raise BrokenError(
                f"retrieve_memories(k={k}) gives {got(found)}, expected at most {k}: cut what is found to k"
            )


async def reading(bench: Bench) -> None:
    """Retrieving changes nothing in the store."""
    store = await bench.shared()
    before = await store.texts()
    for i in range(5):
        await store.retrieve(query(i))
    after = await store.texts()
    if before != after:
        more, less = (after - before).total(), (before - after).total()
        raise BrokenError(
            f"after 5 retrievals get_all_memories() has {more} new entries and {less} fewer, expected the same: "
            "retrieve_memories() must not write"
        )


async def concurrent_reads(bench: Bench) -> None:
    """Concurrent retrievals, as many as declared, return what each does alone."""
    store = await bench.shared()
    if store.lane.reads < 2:
        raise NotApplicableError("one retrieval at a time (concurrent_reads is 1)")
    queries = [query(i) for i in range(12)]
    one_by_one = [Counter(memory.text for memory in await store.retrieve(text)) for text in queries]
    at_once = await asyncio.gather(*[store.retrieve(text) for text in queries * 3])
    for text, expected, found in zip(queries * 3, one_by_one * 3, at_once, strict=True):
        if Counter(memory.text for memory in found) != expected:
            raise BrokenError(
                f"with {store.lane.reads} retrievals at once {text!r} gives {got(found)} other than alone; expected the same: "
                "guard what the threads share, or declare concurrent_reads = 1"
            )


async def concurrent_writes(bench: Bench) -> None:
    """As many conversations stored concurrently as declared are all kept."""
    store = await bench.open()
    if store.lane.writes < 2:
        raise NotApplicableError("one conversation is stored at a time (concurrent_writes is 1)")
    store.must_keep()
    conversations = numbered(range(16))
    for start in range(0, len(conversations), store.lane.writes):
        batch = conversations[start : start + store.lane.writes]
        await asyncio.gather(*[store.call("store_conversation", conversation) for conversation in batch])
    await store.flush()
    if lost := without(map(mark, range(16)), held := await store.listing()):
        raise BrokenError(
            f"of 16 conversations stored {store.lane.writes} at once, {len(lost)} are in none of {got(held)} "
            f"({', '.join(lost[:3])}): guard the writes, or declare concurrent_writes = 1"
        )


async def idempotent(bench: Bench) -> None:
    """Storing a conversation again duplicates nothing, if that is declared."""
    store = await bench.open()
    if not getattr(store.system, "idempotent", False):
        raise NotApplicableError("a conversation stored again may be there twice (idempotent is not declared)")
    await store.add(numbered(range(3)))
    before = await store.texts()
    await store.add(numbered([1]))
    after = await store.texts()
    if before != after:
        raise BrokenError(
            f"stored again, a conversation leaves {after.total()} entries where {before.total()} were, expected the same: replace "
            "what conversation.id has left before, or do not declare idempotent"
        )


async def turns(bench: Bench) -> None:
    """Messages of all roles are accepted, even empty ones or none."""
    store = await bench.open()
    messages = (
        Message("system", "You are a helpful assistant."),
        Message("user", statement(0)),
        Message("assistant", "Noted."),
        Message("user", ""),
    )
    await store.add([Conversation("c-0", messages), Conversation("c-1", ())])
    store.must_list([mark(0)], await store.listing(), "a conversation with turns of system, user and assistant")


async def timestamps(bench: Bench) -> None:
    """Times are accepted, and listed times name the days of the messages."""
    store = await bench.open()
    past = datetime(2019, 3, 4, 17, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    later = past + timedelta(days=400)
    dated = Conversation("c-0", (Message("user", statement(0), past),), past)
    by_conversation = replace(saying("c-1", statement(1)), timestamp=later)
    await store.add([dated, by_conversation, saying("c-2", statement(2))])
    held = await store.listing()
    store.must_list([mark(i) for i in range(3)], held, "conversations with and without times")
    if unread := unread_times(memory.timestamp for memory in held):
        raise BrokenError(TIMES_UNREAD.format(one_line(unread[0], 60)))
    for memory in held:
        told = [when for i, when in enumerate((past, later)) if not without([mark(i)], [memory])]
        kept = moment_of(memory.timestamp)
        if told and kept and not any(abs(kept - when) < timedelta(days=1) for when in told):
            raise BrokenError(
                f"a memory of {told[0]:%Y-%m-%d} is listed with the time {one_line(str(memory.timestamp), 60)}; expected the "
                "message's, to the day: pass message.timestamp (or conversation.timestamp) on, use context.clock, or give no timestamp"
            )


async def unicode(bench: Bench) -> None:
    """Text in any script comes back unchanged."""
    store = await bench.open()
    texts = [
        f"In {name} I keep my {word}."
        for name, word in zip(UNICODE, ("sled", "kite", "drum", "wok", "globe", "tent"), strict=True)
    ]
    await store.add([saying(f"c-{i}", text) for i, text in enumerate(texts)])
    store.must_list(UNICODE, await store.listing(), "text in several scripts")
    await store.retrieve(texts[1])


async def long_texts(bench: Bench) -> None:
    """A message of 100 kB is accepted, and at least a part of it is kept."""
    store = await bench.open()
    await store.add([saying("c-0", long_text()), *numbered([3])])
    held = await store.listing()
    if not store.loses_on_purpose and len(without(map(mark, range(3)), held)) == 3:
        raise BrokenError(
            f"of a message of {LONG} characters nothing is in the {got(held)} listed (not {mark(0)} of its beginning, "
            f"{mark(1)} of its middle, {mark(2)} of its end): cut long messages into pieces instead of dropping them"
        )
    store.must_list([mark(3)], held, "a conversation stored after a long one")


CHECKS: Final[tuple[Check, ...]] = (
    Check("methods", methods),
    Check("empty", empty),
    Check("round-trip", round_trip),
    Check("listing", listing, shares=True),
    Check("search", search, shares=True),
    Check("k", top_k, shares=True),
    Check("reading", reading, shares=True),
    Check("concurrent-reads", concurrent_reads, shares=True),
    Check("concurrent-writes", concurrent_writes),
    Check("idempotent", idempotent),
    Check("isolation", isolation),
    Check("forgetting", forgetting),
    Check("turns", turns),
    Check("timestamps", timestamps),
    Check("unicode", unicode),
    Check("long-texts", long_texts),
    Check("snapshot", snapshot),
    Check("describe", describe),
    Check("close", close),
    Check("errors", errors),
)
"""All checks; those that share a store are adjacent."""
