"""How far one word of a memory can stand for a word of a preference or of its statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.associations import association
from pytest_memfail.judges.rules.everyday_things import everyday_thing
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.kinship import Kin, kin, one_origin
from pytest_memfail.judges.rules.lexicon import NO_PARAPHRASES, lookup, paraphrases
from pytest_memfail.judges.rules.targets import loose, relatives
from pytest_memfail.judges.rules.text import Sentence, fold

ORIGIN: Final = 0.85
"""What a word of the same origin is worth of the one looked for."""
GENERAL: Final = 0.35
"""What a general term is worth where it may stand for the word at all."""
ASSOCIATED: Final = 0.8
"""What an associated word is worth of its strength."""
EVERYDAY: Final = 0.5
"""What an everyday word for the thing is worth, where nothing beside it says which thing is meant."""
AKIN_AT_MOST: Final = 12


@lru_cache(maxsize=65536)
def stands_for(wanted: str, held: str) -> tuple[Kin, float]:
    """What the held key is to the wanted one, and what it is worth; of general terms it is for the caller to say."""
    if wanted == held or loose(wanted) == loose(held):
        return Kin.SAME, 1.0
    if one_origin(wanted, held) or loose(held) in relatives(loose(wanted)):
        return Kin.SAME, ORIGIN
    if held in everyday_thing(wanted):
        return Kin.SAME, EVERYDAY
    if held in kinds_of(wanted) and held not in lookup(wanted).same:
        return Kin.GENERAL, 0.0
    how, near = kin(wanted, held)
    if how in (Kin.OPPOSITE, Kin.GENERAL):
        return how, 0.0
    origins = [other for other in sorted(lookup(wanted).close)[:AKIN_AT_MOST] if other[:4] == wanted[:4]]
    near = max(near, *(ASSOCIATED * association(other, held) for other in (wanted, *origins)))
    return (Kin.SAME, near) if near else (Kin.NONE, 0.0)


def soft_support(context: Mapping[str, float], sentences: Iterable[Sentence]) -> float:
    """The share of the statement's words that the sentences have in some wording."""
    total = sum(context.values())
    if not total:
        return 0.0
    held = {fold(word.lower) for sentence in sentences for word in sentence.words if word.key}
    return sum(value * max((_worth(key, h) for h in held), default=0.0) for key, value in context.items()) / total


def _worth(wanted: str, held: str) -> float:
    how, worth = stands_for(wanted, held)
    return GENERAL if how is Kin.GENERAL else worth


def is_far(key: str, held: str) -> bool:
    """Whether two words meet only in some sense of a third, though it is known what people say for the one."""
    told, other = paraphrases(key), paraphrases(held)
    if told is NO_PARAPHRASES or association(key, held) or held in everyday_thing(key):
        return False
    return held not in told.same | told.near and key not in other.same | other.near
