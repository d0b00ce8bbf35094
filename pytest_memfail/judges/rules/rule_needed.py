"""What must be found of a conditional rule: what its source and the gold say of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from pytest_memfail.judges.rules.entity_name import Name
from pytest_memfail.judges.rules.finding import keys_of
from pytest_memfail.judges.rules.lexicon import likely
from pytest_memfail.judges.rules.polarity import negated, order
from pytest_memfail.judges.rules.quantities import Quantity
from pytest_memfail.judges.rules.rule_likeness import SYNONYM, coverage, likeness
from pytest_memfail.judges.rules.rule_numbers import alike, stated_numbers
from pytest_memfail.judges.rules.rule_places import LIGHT
from pytest_memfail.judges.rules.senses import State, states, states_meant
from pytest_memfail.judges.rules.text import Sentence, TextCache, fold, sentences_of, weight
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.words import COMPARING

CONDITION_TOLD: Final = 0.4
"""Share of the condition that shows a sentence to speak of it."""
COMPARING_KEYS: Final = frozenset(fold(word) for word in COMPARING)
FINISHED: Final = fold("finish")
"""What is finished comes before the behaviour."""


@dataclass(frozen=True, eq=False)
class Rule:
    """What must be found of a rule."""

    name: Name | None
    name_keys: frozenset[str]
    """What the words of the name are folded to: they say nothing of the rule."""
    pronoun: str
    """he, she, they, or nothing where the source does not settle it."""
    behavior: Mapping[str, float]
    also: Mapping[str, float]
    """What the linking sentence says of the behaviour."""
    reachable: float
    """The best share of the behaviour that any one place of the source has: a store cannot be asked for more."""
    conditions: tuple[Mapping[str, float], ...]
    """The condition in the words of the gold, and in those of the source."""
    pool: frozenset[str]
    """All that the source's rule and the gold say besides the behaviour."""
    asked: frozenset[str]
    """Every word of the gold's condition, stated or not: what opposes one of them turns the condition around."""
    numbers: tuple[Quantity, ...]
    when: str
    """The condition as the gold and the source's rule say it, for the values (weekday, weather ...) that it names."""
    gold: str
    """Behaviour and condition as the gold says them, after the name."""
    told: str
    """The source sentences that state the rule."""
    source: str
    elsewhere: tuple[frozenset[str], ...]
    """The words of each source sentence that does not state the rule."""
    besides: frozenset[frozenset[str]]
    """The words of each source sentence that tells nothing of the condition, be it of the behaviour or of neither."""
    link: Mapping[str, float]
    """The words of the sentence that ties the two, where the source states them apart."""
    tied: bool
    """Whether the source states behaviour and condition together."""
    only: bool
    negative: bool
    """Whether the source's condition is itself a negation."""
    turned: bool
    """Whether the source's behaviour is itself negated."""
    order: int
    """Whether the rule holds after (1) or before (-1) its condition."""
    stated: frozenset[str]
    others: frozenset[str]
    """Names that the source has besides the entity's, in lower case."""
    own: frozenset[str]
    """What only the source's rule says, and nothing else in it."""
    wording_behavior: str
    wording_condition: str
    wording_numbers: tuple[str, ...]
    wording_only: str

    @cached_property
    def known(self) -> frozenset[str]:
        """Every word that the source or the gold has for the condition."""
        return self.pool | self.asked | {key for need in self.conditions for key in need}

    @cached_property
    def asked_state(self) -> frozenset[State]:
        """The states that the gold's condition is one of."""
        asked = [q for s in sentences_of(self.when) for q in stated_numbers(s)]
        return states_meant(self.when, sum(q.direction for q in asked), bool(asked))

    @cached_property
    def meant(self) -> frozenset[State]:
        """The same, or those that the source tells the rule with."""
        return self.asked_state or states(self.told)

    @cached_property
    def spoken(self) -> frozenset[str]:
        """Every word that the source or the gold has for the rule."""
        return frozenset((keys_of(self.told) - self.name_keys).union(self.behavior, self.asked))

    @cached_property
    def aside(self) -> frozenset[str]:
        """Telling words that the source says nowhere but by the way of the rule."""
        return frozenset(key for key in self.own - self.known - self.behavior.keys() if weight(key) >= 1.0) - LIGHT

    @cached_property
    def when_keys(self) -> frozenset[str]:
        """What the behaviour may come before or after."""
        keys = {*self.condition, *self.asked, *spans_of(self.numbers)} if self.tied else self.asked | self.link.keys()
        return frozenset(keys - self.behavior.keys())

    @cached_property
    def asked_order(self) -> int:
        """Whether the gold's condition is to come first (1) or the behaviour (-1)."""
        return order_of(sentences_of(self.when), self.asked)

    @cached_property
    def done(self) -> dict[Sentence, float]:
        """How much of the behaviour stored sentences say, as far as it is known."""
        return {}

    @cached_property
    def held(self) -> dict[Sentence, float]:
        """How much of the condition they say."""
        return {}

    @cached_property
    def _does(self) -> dict[str, bool]:
        return {}

    def does(self, key: str) -> bool:
        """Whether the word stands for one of the behaviour's."""
        known = self._does.get(key)
        if known is None:
            known = self._does[key] = any(
                likeness(own, key) >= SYNONYM for own in likely(key, frozenset(self.behavior))
            )
        return known

    def says_beside(self, key: str) -> bool:
        """Whether the word stands for another one of the rule's sentence: by "sea" its "ocean" is told, and not its "beach"."""
        near = max((likeness(own, key) for own in likely(key, self._beside)), default=0.0)
        return near >= SYNONYM and all(likeness(own, key) < near for own in self.condition)

    @cached_property
    def _beside(self) -> frozenset[str]:
        """What the sentence that says the condition outright says besides."""
        told = frozenset(keys_of(self.told))
        if not self.tied or not self.condition.keys() <= told:
            return frozenset()
        told = told.difference(self.behavior, self.asked, self.name_keys, *self.conditions)
        return frozenset(k for k in told if weight(k) >= 1.0)

    def denied(self, key: str) -> bool:
        """Whether the gold says of the word that it is not so: awake is without sleep."""
        return any(negated(s, (key,)) for s in sentences_of(self.when))

    @cached_property
    def beside_the_rule(self) -> tuple[tuple[frozenset[str], float], ...]:
        """The source sentences that do not state the rule but say something of the behaviour, and how much."""
        told = {s.keys - self.name_keys: s for s in source_view(self.source).sentences}
        does = (
            (other, coverage(self.behavior, (told[other],), self.name_keys) / self.reachable)
            for other in self.elsewhere
        )
        return tuple((other, share) for other, share in does if share)

    @cached_property
    def of_other_things(self) -> tuple[frozenset[str], ...]:
        """Of the source sentences that do not state the rule those which say nothing of its condition either."""
        numbered = {
            s.keys - self.name_keys
            for s in source_view(self.source).sentences
            if any(alike(q, o) for q in self.numbers for o in stated_numbers(s))
        }
        return tuple(
            other
            for other in self.elsewhere
            if other not in numbered and all(_part(need, other) < CONDITION_TOLD for need in self.conditions)
        )

    @property
    def condition(self) -> Mapping[str, float]:
        """The condition in the first of its wordings."""
        return self.conditions[0] if self.conditions else {}


def order_of(told: Sequence[Sentence], keys: Collection[str]) -> int:
    """Whether the first of the sentences that says so has what the keys say before (1) or after (-1) the behaviour, else 0."""
    return next((way for sentence in told if (way := order(sentence, keys))), 0)


def spans_of(numbers: Sequence[Quantity]) -> set[str]:
    """The words of spans of time: that long after, or before, something."""
    return keys_of(" ".join(q.text for q in numbers if q.unit == "time"))


def _part(need: Mapping[str, float], keys: frozenset[str]) -> float:
    """The share of what is needed that is among the keys."""
    return sum(value for key, value in need.items() if key in keys) / (sum(need.values()) or 1.0)


@lru_cache(maxsize=64)
def source_view(source: str) -> View:
    """The source as a store of its own."""
    return View([source], TextCache())
