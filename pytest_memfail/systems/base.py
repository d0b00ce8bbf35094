"""Split conversations into the entries of a verbatim store, for the reference systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_memfail.core import Conversation
from pytest_memfail.systems.factory import Setting

ENTRIES: Final = {"unit": Setting("message", ("message", "session")), "header": Setting("none", ("none", "date"))}
"""The settings of a verbatim store that say what an entry is."""
MESSAGES: Final = {name: setting.default for name, setting in ENTRIES.items()}


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored message or session."""

    id: str
    text: str
    timestamp: str | None

    def plain(self) -> dict[str, Any]:
        """Return the entry as a system returns it."""
        return {"text": self.text, "id": self.id, "timestamp": self.timestamp}


def entries_of(conversation: Conversation, settings: Mapping[str, str] = MESSAGES) -> list[Entry]:
    """Return every non-empty message as one entry, or with `unit=session` all of them as one; `header=date` puts the date first."""
    said = [(i, message) for i, message in enumerate(conversation.messages) if message.content.strip()]
    times = [message.timestamp or conversation.timestamp for _, message in said]
    texts = [(f"{conversation.id}-{i}", message.content) for i, message in said]
    if said and settings["unit"] == "session":
        texts = [(conversation.id, "\n".join(f"{message.role}: {message.content}" for _, message in said))]
        times = [conversation.timestamp or times[0]]
    is_dated = settings["header"] == "date"
    return [
        Entry(name, f"[{when:%Y-%m-%d}] {text}" if is_dated and when else text, when.isoformat() if when else None)
        for (name, text), when in zip(texts, times, strict=True)
    ]
