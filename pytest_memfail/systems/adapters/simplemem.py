"""`simplemem`: SimpleMem, which compresses each conversation into statements and searches them by meaning.

Settings: `llm`, and `embedding`: a sentence-transformers model, by name or by the path of its folder. OPENAI_BASE_URL
sets the endpoint. Retrieval is a semantic search for k statements; planning and reflection, which have no k, are off.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.safety import encodable
from pytest_memfail.systems.adapters.folders import load_folder, save_folder
from pytest_memfail.systems.adapters.outages import Watched
from pytest_memfail.systems.adapters.texts import turns_of
from pytest_memfail.systems.factory import Setting, SystemFactory, versions

REQUIRES: Final = ("simplemem>=0.1,<0.2",)
SETTINGS: Final = {"llm": Setting("gpt-4.1-mini"), "embedding": Setting("Qwen/Qwen3-Embedding-0.6B")}
TABLE: Final = "memories"


class SimpleMem:
    """One table in a folder of its own."""

    concurrent_reads = 8
    concurrent_writes = 1  # the buffer of turns is shared: parallel writes store turns twice

    def __init__(self, context: SystemContext, settings: Mapping[str, str]) -> None:
        self._folder = context.path / "simplemem"
        self._settings, self._base_url = settings, context.base_url
        self._writing = threading.RLock()
        self._open()

    def _open(self) -> None:
        from simplemem import SimpleMemConfig, SimpleMemSystem, set_config

        # the embedding model can be set only here, for the whole process; all stores of a run use the same
        set_config(SimpleMemConfig(embedding_model=self._settings["embedding"]))
        self._memory = SimpleMemSystem(
            model=self._settings["llm"],
            base_url=self._base_url or os.environ.get("OPENAI_BASE_URL"),
            db_path=str(self._folder),
            table_name=TABLE,
            use_streaming=False,
            enable_planning=False,
            enable_reflection=False,
            enable_parallel_processing=False,
        )
        model = self._memory.llm_client
        _ignore_folder()
        # SimpleMem only prints the model's error and drops the turns
        self._asking = model.chat_completion = Watched(model.chat_completion)

    def store_conversation(self, conversation: Conversation) -> None:
        """Add the turns and process them at once; by default SimpleMem waits for forty and never processes the last
        ones.
        """
        with self._writing:
            for turn in turns_of(conversation):
                when = turn.timestamp.isoformat() if turn.timestamp else None
                self._memory.add_dialogue(turn.role.capitalize(), turn.content, when)
            self._memory.finalize()
            self._asking.check()

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the k nearest statements, which have no scores."""
        return [_memory(entry) for entry in self._memory.vector_store.semantic_search(encodable(query), top_k=k)]

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Return every statement."""
        return [_memory(entry) for entry in self._memory.get_all_memories()]

    def snapshot(self, path: Path) -> None:
        """Copy the folder, in which every write is a file of its own."""
        with self._writing:
            save_folder(self._folder, path)

    def restore(self, path: Path) -> None:
        """Replace the folder and open it."""
        with self._writing:
            load_folder(self._folder, path)
            self._open()

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return {"system": "simplemem", **versions("simplemem", "lancedb", "sentence-transformers"), **self._settings}


def _ignore_folder() -> None:
    """Keep lancedb from taking a folder `datasets` on the path for Hugging Face's package once sentence-transformers imported it."""
    found = find_spec("datasets")
    if found is not None and found.origin is None:  # a folder without code
        from lancedb import scannable

        scannable._registered_modules.add("datasets")


def _memory(entry: Any) -> dict[str, Any]:
    metadata = {"persons": entry.persons, "entities": entry.entities, "topic": entry.topic, "keywords": entry.keywords}
    return {
        "text": entry.lossless_restatement,
        "id": entry.entry_id,
        "timestamp": entry.timestamp,
        "metadata": metadata,
    }


FACTORY: Final = SystemFactory("simplemem", SimpleMem, SETTINGS, lambda _: REQUIRES, asks_models=True, calls_model=True)
