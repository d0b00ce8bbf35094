"""`dense`: every message verbatim in SQLite, ranked by the cosine of vectors from an OpenAI-compatible `/embeddings` endpoint.

Settings: `embedding` (the model), `unit` and `header` as for `bm25`, and `batch` (the most texts of one request). Requests go
through `context.chat`, so they are cached, counted and charged to the budget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import Conversation, SystemContext, UsageError
from pytest_memfail.systems.base import ENTRIES
from pytest_memfail.systems.bm25 import BM25
from pytest_memfail.systems.factory import Setting, SystemFactory
from pytest_memfail.systems.vector_table import VectorTable
from pytest_memfail.systems.word_index import storable

SETTINGS: Final = {
    "embedding": Setting("text-embedding-3-small"),
    **ENTRIES,
    "batch": Setting("64", number=True),
}


class Dense:
    """The store of `bm25` with a vector for each entry. Texts are embedded in batches, when all of them are stored."""

    def __init__(self, context: SystemContext, settings: Mapping[str, str]) -> None:
        if context.chat is None:
            raise UsageError(
                "dense asks a model for vectors, and this run has none; set OPENAI_BASE_URL or OPENAI_API_KEY"
            )
        self._context, self._settings, self._chat = context, settings, context.chat
        self._model, self._batch = settings["embedding"], int(settings["batch"] or SETTINGS["batch"].default)
        self._filling = asyncio.Lock()

    @cached_property
    def _store(self) -> BM25:
        # opened by the first call, on the thread of the loop: the connection is bound to it
        return BM25(self._context, self._settings)

    @cached_property
    def _vectors(self) -> VectorTable:
        return VectorTable(self._store.index.db, f"vectors of {self._model}")

    async def store_conversation(self, conversation: Conversation) -> None:
        """Add the messages unchanged."""
        self._store.store_conversation(conversation)

    async def flush(self) -> None:
        """Embed what has no vector yet."""
        async with self._filling:
            new = self._vectors.lacking()
            batches = [new[start : start + self._batch] for start in range(0, len(new), self._batch)]
            found = await asyncio.gather(*(self._embed([text for _, text in batch]) for batch in batches))
            with self._store.index.db:
                for batch, vectors in zip(batches, found, strict=True):
                    self._vectors.add([row for row, _ in batch], vectors)

    async def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the k entries with the nearest vectors."""
        await self.flush()
        if not query.strip():
            return []
        (vector,) = await self._embed([storable(query)])
        return self._store.index.found(self._vectors.nearest(vector, k))

    async def get_all_memories(self) -> list[dict[str, Any]]:
        """Return every entry, in storage order."""
        return self._store.get_all_memories()

    async def snapshot(self, path: Path) -> None:
        """Write the whole database to the directory."""
        self._store.snapshot(path)

    async def restore(self, path: Path) -> None:
        """Replace the content by a snapshot.

        Raises `FileNotFoundError` if there is none.
        """
        self._store.restore(path)
        self._vectors.forget()

    async def close(self) -> None:
        """Close the database; repeated calls are allowed."""
        self._store.close()

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return {"system": "dense", **{name: self._settings[name] for name in ("embedding", *ENTRIES)}}

    async def _embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return await self._chat.embed(texts, model=self._model)


FACTORY: Final = SystemFactory(
    "dense", Dense, SETTINGS, asks=lambda settings, _: (settings["embedding"],), calls_model=True
)
