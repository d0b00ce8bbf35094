"""How far one word can stand for another: the same, a synonym, of one origin, a general term for it, or its opposite."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.apart import poles
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup, nearness
from pytest_memfail.judges.rules.tables import table

ORIGIN: Final = 0.85
"""A word of the same origin: the nouns, verbs and adjectives of one stem."""
PHRASAL: Final = 0.75
FIRM: Final = 0.8
"""From here on it is the word itself, in some form; below, a word of like meaning, which often is meant otherwise."""
LIKE: Final = 0.8
"""What a synonym is worth of its nearness."""
SHARED: Final = 4
"""Letters that two words of one origin share at least."""
ENDINGS: Final = frozenset(
    """er or ist ing ed y i al ial ous ment ion ation ate at ive iv if iz ize is ic ti ity ship ly ant ent anc enc en an
    ee ness th t s d ful iti ori ory""".split()
)
AKIN_AT_MOST: Final = 12
DISTANT: Final = 0.5
"""A synonym of a word of the same origin: shaky and trembling."""
GENERAL_AT_MOST: Final = 60
"""A word of very many meanings has so many general terms that they tell nothing."""


class Kin(Enum):
    """What a word of a store is to a word that is looked for."""

    NONE = "none"
    SAME = "same"
    GENERAL = "general"
    OPPOSITE = "opposite"


@lru_cache(maxsize=65536)
def kin(wanted: str, held: str) -> tuple[Kin, float]:
    """What the held key is to the wanted one, and how well it stands for it.

    >>> kin("oak", "tree")[0], kin("win", "lose")[0], kin("cancel", "cancellat")[1] >= 0.6
    (<Kin.GENERAL: 'general'>, <Kin.OPPOSITE: 'opposite'>, True)
    """
    if wanted == held:
        return Kin.SAME, 1.0
    entry = lookup(wanted)
    if held in entry.opposite or wanted in lookup(held).opposite or poles(wanted, held):
        return Kin.OPPOSITE, 0.0
    near = max(LIKE * nearness(wanted, held), ORIGIN if one_origin(wanted, held) else 0.0)
    if near:
        return Kin.SAME, near
    if any(held in lookup(other).same for other in sorted(entry.close)[:AKIN_AT_MOST]):
        return Kin.SAME, DISTANT
    if (held in entry.general and len(entry.general) <= GENERAL_AT_MOST) or held in kinds_of(wanted):
        return Kin.GENERAL, 0.0
    return Kin.NONE, 0.0


@lru_cache(maxsize=65536)
def one_origin(one: str, other: str) -> bool:
    """Whether two words are forms of one stem.

    >>> one_origin("serene", "serenity"), one_origin("paint", "repaint"), one_origin("commute", "commune")
    (True, True, False)
    """
    if one[0].isdigit() or other[0].isdigit():
        return False
    if one == f"re{other}" or other == f"re{one}":
        return True
    shorter, longer = sorted((one, other), key=len)
    shared = next((i for i, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))
    return (
        shared >= max(SHARED, len(shorter) - 1)
        and shorter[shared:] in ("", "e", "i", "y")
        and (longer[shared:] in ENDINGS or (shorter[shared:] != "" and longer[shared:] in ("", "i", "y", "e")))
    )


def is_cut(wanted: str, held: str) -> bool:
    """Whether a word of the store is the wanted key cut short: pils for pilsner.

    >>> is_cut("kombucha", "kombu"), is_cut("pilsner", "pils"), is_cut("carpet", "cars")
    (True, True, False)
    """
    bare = held.removesuffix("s")
    cut = len(held) >= SHARED and len(wanted) >= len(held) + 3 and wanted.startswith((held, bare))
    return cut and lookup(held) is EMPTY and lookup(bare) is EMPTY


@lru_cache(maxsize=16384)
def phrasal(verb: str, particle: str) -> frozenset[str]:
    """The single verbs that a verb with a particle stands for.

    >>> "cancel" in phrasal("call", "off")
    True
    """
    return frozenset(table("phrasal").get(f"{verb} {particle}", "").split())
