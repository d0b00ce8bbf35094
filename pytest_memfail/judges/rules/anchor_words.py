"""The words that the ends of links are made of, and those of a store among which they are looked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pytest_memfail.judges.rules.text import fold

NEAR: Final = 3
WALL: Final = re.compile(r"->|=>|→|⇒|\||;|\n|>>")
"""What no end of a link stretches across."""
BREAK: Final = re.compile(r"[,:()]|->|=>|→|⇒|\||;|\n| - ")
LIGHT: Final = frozenset(
    fold(w)
    for w in """feel take make go have get give put set start begin keep do use play experience find turn become grow come
    bring leave choose decide need want like love enjoy manage tend happen follow feeling mood state mindset headspace
    sense side streak frame spell bout burst outbreak session bit time way habit activity practice routine end result good""".split()
)
"""Words that carry little of what an end says: an end is kept without them."""
FEELING: Final = frozenset(fold(w) for w in "feel feeling mood state mindset headspace mind head spirits vibe".split())
"""What these say, that somebody feels it, any of them says."""
SOMEBODY: Final = frozenset(
    fold(w)
    for w in """sister brother mother father mom dad aunt uncle cousin niece nephew grandmother grandfather wife husband
    partner son daughter friend flatmate roommate housemate colleague coworker boss neighbour neighbor twin parent spouse
    girlfriend boyfriend teacher dog cat kid child postman landlord dentist doctor grandparents ex fiance fiancee baby toddler
    grandma grandpa granny grandson granddaughter grandchild stepmother stepfather stepson stepdaughter classmate teammate coach
    trainer instructor tutor manager supervisor lodger tenant guest visitor host intern client customer pupil student apprentice
    godmother godfather mum papa sibling puppy kitten hamster parrot rabbit""".split()
)
NO_ADVERBS: Final = frozenset(
    """early daily weekly nightly monthly yearly hourly chilly family lonely friendly lovely lively silly ugly curly hilly elderly
    woolly smelly wobbly bubbly jolly jelly belly lily fly butterfly dragonfly assembly july italy reply supply ally bully rally
    folly holly melancholy homely costly heavenly sickly motherly brotherly ghostly orderly leisurely""".split()
)
PARTICLES: Final = frozenset("off on up down out over through away back in into around along by apart together".split())
ATTACHING: Final = frozenset("that which who whose with by in of for to from no not like being meant when".split())
"""Words that attach to a noun what an adjective before it may have said."""
CAUSING: Final = frozenset(
    fold(w)
    for w in """make lead give cause trigger put leave inspire prompt spark motivate push send bring drive let get turn encourage
    result help allow enable tend mean end happen set have start begin follow fill move urge tempt incline""".split()
)


def is_adverb(word: str) -> bool:
    """Whether a word tells how something is done.

    >>> is_adverb("slowly"), is_adverb("chilly")
    (True, False)
    """
    return word.endswith("ly") and word not in NO_ADVERBS


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a stretch of a store."""

    lower: str
    surface: str
    key: str
    gap: str
    """What stands between the word before and this one."""
    inside: int
    """The number of its sentence within the stretch."""

    @property
    def wall(self) -> bool:
        """Whether nothing that belongs together stretches from the word before to this one."""
        return bool(self.gap) and WALL.search(self.gap) is not None

    @property
    def breaks(self) -> bool:
        """Whether a comma or more stands before this word."""
        return bool(self.gap) and BREAK.search(self.gap) is not None


@dataclass(frozen=True, slots=True)
class Part:
    """One word of an end."""

    key: str
    surface: str
    weight: float
    kind: str
    """verb, stance (what somebody has towards the head: fear of heights), modifier, head or light."""
