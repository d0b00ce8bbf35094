"""Open the SQLite files that several processes share."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Final

from pytest_memfail.core import UsageError

BUSY_SECONDS: Final = 30.0
"""How long a process waits for another one's transaction, which takes milliseconds."""
OPEN_TRIES: Final = 100


def open_database(path: Path | None, *, kind: int, what: str, schema: str) -> sqlite3.Connection:
    """Open or create one of our databases; None for one in memory.

    `kind` is the number in the file's header that identifies our files; `what` names the file in messages.
    Raises `UsageError` if the file is another program's, damaged, or cannot be written.
    """
    if path is None:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        connection.executescript(schema)
        return connection
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # replies may quote private memories
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise UsageError(f"{path}: cannot be opened as {what}: {error}") from None
    try:
        _prepare(connection, path, kind, what, schema)
    except sqlite3.Error as error:
        connection.close()
        raise damaged(path, what, error) from None
    except UsageError:
        connection.close()
        raise
    return connection


def damaged(path: Path | None, what: str, error: sqlite3.Error) -> UsageError:
    """Return the error for a file that SQLite cannot read."""
    return UsageError(f"{path}: not usable as {what} ({error}); delete it or name another file")


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
