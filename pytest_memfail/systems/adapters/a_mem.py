"""`a-mem`: A-MEM's agentic memory (the package `a-mem`): one note per message, annotated and linked by a model.

Settings: `llm`, and `embedding`: a sentence-transformers model, by name or by the path of its folder. OPENAI_BASE_URL
sets the endpoint.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.safety import encodable
from pytest_memfail.systems.adapters.folders import closed, load_folder, save_folder
from pytest_memfail.systems.adapters.outages import Watched
from pytest_memfail.systems.adapters.texts import turns_of
from pytest_memfail.systems.factory import Setting, SystemFactory, versions

REQUIRES: Final = ("a-mem>=0.2.6,<0.3",)
SETTINGS: Final = {"llm": Setting("gpt-4o-mini"), "embedding": Setting("all-MiniLM-L6-v2")}
TIME: Final = "%Y%m%d%H%M"


class AMem:
    """A store in a folder of its own, because the name of the collection is fixed."""

    concurrent_reads = 8
    concurrent_writes = 1  # a note is linked to earlier ones

    def __init__(self, context: SystemContext, settings: Mapping[str, str]) -> None:
        self._folder = context.path / "a-mem"
        self._settings = settings
        self._writing = threading.RLock()
        self._open()

    def _open(self) -> None:
        # read when chromadb is opened, and when litellm is imported, which otherwise downloads a price table
        os.environ["ANONYMIZED_TELEMETRY"] = "False"
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        from agentic_memory.memory_system import AgenticMemorySystem

        self._memory = AgenticMemorySystem(
            model_name=self._settings["embedding"],
            llm_backend="openai",
            llm_model=self._settings["llm"],
            storage_path=str(self._folder),
        )
        model = self._memory.llm_controller.llm
        # A-MEM only prints the model's error and stores the note without annotations
        self._asking = model.get_completion = Watched(model.get_completion)
        self._closed = False

    def store_conversation(self, conversation: Conversation) -> None:
        """Add one note per message, with its time."""
        with self._writing:
            for turn in turns_of(conversation):
                when = turn.timestamp.strftime(TIME) if turn.timestamp else None
                self._memory.add_note(f"{turn.role}: {turn.content}", time=when)
                self._asking.check()

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the k nearest notes. The search returns ids and distances: look up the texts and negate the
        distances.
        """
        found = self._memory.search(encodable(query), k=k)
        scores = {entry["id"]: -float(entry["score"]) for entry in found}
        return [{**memory, "score": scores[memory["id"]]} for memory in self._read(scores)]

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Return every note."""
        return self._read(self._memory.retriever.get_all_ids())

    def _read(self, ids: Iterable[str]) -> list[dict[str, Any]]:
        wanted = list(ids)
        notes = self._memory.read_multiple(wanted)
        return [_memory(notes[identity]) for identity in wanted if notes.get(identity) is not None]

    def snapshot(self, path: Path) -> None:
        """Close the store, copy its folder and reopen it."""
        with closed(self._writing, self.close, self._open):
            save_folder(self._folder, path)

    def restore(self, path: Path) -> None:
        """Replace the folder and reopen, which also drops the cache of notes."""
        with closed(self._writing, self.close, self._open):
            load_folder(self._folder, path)

    def close(self) -> None:
        """Close the database, which A-MEM never does, and the connections."""
        with self._writing:
            if not self._closed:
                self._closed = True
                self._memory.retriever.client.close()
                self._memory.llm_controller.llm.client.close()

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return {"system": "a-mem", **versions("a-mem", "chromadb", "sentence-transformers"), **self._settings}


def _memory(note: Any) -> dict[str, Any]:
    return {
        "text": str(note.content),  # numeric texts come back as numbers
        "id": note.id,
        "timestamp": datetime.strptime(str(note.timestamp), TIME).isoformat(),
        "metadata": {"context": note.context, "keywords": note.keywords, "tags": note.tags, "links": note.links},
    }


FACTORY: Final = SystemFactory("a-mem", AMem, SETTINGS, lambda _: REQUIRES, asks_models=True, calls_model=True)
