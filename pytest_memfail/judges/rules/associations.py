"""Words near in meaning that no dictionary calls synonyms: a table, loaded when a word is first looked up.

`tools/build_associations.py` makes the table; `associations.LICENSE` names its sources. Where `lexicon` says what means the same,
this says what is spoken of together ("beach" and "sea", "coding" and "programming"): a sign, never a proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.tables import table


@dataclass(frozen=True, slots=True)
class Associations:
    """What is associated with a key (a folded word)."""

    near: Mapping[str, float] = field(default_factory=dict)
    """Associated keys with their strength, from 0.45 to 1."""
    contrasts: frozenset[str] = frozenset()
    """Keys of opposites, and of other kinds of the same (tea and coffee)."""


NONE: Final = Associations()


@lru_cache(maxsize=16384)
def associations(key: str) -> Associations:
    """What is associated with the key; nothing for a key that is not known."""
    line = table("associations").get(key)
    if line is None:
        return NONE
    near, contrasts = line.split("\t")
    pairs = (item.split("=") for item in near.split())
    return Associations({held: int(strength) / 100 for held, strength in pairs}, frozenset(contrasts.split()))


def association(wanted: str, held: str) -> float:
    """How strongly two words are associated: 0, or from 0.45 to 1; 0 too for synonyms, which are the lexicon's.

    >>> association("beach", "coast") > 0.5
    True
    >>> association("tea", "coffe")
    0.0
    """
    return max(associations(wanted).near.get(held, 0.0), associations(held).near.get(wanted, 0.0))


def contrast(one: str, other: str) -> bool:
    """Whether two words exclude each other: opposites, or different kinds of the same.

    >>> contrast("tea", "coffe")
    True
    """
    return other in associations(one).contrasts or one in associations(other).contrasts
