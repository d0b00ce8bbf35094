"""Vectors in a SQLite table, ranked by cosine."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vectors = NDArray[Any]


class VectorTable:
    """The vectors of the rows of a database, each of length 1 (or 0)."""

    def __init__(self, db: sqlite3.Connection, name: str) -> None:
        """Open or create the table; its name distinguishes the vectors of different embeddings."""
        self._db, self._name = db, '"{}"'.format(name.replace('"', '""'))
        self._read: tuple[list[int], Vectors] | None = None
        self._create()

    def _create(self) -> None:
        self._db.execute(f"create table if not exists {self._name} (id integer primary key, vector blob not null)")

    def add(self, rows: Iterable[int], vectors: ArrayLike) -> None:
        """Add the vectors of rows; the caller commits."""
        import numpy as np

        given = np.asarray(vectors, dtype=np.float32)
        lengths = np.linalg.norm(given, axis=1, keepdims=True)
        unit = given / np.where(lengths > 0, lengths, 1)
        self._db.executemany(
            f"insert into {self._name} values (?, ?)",
            [(row, vector.tobytes()) for row, vector in zip(rows, unit, strict=True)],
        )
        self._read = None

    def lacking(self) -> list[tuple[int, str]]:
        """Return the rows of the memories after the last with a vector, and their texts."""
        last = f"select coalesce(max(id), 0) from {self._name}"
        return self._db.execute(f"select rowid, text from memories where rowid > ({last}) order by rowid").fetchall()

    def nearest(self, vector: ArrayLike, depth: int) -> list[tuple[int, float]]:
        """Return at most this many rows with the nearest vectors, each with its cosine; rows without any similarity are left out.

        Raises `ValueError` if the vector has another size than those of the rows.
        """
        import numpy as np

        rows, vectors = self._vectors()
        if not rows:
            return []
        wanted = np.asarray(vector, dtype=np.float32)
        # not `@`: its BLAS threads wait for each other, which is a hundred times slower beside other workers
        scores = np.einsum("ij,j->i", vectors, wanted / (np.linalg.norm(wanted) or 1))
        order = np.argsort(-scores, kind="stable")[:depth]
        return [(rows[i], float(scores[i])) for i in order if scores[i] > 0]

    def forget(self) -> None:
        """Read the vectors again, because the database was replaced."""
        self._read = None
        self._create()

    def _vectors(self) -> tuple[list[int], Vectors]:
        """Return all vectors, read once after each change."""
        import numpy as np

        if self._read is None:
            found = self._db.execute(f"select id, vector from {self._name} order by id").fetchall()
            stacked = np.frombuffer(b"".join(vector for _, vector in found), dtype=np.float32)
            self._read = [row for row, _ in found], stacked.reshape(len(found), -1) if found else stacked
        return self._read
