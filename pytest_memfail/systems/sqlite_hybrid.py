"""`sqlite-hybrid`: every message verbatim in SQLite; the rankings by BM25 and by static embeddings are fused.

Settings: `embeddings`: ngrams (hashed character n-grams, no dependencies) or wordllama (a table of word vectors from the
package of that name); `unit` and `header` as for `bm25`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.systems.base import ENTRIES
from pytest_memfail.systems.bm25 import BM25, FILE
from pytest_memfail.systems.factory import Setting, SystemFactory, versions
from pytest_memfail.systems.static_embeddings import embed
from pytest_memfail.systems.vector_table import VectorTable
from pytest_memfail.systems.word_index import storable

SETTINGS: Final = {"embeddings": Setting("ngrams", ("ngrams", "wordllama")), **ENTRIES}
WORDLLAMA: Final = "wordllama>=0.4,<0.5"
DEPTH: Final = 100
"""How many rows of each ranking are fused; k if that is more."""
FUSION: Final = 60
"""The constant of reciprocal rank fusion: rank r scores 1 / (FUSION + r)."""


class SqliteHybrid(BM25):
    """`bm25` plus a vector per message; retrieval combines both rankings."""

    def __init__(self, context: SystemContext, settings: Mapping[str, str]) -> None:
        super().__init__(context, settings)
        self._embeddings = settings["embeddings"]
        self._table = f"vectors_{self._embeddings}"
        self._vectors = VectorTable(self.index.db, self._table)

    def store_conversation(self, conversation: Conversation) -> None:
        """Add the messages and their vectors."""
        super().store_conversation(conversation)
        if new := self._vectors.lacking():
            with self.index.db:
                self._vectors.add([row for row, _ in new], embed(self._embeddings, [text for _, text in new]))

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the k messages with the best fused rank."""
        depth = max(k, DEPTH)
        by_words = [row for row, _ in self.index.ranked(query, depth)]
        nearest = self._vectors.nearest(embed(self._embeddings, [storable(query)])[0], depth)
        return self.index.found(fused(by_words, (row for row, _ in nearest))[:k])

    def restore(self, path: Path) -> None:
        """Replace the content by a snapshot.

        Raises `FileNotFoundError` if there is none, `ValueError` if it has no vectors of this embedding.
        """
        if (path / FILE).is_file():
            with closing(sqlite3.connect(path / FILE)) as snapshot:
                if not snapshot.execute("select 1 from sqlite_master where name = ?", (self._table,)).fetchone():
                    raise ValueError(f"the snapshot in {path} has no vectors of {self._embeddings}; fill a new store")
        super().restore(path)
        self._vectors.forget()

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        package = versions("wordllama") if self._embeddings == "wordllama" else {}
        return {**super().describe(), "system": "sqlite-hybrid", "embeddings": self._embeddings, **package}


def fused(*rankings: Iterable[int]) -> list[tuple[int, float]]:
    """Return each row with its reciprocal rank fusion score, best first; the older first among equals.

    >>> [row for row, _ in fused([1, 2, 3], [3, 4])]
    [3, 1, 2, 4]
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, 1):
            scores[row] = scores.get(row, 0.0) + 1 / (FUSION + rank)
    return sorted(scores.items(), key=lambda found: (-found[1], found[0]))


def _requires(settings: Mapping[str, str]) -> tuple[str, ...]:
    return (WORDLLAMA,) if settings["embeddings"] == "wordllama" else ()


FACTORY: Final = SystemFactory("sqlite-hybrid", SqliteHybrid, SETTINGS, _requires)
