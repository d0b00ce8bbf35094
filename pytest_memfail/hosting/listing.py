"""Read what a memory system returns, and check its listing: is it complete, and this store's own?"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from pytest_memfail.core import (
    LEAST_CHARACTERS,
    Conversation,
    Listing,
    Memory,
    MemorySystemError,
    is_listed,
    memories_of,
    one_line,
    write_whole,
)
from pytest_memfail.hosting.calls import Outcomes, guarded, raised_as

# -- what a system returns ---------------------------------------------------------------------------------------------


def memories_from(value: object, method: str, outcomes: Outcomes = ()) -> tuple[Memory, ...]:
    """Convert the value that `method` returned to memories.

    Raises `WrongTypeError` naming the method, the type got and the type expected, and `MemorySystemError` if an entry
    raises while it is read. A test runner's `outcomes` pass through.
    """
    what = f"{method}()" if isinstance(value, Iterator) else f"reading what {method}() returned"
    with raised_as(MemorySystemError, what, outcomes=outcomes):
        return guarded(memories_of, value, method)


# -- listings ----------------------------------------------------------------------------------------------------------


class StoredTexts:
    """Track the texts of all stores, to detect stores that share state.

    Typical causes are a class attribute, a global, or a file or collection with a fixed name. Through the folder
    `shared`, the processes of a run exchange a text of each store that they have filled.
    """

    def __init__(self, shared: Path | None = None) -> None:
        self._stores: dict[int, set[str]] = {}
        """By the hash of a text: the texts themselves are dropped with their store."""
        self._listed: dict[str, set[str]] = {}
        self._closed: list[str] = []
        self._longest: dict[str, str] = {}
        self._shared = shared
        self._elsewhere: dict[Path, str] = {}
        """The stores that other processes have filled, by their files; our own files have no store."""

    def add(self, store: str, conversations: Iterable[Conversation]) -> None:
        """Record the texts that will be stored in a store."""
        for conversation in conversations:
            for message in conversation.messages:
                if len(message.content) >= LEAST_CHARACTERS:
                    self._stores.setdefault(hash(message.content), set()).add(store)
                    if len(message.content) > len(self._longest.get(store, "")):
                        self._longest[store] = message.content

    def announce(self, store: str) -> None:
        """Tell the other processes a text of a filled store, before it is listed.

        Of two stores filled at the same time, the one announced later finds the other's text in its listing.
        """
        if self._shared is not None and store in self._longest:
            file = self._shared / f"{hashlib.sha256(store.encode()).hexdigest()[:16]}.stored"
            self._elsewhere[file] = ""
            write_whole(file, json.dumps([store, self._longest[store]]))

    def listed(self, store: str, texts: Iterable[str]) -> None:
        """Record the texts that an open store lists."""
        self._listed[store] = set(texts)

    def _read_others(self) -> None:
        for file in self._shared.glob("*.stored") if self._shared is not None else ():
            if file not in self._elsewhere:
                store, text = json.loads(file.read_bytes())
                self._elsewhere[file] = store
                self._longest.setdefault(store, text)

    def forget(self, store: str) -> None:
        """Forget the listing of a closed store."""
        if self._listed.pop(store, None) is not None:
            self._closed.append(store)

    def of_another(
        self, store: str, texts: Sequence[str], own: Sequence[Conversation] = (), listed: Iterable[str] = ()
    ) -> tuple[str, str] | None:
        """Return the first text that belongs to another store and not to this one, with that store; None without one.

        `own` is what was stored in this one, and `listed` what it holds beside the texts. A text that may be a damaged
        message of its own is no evidence.
        """
        foreign = self._foreign(store, texts, own)
        return next((each for each in foreign if not _is_damaged(each[0], own, (*texts, *listed))), None)

    def _foreign(self, store: str, texts: Sequence[str], own: Sequence[Conversation]) -> Iterator[tuple[str, str]]:
        self._read_others()
        for text in texts:
            if (stores := self._stores.get(hash(text))) and store not in stores:
                yield text, min(stores)
        for other, sentinel in self._longest.items():  # within an entry, beside a role or a time
            if other != store and any(sentinel in text for text in texts) and not holds(own, sentinel):
                yield sentinel, other

    def sentinels_of_others(self, store: str, own: Sequence[Conversation]) -> list[tuple[str, str]]:
        """Return texts that another store holds and this one does not, with that store.

        They are of the last open store that was listed here, the last closed one, and the last filled in another process.
        """
        found = []
        for stores in (list(self._listed), self._closed, list(self._elsewhere.values())):
            others = [other for other in reversed(stores) if other != store and other in self._longest]
            found += [(text, other) for other in others if not holds(own, text := self._longest[other])][:1]
        return found

    def source_of(self, store: str, texts: Sequence[str], own: Sequence[Conversation] = ()) -> str | None:
        """Return the other store that this store's new texts came from; None if unknown."""
        for _, other in self._foreign(store, texts, own):
            return other
        for other, listed in self._listed.items():
            if other != store and 2 * sum(text in listed for text in texts) > len(texts):
                return other
        return None


def holds(conversations: Iterable[Conversation], text: str) -> bool:
    """Return whether a message of the conversations holds a text."""
    return any(text in message.content for conversation in conversations for message in conversation.messages)


def _is_damaged(text: str, own: Iterable[Conversation], texts: Sequence[str]) -> bool:
    """Return whether a text is rather a damaged message of one's own than that of another store.

    It is nearly a message that no entry holds: `Dana eats shellfish.` for `Dana does not eat shellfish.`
    """
    near = get_close_matches(text, [m.content for talk in own for m in talk.messages], cutoff=0.7)
    return any(not any(message in entry for entry in texts) for message in near)


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
    return [
        c
        for c in sentinels
        if not any(m.content in texts for m in c.messages) and not is_listed(Memory(c.text), listing)
    ]


def truncation_message(memory: Memory, listing: Listing) -> str:
    """Return the error message for a listing that leaves out a retrieved entry."""
    return (
        f"get_all_memories() lists {len(listing.memories)} entries and leaves out one that retrieve_memories() returns "
        f"({one_line(repr(memory.text), 80)}): return every entry, not a page (default page sizes of 10 or 20 are common); or it "
        "came late: set settle, or offer settled(), if the system stores in the background"
    )


def changes(before: Listing, after: Listing) -> tuple[int, int]:
    """Return how many entries the second listing adds, and how many it lacks."""
    first, second = (Counter(memory.text for memory in listing.memories) for listing in (before, after))
    return (second - first).total(), (first - second).total()
