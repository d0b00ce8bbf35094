"""Entries in a SQLite FTS5 table, ranked by its bm25()."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_memfail.systems.base import Entry


class WordIndex:
    """A database of entries; its connection belongs to the thread that made it."""

    def __init__(self, file: Path | str) -> None:
        """Open or create the file; `:memory:` for none."""
        self.db = sqlite3.connect(file)
        # A benchmark's store is refilled after a crash, so no write has to survive one.
        self.db.execute("pragma synchronous = off")
        self.db.execute(
            "create virtual table if not exists memories using fts5(text, id unindexed, timestamp unindexed, tokenize='porter')"
        )

    def add(self, entries: Iterable[Entry]) -> None:
        """Add them at the end; whoever calls it commits."""
        self.db.executemany(
            "insert into memories (text, id, timestamp) values (?, ?, ?)",
            [(storable(e.text), e.id, e.timestamp) for e in entries],
        )

    def ranked(self, query: str, k: int) -> list[tuple[int, float]]:
        """The rows with the best BM25 for any word of the query, at most k, each with its score."""
        words = list(dict.fromkeys(re.findall(r"\w+", storable(query))))
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        found = self.db.execute(
            "select rowid, -bm25(memories) from memories where memories match ? order by bm25(memories), rowid limit ?",
            (match, k),
        )
        return found.fetchall()

    def entry(self, row: int) -> dict[str, Any]:
        """The entry of a row."""
        (entry,) = self._entries("where rowid = ?", row)
        return entry

    def entries(self) -> list[dict[str, Any]]:
        """Every entry, in the order added."""
        return self._entries("order by rowid")

    def found(self, ranking: Iterable[tuple[int, float]]) -> list[dict[str, Any]]:
        """The entries of a ranking, each with its score."""
        return [{**self.entry(row), "score": score} for row, score in ranking]

    def _entries(self, which: str, *values: int) -> list[dict[str, Any]]:
        found = self.db.execute(f"select text, id, timestamp from memories {which}", values)
        return [{"text": text, "id": identity, "timestamp": when} for text, identity, when in found]

    def close(self) -> None:
        """Close it; closing twice is allowed."""
        self.db.close()


def storable(text: str) -> str:
    """The text as SQLite and FTS5 can hold it."""
    # SQLite takes UTF-8 only, and a lone surrogate is none; FTS5 reads up to the first NUL
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
