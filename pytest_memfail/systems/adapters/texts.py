"""Prepare conversations for systems without a time input."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from pytest_memfail.core import Conversation
from pytest_memfail.safety import encodable


class Turn(NamedTuple):
    """A non-empty message, as text that can be sent and stored."""

    role: str
    content: str
    timestamp: datetime | None

    @property
    def stamped(self) -> str:
        """Return the content, preceded by its time if there is one."""
        return f"[{self.timestamp:%Y-%m-%d %H:%M}] {self.content}" if self.timestamp else self.content


def turns_of(conversation: Conversation) -> list[Turn]:
    """Return the non-empty messages, each with its own time, else the conversation's."""
    return [
        Turn(message.role, encodable(message.content), message.timestamp or conversation.timestamp)
        for message in conversation.messages
        if message.content.strip()
    ]
