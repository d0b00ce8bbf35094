"""Stored sentences beside an essay: which were made from it, and how much of a detail they keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.associations import association
from pytest_memfail.judges.rules.compounds import compounds
from pytest_memfail.judges.rules.entity_name import TITLES, Name
from pytest_memfail.judges.rules.given_names import GIVEN
from pytest_memfail.judges.rules.kinds import is_person
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup, paraphrases
from pytest_memfail.judges.rules.persona_affirmed import refusing
from pytest_memfail.judges.rules.persona_essay import Concept, Essay, Item
from pytest_memfail.judges.rules.persona_refusals import NOBODY, REFUSALS
from pytest_memfail.judges.rules.quantities import CLOCK, DURATION, HALF_OPEN, Quantity
from pytest_memfail.judges.rules.related import related, within_reach
from pytest_memfail.judges.rules.rule_phrases import phrase_keys
from pytest_memfail.judges.rules.text import Sentence, fold, weight
from pytest_memfail.judges.rules.view import NAMED, OPEN, View

ALIKE: Final = 0.9
KEPT: Final = 0.6
"""How near a stored word must be to stand for a needed one."""
HINT: Final = 0.6
TOGETHER: Final = 0.5
COMPANY: Final = 1.0
"""How much of the essay's sentence must stand beside a word that is only spoken of together with a needed one."""
LESS: Final = "less"
"""What is cloudless has no clouds."""
SPARED: Final = 0.35
"""The share of what the question says itself that an entry need not repeat."""
NUMBER: Final = 1.5
"""What a matching number counts where a sentence is compared with the essay's."""
USERS: Final = frozenset("user's users".split())
OPENING: Final = 3
"""Among so many words behind "the user's" stands who or what is the user's."""
TWO: Final = frozenset("pair pairs couple both".split())
"""Words for two of something."""
LONGER: Final[dict[float, str]] = {60: "hour", 24 * 60: "day", 7 * 24 * 60: "week", 14 * 24 * 60: "fortnight"}
"""Longer measures of time, in minutes."""
DAY: Final = {
    fold(part): hours
    for part, hours in (("morning", (4, 12)), ("afternoon", (12, 18)), ("evening", (17, 24)), ("night", (20, 29)))
}
"""The hours of the parts of a day."""
NOON: Final = 12 * 60
LATE: Final = frozenset(fold(part) for part in ("evening", "night"))
"""The one may be meant by the other."""
HALVES: Final = {1: fold("afternoon"), -1: fold("morning")}
"""The parts of a day after and before noon."""
SHORT: Final = 14
"""Entries of so many sentences that begin with the person's name are about the person throughout."""
UNNAMED_OWN: Final = 0.7
MOST: Final = 400
"""How many sentences about one name are compared with an essay."""


@dataclass(frozen=True, slots=True)
class Made:
    """A stored sentence as far as it was made from the essay."""

    at: int
    stated: int
    """The essay's sentence that it has most of."""
    overlap: float
    own: float
    """The share of its words that the whole essay has."""
    closest: float
    """The share that the one sentence has."""
    sure: float
    """How much of it the whole essay has, synonyms counting less."""
    by: Mapping[int, float]
    """How much it has of each of the essay's sentences."""
    total: float


def compare(view: View, at: int, essay: Essay) -> Made:
    """How much of the stored sentence the essay explains."""
    sentence = view.sentences[at]
    by: dict[int, float] = {}
    own = total = sure = 0.0
    for key in sentence.keys - essay.ignored:
        if key[0].isdigit():
            continue
        value = weight(key)
        total += value
        read = essay.read(key)
        if read:
            own += value
            sure += max(read.values())
            for stated, tells in read.items():
                by[stated] = by.get(stated, 0.0) + tells
    for number in view.quantities((at,)):
        total += NUMBER
        same = [i for i, stated in enumerate(essay.stated) if any(number.same(q) for q in stated.numbers)]
        own += NUMBER if same else 0.0
        sure += NUMBER if same else 0.0
        for i in same:
            by[i] = by.get(i, 0.0) + NUMBER
    overlap, stated = max(((v, -i) for i, v in by.items()), default=(0.0, 0))
    share = min(1.0, own / total) if total else 0.0
    return Made(at, -stated, overlap, share, min(1.0, overlap / total) if total else 0.0, sure, by, total)


def own_sentences(view: View, essay: Essay) -> list[Made]:
    """The sentences that are about the person, or about a namesake, beside the essay."""
    name = essay.name
    if name is None:
        return [compare(view, at, essay) for at in range(min(len(view.sentences), MOST))]
    found = {
        at
        for at in view.about(name)
        if not names_another(view.sentences[at], name) and not _another_trade(view.sentences[at], name, essay)
    }
    found = {at for at in found if not _goes_on_with_another(at, view, name)}
    named = {at for at in found if view.link(at, name) == NAMED}
    entries = {view.entry[at] for at in named}
    for mention in sorted(named):
        entry = view.entry[mention]
        start, end = view.first[entry], view.first[entry + 1]
        if mention == start and end - start <= SHORT:
            found.update(
                at for at in range(start + 1, end) if not view.sentences[at].starts_turn and view.link(at, name) >= OPEN
            )
            if start + 1 < end and view.sentences[start].lowers <= name.parts:
                found.add(start + 1)  # "Noah Brooks - PT/KO translator": the name alone is a label
    made = [compare(view, at, essay) for at in sorted(found)[:MOST]]
    # Only what was plainly made from the essay may take its name from another entry, and nothing of what the user has.
    return [
        m
        for m in made
        if view.entry[m.at] in entries
        or (m.own >= UNNAMED_OWN and not (entries and _of_user(view.sentences[m.at], essay)))
    ]


def _goes_on_with_another(at: int, view: View, name: Name) -> bool:
    """Whether the sentence names nobody and follows one about somebody else of that surname: "Gunnar Amsel digs; he wears green"."""
    if view.link(at, name) == NAMED:
        return False
    before = next((i for i in range(at - 1, view.first[view.entry[at]] - 1, -1) if view.link(i, name) == NAMED), None)
    return before is not None and names_another(view.sentences[before], name)


def _of_user(sentence: Sentence, essay: Essay) -> bool:
    """Whether the sentence begins with what, or whom, the user has: "the user's neighbours"; not who the person is."""
    opening = sentence.words[: OPENING + 1]
    at = int(bool(opening) and opening[0].lower == "the")
    begins = len(opening) > at and opening[at].lower in USERS
    named = any(
        w.surface[0].isupper() and w.key not in essay.keys and w.key not in essay.ignored for w in opening[at + 1 :]
    )
    return begins and (named or essay.identity.isdisjoint(w.key for w in opening[at + 1 :]))


def names_another(sentence: Sentence, name: Name) -> bool:
    """Whether only a surname stands there, behind the first name of somebody else."""
    if len(name.parts) < 2 or name.first in {w.lower.removesuffix("'s") for w in sentence.words}:
        return False
    for before, word in pairwise(sentence.words):
        bare = word.lower.removesuffix("'s")
        if bare in name.parts and before.surface[0].isupper() == word.surface[0].isupper():
            initial = len(before.lower) == 1 and before.lower == name.first[0]
            named = lookup(before.key) is EMPTY or before.lower in GIVEN
            if not initial and before.lower not in TITLES and before.key and named:
                return True
    return False


def _another_trade(sentence: Sentence, name: Name, essay: Essay) -> bool:
    """Whether the name is told apart by a trade of which the essay knows nothing: "Ravi the stargazer"."""
    words = sentence.words
    return "the" in sentence.lowers and any(
        this.lower in name.parts
        and the.lower == "the"
        and is_person(trade.key)
        and not essay.read(trade.key)
        and not any(association(trade.key, key) for key in essay.identity)
        for this, the, trade in zip(words, words[1:], words[2:], strict=False)
    )


@dataclass(frozen=True, slots=True)
class Kept:
    """How much of an item stands in a place."""

    share: float
    where: tuple[int, ...]
    missing: tuple[str, ...] = ()
    """Numbers that are not there."""


def keys_at(place: Sequence[int], item: Item, view: View, essay: Essay) -> frozenset[str]:
    """What stands in the place: compounds in either spelling, and by a clock time the part of the day that the item names."""
    keys = frozenset().union(*(view.sentences[at].keys for at in place))
    wanted = {k for c in item.concepts for k in c.keys}
    if not keys >= wanted:
        apart = (k for at in place for k in compounds(view.sentences[at]) if k in wanted)
        source = compounds(essay.stated[item.at].sentence)
        keys = keys.union(apart, *(source[k] for k in source.keys() & keys))
        keys = keys.union(k for at in place for k in phrase_keys(view.sentences[at].text) if k in wanted)
    if all(DAY.keys().isdisjoint(c.keys) for c in item.concepts):
        return keys
    hours = {q.value / 60 % 24 for q in view.quantities(place) if q.unit in (CLOCK, HALF_OPEN)}
    return keys.union(
        part for part, (first, last) in DAY.items() if any(first <= (h - first) % 24 + first < last for h in hours)
    )


def keep(item: Item, places: Iterable[Sequence[int]], view: View, essay: Essay) -> Kept:
    """The place that keeps most of the item."""
    best = Kept(0.0, ())
    denying = REFUSALS | NOBODY
    refuses = any(not denying.isdisjoint(c.keys) for c in item.concepts)
    for place in places:
        keys = keys_at(place, item, view, essay)
        refused = refuses and any(refusing(view.sentences[at]) for at in place)
        by = [
            stands(c, item, keys, essay) or (KEPT if refused and not denying.isdisjoint(c.keys) else 0.0)
            for c in item.concepts
        ]
        got = sum(c.weight * near for c, near in zip(item.concepts, by, strict=True))
        spared = sum(SPARED * c.weight for c, near in zip(item.concepts, by, strict=True) if c.given and not near)
        stated = view.quantities(place)
        same = [
            q
            for q in item.numbers
            if any(q.same(o) for o in stated)
            or (q.value == NOON and q.unit == CLOCK and HALVES.get(q.direction) in keys)
            or (q.unit == DURATION and any(_one_of(q, view.sentences[at]) for at in place))
            or (q.unit == CLOCK and any(_at_hour(q, o) for o in stated))
            or (q.value == 2 and not q.unit and any(view.sentences[at].lowers & TWO for at in place))
        ]
        share = (got + len(same)) / (item.size - spared)
        if share > best.share + 1e-9:
            lacking = tuple(q.text for q in item.numbers if q not in same)
            best = Kept(share, tuple(place), lacking)
    return best


@lru_cache(maxsize=65536)
def _nearest(wanted: tuple[str, ...], keys: frozenset[str]) -> float:
    pairs = ((one, held) for one in wanted for held in within_reach(one, keys))
    # What people say for it every day is said of many things: a namesake's sentence has it too.
    close = (near for one, held in pairs if (near := related(one, held)) >= ALIKE or held not in paraphrases(one).same)
    return max((near for near in close if near >= KEPT), default=0.0)


def _one_of(quantity: Quantity, sentence: Sentence) -> bool:
    """Whether the time is told as one of a longer measure: a day, a week."""
    measure = LONGER.get(quantity.value, "")
    return measure in sentence.lowers and any(
        before.lower in ("a", "an", "one", "full", "whole", "single", "per", "each", "every") and word.lower == measure
        for before, word in pairwise(sentence.words)
    )


def _at_hour(quantity: Quantity, other: Quantity) -> bool:
    """Whether the other is the time of day in hours: 15 h."""
    return other.unit == DURATION and other.text.endswith("h") and other.value == quantity.value


def found(concept: Concept, keys: frozenset[str]) -> float:
    """How far the concept stands among the keys."""
    if not keys.isdisjoint(concept.keys):
        return 1.0
    if any(not keys.isdisjoint(LATE) for key in concept.keys if key in LATE):
        return KEPT
    if any(key.endswith(LESS) and key.removesuffix(LESS) in keys for key in concept.keys):
        return KEPT
    return _nearest(concept.keys, keys)


def stands(concept: Concept, item: Item, keys: frozenset[str], essay: Essay) -> float:
    """How far the concept of the item stands among the keys, or something that is spoken of together with it."""
    return found(concept, keys) or _hinted(concept, item, keys, essay) or _kind_of(concept, item, keys, essay)


def joined(item: Item, kept: Kept, places: Iterable[Sequence[int]], view: View, essay: Essay) -> Kept:
    """With the place that has most of what the best one lacks: one sentence may have become two entries."""
    best = kept
    for place in places:
        if kept.where and not set(place) & set(kept.where):
            both = keep(item, [(*kept.where, *place)], view, essay)
            if both.share > best.share + 1e-9:
                best = both
    return best


def _hinted(concept: Concept, item: Item, keys: frozenset[str], essay: Essay) -> float:
    """What a word spoken of together with the concept counts, where more of its sentence stands beside it."""
    if sum(essay.read(key).get(item.at, 0.0) for key in keys) < COMPANY:
        return 0.0
    # A word of the essay stands for itself.
    strange = frozenset(key for key in keys - essay.keys - essay.ignored if not key[0].isdigit())
    return HINT if _associated(concept.keys, strange) else 0.0


def _kind_of(concept: Concept, item: Item, keys: frozenset[str], essay: Essay) -> float:
    """What a new word counts that names one kind of the concept: cordage is rope."""
    if item.trait or concept.weight < 1.0:
        return 0.0
    return KEPT if any(not lookup(k).general.isdisjoint(concept.keys) for k in keys - essay.keys) else 0.0


@lru_cache(maxsize=65536)
def _associated(wanted: tuple[str, ...], keys: frozenset[str]) -> bool:
    return any(association(one, held) >= TOGETHER for one in wanted for held in keys)
