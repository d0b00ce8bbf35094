"""`langmem`: LangMem's memory store manager over LangGraph's in-memory store.

Settings: `llm`, `embedding`, `dimensions` (requested from the endpoint; if unset, the model's default). OPENAI_BASE_URL
sets the endpoint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import MAX_K, Conversation, SystemContext
from pytest_memfail.safety import encodable
from pytest_memfail.systems.adapters.texts import turns_of
from pytest_memfail.systems.factory import MODEL_SETTINGS, Setting, SystemFactory, versions

REQUIRES: Final = ("langmem>=0.0.30,<0.1", "langchain-openai>=1.0,<2")
SETTINGS: Final = {**MODEL_SETTINGS, "dimensions": Setting("", number=True)}
NAMESPACE: Final = ("memories",)
TOGETHER: Final = 256
"""Memories restored per embedding request."""
FILE: Final = "memories.json"


class LangMem:
    """A store in which a model decides what to add and what to rewrite."""

    concurrent_reads = 8
    concurrent_writes = 1  # the next conversation may rewrite what this one adds

    def __init__(self, context: SystemContext, settings: Mapping[str, str]) -> None:
        from langchain_openai import ChatOpenAI, OpenAIEmbeddings

        self._settings = settings
        endpoint: dict[str, Any] = {"base_url": context.base_url} if context.base_url else {}  # else the environment's
        self._model = ChatOpenAI(model=settings["llm"], **endpoint)
        self._embeddings = OpenAIEmbeddings(
            model=settings["embedding"],
            **endpoint,
            dimensions=int(settings["dimensions"]) if settings["dimensions"] else None,
            # the length check sends token numbers instead of text, which only OpenAI's own endpoint accepts
            check_embedding_ctx_length=False,
        )
        self._open()

    def _open(self) -> None:
        from langgraph.store.memory import InMemoryStore
        from langmem import create_memory_store_manager

        # the store requires the number of dimensions but does not use it: vectors of any length work
        dimensions = int(self._settings["dimensions"] or 1)
        self._store = InMemoryStore(
            index={"dims": dimensions, "embed": self._embeddings, "fields": ["content.content"]}
        )
        self._manager = create_memory_store_manager(self._model, namespace=NAMESPACE, store=self._store)
        self._times: dict[str, str] = {}
        """The time of the conversation that last wrote each memory; the store knows only its own clock."""

    def store_conversation(self, conversation: Conversation) -> None:
        """Let the manager read the conversation with times in the text, because it has no time input."""
        turns = turns_of(conversation)
        if not turns:
            return
        messages = [{"role": turn.role, "content": turn.stamped} for turn in turns]
        written = self._manager.invoke({"messages": messages})
        if (when := conversation.timestamp or turns[0].timestamp) is not None:
            self._times.update((put["key"], when.isoformat()) for put in written)

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the k nearest memories."""
        return self._memories(self._store.search(NAMESPACE, query=encodable(query), limit=k))

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Return all memories."""
        # without a limit it lists 10
        return self._memories(self._store.search(NAMESPACE, limit=MAX_K))

    def _memories(self, items: Any) -> list[dict[str, Any]]:
        return [
            {
                "text": _text(item.value["content"]),
                "id": item.key,
                "score": item.score,
                "timestamp": self._times.get(item.key),
                "metadata": {"kind": item.value["kind"]},
            }
            for item in items
        ]

    def snapshot(self, path: Path) -> None:
        """List the memories: the store itself is in memory only."""
        items = self._store.search(NAMESPACE, limit=MAX_K)
        held = [{"key": item.key, "value": item.value, "time": self._times.get(item.key)} for item in items]
        (path / FILE).write_text(json.dumps(held), encoding="utf-8")

    def restore(self, path: Path) -> None:
        """Put the memories into a new store, which embeds them again."""
        from langgraph.store.base import PutOp

        held = json.loads((path / FILE).read_text(encoding="utf-8"))
        self._open()
        for start in range(0, len(held), TOGETHER):
            self._store.batch(
                [PutOp(NAMESPACE, entry["key"], entry["value"]) for entry in held[start : start + TOGETHER]]
            )
        self._times = {entry["key"]: entry["time"] for entry in held if entry["time"]}

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return {"system": "langmem", **versions("langmem", "langgraph", "langchain-openai"), **self._settings}


def _text(content: Mapping[str, Any]) -> str:
    """Return the text of a memory; for other content, its JSON."""
    said = content.get("content")
    return said if isinstance(said, str) else json.dumps(content, ensure_ascii=False)


FACTORY: Final = SystemFactory("langmem", LangMem, SETTINGS, lambda _: REQUIRES, asks_models=True, calls_model=True)
