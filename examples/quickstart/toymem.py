"""A toy memory system as part of an application; it does not know about the benchmark."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass
class ToyMemory:
    """Keeps the first sentences of each message and finds them by the words they share with a query."""

    keep: int = 1
    notes: list[str] = field(default_factory=list)

    def store_conversation(self, conversation) -> None:
        for message in conversation.messages:
            sentences = re.split(r"(?<=[.!?])\s+", message.content)
            self.notes.append(" ".join(sentences[: self.keep]))

    def retrieve_memories(self, query: str, conversation, k: int) -> list[str]:
        wanted = set(re.findall(r"\w{4,}", query.lower()))
        return sorted(self.notes, key=lambda note: -len(wanted & set(re.findall(r"\w{4,}", note.lower()))))[:k]

    def get_all_memories(self) -> list[str]:
        return list(self.notes)
