"""A conditional rule read from its source and the gold: what of it the source states, and where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.entity_name import Name
from pytest_memfail.judges.rules.finding import keys_of, passage
from pytest_memfail.judges.rules.polarity import condition_negated, excepted, exclusive, negated
from pytest_memfail.judges.rules.quantities import Quantity
from pytest_memfail.judges.rules.rule_likeness import MATCHED, coverage, most_covered, said
from pytest_memfail.judges.rules.rule_needed import COMPARING_KEYS, FINISHED, Rule, order_of, source_view, spans_of
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
from pytest_memfail.judges.rules.text import Sentence, fold, sentences_of, weight
from pytest_memfail.judges.rules.view import View

LEAST_TRIGGER: Final = 0.5
"""A trigger of less ("at that hour") says nothing by itself."""
IMPLIED: Final = frozenset(fold(word) for word in "finish complete conclude receive experience undergo".split())
SLIGHT: Final = 0.3
"""What one comes from, it is done; what one has been given, one has received: the verb may be left out."""
STATED: Final = 0.5
"""Share of the gold behaviour that the source must use for the gold's words to be looked for."""
MOST: Final = 0.5
"""So much of the condition has to be left without the behaviour's words: on the balcony, in the balcony's pot."""
HOURS: Final = frozenset("hour hours o'clock midnight noon dawn dusk sunrise sunset".split())
STATES: Final = 0.35
ONLY: Final = re.compile(r"\b(?:only|unless|exclusively|solely|except|never)\b", re.IGNORECASE)
NO: Final = re.compile(r"\W*no\b", re.IGNORECASE)


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
    pool = _pool(told, asked, behavior, link, home)
    if not conditions and not numbers:
        pool |= _times_told(told[:link], behavior)
    return Rule(
        Name.of(evidence.entity, _known(source)),
        frozenset(ignore),
        pronoun_of(told),
        behavior,
        _also(told, link, ignore) if not tied else {},
        (most_covered(behavior, told)[1] if told else 0.0) or 1.0,
        conditions,
        pool - ignore,
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
        (
            order_of(spoken, {*wanted, *spans_of(numbers)})
            if tied
            else order_of(sentences_of(evidence.condition or ""), asked)
        )
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
