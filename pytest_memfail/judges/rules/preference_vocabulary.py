"""The words in which a preference is told otherwise: those of its other wordings alone, and those of what says less."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.attitude import attitude, liked
from pytest_memfail.judges.rules.preference_called import names_of, vaguer_of
from pytest_memfail.judges.rules.preference_likeness import likelier_of_sibling
from pytest_memfail.judges.rules.preference_reading import Preference, beside
from pytest_memfail.judges.rules.preference_reworded import Rewording
from pytest_memfail.judges.rules.preference_words import soft_support
from pytest_memfail.judges.rules.targets import Target
from pytest_memfail.judges.rules.text import fold, weight
from pytest_memfail.judges.rules.traces import ASKING
from pytest_memfail.judges.rules.verbatim import verbatim_store, word_for_word
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose import owner
from pytest_memfail.judges.rules.whose_after import MINE

TELLING: Final = 2
"""How many such words tell the thing."""
BACKED: Final = 0.15
"""Share of our statement, in whatever words, that shows them to be said of it."""
REACH: Final = 8
"""So many words apart they stand at most."""
CLOSE: Final = 3
"""The same where nothing else shows them to be said of it, but something is said to be liked."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words for a thing, by what they say of it."""

    telling: frozenset[str]
    """Those of its other wordings, which none that says less has."""
    vague: frozenset[str]
    """Those of the wordings that say less."""


def vocabulary(wanted: Preference) -> Vocabulary:
    """The words for the thing."""
    return _vocabulary(names_of(wanted), vaguer_of(wanted))


@lru_cache(maxsize=4096)
def _vocabulary(names: tuple[Target, ...], covering: tuple[Target, ...]) -> Vocabulary:
    telling = {part.key for target in names for part in target.parts if weight(part.key) >= 1.0}
    vague = {part.key for target in covering for part in target.parts if weight(part.key) >= 1.0}
    return Vocabulary(frozenset(telling - vague), frozenset(vague))


def told_among(wanted: Preference, view: View) -> Rewording | None:
    """The sentence that has several words in which only this preference is told; the user's own first."""
    if verbatim_store(view):
        return None
    # What the statement has too, or another of the row, tells nothing more.
    own = vocabulary(wanted).telling - wanted.context.keys() - wanted.rivals - wanted.topic
    postings = view.as_written().postings
    held: dict[int, int] = defaultdict(int)
    for key in own & postings.keys():
        for at in postings[key]:
            held[at] += 1
    found = [r for at in sorted(held) if held[at] >= TELLING and (r := _told(wanted, view, at, own)) is not None]
    return min(found, key=lambda r: (r.owner != MINE, r.attitude < 0, -r.support, r.at), default=None)


def _told(wanted: Preference, view: View, at: int, own: frozenset[str]) -> Rewording | None:
    sentence = view.sentences[at]
    if word_for_word(view, at) or ASKING.search(sentence.text):
        return None
    places = [i for i, w in enumerate(view.as_written().sentences[at].words) if w.key in own]
    near = [(a, b) for a, b in pairwise(places) if b - a <= REACH]
    near = [(a, b) for a, b in near if sentence.words[a].key != sentence.words[b].key]
    support = soft_support(wanted.context, [view.sentences[i] for i in beside(view, at)])
    if not near or likelier_of_sibling(wanted, view, at):
        return None
    if support < BACKED and (not liked(sentence) or min(b - a for a, b in near) > CLOSE):
        return None
    held = sorted({i for pair in near for i in pair})
    said = min(attitude(sentence, i, i) for i in held)
    words = tuple(sentence.words[i].surface for i in held)
    return Rewording(at, words, owner(view, at, held[-1], held[-1]), said, support)


def says_less(wanted: Preference, view: View, at: int, told: tuple[str, ...] = ()) -> bool:
    """Whether the sentence, or what of it tells the thing, has words of what says less, and none that only this preference has."""
    keys = view.as_written().sentences[at].keys
    known = vocabulary(wanted)
    vague = known.vague - wanted.context.keys() - wanted.name.keys()
    where = keys if not told else {fold(word.lower()) for word in told}
    return not vague.isdisjoint(where) and known.telling.isdisjoint(keys)
