"""`full-context`: no memory management; shows everything ever said. The upper bound of retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.systems.base import Entry, entries_of, no_options


class FullContext:
    """Returns everything, newest first."""

    check_options = staticmethod(no_options("full-context"))
    calls_model = False
    concurrent_reads = 8
    unlimited_k = True

    def __init__(self, context: SystemContext) -> None:
        self._entries: list[Entry] = []

    def store_conversation(self, conversation: Conversation) -> None:
        """Keep the messages."""
        self._entries += entries_of(conversation)

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return all messages, newest first, ignoring the query and k."""
        return list(reversed(self.get_all_memories()))

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Return all messages, in storage order."""
        return [{"text": e.text, "id": e.id, "timestamp": e.timestamp} for e in self._entries]

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return {"system": "full-context"}
