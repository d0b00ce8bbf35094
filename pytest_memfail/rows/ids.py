"""Ids made from content, which are the same on every machine and independent of positions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from pytest_memfail.texts import plain_runs

ROW_ID: Final = re.compile(r"[A-Za-z0-9_.-]*[A-Za-z0-9][A-Za-z0-9_.-]*")
"""Ids become parts of node ids, pasted commands and links: no spaces, no slashes, not only dots."""


def slug(text: str, words: int = 5) -> str:
    """Return a short id of `[a-z0-9-]` from the first words of a text.

    >>> slug("Selene composes cryptic messages, daily")
    'selene-composes-cryptic-messages-daily'
    """
    parts = plain_runs(text)
    return "-".join(parts[:words]) or digest(text, 8)


def digest(text: str, length: int) -> str:
    """Return the first hex digits of the text's SHA-256, which are the same on every machine."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def numbered(names: Iterable[str]) -> list[str]:
    """Return the names, with a number appended to each repetition.

    >>> numbered(["p1", "p2", "p1"])
    ['p1', 'p2', 'p1-2']
    """
    used: dict[str, int] = {}
    found = []
    for name in names:
        used[name] = used.get(name, 0) + 1
        found.append(name if used[name] == 1 else f"{name}-{used[name]}")
    return found
