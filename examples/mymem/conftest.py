"""Tell pytest-memfail how to create an empty memory, and map its calls to mymem's."""

from __future__ import annotations

import pytest
from mymem import LLMSummariser, Memory, RuleSummariser, __version__

FILE = "memory.sqlite"


class Adapter:
    """Adapts a `Memory` to the benchmark's calls."""

    def __init__(self, context) -> None:
        model = context.options.get("model")
        self._summariser = LLMSummariser(model) if model else RuleSummariser()
        self._memory = Memory(context.path / FILE, self._summariser)

    def store_conversation(self, conversation) -> None:
        for message in conversation.messages:
            if message.role == "user" and message.content.strip():
                self._memory.add(message.content, message.timestamp or conversation.timestamp)

    def retrieve_memories(self, query, conversation, k):
        return [_entry(note) for note in self._memory.search(query, k)]

    def get_all_memories(self):
        return [_entry(note) for note in self._memory.all()]

    def snapshot(self, path) -> None:
        self._memory.backup(path / FILE)

    def restore(self, path) -> None:
        self._memory.load(path / FILE)

    def describe(self):
        return {"mymem": __version__, "summariser": self._summariser.name}

    def close(self) -> None:
        self._memory.close()


def _entry(note):
    return {"id": note.id, "text": note.text, "timestamp": note.said_at, "score": note.score}


@pytest.hookimpl(optionalhook=True)  # this conftest.py still works where the plugin is not installed
def pytest_memfail_make_system(config, name):
    return Adapter if name == "mymem" else None
