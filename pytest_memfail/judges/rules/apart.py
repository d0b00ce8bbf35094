"""Which words exclude each other, and how far one is associated with another that it does not exclude."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.associations import association, contrast
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.quantities import MEASURES
from pytest_memfail.judges.rules.text import fold

ASSOCIATED: Final = 0.5
_SIZES: Final = {fold(word): size for word, size in MEASURES.items() if len(word) > 2}


@lru_cache(maxsize=65536)
def apart(one: str, other: str) -> bool:
    """Whether what is the one cannot be the other.

    >>> apart("tea", "coffe"), apart("cold", "warm"), apart("red", "blue"), apart("cold", "freez")
    (True, True, True, False)
    """
    mine, theirs = lookup(one), lookup(other)
    if other in mine.general or one in theirs.general:
        return False  # a hike is a walk
    if contrast(one, other) or other in mine.opposite or one in theirs.opposite:
        return True
    if mine.opposite & theirs.same or theirs.opposite & mine.same:
        return True
    return "colour" in kinds_of(one) and "colour" in kinds_of(other)


@lru_cache(maxsize=65536)
def associated(wanted: str, held: str) -> bool:
    """Whether the held word may well be said for the wanted one.

    >>> associated("freez", "cold"), associated("cold", "warm")
    (True, False)
    """
    return association(wanted, held) >= ASSOCIATED and not apart(wanted, held)


def another_size(one: str, other: str) -> bool:
    """Whether two words measure the same in different sizes: synonyms they may be called, but none is the other.

    >>> another_size("hour", "minut"), another_size("hour", "hour")
    (True, False)
    """
    mine, theirs = _SIZES.get(one), _SIZES.get(other)
    return mine is not None and theirs is not None and mine != theirs
