"""Whether what is told with a behaviour turns its condition around: negated, in another order, by an opposite."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.exclusivity import tells_when_not
from pytest_memfail.judges.rules.polarity import condition_negated, excepted, negated, order, ruled_out
from pytest_memfail.judges.rules.rule_likeness import MATCHED, coverage, opposed, said
from pytest_memfail.judges.rules.rule_needed import COMPARING_KEYS, FINISHED, Rule
from pytest_memfail.judges.rules.rule_other import LACKING, UNLESS, condition_clause, withheld
from pytest_memfail.judges.rules.rule_refused import is_refusal
from pytest_memfail.judges.rules.rule_sequence import sequence, spans_beside
from pytest_memfail.judges.rules.text import Sentence, fold, weight

EMPTY: Final = fold("empty")
NEAR: Final = 3
THEN: Final = re.compile(r"(?:^|[,;] )(?:(?:and|but|only) )?(?:then|in (?:that|which) case)\b", re.IGNORECASE)
NEVER_UNLESS: Final = re.compile(r"\b(?:never|not|\w+n't)\b.*\bunless\b", re.IGNORECASE)
ONLY_WHEN_NOT: Final = re.compile(
    r"\b(?:only|just|solely) (?:when|while|if|as long as)\b[^,;.]{0,30}?\b(?:not|nobody|no one|\w+n't)\b", re.IGNORECASE
)
"""Its "only" is no other time's denial, and its negation is the condition's."""
WHOM: Final = frozenset("him her them it".split())
CAUSING: Final = frozenset("makes make leaves leave causes puts put gets brings".split())
LINKING: Final = 0.3
"""The share of the sentence that ties behaviour and condition which shows another to be made from it."""


def turned_around(rule: Rule, told: Sequence[Sentence]) -> str:
    """How the stored sentence says the opposite, or nothing."""
    keys: Mapping[str, float] = rule.condition
    for sentence in told:
        if not keys.keys() & sentence.keys or not rule.behavior.keys() & sentence.keys:
            continue
        only = tells_when_not(sentence) and not ONLY_WHEN_NOT.search(sentence.text)
        negative = (condition_negated(sentence, keys.keys()) and not only) or (
            (excepted(sentence, keys.keys()) or _ruled_out(rule, sentence)) and not _then_done(rule, told)
        )
        withheld = "refus" not in rule.behavior and negated(sentence, rule.behavior.keys()) and not rule.turned
        if rule.negative and UNLESS.search(rule.told) and NEVER_UNLESS.search(sentence.text):
            return "its condition is turned around"
        if rule.negative and withheld and not negative:
            continue  # not done with it is done without it
        if rule.negative and not negative and not LACKING.search(sentence.text):
            return "its condition is turned around"
        if negative and not rule.negative:
            return "its condition is turned around"
        if withheld:
            return "its behaviour is negated"
    return ""


def _ruled_out(rule: Rule, sentence: Sentence) -> bool:
    """Whether it is said not to be done then; of a refusal that is the rule itself, and not after it may be before it."""
    plain = not (rule.negative or rule.turned or rule.numbers or rule.asked_order < 0)
    return plain and not is_refusal(rule) and ruled_out(sentence, rule.condition.keys())


def _then_done(rule: Rule, told: Sequence[Sentence]) -> bool:
    """Whether the behaviour is told as what follows from the exception: "sits still unless it rains; then she dances"."""
    return any(
        word.start >= then.end() and word.key in rule.behavior and weight(word.key) >= 1.0
        for sentence in told
        if (then := THEN.search(sentence.text))
        for word in sentence.words
    )


def other_order(rule: Rule, told: Sequence[Sentence]) -> str:
    """Whether the behaviour is told to come before what it follows, or the reverse."""
    does = rule.behavior.keys() - rule.when_keys
    meant = spans_beside(rule.when) or spans_beside(rule.told)
    if meant and any(spans_beside(s.text) and not meant & spans_beside(s.text) for s in told):
        return "what comes first and what follows have changed places"
    for sentence in told:
        if withheld(sentence, rule) and not is_refusal(rule):
            continue  # not until then is after it
        if not rule.order or not rule.behavior.keys() & sentence.keys:
            continue
        told_order = rule.asked_order and sequence(sentence, does, rule.when_keys)
        told_order = told_order or order(sentence, rule.when_keys, refusal=is_refusal(rule))
        if not told_order and rule.when_keys & sentence.keys:
            told_order = -max(0, order(sentence, does, refusal=is_refusal(rule)))  # what is done after it follows it
        if told_order * rule.order < 0:
            return "what comes first and what follows have changed places"
    return ""


def clauses_swapped(rule: Rule, here: Sequence[Sentence]) -> str:
    """The behaviour told as the condition, and the condition as what follows from it."""
    for sentence in here:
        if _causes(rule, sentence):
            return "behaviour and condition have changed places"
        opened = condition_clause(sentence)
        if order(sentence, opened) < 0:
            continue  # what has to come before it is its condition
        rest = sentence.keys - opened
        does = {key for key in rule.behavior if weight(key) >= 1.0 and key in sentence.keys}
        holds = {key for key in rule.condition if key in sentence.keys}
        if does and holds and does <= opened and not does & rest and 2 * len(holds & rest) > len(holds):
            return "behaviour and condition have changed places"
    return ""


def _causes(rule: Rule, sentence: Sentence) -> bool:
    """Whether the behaviour is told to bring the condition about: "eating chocolate makes him stressed"."""
    names = rule.name.parts if rule.name else frozenset[str]()
    pairs = enumerate(pairwise(sentence.words))
    verb = next(
        (i for i, (does, whom) in pairs if does.lower in CAUSING and (whom.lower in names or whom.lower in WHOM)), None
    )
    if verb is None:
        return False
    before, after = ({w.key for w in part} for part in (sentence.words[:verb], sentence.words[verb + 1 :]))
    does = {key for key in rule.behavior.keys() - rule.condition.keys() if weight(key) >= 1.0}
    holds = {key for key in rule.condition.keys() - rule.behavior.keys() if weight(key) >= 1.0}
    return bool(does & before and holds & after) and not does & after and not holds & before


def opposite_told(rule: Rule, told: Sequence[Sentence]) -> str:
    """An opposite of one of the condition's words, which is itself not said."""
    for key in sorted(rule.asked - COMPARING_KEYS):
        if key in rule.behavior or weight(key) < 1.0 or rule.denied(key) or said(key, told, rule.name_keys) >= MATCHED:
            continue
        for sentence in told:
            for held in sorted(held for held in sentence.keys if opposed(key, held)):
                if held == EMPTY and FINISHED in rule.asked:
                    continue  # of a full bowl that is finished an empty one is left
                if held not in rule.pool and held not in COMPARING_KEYS and _done_by_entity(rule, sentence, held):
                    return f"its condition is turned around ({held!r} for {key!r})"
    return ""


def opposite_in_link(rule: Rule, told: Sequence[Sentence]) -> str:
    """An opposite of what the sentence that ties the two says of the condition, in what was made from it: low marks for high."""
    for sentence in told if rule.link and not rule.numbers else ():
        if coverage(rule.link, (sentence,), rule.name_keys) < LINKING:
            continue
        for key in sorted(key for need in rule.conditions for key in need if key in rule.link):
            held = next((k for k in sorted(sentence.keys - rule.link.keys() - rule.asked) if opposed(key, k)), "")
            if held and said(key, (sentence,), rule.name_keys) < MATCHED:
                return f"its condition is turned around ({held!r} for {key!r})"
    return ""


def _done_by_entity(rule: Rule, sentence: Sentence, held: str) -> bool:
    """Whether nobody else is named right before the word: one loses where the other wins."""
    at = next(i for i, word in enumerate(sentence.words) if word.key == held)
    parts = rule.name.parts if rule.name else frozenset()
    for word in reversed(sentence.words[max(0, at - NEAR) : at]):
        if word.surface[0].isupper():
            return word.lower.removesuffix("'s") in parts
    return held not in rule.own
