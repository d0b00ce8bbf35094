"""By which other words a memory tells an everyday thing that somebody likes or does: a table, loaded when first needed.

A line of `everyday_things.txt` holds the thing and, behind a colon, short and other names of it, and what it is done with or known by.
What it is a kind of is not among them: that would be another, vaguer thing.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from pytest_memfail.judges.rules.text import fold

_NOTHING: Final[frozenset[str]] = frozenset()


@cache
def _table() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in files(__package__).joinpath("everyday_things.txt").read_text(encoding="utf-8").splitlines():
        thing, _, others = line.partition(":")
        key = fold(thing)
        found[key] = found.get(key, _NOTHING).union(fold(word) for word in others.replace("-", " ").split())
    return found


def everyday_thing(key: str) -> frozenset[str]:
    """Keys by which the thing may be told.

    >>> fold("turntable") in everyday_thing("vinyl")
    True
    """
    return _table().get(key, _NOTHING)
