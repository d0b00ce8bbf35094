"""How well one word may stand for another by any sign there is."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.apart import apart, associated
from pytest_memfail.judges.rules.associations import associations
from pytest_memfail.judges.rules.kinship import Kin, kin
from pytest_memfail.judges.rules.lexicon import lookup, paraphrases

NEAR: Final = 0.5
GENERAL: Final = 0.4
"""How well a word stands for one that the thesaurus has near to it, and for one that it is only spoken of with."""
SHARED: Final = 3
SHARED_PART: Final = 0.1
"""So many words near to both, and that share of all, show two words to be spoken of together."""


@lru_cache(maxsize=65536)
def likeness(wanted: str, held: str) -> float:
    """How well one word may stand for another, by any sign."""
    kind, value = kin(wanted, held)
    if value or kind is not Kin.NONE:
        return value
    told, heard = paraphrases(wanted), paraphrases(held)
    if held in told.other or wanted in heard.other or apart(wanted, held):
        return 0.0
    if held in told.near | told.same or wanted in heard.near | heard.same:
        return NEAR
    if associated(wanted, held):
        return GENERAL
    if kin(held, wanted)[0] is Kin.GENERAL:
        return GENERAL
    mine, theirs = _around(wanted), _around(held)
    both = len(mine & theirs)
    return GENERAL if both >= SHARED and both >= SHARED_PART * len(mine | theirs) else 0.0


@lru_cache(maxsize=16384)
def _around(key: str) -> frozenset[str]:
    entry, told = lookup(key), paraphrases(key)
    return frozenset((key, *entry.same, *entry.close, *told.same, *told.near, *associations(key).near))
