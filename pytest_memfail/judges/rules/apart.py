"""Which words exclude each other, and how far one is associated with another that it does not exclude."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.associations import association, contrast
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.lexicon import lookup, nearness
from pytest_memfail.judges.rules.quantities import MEASURES
from pytest_memfail.judges.rules.text import fold

EXCLUDING: Final = """
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
spring summer autumn winter
weekday weekend
morning afternoon evening
morning night
noon midnight
sunrise sunset
sunrise midnight
early late
daily weekly monthly yearly
nightly weekly monthly yearly
nightly daily
hourly daily
north south east west
left right
indoors outdoors
alone together
solo group
always never rarely
often rarely never
peacefully badly poorly
soundly badly poorly
well badly poorly
breakfast lunch dinner
sweet bitter sour salty spicy
beginning end
first last
before after
sister brother cousin aunt uncle mother father grandmother grandfather niece nephew daughter son wife husband
friend sister brother mother father
sister family
brother family
neighbour colleague friend boss
walk run swim
"""
"""Of what one line names, no two can be the same."""
ASSOCIATED: Final = 0.5
_SIZES: Final = {fold(word): size for word, size in MEASURES.items() if len(word) > 2}


_CLASSES: Final[dict[str, frozenset[int]]] = {}
for _number, _line in enumerate(EXCLUDING.strip().splitlines()):
    for _side in _line.split():
        _CLASSES[fold(_side)] = _CLASSES.get(fold(_side), frozenset()) | {_number}


@lru_cache(maxsize=65536)
def apart(one: str, other: str) -> bool:
    """Whether what is the one cannot be the other.

    >>> apart("tea", "coffe"), apart("cold", "warm"), apart("red", "blue"), apart("cold", "freez")
    (True, True, True, False)
    """
    mine, theirs = lookup(one), lookup(other)
    if _CLASSES.get(one, frozenset()) & _CLASSES.get(other, frozenset()):
        return one != other
    if other in mine.general or one in theirs.general:
        return False  # a hike is a walk
    if contrast(one, other) or other in mine.opposite or one in theirs.opposite:
        return True
    if mine.opposite & theirs.same or theirs.opposite & mine.same:
        return True
    return "colour" in kinds_of(one) and "colour" in kinds_of(other)


@lru_cache(maxsize=65536)
def alternatives(one: str, other: str) -> bool:
    """Whether the two are different kinds of the same: ginger and mint.

    >>> alternatives("ginger", "mint"), alternatives("ginger", "spic")
    (True, False)
    """
    return bool(kinds_of(one) & kinds_of(other)) and not (
        other in kinds_of(one) or one in kinds_of(other) or nearness(one, other) or association(one, other)
    )


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
