"""The half of the planted bugs that was not looked at while the clues were built: `planted_bugs.py` loads it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any, ClassVar, Final

from planted_bugs import Bug, Notes, Planted, dropping, entries_of, log, rewriting

from pytest_memfail.core import NOT_RETRIEVED, NOT_STORED, SUMMARY_ERROR, Conversation


def conversation_of(entry: Any) -> str:
    """Return the id of an entry's conversation."""
    return str(entry.id).rpartition("-")[0]


class Capacity(Planted):
    """Keep the 250 newest entries."""

    def store_conversation(self, conversation: Conversation) -> Any:
        """Store it and evict the oldest."""
        super().store_conversation(conversation)
        for entry in self.inner.entries[:-250]:
            log("conversation", conversation_of(entry))
        del self.inner.entries[:-250]


class OldestSearched(Planted):
    """Search the oldest 150 entries."""

    def __init__(self, inner: Notes) -> None:
        super().__init__(inner)
        inner.searched = self._searched  # type: ignore[method-assign]

    def _searched(self) -> list[Any]:
        for entry in self.inner.entries[150:]:
            log("conversation", conversation_of(entry))
        return list(self.inner.entries[:150])


def retimed(change: Callable[[datetime], datetime]) -> type[Planted]:
    """Return a bug that changes all times."""

    class Retimed(Planted):
        def kept(self, conversation: Conversation) -> Conversation | None:
            messages = tuple(replace(m, timestamp=m.timestamp and change(m.timestamp)) for m in conversation.messages)
            when = conversation.timestamp
            return replace(conversation, messages=messages, timestamp=when and change(when))

    return Retimed


class FiveWords(Planted):
    """Search for the first five words of the question."""

    def found(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Search for these."""
        return list(self.inner.retrieve_memories(" ".join(query.split()[:5]), conversation, k))


class LastMessage(Planted):
    """Store the last message of a conversation."""

    def kept(self, conversation: Conversation) -> Conversation | None:
        """Drop the others."""
        return replace(conversation, messages=conversation.messages[-1:])


class OneSpeaker(Planted):
    """Store the messages of the user."""

    def kept(self, conversation: Conversation) -> Conversation | None:
        """Drop the others."""
        return replace(conversation, messages=tuple(m for m in conversation.messages if m.role == "user"))


class SessionCut(Planted):
    """Cut the entry of a session after 600 characters."""

    def kept(self, conversation: Conversation) -> Conversation | None:
        """Cut the messages so that their lines have 600 characters."""
        left, messages = 600, []
        for message in conversation.messages:
            left -= len(f"{message.role}: ")
            if left <= 0:
                break
            messages.append(replace(message, content=message.content[:left]))
            left -= len(message.content) + 1
        return replace(conversation, messages=tuple(messages))


class LowerCase(Planted):
    """Lower the case of what is stored, and search for the words as they are written."""

    def kept(self, conversation: Conversation) -> Conversation | None:
        """Store it in lower case."""
        return replace(
            conversation, messages=tuple(replace(m, content=m.content.lower()) for m in conversation.messages)
        )

    def found(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Find nothing by a word with a capital letter."""
        lower = " ".join(word for word in query.split() if word == word.lower())
        return list(self.inner.retrieve_memories(lower, conversation, k))


class Fewer(Planted):
    """Return one entry less than asked for."""

    def found(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Return k - 1."""
        return super().found(query, conversation, k)[: k - 1]


class OnlyOne(Planted):
    """Ignore k."""

    def found(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Return one."""
        return super().found(query, conversation, k)[:1]


class OldestFirst(Planted):
    """Sort the 50 best by time and return the oldest."""

    def found(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Return the k oldest."""
        return sorted(super().found(query, conversation, 50), key=lambda one: one["timestamp"] or "")[:k]


class StoredTwice(Planted):
    """Store every message twice."""

    def kept(self, conversation: Conversation) -> Conversation | None:
        """Double the messages."""
        return replace(conversation, messages=tuple(m for m in conversation.messages for _ in range(2)))


class Window(Planted):
    """Show the newest 100 entries."""

    def found(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Drop the oldest."""
        shown = super().found(query, conversation, k)
        for entry in shown[:-100]:
            log("conversation", str(entry["id"]).rpartition("-")[0])
        return shown[-100:]


class SharedTable(Planted):
    """Keep the entries of all stores in one table, without the name of the store."""

    all_entries: ClassVar[list[Any]] = []

    def __init__(self, inner: Notes) -> None:
        super().__init__(inner)
        self.shared = SharedTable.all_entries
        inner.searched = lambda: SharedTable.all_entries  # type: ignore[method-assign]

    def store_conversation(self, conversation: Conversation) -> Any:
        """Add it to the table."""
        SharedTable.all_entries.extend(entries_of(conversation))
        log("conversation", conversation.id)

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Search the table as it is now."""
        self.inner.index.drop()
        return list(self.inner.retrieve_memories(query, conversation, k))

    def get_all_memories(self) -> Any:
        """List the table."""
        return [entry.plain() for entry in SharedTable.all_entries]


class LostWrites:
    """Read the list, wait, and write it back: of two writes at once one is lost."""

    concurrent_writes = 2

    def __init__(self, inner: Notes) -> None:
        self.inner = inner
        self._told: list[str] = []

    async def store_conversation(self, conversation: Conversation) -> None:
        """Write the list back."""
        entries = list(self.inner.entries)
        self._told.append(conversation.id)
        await asyncio.sleep(0)
        self.inner.entries[:] = [*entries, *entries_of(conversation)]

    async def flush(self) -> None:
        """Write down what was lost."""
        held = {conversation_of(entry) for entry in self.inner.entries}
        for told in self._told:
            if told not in held:
                log("conversation", told)

    async def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the k best."""
        return self.inner.retrieve_memories(query, conversation, k)

    async def get_all_memories(self) -> list[dict[str, Any]]:
        """List them."""
        return self.inner.get_all_memories()

    async def close(self) -> None:
        """Close the index."""
        self.inner.close()


_NUMBER: Final = re.compile(
    r"\b(?:\d[\d.,:/-]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)\b",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b|\b(?:19|20)\d\d\b"
)
_NEGATION: Final = re.compile(r"\b(?:not|never|no|nobody|nothing|none|without|nor)\b ?|n['’]t\b", re.IGNORECASE)
_FIRST_PERSON: Final = re.compile(r"\b(?:I|me|my|mine|myself)\b")
NO_ENTRY: Final = ("left no entry", "left no entries", "conversations no entry")

HELD_OUT: Final = partial(Bug, seen=False)

BUGS: Final = (
    HELD_OUT(
        "capacity",
        "the oldest entries beyond 250 are evicted",
        "own",
        Capacity,
        ("oldest", "newest", "earliest", *NO_ENTRY),
        (NOT_STORED,),
    ),
    HELD_OUT(
        "dates",
        "months, weekdays and years are dropped",
        "own",
        rewriting(lambda t: _DATE.sub("", t)),
        ("date", "month", "weekday"),
        (SUMMARY_ERROR, NOT_STORED),
    ),
    HELD_OUT(
        "day-late",
        "times are listed a day late",
        "sqlite-hybrid",
        retimed(lambda t: t + timedelta(days=1)),
        ("shift", "day later", "day late", "days late", "one day", "1 day", "24 hours", "24 h"),
    ),
    HELD_OUT(
        "first-person-only",
        "messages without I, me or my are not stored",
        "bm25",
        dropping(lambda c: not _FIRST_PERSON.search(c.text)),
        (*NO_ENTRY, "first person"),
        (NOT_STORED,),
    ),
    HELD_OUT(
        "five-words",
        "only the first five words of the question are searched",
        "own",
        FiveWords,
        ("first words question", "long question", "longer question", "words query"),
        (NOT_RETRIEVED,),
    ),
    HELD_OUT(
        "last-message",
        "only the last message of a conversation is stored",
        "bm25",
        LastMessage,
        ("last message", "last turn", "last of"),
        (NOT_STORED,),
        "meme",
    ),
    HELD_OUT("lost-writes", "of two writes at once one is lost", "own", LostWrites, NO_ENTRY, (NOT_STORED,)),
    HELD_OUT(
        "lower-case",
        "entries are lower-cased and the search heeds case",
        "own",
        LowerCase,
        ("lower case", "lower-case", "capital", "upper case", "name"),
        (NOT_RETRIEVED,),
    ),
    HELD_OUT(
        "negations",
        "negations are dropped",
        "bm25",
        rewriting(lambda t: _NEGATION.sub("", t)),
        ("negation",),
        (SUMMARY_ERROR, NOT_STORED),
    ),
    HELD_OUT(
        "now",
        "times are those of storing",
        "bm25",
        retimed(lambda _: datetime.now(timezone.utc)),
        ("now", "time storing", "times run", "today", "time of the run"),
        (SUMMARY_ERROR,),
    ),
    HELD_OUT(
        "oldest-first",
        "the 50 best entries are sorted by time, oldest first",
        "bm25",
        OldestFirst,
        ("oldest", "newest", "sorted time", "order time"),
        (NOT_RETRIEVED,),
    ),
    HELD_OUT(
        "oldest-searched",
        "only the oldest 150 entries are searched",
        "own",
        OldestSearched,
        ("oldest", "newest", "latest", "first 150"),
        (NOT_RETRIEVED,),
    ),
    HELD_OUT(
        "one-fewer",
        "one entry less than k is returned",
        "bm25",
        Fewer,
        ("fewer", "4 memories", "k - 1", "4 entries", "at most 4"),
        (NOT_RETRIEVED,),
    ),
    HELD_OUT(
        "one-speaker",
        "only the messages of one speaker are stored",
        "bm25",
        OneSpeaker,
        ("assistant", "role", "speaker", "user messages"),
        (NOT_STORED,),
        "locomo",
    ),
    HELD_OUT(
        "only-one",
        "k is ignored: one entry is returned",
        "bm25",
        OnlyOne,
        ("fewer", "1 memory", "1 of 5", "one entry", "1 entry", "at most 1"),
        (NOT_RETRIEVED,),
    ),
    HELD_OUT(
        "session-cut",
        "entries of sessions are cut after 600 characters",
        "bm25-sessions",
        SessionCut,
        ("600", "cut at", "cut after"),
        (NOT_STORED, SUMMARY_ERROR),
        "meme",
    ),
    HELD_OUT(
        "several",
        "numbers become “several”",
        "bm25",
        rewriting(lambda t: _NUMBER.sub("several", t)),
        ("number", "digit"),
        (SUMMARY_ERROR, NOT_STORED),
    ),
    HELD_OUT(
        "shared-table",
        "all stores share one table",
        "own",
        SharedTable,
        ("other store", "another store", "share state", "never told", "not told", "other stores"),
        (NOT_RETRIEVED,),
    ),
    HELD_OUT(
        "stored-twice",
        "every message is stored twice",
        "bm25",
        StoredTwice,
        ("duplicate", "twice", "repeat"),
        (NOT_RETRIEVED,),
    ),
    HELD_OUT(
        "window",
        "only the newest 100 entries are shown",
        "full-context",
        Window,
        ("oldest", "newest", "earliest", "before last"),
        (NOT_RETRIEVED,),
    ),
)
