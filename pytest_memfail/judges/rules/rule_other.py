"""Whether the condition told with a behaviour is another one than the rule's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.associations import contrast
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.lexicon import likely, lookup, nearness
from pytest_memfail.judges.rules.polarity import CONDITIONAL, condition_negated, is_negator
from pytest_memfail.judges.rules.rule_likeness import MATCHED, PART, SYNONYM, coverage, likeness, said
from pytest_memfail.judges.rules.rule_needed import COMPARING_KEYS, Rule
from pytest_memfail.judges.rules.rule_numbers import alike, stated_numbers, telling
from pytest_memfail.judges.rules.rule_places import LIGHT
from pytest_memfail.judges.rules.text import Sentence, fold, weight

OPENING: Final = CONDITIONAL | {"with", "for", "every", "each", "outside", "near", "around"}
"""Words that a condition may begin with."""
SEVERAL: Final = 2
"""So many words of what the source tells elsewhere are no chance."""
PARTS: Final[Mapping[str, frozenset[str]]] = {
    fold(hour): frozenset(map(fold, parts.split()))
    for hour, parts in (
        ("dawn", "morning day"),
        ("noon", "day afternoon"),
        ("sunset", "evening day night"),
        ("dusk", "evening night"),
        ("midnight", "night evening"),
        *((day, "weekend month") for day in ("saturday", "sunday")),
        *((day, "weekday month") for day in ("monday", "tuesday", "wednesday", "thursday", "friday")),
    )
}
"""The parts of the day that an hour is in, of the week or the month that a day is in: told alone, they say less."""
CLAUSE: Final = frozenset("once when whenever if during after before while unless".split())
"""Words after which nothing but a condition stands."""
LACKING: Final = re.compile(
    r"\b(?:yet to|without|lacks?|lacking|missing|un(?!der|i|cle|til|less)\w+|absen\w+|fails?|pending|awaiting|until|no|not|never"
    r"|\w+n't|free of|skips?|skipped|wait\w*|\w{4,}less)\b",
    re.IGNORECASE,
)
UNLESS: Final = re.compile(r"\bunless\b", re.IGNORECASE)
REFUSING: Final = frozenset(fold(word) for word in "refuse decline avoid skip".split())
IS: Final = frozenset(("is", "are", "was", "were"))
WITHHELD: Final = 4
"""So many words before a behaviour may say that it is not done."""
DONE: Final = 0.5
"""Share of the behaviour from which on what a sentence says of the time is said of it."""
TOLD: Final = 0.3
"""Share of the condition that is told with the behaviour."""
NEGATED: Final = 3
"""So many words after a negation are turned by it."""


def generalised(rule: Rule, here: Sequence[Sentence]) -> str:
    """A word for the kind of thing, told as condition where the source has the thing itself: food for tuna."""
    if telling(rule.numbers):
        return ""
    told = {key for sentence in here for key in condition_keys(sentence, rule)} - rule.stated - rule.asked
    for key in sorted(rule.asked & rule.stated if told else ()):
        if weight(key) < 1.0:
            continue
        # The kind may be a half of its name: sunlight is light.
        kinds = {kind for kind in kinds_of(key) & told if likeness(key, kind) <= PART}
        if kinds and said(key, here, rule.name_keys | kinds) < MATCHED:
            return f"only {min(kinds)!r} is told of {key!r}"
    return ""


def borrowed(rule: Rule, here: Sequence[Sentence]) -> str:
    """Whether what is told as condition is what the source tells elsewhere, of something else: drawn on the tram, and not in the café.

    Only where the source states behaviour and condition apart: then nothing else would tell that the two were tied.
    """
    if rule.tied or any(coverage(need, here, rule.name_keys) >= TOLD for need in rule.conditions):
        return ""
    for sentence in here:
        if coverage(rule.behavior, (sentence,), rule.name_keys) < DONE:
            continue
        told = [key for key in condition_keys(sentence, rule) if key not in rule.behavior]
        strange = {
            key for key in told if max([likeness(own, key) for own in likely(key, rule.known)], default=0.0) < MATCHED
        }
        if len(strange) >= len(set(told)) - 1 and any(
            len(strange & other) >= SEVERAL for other in rule.of_other_things
        ):
            return f"it is told with {_wordings(sentence, strange)}"
    return ""


def _wordings(sentence: Sentence, keys: set[str]) -> str:
    """The words of a sentence that have these keys, as they stand there."""
    return ", ".join(repr(word.surface) for word in sentence.words if word.key in keys)


def vaguer_time(rule: Rule, here: Sequence[Sentence]) -> str:
    """A part of the day told where the source has an hour of it: in the morning for before sunrise."""
    if any(alike(q, o) for q in rule.numbers for sentence in here for o in stated_numbers(sentence)):
        return ""  # the hour is told
    held = {key for sentence in here for key in sentence.keys}
    for key in sorted((rule.asked | rule.condition.keys()) & rule.stated & PARTS.keys()):
        part = PARTS[key] & held
        if part and said(key, here, rule.name_keys | PARTS[key]) < MATCHED:
            return f"only {min(part)!r} is told of {key!r}"
    return ""


def contrary_condition(rule: Rule, here: Sequence[Sentence]) -> str:
    """A word of the told condition that says the contrary of one of the rule's."""
    own = rule.known - COMPARING_KEYS if rule.numbers else rule.known
    mine = own & rule.asked.union(*rule.conditions)
    telling_own = {key for key in mine if weight(key) >= 1.0 and not key[0].isdigit()}
    if rule.negative:
        return ""  # awake is without sleep
    for sentence in here:
        for held in condition_keys(sentence, rule):
            if held in own or any(likeness(key, held) >= SYNONYM for key in likely(held, own)):
                continue
            if held in COMPARING_KEYS or _compares_alike(held, own):
                continue
            for key in sorted(filter(_is_pole, telling_own)):
                if contrary(key, held) and not rule.denied(key):
                    return f"its condition is turned around ({held!r} for {key!r})"
    return ""


def contraposed(rule: Rule, sentence: Sentence) -> bool:
    """Whether it says that the behaviour is not done under the contrary of the condition: the same rule, from behind."""
    if rule.turned or not withheld(sentence, rule):
        return False
    if rule.negative:  # not done with it, where it is done without
        if UNLESS.search(rule.told) and UNLESS.search(sentence.text):
            return False  # never done unless: only then
        return not sentence.keys.isdisjoint(rule.asked) and not condition_negated(sentence, rule.asked)
    if condition_negated(sentence, rule.condition.keys()) and sum(is_negator(w.lower) for w in sentence.words) > 1:
        return True  # not done without it
    stated = stated_numbers(sentence)
    if any(alike(q, o) and q.direction * o.direction < 0 for q in rule.numbers for o in stated):
        return True  # not done at seven or less
    told = [key for key in condition_keys(sentence, rule) if key not in rule.asked]
    return any(contrary(key, held) or contrast(key, held) for held in told for key in rule.asked if weight(key) >= 1.0)


OTHER_TIMES: Final = frozenset(("other", "others", "else"))
"""After a negation they tell that it holds then only: at no other time."""


def withheld(sentence: Sentence, rule: Rule) -> bool:
    """Whether a negation or a refusal stands shortly before the behaviour."""
    does = next((i for i, word in enumerate(sentence.words) if word.key and rule.does(word.key)), 0)
    before = sentence.words[max(0, does - WITHHELD) : does + 1]
    return any(
        (is_negator(word.lower) and following.lower not in OTHER_TIMES) or word.key in REFUSING
        for word, following in pairwise(before)
    )


@lru_cache(maxsize=65536)
def contrary(one: str, other: str) -> bool:
    """Whether the words are opposites, or the one is near in meaning to an opposite of the other.

    >>> contrary("warm", "cool"), contrary("warm", "chilli"), contrary("warm", "hot")
    (True, True, False)
    """
    one, other = _positive(one), _positive(other)
    if nearness(one, other) > 0:
        return False
    return any(nearness(o, one) >= SYNONYM for o in lookup(other).opposite) or any(
        nearness(o, other) >= SYNONYM for o in lookup(one).opposite
    )


@lru_cache(maxsize=16384)
def _is_pole(key: str) -> bool:
    """Whether the word has an opposite: one of two contraries has."""
    return bool(lookup(_positive(key)).opposite)


def _compares_alike(held: str, own: frozenset[str]) -> bool:
    """Whether it is the comparative of a word near to one of the rule's: darker, where it is dim."""
    base = _positive(held)
    return base != held and any(nearness(key, base) for key in likely(base, own))


def _positive(key: str) -> str:
    """The word that a comparative is made from."""
    for ending in ("er", "r"):
        base = key.removesuffix(ending)
        if base != key and lookup(base).opposite and not lookup(key).opposite:
            return base
    return key


@lru_cache(maxsize=4096)
def condition_keys(sentence: Sentence, rule: Rule) -> tuple[str, ...]:
    """The content of what a sentence tells as condition: what follows "when", "during" and the like, up to the behaviour."""
    found: list[str] = []
    pending: list[str] = []
    opened = done = False
    turned = 0
    for i, word in enumerate(sentence.words):
        if i and "," in sentence.text[sentence.words[i - 1].end : word.start] and opened:
            found, pending = found + pending, []
            opened = done  # a comma ends a condition that stands in front
        if is_negator(word.lower):
            turned = NEGATED
        turned -= 1
        if word.lower in OPENING and not _at_once(sentence, i):
            found, pending, opened = found + pending, [], True
        elif word.key and rule.does(word.key):
            pending, opened, done = [], False, True
        elif opened and turned <= 0 and _tells(word.key, rule):
            pending.append(word.key)
    return (*found, *pending)


def _at_once(sentence: Sentence, at: int) -> bool:
    return at > 0 and sentence.words[at].lower == "once" and sentence.words[at - 1].lower == "at"


def _is_when(sentence: Sentence, at: int) -> bool:
    """ "Foggy mornings are when she writes": the condition stands before it, and not behind."""
    return at > 0 and sentence.words[at].lower == "when" and sentence.words[at - 1].lower in IS


def condition_clause(sentence: Sentence) -> frozenset[str]:
    """The content of the clause after "when", "if" and the like, up to a comma or to the end of the sentence."""
    for i, word in enumerate(sentence.words):
        if word.lower not in CLAUSE or _at_once(sentence, i) or _is_when(sentence, i):
            continue
        end = sentence.text.find(",", word.end)
        inside = sentence.words[i + 1 :] if end < 0 else [w for w in sentence.words[i + 1 :] if w.start < end]
        return frozenset(w.key for w in inside if w.key)
    return frozenset()


def _tells(key: str, rule: Rule) -> bool:
    return bool(key) and key not in rule.name_keys and key not in LIGHT and weight(key) >= 1.0 and not key[0].isdigit()
