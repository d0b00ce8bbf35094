"""What the tests of the reference systems store, and how they look at what comes back."""

from __future__ import annotations

from datetime import datetime, timezone

from pytest_memfail.core import Conversation, Message

NOWHERE = Conversation("q", ())
NOON = datetime(2025, 1, 6, 12, tzinfo=timezone.utc)


def said(name, *texts, timestamp=None):
    """A conversation of the user."""
    return Conversation(name, tuple(Message("user", text) for text in texts), timestamp)


def found(system, query, k=5):
    """What the retrieved entries say, the best first."""
    return [entry["text"] for entry in system.retrieve_memories(query, NOWHERE, k)]


def listed(system):
    """What all entries say."""
    return [entry["text"] for entry in system.get_all_memories()]
