"""A preference described rather than named: what was said of it stands there in other words, with particulars in place of the name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Final

from pytest_memfail.judges.rules.associations import association, contrast
from pytest_memfail.judges.rules.attitude import against
from pytest_memfail.judges.rules.everyday_things import everyday_thing
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.kinship import Kin
from pytest_memfail.judges.rules.lexicon import lookup, paraphrases
from pytest_memfail.judges.rules.preference_likeness import Likeness, alike, statement_words, words_of
from pytest_memfail.judges.rules.preference_reading import Preference
from pytest_memfail.judges.rules.preference_words import GENERAL, ORIGIN, stands_for
from pytest_memfail.judges.rules.traces import VAGUE
from pytest_memfail.judges.rules.verbatim import verbatim_store
from pytest_memfail.judges.rules.view import View

BELONGS: Final = 0.4
"""What a word is worth that belongs to the one looked for but says less."""
ANY: Final = 0.5
"""The least that a word in other words is worth."""
OPPOSITE: Final = 0.3
ASSOCIATED: Final = 0.6
"""What an associated word is worth of its strength."""
FOUND: Final = 0.35
"""A word worth less is not counted as found."""
NOTHING: Final = 0.3
"""A word of the memory worth less is one of its own."""
SHARE: Final = 0.28
"""How much of the statement a description has."""
NAME: Final = 0.2
"""How much of the name."""
TOLD: Final = 4
"""How many words of the statement."""
OTHERWISE: Final = 2
"""How many of them in other words."""
OWN: Final = 3
"""How many words of its own, which stand for the name: what is blurred has none."""
LONG: Final = 5
"""How many words it has at least."""

HANDED: Final = 0.6
"""How much of the statement somebody else's sentence has, and how like it is, that was made from it."""
LEFT: Final = 0.33
"""How like a sentence has to be that was left of the statement, though what it was about is lost."""
LEFT_PLAINLY: Final = 0.47
"""The same with which fewer words of it need stand there in other words."""
LEFT_SHARE: Final = 0.27
"""How much of the statement it has."""
LEFT_TOLD: Final = 3
"""How many words of it."""
OF_SIBLING: Final = 0.45
"""How much of another statement of the row is there where it is that one which is told."""
MORE: Final = 1.5
"""How many times as much of it as of ours."""
STANDS: Final = 0.75
"""Where so much of the name stands there, it has been judged already, and found to name something else."""


@dataclass(frozen=True, slots=True)
class Description:
    """How a sentence tells the statement."""

    at: int
    words: tuple[str, ...]
    mine: float
    """How much of the statement is there."""
    score: float
    name: float
    """How much of the name is there."""
    told: int
    """How many words of the statement are there."""
    otherwise: int
    """How many of them in other words."""
    own: int
    """How many words the sentence has that tell nothing of the statement."""
    size: int
    """How many words it has."""
    owner: str
    """Whose the sentence is."""


def described(wanted: Preference, view: View) -> Description | None:
    """The user's likest sentence if it describes the preference with particulars."""
    one = likest(wanted, view)
    if one is None or one.mine < SHARE or one.name < NAME or one.told < TOLD or one.otherwise < OTHERWISE:
        return None
    if one.own < OWN or one.size < LONG or _is_other(wanted, view, one.at):
        return None
    return one


def left_vague(wanted: Preference, view: View) -> Description | None:
    """The user's likest sentence if the statement's reason or situation stands there in other words."""
    one = likest(wanted, view)
    if one is None or one.score < LEFT or one.mine < LEFT_SHARE or one.told < LEFT_TOLD or one.name >= STANDS:
        return None
    otherwise = one.otherwise + (one.score >= LEFT_PLAINLY)
    return one if otherwise >= OTHERWISE and one.size > 1 else None


def is_of_sibling(wanted: Preference, view: View, at: int, least: float = OF_SIBLING) -> bool:
    """Whether the sentence plainly tells what was said of another preference of the row, and much less of this one."""
    if verbatim_store(view):
        return False
    keys = words_of(view).sentences[at] - wanted.topic
    needed = max(least, MORE * _share(_telling(wanted, wanted.statement), keys))
    return any(_share(_telling(wanted, statement_words(sibling)), keys) >= needed for sibling in wanted.siblings)


def _telling(wanted: Preference, statement: Mapping[str, float]) -> dict[str, float]:
    """The words of a statement without those that all of the row share."""
    return {key: value for key, value in statement.items() if key not in wanted.topic}


def handed_over(wanted: Preference, view: View) -> Description | None:
    """Somebody else's sentence that tells our statement, in whatever words."""
    one = likest(wanted, view, others=True)
    return one if one is not None and min(one.mine, one.score) >= HANDED and one.told >= TOLD else None


def likest(wanted: Preference, view: View, *, others: bool = False) -> Description | None:
    """The user's sentence, or another's, that is likest to the statement, if it is not liker to another of its row."""
    found = (_description(wanted, view, one) for one in alike(wanted, view, others=others))
    return max((d for d in found if d is not None), key=lambda d: (d.score, -d.at), default=None)


def _description(wanted: Preference, view: View, one: Likeness) -> Description | None:
    words = words_of(view)
    keys = words.sentences[one.at] - wanted.topic
    mine = _share(wanted.statement, keys)
    if not keys or any(_share(statement_words(sibling), keys) >= mine for sibling in wanted.siblings):
        return None
    worths = [max([_worth(key, held) for held in keys]) for key in wanted.statement]
    own = {held: max([_worth(key, held) for key in wanted.statement]) for held in keys}
    total = sum(words.rarity(held) for held in keys)
    back = sum(words.rarity(held) * worth for held, worth in own.items()) / total if total else 0.0
    return Description(
        one.at,
        tuple(sorted(held for held, worth in own.items() if worth >= FOUND)),
        mine,
        sqrt(mine * back),
        _share(wanted.name, keys),
        sum(worth >= FOUND for worth in worths),
        sum(FOUND <= worth < ORIGIN for worth in worths),
        sum(worth < NOTHING for worth in own.values()),
        len(keys),
        one.owner,
    )


def _is_other(wanted: Preference, view: View, at: int) -> bool:
    """Whether the sentence has a vague word, a kind of the thing, or another of that kind in its place."""
    text = view.sentences[at].text
    if VAGUE.search(text) or against(text):
        return True
    keys = words_of(view).sentences[at] - wanted.topic
    parts = [part.key for part in wanted.targets[0].parts]
    new = keys - wanted.context.keys() - set(parts)
    if any(contrast(part, key) or key in paraphrases(part).other for part in parts for key in new):
        return True
    known = frozenset[str]().union(*map(_called, parts))
    return any(key in kinds_of(part) or key in lookup(part).general for part in parts for key in new - known)


@lru_cache(maxsize=4096)
def _called(key: str) -> frozenset[str]:
    told = paraphrases(key)
    return told.same | told.near | everyday_thing(key)


def _share(wanted: Mapping[str, float], keys: Iterable[str]) -> float:
    total = sum(wanted.values())
    if not total:
        return 0.0
    return sum(value * max([_worth(key, held) for held in keys], default=0.0) for key, value in wanted.items()) / total


@lru_cache(maxsize=65536)
def _worth(wanted: str, held: str) -> float:
    how, worth = stands_for(wanted, held)
    if how is Kin.GENERAL:
        return GENERAL
    if how is Kin.OPPOSITE:
        return OPPOSITE
    if worth:
        return 1.0 if worth >= ORIGIN else max(worth, ANY)
    if held in paraphrases(wanted).near or wanted in paraphrases(held).near:
        return BELONGS
    return ASSOCIATED * association(wanted, held)
