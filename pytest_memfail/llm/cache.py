"""A cache of replies in one SQLite file, shared by all processes and runs."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pytest_memfail.core import UsageError
from pytest_memfail.llm.completion import Usage
from pytest_memfail.llm.database import Database

CacheMode = Literal["on", "off", "only"]
WHAT: Final = "a response cache"
KIND: Final = 0x4D464331
COPY: Final = "copy "
"""Prefix of the endpoint of a reply that is kept under another key too; such rows are not counted."""
SCHEMA: Final = """
CREATE TABLE replies (
    key TEXT PRIMARY KEY,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    text TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    created REAL NOT NULL
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A stored reply."""

    text: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class CacheSummary:
    """The contents of a cache, summarised."""

    path: Path
    entries: int
    bytes: int
    """The size of its files on disk."""
    models: Mapping[str, int]
    """Entries by model, most frequent first."""
    oldest: float | None
    newest: float | None
    """Seconds since the epoch; None for an empty cache."""


def request_key(
    *,
    endpoint: str,
    model: str,
    messages: Sequence[Mapping[str, Any]],
    parameters: Mapping[str, Any],
    schema: Mapping[str, Any] | None,
    repeat: int,
) -> str:
    """Return the key of a request: the SHA-256 of everything that decides its reply, as canonical JSON."""
    parts = {
        "endpoint": endpoint,
        "model": model,
        "messages": [dict(message) for message in messages],
        "parameters": dict(parameters),
        "schema": schema,
        "repeat": repeat,
    }
    # ASCII, so that lone surrogates in memories can be hashed too
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


class ResponseCache:
    """Stores replies by request. Mode `on` reads and writes, `off` does neither, `only` reads and forbids calls."""

    def __init__(self, path: Path | str, mode: CacheMode = "on") -> None:
        """Open or create the file.

        Raises `UsageError` for an unknown mode, a file that is not a response cache, or a missing file with mode
        `only`.
        """
        if mode not in get_args(CacheMode):
            raise UsageError(f"got cache mode {mode!r}, expected {', '.join(get_args(CacheMode))}")
        self.path = Path(path)
        self.mode: CacheMode = mode
        if mode == "only" and not self.path.is_file():
            raise UsageError(f"{self.path}: no such response cache; record one with the cache mode on")
        self._database = None if mode == "off" else Database(self.path, kind=KIND, what=WHAT, schema=SCHEMA)

    def get(self, key: str) -> CachedReply | None:
        """Return the reply stored under the key; None if there is none.

        Raises `UsageError` if the file is damaged.
        """
        if self.mode == "off":
            return None
        statement = "SELECT text, prompt_tokens, completion_tokens, cached_tokens FROM replies WHERE key = ?"
        rows = self._run(statement, (key,))
        return CachedReply(rows[0][0], Usage(*rows[0][1:])) if rows else None

    def put(self, key: str, *, endpoint: str, model: str, reply: CachedReply, is_copy: bool = False) -> None:
        """Store a reply unless there is one already; a copy is the reply to a request under one more key.

        Raises `UsageError` if the file cannot be written.
        """
        if self.mode != "on":
            return
        usage = reply.usage
        counts = usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens
        row = (key, (COPY if is_copy else "") + endpoint, model, reply.text, *counts, time.time())
        self._run("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def forget(self, key: str) -> None:
        """Remove the reply stored under a key, because it cannot be used."""
        if self.mode == "on":
            self._run("DELETE FROM replies WHERE key = ?", (key,))

    def endpoints(self, prefix: str = "http") -> list[str]:
        """Return the endpoints with stored replies that start with the prefix, sorted; the proxy's have another one."""
        found = self._run("SELECT DISTINCT endpoint FROM replies ORDER BY endpoint")
        return [row[0] for row in found if row[0].startswith(prefix)]

    def summary(self) -> CacheSummary:
        """Return entries, size and age, for `memfail cache show`."""
        counted = f"FROM replies WHERE endpoint NOT LIKE '{COPY}%'"
        count, oldest, newest = self._run(f"SELECT count(*), min(created), max(created) {counted}")[0]
        models = self._run(f"SELECT model, count(*) {counted} GROUP BY model ORDER BY count(*) DESC, model")
        files = (self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal", "-shm"))
        size = sum(file.stat().st_size for file in files if file.exists())
        return CacheSummary(self.path, count, size, dict(models), oldest, newest)

    def prune(self, *, older_than_seconds: float = 0.0) -> int:
        """Delete replies older than this, by default all, and shrink the file; return their number."""
        before = time.time() - older_than_seconds
        forgotten = self._run("DELETE FROM replies WHERE created <= ? RETURNING endpoint", (before,))
        self._run("VACUUM")
        return sum(not endpoint.startswith(COPY) for (endpoint,) in forgotten)

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        if self._database is None:
            raise UsageError(f"{self.path}: the response cache is off or closed")
        return self._database.run(statement, values)
