"""`full-context`: no memory management; shows everything ever said. The upper bound of retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.systems.base import Entry, entries_of
from pytest_memfail.systems.factory import SystemFactory


class FullContext:
    """Returns everything in the order of storing, as a context window holds it; a token limit drops the oldest."""

    concurrent_reads = 8
    unlimited_k = True
    oldest_first = True

    def __init__(self, context: SystemContext) -> None:
        self._entries: list[Entry] = []

    def store_conversation(self, conversation: Conversation) -> None:
        """Keep the messages."""
        self._entries += entries_of(conversation)

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return all messages, in storage order, ignoring the query and k."""
        return self.get_all_memories()

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Return all messages, in storage order."""
        return [entry.plain() for entry in self._entries]

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return {"system": "full-context"}


FACTORY: Final = SystemFactory("full-context", lambda context, _: FullContext(context))
