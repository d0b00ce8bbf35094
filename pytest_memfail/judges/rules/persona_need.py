"""What a question needs of an essay about a person: the essay's sentences, and the details of the answer in them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import keys_of, passage
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.polarity import exclusive
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence, Word, sentences_of, weight
from pytest_memfail.judges.rules.view import Name

WHICH: Final = frozenset("which what".split())
ADVICE: Final = frozenset(
    "bring pack use give include offer choose yes expect avoid recommend suggest prefer like info informat".split()
)
"""What answers are made of; it is no detail of the person."""
ASKING: Final = ADVICE | keys_of(
    "tell know ask hire think want wonder plan need like help find detail advice idea tip information work good best"
)
"""What questions are made of; it tells no trait."""
HALVES: Final = frozenset(("am", "pm"))
"""They belong to a number."""
ASIDE: Final = 0.35
"""What a reason given in the answer counts beside the answer."""
VERB: Final = 0.5
"""What a verb counts: stores reword verbs first."""
SHORT_NOUN: Final = 4
"""Words of so few letters in -ed and -ing are mostly nouns: bed, seed, wing."""
GROUNDED: Final = 0.7
"""How near a word of the answer must be to one of the essay to be taken from it."""
SURE: Final = 1.0
ASKED: Final = 2.0
"""What counts of a trait that the question itself names."""
NAMED_TOO: Final = 1.5
"""The same of a word that both the question and the answer have."""
SYNONYM: Final = 0.6

ORDINARY: Final = frozenset(
    keys_of("treats spends runs balances splits weekends weekdays career job life love hobby shop studio")
)
"""What is said of anybody who is introduced."""
CALENDAR: Final = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays january february march april may june july august september october november december""".split()
)

YES_NO: Final = re.compile(r"^\s*(?:yes|no)\b[\s,;:.\-]*", re.IGNORECASE)
CLAUSES: Final = re.compile(
    r"\s*(?:[;:(]|\s-\s|—|,? (?:since|because|so that|as (?:she|he|they))\b|, (?:so|which|when|where)\b)\s*"
)
ITEMS: Final = re.compile(r",\s+(?:and |or |but )?|\s(?:and|or|but|plus)\s|/(?=[a-z])")
ONLY: Final = re.compile(
    r"\b(?:only|solely|exclusively|(?<!never )(?<!not )alone|no one but|nobody but|nothing but|none but|no \w+ but"
    r"|nobody else|nothing else|sticks? to|limited to)\b",
    re.IGNORECASE,
)
SUBJECTS: Final = frozenset(
    "he she they it i you we to will would can won't cannot can't must should never always also".split()
)


@dataclass(frozen=True, slots=True)
class Concept:
    """One word of a detail, in the answer's and in the essay's wording."""

    keys: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Item:
    """One detail that must be kept."""

    concepts: tuple[Concept, ...]
    numbers: tuple[Quantity, ...]
    weight: float
    wording: str
    at: int
    """The essay's sentence that states it."""
    exclusive: bool = False
    """Whether the answer says that it holds for this alone."""
    rest: frozenset[str] = frozenset()
    """What stands behind that "only"."""
    told: frozenset[str] = frozenset()
    """All words of the answer: none of them can be wrong."""

    @property
    def size(self) -> float:
        """How much there is to keep."""
        return sum(c.weight for c in self.concepts) + len(self.numbers)


@dataclass(frozen=True, slots=True)
class Stated:
    """A sentence of the essay."""

    sentence: Sentence
    weights: Mapping[str, float]
    numbers: tuple[Quantity, ...]
    wording: str


@dataclass(frozen=True, slots=True)
class Essay:
    """An essay, read once for all its questions."""

    name: Name | None
    ignored: frozenset[str]
    stated: tuple[Stated, ...]
    keys: frozenset[str]
    identity: frozenset[str]
    """Who it is: words of the first sentence, and names of other things."""
    places: Mapping[str, Mapping[int, float]]
    """For each of its words the sentences that have it, and how much that tells."""
    near: Mapping[str, Sequence[str]]
    """For a word that may stand for some of its words: which."""
    _read: dict[str, Mapping[int, float]] = field(default_factory=dict, compare=False)

    def read(self, key: str) -> Mapping[int, float]:
        """For a stored word: the sentences it may have come from, and how much that tells."""
        known = self._read.get(key)
        if known is None:
            found: dict[int, float] = {}
            for own in self.near.get(key, ()):
                for at, value in self.places[own].items():
                    found[at] = max(found.get(at, 0.0), SYNONYM * value)
            known = self._read[key] = {**found, **self.places.get(key, {})}
        return known


@lru_cache(maxsize=1024)
def read_essay(source: str, entity: str | None) -> Essay:
    """The sentences of the essay, and an index of the words that can stand for its own."""
    sentences = sentences_of(source)
    ignored = frozenset(keys_of(entity or ""))
    stated = []
    for sentence in sentences:
        weights = {k: weight(k) for k in sorted(sentence.keys - ignored) if not k[0].isdigit()}
        if weights:
            numbers = quantities(sentence.text, sentence.words)
            stated.append(Stated(sentence, weights, numbers, passage(source, sentence, weights, 60)))
    places: dict[str, dict[int, float]] = {}
    for at, part in enumerate(stated):
        for key, value in part.weights.items():
            places.setdefault(key, {})[at] = value
    near: dict[str, list[str]] = {}
    for key in places:
        found = lookup(key)
        for other in (found.same | found.close) - ignored:
            near.setdefault(other, []).append(key)
    lowers = frozenset(w.lower.removesuffix("'s") for s in sentences for w in s.words)
    keys = frozenset(k for s in sentences for k in s.keys) - ignored
    identity = {k for k, value in stated[0].weights.items() if value >= 1.0 and k not in ORDINARY} if stated else set()
    identity |= {w.key for s in sentences for w in s.words[1:] if w.surface[0].isupper() and w.lower not in CALENDAR}
    return Essay(
        Name.of(entity, lowers),
        ignored,
        tuple(stated),
        keys,
        frozenset(identity - ignored - {""}),
        MappingProxyType(places),
        MappingProxyType(near),
    )


@lru_cache(maxsize=4096)
def needed_items(evidence: Evidence) -> tuple[Item, ...]:
    """The details that the question needs; none where it does not tell them."""
    essay = read_essay(evidence.source, evidence.entity)
    asked = frozenset(keys_of(evidence.asked or "")) - essay.ignored
    if evidence.value:
        return _of_answer(essay, evidence.value, asked)
    return _of_trait(essay, evidence.asked) if evidence.asked else ()


def _of_answer(essay: Essay, answer: str, asked: frozenset[str]) -> tuple[Item, ...]:
    """What the gold answer takes from the essay, detail by detail; its reasons count less."""
    items: list[Item] = []
    known: set[str] = set()
    clauses = [c for c in CLAUSES.split(YES_NO.sub("", answer.replace("—", " — "))) if c.strip()]
    head = True
    for clause in clauses:
        found: list[Item] = []
        for part in ITEMS.split(clause):
            item = (
                _grounded(essay, part, asked, known, frozenset(i.at for i in (*items, *found)))
                if part and part.strip()
                else None
            )
            if item is not None:
                found.append(replace(item, weight=item.weight * (1.0 if head else ASIDE)))
                known.update(k for c in item.concepts for k in c.keys)
        items += _joined(found)
        head = head and not items
    if YES_NO.match(answer) and any(_is_asked(item) for item in items):
        # A yes or no needs what it is about; what else somebody likes is said besides.
        items = [item if _is_asked(item) else replace(item, weight=min(item.weight, ASIDE)) for item in items]
    told = frozenset(keys_of(answer))
    return tuple(replace(item, told=told) for item in items)


def _is_asked(item: Item) -> bool:
    """Whether a word of the question belongs to the detail."""
    return item.weight >= 1.0 and any(c.weight >= NAMED_TOO for c in item.concepts)


def _joined(found: list[Item]) -> list[Item]:
    """Parts too small to be a detail of their own belong to the one before them."""
    items: list[Item] = []
    for item in found:
        if items and item.at == items[-1].at and (item.size < 1.0 or items[-1].size < 1.0):
            last = items.pop()
            item = replace(
                last,
                concepts=last.concepts + item.concepts,
                numbers=last.numbers + item.numbers,
                wording=f"{last.wording}, {item.wording}" if item.wording else last.wording,
            )
        items.append(item)
    return [item for item in items if item.size >= 1.0] or items[:1]


def _grounded(essay: Essay, part: str, asked: frozenset[str], known: set[str], used: frozenset[int]) -> Item | None:
    """What this part of the answer takes from the one sentence that holds most of it."""
    sentences = sentences_of(part)
    keys = _weighed(sentences, essay.ignored | ADVICE)
    numbers = [q for s in sentences for q in quantities(s.text, s.words)]
    best: Item | None = None
    score = 0.0
    for at, stated in enumerate(essay.stated):
        concepts = []
        context = 0.0
        exact = False
        for key, value in keys.items():
            nearest = max(((related(key, other), other) for other in stated.weights), default=(0.0, ""))
            if nearest[0] >= GROUNDED:
                context += value
                exact = exact or nearest[0] >= SURE or at in used
                if key not in known:
                    concepts.append(
                        Concept(tuple(dict.fromkeys((key, nearest[1]))), value * (NAMED_TOO if key in asked else 1.0))
                    )
        same = tuple(q for q in stated.numbers if _telling(q) and any(q.same(n) for n in numbers))
        # What the question is about tells which of several sentences is meant.
        context += 2 * len(same) + 0.25 * len(asked & stated.weights.keys())
        if ((concepts and (exact or len(concepts) > 1)) or same) and context > score + 1e-9:
            score = context
            wanted = [k for c in concepts for k in c.keys]
            wording = passage(stated.sentence.text, stated.sentence, wanted) or ", ".join(q.text for q in same)
            alone = any(ONLY.search(s.text) for s in sentences) and (
                exclusive(stated.sentence) or bool(ONLY.search(stated.sentence.text))
            )
            best = Item(
                tuple(concepts), same, 1.0, wording, at, alone, _behind_only(sentences) if alone else frozenset()
            )
    return best


def _behind_only(sentences: tuple[Sentence, ...]) -> frozenset[str]:
    """The words behind an "only"."""
    found = ((s, ONLY.search(s.text)) for s in sentences)
    return frozenset(w.key for s, only in found if only for w in s.words if w.start >= only.end() and w.key)


def _telling(number: Quantity) -> bool:
    """One of something is mostly no number."""
    return bool(number.unit) or number.value > 1


def _weighed(sentences: tuple[Sentence, ...], ignored: frozenset[str]) -> dict[str, float]:
    """The content keys with what each counts."""
    keys: dict[str, float] = {}
    for sentence in sentences:
        before = ""
        for word in sentence.words:
            if word.key and word.key not in ignored and word.key not in HALVES and not word.key[0].isdigit():
                verb = before in SUBJECTS or (len(word.lower) > SHORT_NOUN and word.lower.endswith(("ing", "ed")))
                keys[word.key] = max(keys.get(word.key, 0.0), min(weight(word.key), VERB if verb else 1.0))
            before = word.lower
    return keys


def _of_trait(essay: Essay, question: str) -> tuple[Item, ...]:
    """The sentences whose trait a misleading question may borrow, if its words tell; the likeliest first."""
    kinds = frozenset(w.key for s in sentences_of(question) for w in _kinds(s))
    asked = [k for k in sorted(keys_of(question)) if not k[0].isdigit() and len(k) > 2 and k not in ASKING]
    told = [q for s in sentences_of(question) for q in quantities(s.text, s.words)]
    scores = []
    for at, stated in enumerate(essay.stated):
        hits = {k: max((_asks(k, other) for other in stated.weights), default=0.0) for k in asked}
        scores.append((sum(value * weight(k) / _spread(essay, k) for k, value in hits.items()), -at))
    best = max(scores, default=(0.0, 0))[0]
    return tuple(
        _trait(essay, -at, [k for k in asked if k not in kinds], told)
        for score, at in sorted(scores, reverse=True)
        if score >= AS_LIKELY * best and score >= TRAIT
    )


def _kinds(question: Sentence) -> list[Word]:
    """The kind of thing that is asked for: it need not be named where the thing itself is."""
    return [w for before, w in pairwise(question.words) if before.lower in WHICH]


def _trait(essay: Essay, at: int, asked: list[str], told: list[Quantity]) -> Item:
    """The essay's sentence as a detail; its clauses beside the point count less."""
    stated = essay.stated[at]
    clauses = [sentences_of(part) for part in PARTS.split(stated.sentence.text)]
    named = [any(_asks(k, o) for k in asked for s in clause for o in s.keys) for clause in clauses]
    concepts: dict[str, Concept] = {}
    numbers: list[Quantity] = []
    # What kind of spoon it is belongs to the spoon that is asked for.
    text = stated.sentence.text
    kinds = {
        w.key for w, other in pairwise(stated.sentence.words) if other.key in asked and text[w.end : other.start] == " "
    }
    for clause, hit in zip(clauses, named, strict=True):
        share = 1.0 if hit else BESIDE
        for key, value in _weighed(clause, essay.ignored).items():
            counts = ASKED if (key in asked or key in kinds) and value >= 1.0 else value * share
            concepts[key] = Concept((key,), max(counts, concepts[key].weight if key in concepts else 0.0))
        numbers += [q for s in clause for q in quantities(s.text, s.words) if hit and _counts(q, told)]
    return Item(tuple(concepts.values()), tuple(numbers), 1.0, stated.wording, at)


PARTS: Final = re.compile(r"[,;:]\s|\s-\s|\b(?:because|since|but|though|although)\b")
BESIDE: Final = 0.5
COUNTED: Final = 12
"""Small numbers without a unit are mostly not what a trait is about."""
AS_LIKELY: Final = 0.6
"""How much of the best sentence's share another one must have to be meant as well."""
TRAIT: Final = 1.0
"""How much of a sentence the question must name."""


def _counts(number: Quantity, told: list[Quantity]) -> bool:
    """Whether a number is part of a trait: not one that only counts things, nor one that the question itself tells."""
    return (bool(number.unit) or number.value > COUNTED) and not any(number.same(q) for q in told)


def _asks(asked: str, stated: str) -> float:
    near = related(asked, stated)
    return near if near >= SYNONYM else SYNONYM if asked in lookup(stated).general and weight(asked) >= 1.0 else 0.0


def _spread(essay: Essay, key: str) -> float:
    """How many of the essay's sentences have the word: what is in all of them tells none apart."""
    return max(1.0, math.sqrt(len(essay.read(key))))
