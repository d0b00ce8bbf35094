"""Open the SQLite files that several processes share."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import UsageError

BUSY_SECONDS: Final = 30.0
"""How long a process waits for another one's transaction, which takes milliseconds."""
OPEN_TRIES: Final = 100


class Database:
    """One of our databases. Thread-safe, and shared with other processes: each statement is a transaction of its own."""

    def __init__(self, path: Path | None, *, kind: int, what: str, schema: str) -> None:
        """Open or create the file; None for a database in memory.

        `kind` is the number in the file's header that identifies our files; `what` names the file in messages.
        Raises `UsageError` if the file is another program's, damaged, or cannot be written.
        """
        self._path, self._what = path, what
        self._lock = threading.Lock()
        if path is None:
            self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            weakref.finalize(self, self._connection.close)  # Python 3.13 warns of one that is collected open
            self._connection.executescript(schema)
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # replies may quote private memories
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            weakref.finalize(self, self._connection.close)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{path}: cannot be opened as {what}: {error}") from None
        try:
            with self._lock, self._errors():
                _prepare(self._connection, path, kind, what, schema)
        except UsageError:
            self._connection.close()
            raise

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Execute a statement and return its rows. Raise `UsageError` if the file is damaged or closed."""
        with self._lock, self._errors():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        """Execute several statements at once for other processes; what was written before an exception is kept."""
        with self._lock, self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
            finally:
                self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file; repeated calls are allowed."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            advice = "delete it or name another file"
            raise UsageError(f"{self._path}: not usable as {self._what} ({error}); {advice}") from None


def _prepare(connection: sqlite3.Connection, path: Path, kind: int, what: str, schema: str) -> None:
    _retried(connection, "BEGIN IMMEDIATE")
    found = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if found != kind and (found or tables):
        raise UsageError(f"{path}: not {what} but another program's database; name another file")
    if not tables:
        connection.execute(f"PRAGMA application_id = {kind}")
        for statement in schema.split(";"):
            connection.execute(statement)
    connection.execute("COMMIT")
    _retried(connection, "PRAGMA journal_mode = WAL")
    # WAL with NORMAL survives a killed process; only a power cut can lose the last entries
    connection.execute("PRAGMA synchronous = NORMAL")


def _retried(connection: sqlite3.Connection, statement: str) -> None:
    """Run a statement that SQLite may refuse immediately while another process creates the file."""
    for attempt in range(OPEN_TRIES):
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or attempt == OPEN_TRIES - 1:
                raise
            time.sleep(0.02)
