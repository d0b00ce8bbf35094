"""What the reference systems share: conversations as the entries a verbatim store would hold."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_memfail.core import Conversation


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored message."""

    id: str
    text: str
    timestamp: str | None


def entries_of(conversation: Conversation) -> list[Entry]:
    """Every message with content as one entry."""
    entries = []
    for i, message in enumerate(conversation.messages):
        if message.content.strip():
            when = message.timestamp or conversation.timestamp
            entries.append(Entry(f"{conversation.id}-{i}", message.content, when.isoformat() if when else None))
    return entries
