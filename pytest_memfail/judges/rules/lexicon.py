"""Words that mean the same: a table made from WordNet and one of everyday paraphrases, loaded when a word is first looked up.

`tools/build_lexicon.py` makes the one; `lexicon.LICENSE` holds WordNet's licence. `tools/build_thesaurus.py` makes the other.
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


@dataclass(frozen=True, slots=True)
class Paraphrases:
    """What people say for a key, as a dictionary does not."""

    same: frozenset[str] = NONE
    near: frozenset[str] = NONE
    """What belongs to it, but says less."""
    other: frozenset[str] = NONE
    """What looks near and makes another fact: opposites, and others of the kind."""


NO_PARAPHRASES: Final = Paraphrases()


@lru_cache(maxsize=16384)
def paraphrases(key: str) -> Paraphrases:
    """What is said for the key every day; nothing for a key that is not known."""
    line = table("thesaurus").get(key)
    if line is None:
        return NO_PARAPHRASES
    same, near, other = (frozenset(part.split()) for part in line.split("\t"))
    return Paraphrases(same, near, other)


@lru_cache(maxsize=16384)
def lookup(key: str) -> Entry:
    """What is known of the key; an empty entry for a key that is not known."""
    line = table("lexicon").get(key)
    told = paraphrases(key)
    if line is None and told is NO_PARAPHRASES:
        return EMPTY
    same, close, general, opposite = [
        frozenset(part.split()) if part else NONE for part in (line or "\t\t\t").split("\t")
    ]
    if told is NO_PARAPHRASES:
        return Entry(same, close - same, general, opposite)
    # What people say every day outweighs what a word may mean in some sense.
    same, close = same - told.other, close | (told.same - opposite)
    return Entry(same, close - told.other - same, general, opposite)


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
