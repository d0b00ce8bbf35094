"""`no-memory`: stores nothing. Its score is what guessing achieves."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.systems.base import no_options


class NoMemory:
    """Forgets everything at once."""

    check_options = staticmethod(no_options("no-memory"))
    calls_model = False
    concurrent_reads = 8
    loses_on_purpose = True

    def __init__(self, context: SystemContext) -> None:
        pass

    def store_conversation(self, conversation: Conversation) -> None:
        """Do nothing."""

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[str]:
        """Return no memories."""
        return []

    def get_all_memories(self) -> list[str]:
        """Return no memories."""
        return []

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return {"system": "no-memory"}
