"""`bm25`: every message verbatim in a SQLite FTS5 database, ranked by its bm25(). Loses nothing, understands nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.systems.base import entries_of, no_options
from pytest_memfail.systems.word_index import WordIndex

FILE = "memories.sqlite"


class BM25:
    """A real file in the store's directory; every connection belongs to the thread that made it."""

    check_options = staticmethod(no_options("bm25"))
    calls_model = False
    concurrent_reads = 1  # one connection, one thread: what an embedded database allows by default

    def __init__(self, context: SystemContext) -> None:
        self._index = WordIndex(context.path / FILE)

    def store_conversation(self, conversation: Conversation) -> None:
        """Add its messages as they are."""
        with self._index.db:
            self._index.add(entries_of(conversation))

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """The k messages with the best BM25 for any word of the query."""
        return self._index.found(self._index.ranked(query, k))

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Every message, in the order stored."""
        return self._index.entries()

    def snapshot(self, path: Path) -> None:
        """Write the whole database into the directory."""
        with closing(sqlite3.connect(path / FILE)) as copy:
            self._index.db.backup(copy)

    def restore(self, path: Path) -> None:
        """Replace what is held by a snapshot.

        Raises `FileNotFoundError` if there is none.
        """
        if not (path / FILE).is_file():  # SQLite would make an empty one
            raise FileNotFoundError(f"no snapshot in {path}: got no file {FILE}")
        with closing(sqlite3.connect(path / FILE)) as copy:
            copy.backup(self._index.db)

    def close(self) -> None:
        """Close the database; closing twice is allowed."""
        self._index.close()

    def describe(self) -> Mapping[str, str]:
        """What the record says of it."""
        return {"system": "bm25", "sqlite": sqlite3.sqlite_version}
