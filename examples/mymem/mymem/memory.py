"""Notes in SQLite: a summariser adds them, later ones replace them, words find them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from mymem.summariser import RuleSummariser, Summariser
from mymem.text import words

CANDIDATES = 5
"""The number of known notes that a summariser sees."""
SCHEMA = """
create table if not exists notes (
    id integer primary key, text text not null, said_at text, replaced_by integer references notes
);
create virtual table if not exists words using fts5(text, tokenize = 'porter');
"""


@dataclass(frozen=True)
class Note:
    """One fact about the user."""

    id: int
    text: str
    said_at: str | None = None
    score: float | None = None


class Memory:
    """An assistant's memory of one user; a replaced note stays in the file, but is neither listed nor found."""

    def __init__(self, file: Path, summariser: Summariser | None = None) -> None:
        self._summariser = summariser or RuleSummariser()
        self._db = sqlite3.connect(file)
        self._db.executescript(SCHEMA)

    def add(self, text: str, said_at: datetime | None = None) -> None:
        """Note the relevant content of a message, and replace the notes it corrects."""
        known = self.search(text, CANDIDATES)
        with self._db:
            for draft in self._summariser.drafts(text, known):
                self._insert(draft.text, said_at, draft.replaces)

    def search(self, query: str, k: int) -> list[Note]:
        """Return the k notes that share the rarest words with the query, best first."""
        wanted = words(query)
        if not wanted:
            return []
        rows = self._db.execute(
            "select notes.id, notes.text, said_at, -bm25(words) from words join notes on notes.id = words.rowid "
            "where words match ? order by bm25(words), notes.id desc limit ?",
            (" OR ".join(f'"{word}"' for word in wanted), k),
        )
        return [Note(*row) for row in rows]

    def all(self) -> list[Note]:
        """Return every current note, oldest first."""
        return [
            Note(*row)
            for row in self._db.execute("select id, text, said_at from notes where replaced_by is null order by id")
        ]

    def history(self, note: Note) -> list[Note]:
        """Return the notes that this one replaced, latest first."""
        rows = self._db.execute(
            "select id, text, said_at from notes where replaced_by = ? order by id desc", (note.id,)
        )
        return [Note(*row) for row in rows]

    def backup(self, file: Path) -> None:
        """Write everything to another file."""
        with closing(sqlite3.connect(file)) as copy:
            self._db.backup(copy)

    def load(self, file: Path) -> None:
        """Replace everything by a backup."""
        if not file.is_file():
            raise FileNotFoundError(f"no backup at {file}")
        with closing(sqlite3.connect(file)) as copy:
            copy.backup(self._db)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _insert(self, text: str, said_at: datetime | None, replaces: Sequence[int]) -> None:
        text = re.sub(r"\s+", " ", text).strip()
        when = said_at.isoformat() if said_at else None
        cursor = self._db.execute("insert into notes (text, said_at) values (?, ?)", (text, when))
        self._db.execute("insert into words (rowid, text) values (?, ?)", (cursor.lastrowid, text))
        for old in replaces:
            self._db.execute(
                "update notes set replaced_by = ? where id = ? or replaced_by = ?", (cursor.lastrowid, old, old)
            )
            self._db.execute("delete from words where rowid = ?", (old,))
