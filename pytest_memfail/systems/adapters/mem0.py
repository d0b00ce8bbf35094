"""`mem0`: Mem0's open-source `Memory` over an embedded vector store.

Settings: `infer` (true: a model extracts facts; false: messages are stored verbatim), `store` (chroma, faiss or
qdrant), `times` (text: each message is stored with its time in front, because Mem0 has no time input; metadata: only as
metadata), `llm`,
`embedding`, `dimensions` (of the embeddings; required for faiss and qdrant unless 1536). OPENAI_BASE_URL sets the
endpoint.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import MAX_K, Conversation, SystemContext
from pytest_memfail.safety import encodable
from pytest_memfail.systems.adapters.folders import closed, load_folder, save_folder
from pytest_memfail.systems.adapters.texts import turns_of
from pytest_memfail.systems.factory import MODEL_SETTINGS, YES_NO, Setting, SystemFactory, versions

REQUIRES: Final = "mem0ai>=2,<3"
STORES: Final = {"chroma": "chromadb>=1.5,<2", "faiss": "faiss-cpu>=1.12,<2", "qdrant": "qdrant-client>=1.9,<2"}
SETTINGS: Final = {
    "infer": Setting("true", YES_NO),
    "store": Setting("chroma", tuple(STORES)),
    "times": Setting("text", ("text", "metadata")),
    **MODEL_SETTINGS,
    "dimensions": Setting("", number=True),
}
DIMENSIONS: Final = 1536
USER: Final = "user"
"""The same in every store, so that a store can be restored as another; folders keep stores apart."""

# Mem0's prompt states the day of the run as that of the conversation.
TIME_NOTE: Final = (
    "The new messages were said on {when:%Y-%m-%d} at {when:%H:%M}. Take that for the observation date and the current date; "
    "those given above are of the machine, not of the conversation."
)


class Mem0:
    """One user in a collection in the store's private folder."""

    concurrent_reads = 8
    concurrent_writes = 1  # on embedded qdrant, parallel writes lose memories

    def __init__(self, context: SystemContext, settings: Mapping[str, str]) -> None:
        self._folder = context.path / "mem0"
        self._settings, self._base_url = settings, context.base_url
        self._infer = settings["infer"] == "true"
        self._writing = threading.RLock()
        self._open()

    def _open(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._memory = _memory_class().from_config(_configuration(self._settings, self._folder, self._base_url))
        self._closed = False

    def store_conversation(self, conversation: Conversation) -> None:
        """Let Mem0 add the conversation."""
        turns = turns_of(conversation)
        if not turns:
            return
        in_text = self._settings["times"] == "text"
        messages = [{"role": turn.role, "content": turn.stamped if in_text else turn.content} for turn in turns]
        metadata = {"conversation_id": conversation.id}
        prompt = None
        if (when := conversation.timestamp or turns[0].timestamp) is not None:
            # the open-source build rejects add(timestamp=...), but uses created_at in the metadata
            metadata["created_at"] = when.isoformat()
            prompt = TIME_NOTE.format(when=when)
        with self._writing:
            try:
                self._memory.add(messages, user_id=USER, metadata=metadata, infer=self._infer, prompt=prompt)
            except AssertionError as error:  # of faiss, without a message
                raise ValueError(
                    f"faiss expects vectors of {self._settings['dimensions'] or DIMENSIONS} numbers; set dimensions to the length of "
                    f"those of {self._settings['embedding']}"
                ) from error

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the k best memories at any score; by default Mem0 drops scores below 0.1 and returns 20."""
        filters = {"user_id": USER}
        return _memories(self._memory.search(encodable(query), filters=filters, top_k=k, threshold=0.0))

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Return all memories."""
        # without a limit it lists 20
        return _memories(self._memory.get_all(filters={"user_id": USER}, top_k=MAX_K))

    def snapshot(self, path: Path) -> None:
        """Close the store, copy its folder and reopen it."""
        with closed(self._writing, self.close, self._open):
            save_folder(self._folder, path)

    def restore(self, path: Path) -> None:
        """Replace the folder.

        `delete_all()` would keep the last ten messages, which become part of the next extraction's prompt.
        """
        with closed(self._writing, self.close, self._open):
            load_folder(self._folder, path)

    def close(self) -> None:
        """Close the databases, the vector stores that Mem0's own close() leaves open, and the connections."""
        with self._writing:
            if self._closed:
                return
            self._closed = True
            memory = self._memory
            # no public name reads the entity store without opening it
            stores = (memory.vector_store, memory._entity_store)
            # on qdrant, the entity store shares the client
            clients = {id(c): c for store in stores if (c := getattr(store, "client", None)) is not None}
            for client in (*clients.values(), memory.llm.client, memory.embedding_model.client):
                if callable(close := getattr(client, "close", None)):
                    close()
            memory.close()

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        packages = (part.partition(">")[0] for part in _requires(self._settings))
        return {"system": "mem0", **versions(*packages), **self._settings}


def _memory_class() -> Any:
    # Telemetry sends events and asks for flags. mem0 decides on import, which may already have happened.
    os.environ["MEM0_TELEMETRY"] = "False"
    from mem0 import Memory

    for module in ("mem0.memory.telemetry", "mem0.memory.main"):
        sys.modules[module].MEM0_TELEMETRY = False  # type: ignore[attr-defined]  # a module's own constant
    return Memory


def _configuration(settings: Mapping[str, str], folder: Path, base_url: str | None) -> dict[str, Any]:
    store, dimensions = settings["store"], settings["dimensions"]
    vector_store: dict[str, Any] = {"collection_name": "memfail", "path": str(folder / store)}
    if store != "chroma":
        vector_store["embedding_model_dims"] = int(dimensions or DIMENSIONS)
    if store == "qdrant":
        vector_store["on_disk"] = True  # otherwise opening empties the folder
    if store == "faiss":
        vector_store["distance_strategy"] = "cosine"
    endpoint = {"openai_base_url": base_url} if base_url else {}  # else that of the environment
    embedder = {"model": settings["embedding"]} | ({"embedding_dims": int(dimensions)} if dimensions else {})
    return {
        "vector_store": {"provider": store, "config": vector_store},
        "llm": {"provider": "openai", "config": {"model": settings["llm"], **endpoint}},
        "embedder": {"provider": "openai", "config": {**embedder, **endpoint}},
        "history_db_path": str(folder / "history.db"),
    }


def _memories(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "text": entry["memory"],
            "id": entry["id"],
            "score": entry.get("score"),
            "created_at": entry.get("created_at"),
            "metadata": entry.get("metadata") or {},
        }
        for entry in found["results"]
    ]


def _requires(settings: Mapping[str, str]) -> tuple[str, ...]:
    return (REQUIRES, STORES[settings["store"]])


FACTORY: Final = SystemFactory("mem0", Mem0, SETTINGS, _requires, asks_models=True, calls_model=True)
