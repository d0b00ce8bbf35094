"""Build conversations for the tests of the reference systems, and read what comes back."""

from __future__ import annotations

from datetime import datetime, timezone

from pytest_memfail.core import Conversation, Message

NOWHERE = Conversation("q", ())
NOON = datetime(2025, 1, 6, 12, tzinfo=timezone.utc)


def said(name, *texts, timestamp=None):
    """Return a conversation of the user."""
    return Conversation(name, tuple(Message("user", text) for text in texts), timestamp)


def found(system, query, k=5):
    """Return the texts of the retrieved entries, best first."""
    return [entry["text"] for entry in system.retrieve_memories(query, NOWHERE, k)]


def listed(system):
    """Return the texts of all entries."""
    return [entry["text"] for entry in system.get_all_memories()]
