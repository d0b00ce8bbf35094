"""Split conversations into the entries of a verbatim store, for the reference systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_memfail.core import Conversation, UnknownNameError


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored message."""

    id: str
    text: str
    timestamp: str | None


def entries_of(conversation: Conversation) -> list[Entry]:
    """Return every non-empty message as one entry."""
    entries = []
    for i, message in enumerate(conversation.messages):
        if message.content.strip():
            when = message.timestamp or conversation.timestamp
            entries.append(Entry(f"{conversation.id}-{i}", message.content, when.isoformat() if when else None))
    return entries


def no_options(name: str) -> Callable[[Mapping[str, str]], None]:
    """Return the `check_options` of a system without settings, which refuses every option."""

    def check_options(options: Mapping[str, str]) -> None:
        for option in options:
            raise UnknownNameError(f"--memfail-system-option of {name}", option, ())

    return check_options
