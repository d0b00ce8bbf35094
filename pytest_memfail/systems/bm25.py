"""`bm25`: every message verbatim in a SQLite FTS5 database, ranked by BM25. It loses nothing and understands
nothing.

Settings: `unit` (message; session: one entry for each conversation) and `header` (none; date: the date comes first in a text).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.systems.base import ENTRIES, MESSAGES, entries_of
from pytest_memfail.systems.factory import SystemFactory
from pytest_memfail.systems.word_index import WordIndex

FILE = "memories.sqlite"


class BM25:
    """A database file in the store's directory; every connection is used only on the thread that made it."""

    concurrent_reads = 1  # one connection, one thread: the default of an embedded database

    def __init__(self, context: SystemContext, settings: Mapping[str, str] = MESSAGES) -> None:
        self.index, self._settings = WordIndex(context.path / FILE), settings

    def store_conversation(self, conversation: Conversation) -> None:
        """Add the messages unchanged."""
        with self.index.db:
            self.index.add(entries_of(conversation, self._settings))

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the k messages with the best BM25 score for any word of the query."""
        return self.index.found(self.index.ranked(query, k))

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Return every message, in storage order."""
        return self.index.entries()

    def snapshot(self, path: Path) -> None:
        """Write the whole database to the directory."""
        with closing(sqlite3.connect(path / FILE)) as copy:
            self.index.db.backup(copy)

    def restore(self, path: Path) -> None:
        """Replace the content by a snapshot.

        Raises `FileNotFoundError` if there is none.
        """
        if not (path / FILE).is_file():  # SQLite would create an empty one
            raise FileNotFoundError(f"no snapshot in {path}: got no file {FILE}")
        with closing(sqlite3.connect(path / FILE)) as copy:
            copy.backup(self.index.db)

    def close(self) -> None:
        """Close the database; repeated calls are allowed."""
        self.index.close()

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        chosen = {name: self._settings[name] for name in ENTRIES if self._settings[name] != MESSAGES[name]}
        return {"system": "bm25", "sqlite": sqlite3.sqlite_version, **chosen}


FACTORY: Final = SystemFactory("bm25", BM25, ENTRIES)
