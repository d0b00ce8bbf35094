"""Conversations as systems without a time input can take them."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from pytest_memfail.core import Conversation


class Turn(NamedTuple):
    """One message with content, as text that can be sent and stored."""

    role: str
    content: str
    timestamp: datetime | None

    @property
    def stamped(self) -> str:
        """The content with its time in front, where it has one."""
        return f"[{self.timestamp:%Y-%m-%d %H:%M}] {self.content}" if self.timestamp else self.content


def turns_of(conversation: Conversation) -> list[Turn]:
    """The messages that say something, each with its own time or else that of the conversation."""
    return [
        Turn(message.role, sendable(message.content), message.timestamp or conversation.timestamp)
        for message in conversation.messages
        if message.content.strip()
    ]


def sendable(text: str) -> str:
    """The text as UTF-8 can carry it: a lone surrogate, which no request and no database takes, is replaced."""
    return text.encode("utf-8", "replace").decode()
