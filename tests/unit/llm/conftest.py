"""What all tests of the client need."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's own key and endpoint must play no part."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _no_file_left_open(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """From Python 3.13 on a database that nobody closed is a warning, and no test closes its books and caches."""
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def remembered(*arguments: Any, **settings: Any) -> sqlite3.Connection:
        opened.append(connect(*arguments, **settings))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remembered)
    yield
    for connection in opened:
        connection.close()
