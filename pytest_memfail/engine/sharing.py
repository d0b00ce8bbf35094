"""Whether the stores of one process share state: a class attribute, a global, a file or a collection of a fixed name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pytest_memfail.core import Conversation, Listing, one_line

LEAST_CHARACTERS: Final = 20
"""Shorter texts may be alike by chance."""
ADVICE: Final = "keep everything below context.path, or under the name context.store_id, nothing in a class or a module"


class Told:
    """Remembers which stores were told which texts."""

    def __init__(self) -> None:
        self._stores: dict[str, set[str]] = {}

    def add(self, store: str, conversations: Iterable[Conversation]) -> None:
        """Take note of what a store is told."""
        for conversation in conversations:
            for message in conversation.messages:
                if len(message.content) >= LEAST_CHARACTERS:
                    self._stores.setdefault(message.content, set()).add(store)

    def elsewhere(self, store: str, texts: Iterable[str]) -> tuple[str, str] | None:
        """The first of the texts that was told to another store and not to this one, and that store."""
        for text in texts:
            stores = self._stores.get(text)
            if stores is not None and store not in stores:
                return text, min(stores)
        return None


def sharing_message(listing: Listing, text: str, other: str) -> str:
    """What to tell the author of a system whose stores share state."""
    return (
        f"get_all_memories() of the store {listing.store_id} lists {one_line(repr(text), 60)}, which was stored in the store "
        f"{other}: the stores share state; {ADVICE}"
    )
