"""`bm25`: every message verbatim in a SQLite FTS5 database, ranked by its bm25(). Loses nothing, understands nothing."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.systems.base import entries_of

FILE = "memories.sqlite"


class BM25:
    """A real file in the store's directory; every connection belongs to the thread that made it."""

    concurrent_reads = 1  # one connection, one thread: what an embedded database allows by default

    def __init__(self, context: SystemContext) -> None:
        self._file = context.path / FILE
        self._open()

    def _open(self) -> None:
        self._db = sqlite3.connect(self._file)
        # A benchmark's store is refilled after a crash, so no write has to survive one.
        self._db.execute("pragma synchronous = off")
        self._db.execute(
            "create virtual table if not exists memories using fts5(text, id unindexed, timestamp unindexed, tokenize='porter')"
        )

    def store_conversation(self, conversation: Conversation) -> None:
        """Add its messages as they are."""
        with self._db:
            self._db.executemany(
                "insert into memories (text, id, timestamp) values (?, ?, ?)",
                [(_storable(e.text), e.id, e.timestamp) for e in entries_of(conversation)],
            )

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """The k messages with the best BM25 for any word of the query."""
        words = list(dict.fromkeys(re.findall(r"\w+", _storable(query))))
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        found = self._db.execute(
            "select text, id, timestamp, -bm25(memories) from memories where memories match ? order by bm25(memories), rowid limit ?",
            (match, k),
        )
        return [{"text": t, "id": i, "timestamp": when, "score": score} for t, i, when, score in found]

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Every message, in the order stored."""
        found = self._db.execute("select text, id, timestamp from memories order by rowid")
        return [{"text": text, "id": i, "timestamp": when} for text, i, when in found]

    def snapshot(self, path: Path) -> None:
        """Write the whole database into the directory."""
        with closing(sqlite3.connect(path / FILE)) as copy:
            self._db.backup(copy)

    def restore(self, path: Path) -> None:
        """Replace what is held by a snapshot.

        Raises `FileNotFoundError` if there is none.
        """
        if not (path / FILE).is_file():  # SQLite would make an empty one
            raise FileNotFoundError(f"no snapshot in {path}: got no file {FILE}")
        with closing(sqlite3.connect(path / FILE)) as copy:
            copy.backup(self._db)

    def close(self) -> None:
        """Close the database; closing twice is allowed."""
        self._db.close()

    def describe(self) -> Mapping[str, str]:
        """What the record says of it."""
        return {"system": "bm25", "sqlite": sqlite3.sqlite_version}


def _storable(text: str) -> str:
    # SQLite takes UTF-8 only, and a lone surrogate is none; FTS5 reads up to the first NUL
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
