"""Stored sentences beside an essay: which were made from it, and whether they keep a detail or turn it around."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.persona_need import Concept, Essay, Item, Stated
from pytest_memfail.judges.rules.polarity import order
from pytest_memfail.judges.rules.quantities import Quantity
from pytest_memfail.judges.rules.related import opposed, related
from pytest_memfail.judges.rules.text import Sentence, fold, weight
from pytest_memfail.judges.rules.view import NAMED, OPEN, TITLES, Name, View

KEPT: Final = 0.6
"""How near a stored word must be to stand for a needed one."""
NUMBER: Final = 1.5
"""What a matching number counts where a sentence is compared with the essay's."""
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
        read = essay.reads.get(key)
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
    found = {at for at in view.about(name) if not names_another(view.sentences[at], name)}
    named = {at for at in found if view.link(at, name) == NAMED}
    entries = {view.entry[at] for at in named}
    for mention in sorted(named):
        entry = view.entry[mention]
        start, end = view.first[entry], view.first[entry + 1]
        if mention == start and end - start <= SHORT:
            found.update(
                at for at in range(start + 1, end) if not view.sentences[at].starts_turn and view.link(at, name) >= OPEN
            )
    made = [compare(view, at, essay) for at in sorted(found)[:MOST]]
    # Only what was plainly made from the essay may take its name from another entry.
    return [m for m in made if view.entry[m.at] in entries or m.own >= UNNAMED_OWN]


def names_another(sentence: Sentence, name: Name) -> bool:
    """Whether only a surname stands there, behind the first name of somebody else."""
    if len(name.parts) < 2 or name.first in {w.lower.removesuffix("'s") for w in sentence.words}:
        return False
    for before, word in pairwise(sentence.words):
        bare = word.lower.removesuffix("'s")
        if bare in name.parts and before.surface[0].isupper() == word.surface[0].isupper():
            initial = len(before.lower) == 1 and before.lower == name.first[0]
            if not initial and before.lower not in TITLES and before.key and lookup(before.key) is EMPTY:
                return True
    return False


@dataclass(frozen=True, slots=True)
class Kept:
    """How much of an item stands in a place."""

    share: float
    where: tuple[int, ...]
    missing: tuple[str, ...] = ()
    """Numbers that are not there."""
    slack: float = 0.0
    """How many telling words of the place the essay does not explain: they may stand for those that miss."""


def keep(item: Item, places: Iterable[Sequence[int]], view: View, essay: Essay) -> Kept:
    """The place that keeps most of the item."""
    best = Kept(0.0, ())
    for place in places:
        keys = frozenset().union(*(view.sentences[at].keys for at in place))
        got = sum(c.weight * found(c, keys) for c in item.concepts)
        stated = view.quantities(place)
        same = [
            q for q in item.numbers if any(q.same(o) and not _off_scale(q, item, place, view, essay) for o in stated)
        ]
        share = (got + len(same)) / item.size
        if share > best.share + 1e-9:
            lacking = tuple(q.text for q in item.numbers if q not in same)
            slack = sum(1 for k in keys if k not in essay.reads and k not in essay.ignored and weight(k) >= 1.0)
            best = Kept(share, tuple(place), lacking, float(slack))
    return best


@lru_cache(maxsize=65536)
def _nearest(wanted: tuple[str, ...], keys: frozenset[str]) -> float:
    near = max((related(one, held) for one in wanted for held in keys), default=0.0)
    return near if near >= KEPT else 0.0


def _off_scale(quantity: Quantity, item: Item, place: Sequence[int], view: View, essay: Essay) -> bool:
    told = essay.stated[item.at].sentence.text
    return quantity.unit == "deg" and any(other_scale(told, view.sentences[at].text) for at in place)


def found(concept: Concept, keys: frozenset[str]) -> float:
    """How far the concept stands among the keys."""
    if not keys.isdisjoint(concept.keys):
        return 1.0
    return _nearest(concept.keys, keys)


SCALE: Final = re.compile(r"(?:°\s?|\d\s?|\b)((?i:celsius|centigrade|fahrenheit)|[CF])\b")


def other_scale(one: str, other: str) -> bool:
    """Whether the texts state temperatures on different scales."""
    mine, theirs = ({m[1][0].casefold() for m in SCALE.finditer(t)} for t in (one, other))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


REJECTING: Final = frozenset(
    """no not never nor neither cannot without hardly rarely seldom none nothing nobody nowhere
    refuse refuses refused refusing avoid avoids avoided avoiding hate hates dislike dislikes despise despises distrust
    distrusts forbid forbids forbidden ban bans banned prohibit prohibits prohibited reject rejects rejected decline
    declines detest detests loathe loathes skip skips allergic allergy abandoned quit quits stopped stops banish banishes
    instead lacks lack fear fears afraid frighten frightens scared dread dreads abstains shuns shun minus
    sworn swears won't doesn't don't isn't can't didn't wasn't aren't hasn't haven't wouldn't shouldn't mustn't unable ignores ignore
    turned against rather less disallowed off-limits insult liars liar eschews eschew""".split()
)
TURNS: Final = frozenset(
    "because since as but so and or until unless except without if when while before after".split()
)
REACH: Final = 4


def rejections(sentence: Sentence) -> int:
    """How many words of the sentence say no."""
    return sum(says_no(w.lower) for w in sentence.words)


REFUSALS: Final = frozenset(
    fold(word)
    for word in "refuse avoid forbid prohibit dislike detest taboo abstain exclude reject quit cease shun ban".split()
)


def refusing(sentence: Sentence) -> bool:
    """Whether anything in the sentence may say no, in whatever words."""
    words = sentence.words
    return any(
        says_no(w.lower)
        or w.key in REFUSALS
        or (w.key and not REFUSALS.isdisjoint(lookup(w.key).same) and w.key not in UNCERTAIN)
        or (w.lower in GIVING and "up" in {f.lower for f in words[i + 1 : i + 5]})
        for i, w in enumerate(words)
    )


GIVING: Final = frozenset("give gives gave given giving".split())
UNCERTAIN: Final = frozenset(fold(word) for word in "autumn fall pass turn drop".split())


def says_no(lower: str) -> bool:
    """Whether the word refuses, forbids, dislikes or negates."""
    return lower in REJECTING or lower.endswith("n't") or (lower.startswith("un") and len(lower) > 12)


def rejected_keys(sentence: Sentence, reach: int = REACH) -> frozenset[str]:
    """The next keys behind a word that says no, where no other such word takes it back."""
    found: set[str] = set()
    words = sentence.words
    for at, word in enumerate(words):
        if says_no(word.lower) and not any(says_no(w.lower) for w in words[max(0, at - 4) : at]):
            behind: list[str] = []
            for follower in words[at + 1 :]:
                if len(behind) == reach or says_no(follower.lower) or follower.lower in TURNS:
                    break
                behind += [follower.key] * bool(follower.key)
            found.update(behind)
    return frozenset(found)


def turned(view: View, at: int, stated: Stated, telling: Collection[str], reach: int = REACH) -> str:
    """What the stored sentence says the other way round than the essay's sentence; empty if nothing."""
    sentence, source = view.sentences[at], stated.sentence
    around = [i for i in (at - 1, at + 1) if 0 <= i < len(view.sentences) and view.entry[i] == view.entry[at]]
    quiet = not refusing(sentence) and not any(
        refusing(view.sentences[i]) and view.sentences[i].keys & stated.weights.keys() for i in around
    )
    if quiet and not opposed_by_word(sentence, stated):
        for key in sorted(rejected_keys(source, reach) & sentence.keys):
            if key in telling and weight(key) >= 1.0:
                return f"'{surface(source, key)}' is refused in what was told, not in what is stored"
    if not rejections(source):
        for key in sorted(denied_keys(sentence) & stated.weights.keys()):
            return f"'{surface(sentence, key)}' is denied in what is stored"
    for key in sorted(stated.weights.keys() & sentence.keys & set(telling)):
        if order(source, {key}) * order(sentence, {key}) < 0:
            return f"before and after '{surface(source, key)}' are exchanged"
    return crossed(sentence, source) or swapped(sentence, source, telling)


def crossed(sentence: Sentence, source: Sentence) -> str:
    """Two pairs of words that changed partners: Greek to dogs and English to people."""
    told, held = pairs(source), pairs(sentence)
    lost = told - held
    for first, second in sorted(lost):
        for third, fourth in sorted(lost):
            if (
                first < third
                and not related(first, third)
                and not related(second, fourth)
                and (first, fourth) in held
                and (third, second) in held
            ):
                return f"'{surface(source, first)}' and '{surface(source, third)}' are exchanged"
    return ""


def denied_keys(sentence: Sentence) -> frozenset[str]:
    """The words directly behind a negation."""
    return frozenset(
        word.key
        for before, word in pairwise(sentence.words)
        if word.key and (before.lower in ("not", "never") or before.lower.endswith("n't"))
    )


def opposed_by_word(sentence: Sentence, stated: Stated) -> bool:
    """Whether the stored sentence uses an opposite, which may carry the negation."""
    return any(opposed(key, other) for key in stated.weights for other in sentence.keys)


def swapped(sentence: Sentence, source: Sentence, telling: Collection[str]) -> str:
    """An opposite in the place of a word of the source: left ear, right ear."""
    mine, theirs = pairs(source), pairs(sentence)
    for first, second in sorted(mine):
        if first not in telling or rejections(sentence) != rejections(source):
            continue
        for other, following in sorted(theirs):
            if following == second and other != first and opposed(first, other) and (first, second) not in theirs:
                return f"'{surface(sentence, other)}' instead of '{surface(source, first)}'"
    return ""


def pairs(sentence: Sentence) -> frozenset[tuple[str, str]]:
    """Neighbouring content words."""
    keys = [w.key for w in sentence.words if w.key]
    return frozenset(pairwise(keys))


def surface(sentence: Sentence, key: str) -> str:
    """The key as it is written in the sentence."""
    return next((w.surface for w in sentence.words if w.key == key), key)
