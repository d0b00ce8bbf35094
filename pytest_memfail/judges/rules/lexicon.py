"""Words that mean the same: a table made from WordNet, loaded when a word is first looked up.

`tools/build_lexicon.py` makes the table; `lexicon.LICENSE` holds WordNet's licence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.tables import table

NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a key (a folded word)."""

    same: frozenset[str] = NONE
    """Keys of the same meaning."""
    close: frozenset[str] = NONE
    """Keys close in meaning, or of the same origin."""
    general: frozenset[str] = NONE
    """Keys of what it is a kind of, up to two levels."""
    opposite: frozenset[str] = NONE


EMPTY: Final = Entry()
ENDS: Final = 4
"""So many letters at either end show words to be of one origin, or one to be a half of the other."""


@lru_cache(maxsize=16384)
def lookup(key: str) -> Entry:
    """What is known of the key; an empty entry for a key that is not known."""
    line = table("lexicon").get(key)
    if line is None:
        return EMPTY
    same, close, general, opposite = (frozenset(part.split()) for part in line.split("\t"))
    return Entry(same, close, general, opposite)


@lru_cache(maxsize=16384)
def reach(key: str) -> frozenset[str]:
    """The key, how it begins and ends, and the keys near to it: two words with none of these in common are not alike."""
    entry = lookup(key)
    return entry.same.union(entry.close, entry.general, (key, f"^{key[:ENDS]}", f"{key[-ENDS:]}$"))


@lru_cache(maxsize=8192)
def _reaches(keys: frozenset[str]) -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple([(key, reach(key)) for key in keys])


def likely(key: str, keys: frozenset[str]) -> list[str]:
    """Those of the keys that may be like the one: comparing it with the others would be in vain."""
    mine = reach(key)
    return [other for other, marks in _reaches(keys) if not marks.isdisjoint(mine)]


def nearness(wanted: str, held: str) -> float:
    """How far the one word can stand for the other: 1 the same, 0.9 a synonym, 0.75 close, 0 otherwise.

    >>> nearness("overcast", "cloud")
    0.9
    """
    if wanted == held:
        return 1.0
    mine, other = lookup(wanted), lookup(held)
    if (mine is EMPTY and other is EMPTY) or held in mine.opposite or wanted in other.opposite:
        return 0.0
    if held in mine.same or wanted in other.same:
        return 0.9
    if held in mine.close or wanted in other.close:
        return 0.75
    return 0.0
