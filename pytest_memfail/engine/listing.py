"""Whether `get_all_memories()` lists what is stored: a check that costs nothing for most systems, and writes nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from pytest_memfail.core import Conversation, Listing, Memory, one_line

SENTINELS: Final = 3
"""First, middle and last: a listing cut to a page misses at least two of them."""
SAME: Final = 0.8
"""Share of an entry's words that another must have to count as the same one with a prefix or a changed mark."""


def unlisted_sentinels(conversations: Sequence[Conversation], listing: Listing) -> list[Conversation]:
    """Of the first, middle and last conversation stored, those whose words are not in one entry of the listing."""
    if not conversations:
        return []
    last = len(conversations) - 1
    sentinels = [conversations[i] for i in sorted({0, last // 2, last})][:SENTINELS]
    texts = {memory.text for memory in listing.memories}
    return [c for c in sentinels if not any(m.content in texts for m in c.messages) and not _visible(c.text, listing)]


def is_listed(memory: Memory, listing: Listing) -> bool:
    """Whether the listing holds a retrieved entry: by id, by text, or by most of its words (systems add prefixes)."""
    if memory.id is not None and any(other.id == memory.id for other in listing.memories):
        return True
    return any(memory.text == other.text for other in listing.memories) or _visible(memory.text, listing)


def truncation_message(memory: Memory, listing: Listing) -> str:
    """What to tell the author of a system whose listing leaves entries out."""
    return (
        f"get_all_memories() lists {len(listing.memories)} entries and leaves out one that retrieve_memories() returns "
        f"({one_line(repr(memory.text), 80)}): return every entry, not a page (default page sizes of 10 or 20 are common)"
    )


def changes(before: Listing, after: Listing) -> tuple[int, int]:
    """How many entries the second listing has more, and how many less."""
    first, second = (Counter(memory.text for memory in listing.memories) for listing in (before, after))
    return (second - first).total(), (first - second).total()


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _visible(text: str, listing: Listing) -> bool:
    wanted = _words(text)
    need = SAME * len(wanted)
    return bool(wanted) and any(len(wanted & _words(memory.text)) >= need for memory in listing.memories)
