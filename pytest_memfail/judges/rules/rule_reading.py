"""What must be found of a conditional rule, as far as its source states it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.entity_name import Name
from pytest_memfail.judges.rules.finding import keys_of, passage
from pytest_memfail.judges.rules.lexicon import likely
from pytest_memfail.judges.rules.polarity import condition_negated, excepted, exclusive, negated, order
from pytest_memfail.judges.rules.quantities import Quantity
from pytest_memfail.judges.rules.rule_likeness import MATCHED, SYNONYM, coverage, likeness, most_covered, said
from pytest_memfail.judges.rules.rule_numbers import alike, counts_by, stated_numbers
from pytest_memfail.judges.rules.rule_people import others_of, pronoun_of
from pytest_memfail.judges.rules.rule_places import (
    LIGHT,
    besides,
    condition_wording,
    link_of,
    number_wording,
    place_of,
    trigger_of,
    weighed,
)
from pytest_memfail.judges.rules.senses import State, states, states_meant
from pytest_memfail.judges.rules.text import Sentence, TextCache, fold, sentences_of, weight
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.words import COMPARING

COMPARING_KEYS: Final = frozenset(fold(word) for word in COMPARING)
LEAST_TRIGGER: Final = 0.5
"""A trigger of less ("at that hour") says nothing by itself."""
FINISHED: Final = fold("finish")
"""What is finished comes before the behaviour."""
IMPLIED: Final = frozenset(fold(word) for word in "finish complete conclude receive experience undergo".split())
SLIGHT: Final = 0.3
"""What one comes from, it is done; what one has been given, one has received: the verb may be left out."""
STATED: Final = 0.5
"""Share of the gold behaviour that the source must use for the gold's words to be looked for."""
MOST: Final = 0.5
"""So much of the condition has to be left without the behaviour's words: on the balcony, in the balcony's pot."""
HOURS: Final = frozenset("hour hours o'clock midnight noon dawn dusk sunrise sunset".split())
CONDITION_TOLD: Final = 0.4
"""Share of the condition that shows a sentence to speak of it."""
STATES: Final = 0.35
ONLY: Final = re.compile(r"\b(?:only|unless|exclusively|solely|except|never)\b", re.IGNORECASE)
NO: Final = re.compile(r"\W*no\b", re.IGNORECASE)


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
        keys = {*self.condition, *self.asked, *_spans(self.numbers)} if self.tied else self.asked | self.link.keys()
        return frozenset(keys - self.behavior.keys())

    @cached_property
    def asked_order(self) -> int:
        """Whether the gold's condition is to come first (1) or the behaviour (-1)."""
        return _order(sentences_of(self.when), self.asked)

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
        does = ((other, coverage(self.behavior, (told[other],), self.name_keys) / self.reachable) for other in self.elsewhere)
        return tuple((other, share) for other, share in does if share)

    @cached_property
    def of_other_things(self) -> tuple[frozenset[str], ...]:
        """Of the source sentences that do not state the rule those which say nothing of its condition either."""
        numbered = [s for s in source_view(self.source).sentences if any(alike(q, o) for q in self.numbers for o in stated_numbers(s))]
        told = {s.keys - self.name_keys for s in numbered}
        said = [other for other in self.elsewhere if other in told or any(CONDITION_TOLD <= _part(need, other) for need in self.conditions)]
        return tuple(other for other in self.elsewhere if other not in said)

    @property
    def condition(self) -> Mapping[str, float]:
        """The condition in the first of its wordings."""
        return self.conditions[0] if self.conditions else {}


@lru_cache(maxsize=4096)
def read_rule(evidence: Evidence, protocol: str) -> Rule:
    """The rule of the evidence."""
    source = source_view(evidence.source)
    told = source.sentences
    ignore = keys_of(evidence.entity or "")
    gold = evidence.behavior or evidence.text
    behavior, home = _behavior(told, keys_of(gold) - ignore, ignore)
    asked = keys_of(evidence.condition or "") - ignore
    stated = [q for s in told for q in stated_numbers(s)]
    numbers = _numbers(evidence.condition or "", stated, protocol)
    wanted = _condition(told, asked, behavior, bool(numbers), protocol)
    enough = bool(numbers) or sum(wanted.values()) >= STATED * sum(weighed(asked).values())
    place = place_of(told, behavior, wanted, numbers) if enough or protocol == "paper" else None
    tied = place is not None
    if place is not None and protocol != "paper":
        wanted = {
            key: value
            for key, value in wanted.items()
            if said(key, (told[place],), frozenset(behavior).difference(wanted)) >= MATCHED
        }
    link = place if place is not None else link_of(told, behavior, wanted, home)
    if place is not None and coverage(behavior, (told[place],)) >= coverage(behavior, (told[home],)):
        home = place  # an earlier sentence may have the behaviour too, by the way
    rule_at = {i for i in (home, link) if i is not None}
    asked_for = weighed(asked - behavior.keys())
    conditions = _conditions(told, wanted, behavior, ignore, link, enough, asked_for)
    spoken = [told[i] for i in ([place] if place is not None else [home])]
    shown = condition_wording(evidence.source, told, place if tied else link, conditions, numbers)
    return Rule(
        Name.of(evidence.entity, _known(source)),
        frozenset(ignore),
        pronoun_of(told),
        behavior,
        _also(told, link, ignore) if not tied else {},
        (most_covered(behavior, told)[1] if told else 0.0) or 1.0,
        conditions,
        _pool(told, asked, behavior, link, home) - ignore | (frozenset() if conditions or numbers else _times_told(told[:link], behavior)),
        frozenset(asked),
        numbers,
        evidence.condition or "",
        f"{evidence.entity or ''} {gold} {evidence.condition or ''}.",
        " ".join(told[i].text for i in sorted(rule_at)),
        evidence.source,
        tuple(s.keys - ignore for i, s in enumerate(told) if i not in ({place} if tied else rule_at)),
        besides(told, rule_at, set() if tied else {home}, conditions, ignore),
        weighed(told[link].keys - ignore) if link is not None and not tied else {},
        tied,
        _needs_only(evidence, told, place, protocol),
        any(condition_negated(s, wanted.keys()) or excepted(s, wanted.keys()) for s in spoken),
        any(negated(s, behavior.keys()) for s in spoken),
        (_order(spoken, {*wanted, *_spans(numbers)}) if tied else _order(sentences_of(evidence.condition or ""), asked))
        or int(FINISHED in asked and FINISHED in wanted),
        frozenset(key for s in told for key in s.keys),
        others_of(told, ignore, behavior),
        frozenset(key for i in rule_at for key in told[i].keys)
        - {key for i, s in enumerate(told) if i not in rule_at for key in s.keys},
        passage(evidence.source, told[home], behavior) or gold,
        shown or evidence.condition or "",
        tuple(number_wording(evidence.source, stated, q) for q in numbers),
        next((match[0] for i in sorted(rule_at) if (match := ONLY.search(told[i].text))), "only"),
    )


def _part(need: Mapping[str, float], keys: frozenset[str]) -> float:
    """The share of what is needed that is among the keys."""
    return sum(value for key, value in need.items() if key in keys) / (sum(need.values()) or 1.0)


@lru_cache(maxsize=64)
def source_view(source: str) -> View:
    """The source as a store of its own."""
    return View([source], TextCache())


def _known(source: View) -> frozenset[str]:
    """The words of the source; its verbs also as they open a note ("Works days"), where they are nobody's name."""
    return source.lowers() | {key + ending for s in source.sentences for key in s.keys for ending in ("s", "es")}


def _behavior(told: Sequence[Sentence], gold: set[str], ignore: set[str]) -> tuple[dict[str, float], int]:
    """The behaviour's words, and the sentence that has most of them."""
    wanted = weighed(gold)
    home = most_covered(wanted, told)[0] if told else 0
    known = {key: value for key, value in wanted.items() if said(key, told) >= MATCHED}
    if sum(known.values()) >= STATED * sum(wanted.values()):
        return known, home
    # The gold says it in words of its own: those of the source are looked for.
    return weighed(set(known) | (told[home].keys - ignore)) or wanted, home


def _numbers(condition: str, stated: Sequence[Quantity], protocol: str) -> tuple[Quantity, ...]:
    told = sentences_of(condition)
    # "one per worry" says how is counted, not how many.
    asked = [q for s in told for q in stated_numbers(s) if protocol == "paper" or not counts_by(q, s)]
    return tuple(q for q in asked if protocol == "paper" or any(alike(q, other) for other in stated))


def _condition(
    told: Sequence[Sentence], asked: set[str], behavior: Mapping[str, float], numbered: bool, protocol: str
) -> dict[str, float]:
    """The words of the gold's condition that the source states."""
    stated = asked if protocol == "paper" else {key for key in asked if said(key, told) >= MATCHED}
    alone = stated - behavior.keys()
    if sum(weighed(alone).values()) <= MOST * sum(weighed(stated).values()):
        alone = stated
    wanted = alone or (set() if numbered else stated)
    return weighed(wanted - COMPARING_KEYS if numbered else wanted)


def _conditions(
    told: Sequence[Sentence],
    wanted: Mapping[str, float],
    behavior: Mapping[str, float],
    ignore: set[str],
    link: int | None,
    enough: bool,
    asked: Mapping[str, float],
) -> tuple[Mapping[str, float], ...]:
    found: list[Mapping[str, float]] = []
    trigger = {} if link is None else weighed(trigger_of(told[link]) - ignore - behavior.keys())
    if wanted and (enough or not trigger):
        found.append(wanted)
    if sum(value for key, value in trigger.items() if key not in LIGHT) >= LEAST_TRIGGER:
        found.append(trigger)
        found.append(asked)
    implying = [need for need in found if not IMPLIED.isdisjoint(need)]
    return (*found, *({k: SLIGHT if k in IMPLIED else v for k, v in need.items()} for need in implying))


def _also(told: Sequence[Sentence], link: int | None, ignore: set[str]) -> dict[str, float]:
    if link is None:
        return {}
    return weighed(told[link].keys - trigger_of(told[link]) - ignore - LIGHT)


def _pool(
    told: Sequence[Sentence], asked: set[str], behavior: Mapping[str, float], link: int | None, home: int
) -> frozenset[str]:
    """The words of the gold's condition, of the sentence that ties it to the behaviour, and of the one that states it."""
    pool = set(asked)
    if link is not None:
        pool |= told[link].keys
    need = weighed(pool - behavior.keys() - LIGHT)
    others = [i for i in range(len(told)) if i not in (link, home)]
    if others and link != home:
        states, share = most_covered(need, [told[i] for i in others])
        if share >= STATES:
            pool |= told[others[states]].keys
    return frozenset(pool - behavior.keys() - LIGHT)


def _times_told(told: Sequence[Sentence], behavior: Mapping[str, float]) -> set[str]:
    """What the sentences say that tell of an hour: one that is only pointed at, as in "at that hour", is in one of them."""
    hours = [s.keys for s in told if s.lowers & HOURS]
    return {key for keys in hours for key in keys if weight(key) >= 1.0} - behavior.keys() - LIGHT


def _needs_only(evidence: Evidence, told: Sequence[Sentence], place: int | None, protocol: str) -> bool:
    """Whether the answer rests on the rule holding then and at no other time, and the source says so."""
    if protocol == "paper":
        return bool(ONLY.search(evidence.condition or ""))
    return place is not None and bool(NO.match(evidence.value or "")) and exclusive(told[place])


def _order(told: Sequence[Sentence], keys: Collection[str]) -> int:
    return next((way for sentence in told if (way := order(sentence, keys))), 0)


def _spans(numbers: Sequence[Quantity]) -> set[str]:
    """The words of spans of time: that long after, or before, something."""
    return keys_of(" ".join(q.text for q in numbers if q.unit == "time"))
