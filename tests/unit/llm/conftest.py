"""Fixtures for all tests of the client."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignore the developer's own key and endpoint."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _no_file_left_open(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close databases that tests leave open, which Python 3.13 and later warn about."""
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def remembered(*arguments: Any, **settings: Any) -> sqlite3.Connection:
        opened.append(connect(*arguments, **settings))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remembered)
    before = set(threading.enumerate())
    yield
    # a request of the proxy may still be under way: SQLite crashes if its connection is closed under a call
    requests = [each for each in set(threading.enumerate()) - before if "process_request_thread" in each.name]
    for request in requests:
        request.join(5)
    if not any(request.is_alive() for request in requests):
        for connection in opened:
            connection.close()
