"""`no-memory`: stores nothing. Its score is what guessing achieves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.systems.factory import SystemFactory


class NoMemory:
    """Forgets everything at once."""

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


FACTORY: Final = SystemFactory("no-memory", lambda context, _: NoMemory(context))
