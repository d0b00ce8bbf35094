"""What a thing is a kind of: a table made from WordNet's nouns, loaded when it is first needed.

`tools/build_kinds.py` makes the table; `lexicon.LICENSE` holds WordNet's licence.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.tables import table
from pytest_memfail.judges.rules.text import fold

ROOTS: Final = frozenset("person animal artifact act activiti object substanc state percept".split())
"""The first of these among a word's kinds is what it is in its commonest sense."""
TOO_GENERAL: Final = frozenset(
    fold(word)
    for word in """object entity thing act action activity event state condition artifact artefact person individual someone
    somebody mortal soul being organism life product good device instrumentality process change unit relation quality
    attribute property group place point area region location structure construction form shape work line job business
    substance matter material stuff content belief idea concept ability power space time period creation representation
    creature support appendage cover provision supply collection measure quantity amount piece part body position nutrient
    nutriment nourishment content communication message signal statement deed inhabitant repair way means""".split()
)
"""What nearly everything is."""


@lru_cache(maxsize=16384)
def is_person(key: str) -> bool:
    """Whether the key's thing is somebody in the first place.

    >>> is_person("dentist"), is_person("doorbell")
    (True, False)
    """
    kind = next((kind for kind in table("kinds").get(key, "").split() if kind in ROOTS), "")
    return kind == "person"


def is_noun(key: str) -> bool:
    """Whether the key is among WordNet's nouns, whatever it may be besides.

    >>> is_noun("balconi"), is_noun("ought")
    (True, False)
    """
    return key in table("kinds")


@lru_cache(maxsize=16384)
def kinds_of(key: str) -> frozenset[str]:
    """Keys of what the key's thing is a kind of, without those that nearly everything is.

    >>> "bird" in kinds_of("parrot")
    True
    """
    lines = table("kinds")
    # "scarv" is folded from "scarves"
    found = lines.get(key) or (lines.get(f"{key[:-1]}f", "") if key.endswith("v") else "")
    return frozenset(found.split()) - TOO_GENERAL
