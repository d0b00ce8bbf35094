"""The memory that is likest to a preference's statement, in whatever words, where no other statement of the row is likelier."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from typing import Final

from pytest_memfail.judges.rules.associations import associations
from pytest_memfail.judges.rules.attitude import LIKED
from pytest_memfail.judges.rules.everyday_things import everyday_thing
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.kinship import Kin
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.preference_reading import LIKING_KEYS, Preference
from pytest_memfail.judges.rules.preference_words import GENERAL, ORIGIN, stands_for
from pytest_memfail.judges.rules.text import fold, sentences_of, weight
from pytest_memfail.judges.rules.traces import ASKING, WISHED
from pytest_memfail.judges.rules.verbatim import verbatim_store, word_for_word
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose import owner
from pytest_memfail.judges.rules.whose_after import MINE

STANDING: Final = 0.5
"""What a word of the name counts for that stands there itself: such places have been judged by what is said of it there."""
TURNED: Final = 0.5
"""What an opposite counts for: a statement turned round is still about the same."""
LIKE: Final = 0.3
"""How like a memory that says a liking has to be."""
PLAIN: Final = 0.5
"""The same for one that says none."""
NAMED: Final = 0.35
"""How much of the name has to be there in other words."""
OF_KIND: Final = 0.12
"""Share of our statement that shows what is liked of the kind asked for to be ours."""
SPOKEN_TO: Final = frozenset(("user", "users"))
BEGINNING: Final = 4


@dataclass(frozen=True, slots=True)
class Likeness:
    """A sentence that may have been made from the statement."""

    at: int
    words: tuple[str, ...]
    """Those that stand for words of the statement."""
    score: float
    name: float
    """How much of the name is there."""
    mine: float
    """How much of the statement is there."""
    otherwise: bool
    """Whether a word of the name is there in another word."""
    owner: str
    """Whose it is."""


class _Words:
    """The words of a view, found by what they may stand for."""

    def __init__(self, view: View) -> None:
        self.sentences = tuple(
            frozenset(
                fold(w.lower)
                for w in sentence.words
                if w.key and not w.key[0].isdigit() and fold(w.lower) not in LIKING_KEYS and w.lower not in SPOKEN_TO
            )
            for sentence in view.sentences
        )
        self.postings: dict[str, list[int]] = defaultdict(list)
        for at, keys in enumerate(self.sentences):
            for key in keys:
                self.postings[key].append(at)
        self._marked: dict[str, list[str]] = defaultdict(list)
        for key in self.postings:
            for mark in _marks(key):
                self._marked[mark].append(key)
        self._near: dict[str, dict[str, float]] = {}

    def near(self, wanted: str) -> Mapping[str, float]:
        """The words of the view that stand for the wanted one, and what they are worth."""
        known = self._near.get(wanted)
        if known is None:
            held = {key for mark in _sought(wanted) for key in self._marked.get(mark, ())}
            worths = ((key, _worth(wanted, key)) for key in sorted(held))
            known = self._near[wanted] = {key: worth for key, worth in worths if worth}
        return known

    def rarity(self, key: str) -> float:
        """How much the word tells: little where many sentences have it."""
        return log((len(self.sentences) + 1) / (len(self.postings[key]) + 0.5)) * weight(key)


@lru_cache(maxsize=16384)
def _marks(key: str) -> frozenset[str]:
    entry = lookup(key)
    return entry.same.union(entry.close, associations(key).near, entry.opposite, (key, f"^{key[:BEGINNING]}"))


@lru_cache(maxsize=16384)
def _sought(key: str) -> frozenset[str]:
    return _marks(key).union(lookup(key).general, kinds_of(key), everyday_thing(key))


@lru_cache(maxsize=65536)
def _worth(wanted: str, held: str) -> float:
    how, worth = stands_for(wanted, held)
    return GENERAL if how is Kin.GENERAL else TURNED if how is Kin.OPPOSITE else worth


def _share(words: _Words, wanted: Mapping[str, float], keys: frozenset[str], same: float = 1.0) -> float:
    """How much of the wanted words the keys tell; a word that stands there itself counts as given."""
    total = sum(wanted.values())
    if not total:
        return 0.0
    told = 0.0
    for key, value in wanted.items():
        near = words.near(key)
        worth = max([near[held] for held in near.keys() & keys], default=0.0)
        told += value * (same if worth >= ORIGIN else worth)
    return told / total


@lru_cache(maxsize=4096)
def statement_words(text: str) -> Mapping[str, float]:
    keys = {w.key for s in sentences_of(text) for w in s.words if w.key and not w.key[0].isdigit()}
    return {key: weight(key) for key in sorted(keys - LIKING_KEYS)}


def left_of(wanted: Preference, view: View) -> Likeness | None:
    """The user's sentence that was most likely made from the statement, though it does not tell the name."""
    found = [one for one in alike(wanted, view) if _is_left(wanted, view, one)]
    return max(found, key=lambda one: (one.score, -one.at), default=None)


def _is_left(wanted: Preference, view: View, one: Likeness) -> bool:
    text = view.sentences[one.at].text
    likes = LIKED.search(text) is not None and WISHED.search(text) is None
    if one.name >= NAMED and one.otherwise and len(one.words) > 1 and one.score >= (LIKE if likes else PLAIN):
        return True
    return likes and one.mine >= OF_KIND and not wanted.topic.isdisjoint(words_of(view).sentences[one.at])


def words_of(view: View) -> _Words:
    known = view.shared.get(_Words)
    if known is None:
        known = view.shared[_Words] = _Words(view)
    assert isinstance(known, _Words)
    return known


def alike(wanted: Preference, view: View, *, others: bool = False) -> list[Likeness]:
    """The user's sentences, or others', that have words of the statement, without those of which another statement has more."""
    if verbatim_store(view) or not wanted.targets or wanted.targets[0].codes or wanted.targets[0].digits:
        return []
    known = view.results.get(("alike", wanted.wording, wanted.source))
    if known is None:
        words = words_of(view)
        shares = _shares(words, wanted.statement)
        found = (_like(wanted, view, at, shares[at]) for at in sorted(shares) if shares[at] >= OF_KIND)
        known = view.results["alike", wanted.wording, wanted.source] = [one for one in found if one is not None]
    assert isinstance(known, list)
    return [one for one in known if (one.owner != MINE) is others]


def likelier_of_sibling(wanted: Preference, view: View, at: int) -> bool:
    """Whether the sentence has more of what was said of another preference of the row."""
    words = words_of(view)
    keys = words.sentences[at]
    mine = _share(words, wanted.statement, keys)
    return any(_share(words, statement_words(sibling), keys) > mine for sibling in wanted.siblings)


def _shares(words: _Words, statement: Mapping[str, float]) -> dict[int, float]:
    """How much of the statement each sentence has that has any of it."""
    total = sum(statement.values())
    shares: dict[int, float] = defaultdict(float)
    for key, value in statement.items():
        best: dict[int, float] = {}
        for held, worth in words.near(key).items():
            for at in words.postings[held]:
                best[at] = max(best.get(at, 0.0), 1.0 if worth >= ORIGIN else worth)
        for at, worth in best.items():
            shares[at] += value * worth / total
    return shares


def _like(wanted: Preference, view: View, at: int, mine: float) -> Likeness | None:
    words, sentence = words_of(view), view.sentences[at]
    keys = words.sentences[at]
    own = {key: max([words.near(k).get(key, 0.0) for k in wanted.statement]) for key in keys}
    total = sum(words.rarity(key) for key in keys)
    back = sum(words.rarity(key) * worth for key, worth in own.items()) / total if total else 0.0
    named = _share(words, wanted.name, keys, STANDING)
    score = (named + _share(words, wanted.context, keys)) * sqrt(back)
    is_far = score < LIKE and wanted.topic.isdisjoint(keys)
    if is_far or ASKING.search(sentence.text) or word_for_word(view, at):
        return None
    if any(_share(words, statement_words(sibling), keys) >= mine for sibling in wanted.siblings):
        return None
    held = tuple(sorted(key for key, worth in own.items() if worth))
    otherwise = any(0.0 < words.near(key).get(other, 0.0) < ORIGIN for key in wanted.name for other in keys)
    return Likeness(at, held, score, named, mine, otherwise, owner(view, at, len(sentence.words), -1))
