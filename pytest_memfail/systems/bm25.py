"""`bm25`: every message verbatim in a SQLite FTS5 database, ranked by BM25. It loses nothing and understands
nothing.
"""

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
    """A database file in the store's directory; every connection is used only on the thread that made it."""

    check_options = staticmethod(no_options("bm25"))
    calls_model = False
    concurrent_reads = 1  # one connection, one thread: the default of an embedded database

    def __init__(self, context: SystemContext) -> None:
        self._index = WordIndex(context.path / FILE)

    def store_conversation(self, conversation: Conversation) -> None:
        """Add the messages unchanged."""
        with self._index.db:
            self._index.add(entries_of(conversation))

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the k messages with the best BM25 score for any word of the query."""
        return self._index.found(self._index.ranked(query, k))

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Return every message, in storage order."""
        return self._index.entries()

    def snapshot(self, path: Path) -> None:
        """Write the whole database to the directory."""
        with closing(sqlite3.connect(path / FILE)) as copy:
            self._index.db.backup(copy)

    def restore(self, path: Path) -> None:
        """Replace the content by a snapshot.

        Raises `FileNotFoundError` if there is none.
        """
        if not (path / FILE).is_file():  # SQLite would create an empty one
            raise FileNotFoundError(f"no snapshot in {path}: got no file {FILE}")
        with closing(sqlite3.connect(path / FILE)) as copy:
            copy.backup(self._index.db)

    def close(self) -> None:
        """Close the database; repeated calls are allowed."""
        self._index.close()

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return {"system": "bm25", "sqlite": sqlite3.sqlite_version}
