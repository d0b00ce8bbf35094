"""Entries in a SQLite FTS5 table, ranked by BM25."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pytest_memfail.safety import encodable
from pytest_memfail.systems.base import Entry
from pytest_memfail.texts import runs


class WordIndex:
    """A database of entries; its connection is used only on the thread that made it."""

    def __init__(self, file: Path | str) -> None:
        """Open or create the file; `:memory:` for a database in memory."""
        self.db = sqlite3.connect(file)
        # A benchmark refills its stores after a crash, so writes need not survive one.
        self.db.execute("pragma synchronous = off")
        self.db.execute(
            "create virtual table if not exists memories using fts5(text, id unindexed, timestamp unindexed, tokenize='porter')"
        )

    def add(self, entries: Iterable[Entry]) -> None:
        """Append entries; the caller commits."""
        self.db.executemany(
            "insert into memories (text, id, timestamp) values (?, ?, ?)",
            [(storable(e.text), e.id, e.timestamp) for e in entries],
        )

    def ranked(self, query: str, k: int) -> list[tuple[int, float]]:
        """Return at most k rows with the best BM25 score for any word of the query, each with its score."""
        words = list(dict.fromkeys(runs(storable(query))))
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        found = self.db.execute(
            "select rowid, -bm25(memories) from memories where memories match ? order by bm25(memories), rowid limit ?",
            (match, k),
        )
        return found.fetchall()

    def entry(self, row: int) -> dict[str, Any]:
        """Return the entry of a row."""
        (entry,) = self._entries("where rowid = ?", row)
        return entry

    def entries(self) -> list[dict[str, Any]]:
        """Return every entry, in the order added."""
        return self._entries("order by rowid")

    def found(self, ranking: Iterable[tuple[int, float]]) -> list[dict[str, Any]]:
        """Return the entries of a ranking, each with its score."""
        return [{**self.entry(row), "score": score} for row, score in ranking]

    def _entries(self, which: str, *values: int) -> list[dict[str, Any]]:
        found = self.db.execute(f"select text, id, timestamp from memories {which}", values)
        return [{"text": text, "id": identity, "timestamp": when} for text, identity, when in found]

    def close(self) -> None:
        """Close the database; repeated calls are allowed."""
        self.db.close()


class LazyIndex:
    """A word index in memory, built anew at the first question after a change, on the thread that asks."""

    def __init__(self, entries: Callable[[], Iterable[Entry]]) -> None:
        """`entries` returns what is there now."""
        self._entries = entries
        self._index: WordIndex | None = None

    def best(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return the k entries with the best BM25 score for any word of the query."""
        if self._index is None:
            self._index = WordIndex(":memory:")
            self._index.add(self._entries())
        return self._index.found(self._index.ranked(query, k))

    def drop(self) -> None:
        """Forget the index, because the entries change; repeated calls are allowed."""
        if self._index is not None:
            self._index.close()
            self._index = None


def storable(text: str) -> str:
    """Return the text in a form that SQLite and FTS5 can store."""
    # SQLite takes only UTF-8, which has no lone surrogates; FTS5 stops at the first NUL
    return str(encodable(text)).replace("\0", " ")
