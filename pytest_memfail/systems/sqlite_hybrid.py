"""`sqlite-hybrid`: every message verbatim in SQLite; the rankings by BM25 and by static embeddings are fused.

Setting: `embeddings`: ngrams (hashed character n-grams, no dependencies) or wordllama (a table of word vectors from the
package of that name).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.systems.adapters import AdapterFactory, Setting, versions
from pytest_memfail.systems.base import entries_of
from pytest_memfail.systems.bm25 import BM25, FILE
from pytest_memfail.systems.static_embeddings import embed
from pytest_memfail.systems.word_index import storable

if TYPE_CHECKING:
    from pytest_memfail.systems.static_embeddings import Vectors

SETTINGS: Final = {"embeddings": Setting("ngrams", ("ngrams", "wordllama"))}
WORDLLAMA: Final = "wordllama>=0.4,<0.5"
DEPTH: Final = 100
"""How many rows of each ranking are fused; k if that is more."""
FUSION: Final = 60
"""The constant of reciprocal rank fusion: rank r scores 1 / (FUSION + r)."""


class SqliteHybrid(BM25):
    """`bm25` plus a vector per message; retrieval combines both rankings."""

    def __init__(self, context: SystemContext, settings: Mapping[str, str]) -> None:
        self._embeddings = settings["embeddings"]
        self._vectors: tuple[list[int], Vectors] | None = None
        super().__init__(context)
        self._db = self._index.db
        # the table's name distinguishes the vectors of different embeddings
        self._table = f"vectors_{self._embeddings}"
        self._db.execute(f"create table if not exists {self._table} (id integer primary key, vector blob not null)")

    def store_conversation(self, conversation: Conversation) -> None:
        """Add the messages and their vectors."""
        entries = entries_of(conversation)
        vectors = embed(self._embeddings, [storable(entry.text) for entry in entries])
        with self._db:
            (last,) = self._db.execute("select coalesce(max(rowid), 0) from memories").fetchone()
            self._index.add(entries)
            rows = [(last + i, vector.tobytes()) for i, vector in enumerate(vectors, 1)]
            self._db.executemany(f"insert into {self._table} values (?, ?)", rows)
        self._vectors = None

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the k messages with the best fused rank."""
        depth = max(k, DEPTH)
        by_words = [row for row, _ in self._index.ranked(query, depth)]
        return self._index.found(fused(by_words, self._nearest(query, depth))[:k])

    def _nearest(self, query: str, depth: int) -> list[int]:
        """Return the rows with the nearest vectors, except those without any similarity."""
        import numpy as np

        rows, vectors = self._read_vectors()
        if not rows:
            return []
        # not `@`: its BLAS threads wait for each other, which is a hundred times slower beside other workers
        scores = np.einsum("ij,j->i", vectors, embed(self._embeddings, [storable(query)])[0])
        order = np.argsort(-scores, kind="stable")[:depth]
        return [rows[i] for i in order if scores[i] > 0]

    def _read_vectors(self) -> tuple[list[int], Vectors]:
        """Return all vectors, read once after each change."""
        import numpy as np

        if self._vectors is None:
            found = self._db.execute(f"select id, vector from {self._table} order by id").fetchall()
            stacked = np.frombuffer(b"".join(vector for _, vector in found), dtype=np.float32)
            self._vectors = [row for row, _ in found], stacked.reshape(len(found), -1) if found else stacked
        return self._vectors

    def restore(self, path: Path) -> None:
        """Replace the content by a snapshot.

        Raises `FileNotFoundError` if there is none, `ValueError` if it has no vectors of this embedding.
        """
        if (path / FILE).is_file():
            with closing(sqlite3.connect(path / FILE)) as snapshot:
                if not snapshot.execute("select 1 from sqlite_master where name = ?", (self._table,)).fetchone():
                    raise ValueError(f"the snapshot in {path} has no vectors of {self._embeddings}; fill a new store")
        super().restore(path)
        self._vectors = None

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


FACTORY: Final = AdapterFactory(
    "sqlite-hybrid", SETTINGS, _requires, SqliteHybrid, asks_models=False, calls_model=False
)
