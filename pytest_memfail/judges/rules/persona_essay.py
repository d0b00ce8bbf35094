"""Essays about a person, read once, and the details that a question may need of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from pytest_memfail.judges.rules.entity_name import Name
from pytest_memfail.judges.rules.finding import keys_of, passage
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.related import akin
from pytest_memfail.judges.rules.text import Sentence, fold, sentences_of, weight

HALVES: Final = frozenset(("am", "pm"))
"""They belong to a number."""
VERB: Final = 0.5
"""What a verb counts: stores reword verbs first."""
FRAME: Final = 0.25
FRAMING: Final = frozenset(
    fold(word)
    for word in """rule policy habit ritual routine tradition superstition principle preference practice custom reason thing
    strict firm hard simple always usual typical favorite believe insist prefer""".split()
)
"""What kind of detail it is; the detail itself is what it is said of."""
SHORT_NOUN: Final = 4
"""Words of so few letters in -ed and -ing are mostly nouns: bed, seed, wing."""
SYNONYM: Final = 0.6

ORDINARY: Final = frozenset(
    keys_of("treats spends runs balances splits weekends weekdays career job life love hobby shop studio")
)
"""What is said of anybody who is introduced."""
CALENDAR: Final = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays january february march april may june july august september october november december""".split()
)


SUBJECTS: Final = frozenset(
    "he she they it i you we to will would can won't cannot can't must should never always also".split()
)
NAMED_TOO: Final = 1.5
"""What a word counts that both the question and the answer have."""
TOWARDS: Final = frozenset(
    """allergic allergy intolerant sensitive averse addicted devoted trip trips trek treks visit visits travel travels journey
    journeys drive drives listen listens listening stick sticks sticking""".split()
)
"""What follows their "to" is a thing."""


@dataclass(frozen=True, slots=True)
class Concept:
    """One word of a detail, in the answer's and in the essay's wording."""

    keys: tuple[str, ...]
    weight: float
    given: bool = False
    """Whether the question itself says it: an entry about it need not."""
    core: bool = False
    """Whether it answers the question: what merely goes with it may be left out."""


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
    trait: bool = False
    """Whether it is a trait that a question about somebody else may borrow."""
    told: frozenset[str] = frozenset()
    """All words of the answer: none of them can be wrong."""
    choice: int = 0
    """Items of one choice are alternatives: one of them is enough. None where it is 0."""
    beside: bool = False
    """Whether it is what is not to be done, said beside what is: "wear gloves and avoid bare hands"."""
    confirming: bool = False
    """Whether the answer is a yes or no to what the question itself says."""

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
    capitals: frozenset[str]
    """Its capitalised words, in lower case."""
    places: Mapping[str, Mapping[int, float]]
    """For each of its words the sentences that have it, and how much that tells."""
    near: Mapping[str, str]
    """For a word that may stand for some of its words: which, one after the other (thousands of lists would cost more)."""
    _read: dict[str, Mapping[int, float]] = field(default_factory=dict, compare=False)

    def read(self, key: str) -> Mapping[int, float]:
        """For a stored word: the sentences it may have come from, and how much that tells."""
        known = self._read.get(key)
        if known is None:
            found: dict[int, float] = {}
            for own in self.near.get(key, "").split():
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
    near: dict[str, str] = {}
    for key in places:
        for other in akin(key):
            near[other] = f"{near[other]} {key}" if other in near else key
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
        frozenset().union(*(s.capitals for s in sentences)),
        MappingProxyType(places),
        MappingProxyType(near),
    )


def weighed(essay: Essay, sentences: tuple[Sentence, ...], without: frozenset[str] = frozenset()) -> dict[str, float]:
    """The content keys with what each counts."""
    ignored = essay.ignored | without
    keys: dict[str, float] = {}
    for sentence in sentences:
        before = ""
        for at, word in enumerate(sentence.words):
            if word.key and word.key not in ignored and word.key not in HALVES and not word.key[0].isdigit():
                done = before in SUBJECTS and not (before == "to" and _is_told_to(sentence, at))
                verb = done or (len(word.lower) > SHORT_NOUN and word.lower.endswith(("ing", "ed")))
                most = FRAME if word.key in FRAMING else VERB if verb or compounded(sentence, at) else 1.0
                keys[word.key] = max(keys.get(word.key, 0.0), min(weight(word.key), most))
            # A name is a subject too.
            before = "they" if word.key in essay.ignored else word.lower
    return keys


def _is_told_to(sentence: Sentence, at: int) -> bool:
    """Whether "to" says before the word whither or to what, and not what is done: a trip to Kyoto, allergic to penicillin."""
    words = sentence.words
    return words[at].surface[0].isupper() or (at > 1 and words[at - 2].lower in TOWARDS)


def compounded(sentence: Sentence, at: int) -> bool:
    """Whether the word is a part of a compound: the veg and the tan of veg-tan."""
    words = sentence.words
    return any(sentence.text[words[i].end : words[i + 1].start] == "-" for i in (at - 1, at) if 0 <= i < len(words) - 1)
