"""Small words that shift a condition though its content stands: away from it, with or without it, once it is over."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from pytest_memfail.judges.rules.polarity import is_negator, order
from pytest_memfail.judges.rules.quantities import CLOCK, HALF_OPEN
from pytest_memfail.judges.rules.rule_likeness import can_be_person
from pytest_memfail.judges.rules.rule_needed import FINISHED, Rule
from pytest_memfail.judges.rules.rule_numbers import alike, stated_numbers
from pytest_memfail.judges.rules.rule_phrases import phrase_keys
from pytest_memfail.judges.rules.text import Sentence

AWAY: Final = re.compile(
    r"\b(?:(?:away|far|absent) from|outside(?: of)?|(?:any|every)where but|other than|apart from)\b", re.IGNORECASE
)
ALIKE_BOTH: Final = re.compile(
    r"\b(?:whether or not|with or without|regardless|no matter|rain or shine|either way|in any (?:case|weather|mood))\b",
    re.IGNORECASE,
)
ANY_TIME: Final = re.compile(
    r"\b(?:at (?:any|all) (?:times?|hours?|moment)|any ?time|any (?:day|hour|moment|weather|season)|all the time|day (?:and|or) night"
    r"|a?round the clock|whenever (?:s?he|they|it) (?:likes?|wants?|pleases?|feels? like)|whenever asked|no matter (?:when|where|what)"
    r"|whatever the|in all weathers|all year(?: round)?|year-?round|every (?:single )?day"
    r"|wherever (?:s?he|they|it) (?:is|goes|likes?))\b",
    re.IGNORECASE,
)
"""It holds whenever and wherever."""
WHIM: Final = re.compile(
    r"\b(?:depend(?:s|ing) on (?:his|her|their|its|the) mood|when(?:ever)? (?:s?he|they|it) (?:just )?feels? like it|on a whim|at will"
    r"|when(?:ever)? the mood (?:takes|strikes)|when(?:ever)? (?:s?he|they)(?:'s| is|'re| are) in the mood|on impulse"
    r"|(?:on|of) (?:his|her|their|its) own (?:initiative|accord|free will)|unasked|unprompted|without being asked"
    r"|(?:nobody|no one) (?:needs to|has to|need) ask)\b",
    re.IGNORECASE,
)
"""Whenever somebody likes."""
DESERTED: Final = re.compile(
    r"\b(?:when|while|if|with|whenever|as long as|once)(?: there (?:is|are))?"
    r" (?:nobody|no one|no-one|none|no (?!more|fewer|less)\w+)\b"
    r"|\b(?:when|while|if|whenever) (?:s?he|it|they)(?: is|'s| are|'re) (?:all )?(?:alone|by \w+sel(?:f|ves))\b",
    re.IGNORECASE,
)
"""Nobody is there."""
EXACTLY: Final = re.compile(r"\b(?:exactly|precisely)\b", re.IGNORECASE)
AT: Final = re.compile(r"\b(?:at|exactly at|on the stroke of)\s*$", re.IGNORECASE)
"""Before the very hour."""
BE: Final = frozenset("is are was were has have had been gets".split())
REACH: Final = 4


def shifted(rule: Rule, here: Sequence[Sentence]) -> str:
    """How a small word makes another condition of the same content, or nothing."""
    keys = rule.condition.keys() | rule.asked
    for sentence in here:
        if ALIKE_BOTH.search(sentence.text) and not ALIKE_BOTH.search(rule.told):
            return "it is told to hold either way"
        if _stands_away(sentence, keys) and not AWAY.search(f"{rule.told} {rule.when}"):
            return "it is told to hold away from its condition"
        if not rule.negative and _negated_after(sentence, keys):
            return "its condition is told as not so"
        if _over(sentence, keys) * _during(rule) > 0:
            return "it is told to hold once its condition is over"
    return ""


def always(rule: Rule, here: Sequence[Sentence]) -> str:
    """That it is told to hold at any time, which the source says nowhere."""
    if ANY_TIME.search(rule.source) or ANY_TIME.search(rule.when):
        return ""
    for sentence in here:
        match = ANY_TIME.search(sentence.text)
        if match is not None and not any(is_negator(w.lower) for w in sentence.words if w.end <= match.start()):
            return f"it is told to hold {match[0].casefold()!r}"
    return ""


def deserted(rule: Rule, here: Sequence[Sentence]) -> str:
    """That it is told to hold where nobody is, of a condition that wants somebody."""
    wants = any(can_be_person(key) for key in rule.asked - rule.behavior.keys())
    if not wants or DESERTED.search(rule.source) or DESERTED.search(rule.when):
        return ""
    none = _first(DESERTED, here)
    return f"it is told to hold {none[0].casefold()!r}" if none else ""


def at_will(rule: Rule, here: Sequence[Sentence]) -> str:
    """That it is told to depend on nothing but a whim, which the source says nowhere."""
    if WHIM.search(rule.source):
        return ""
    whim = _first(WHIM, here)
    return f"it is told to be done {whim[0].casefold()!r}" if whim else ""


def loosened(rule: Rule, here: Sequence[Sentence]) -> str:
    """A side told with a number that the source means exactly."""
    if not EXACTLY.search(rule.when) or not EXACTLY.search(rule.told):
        return ""
    for sentence in here:
        for stated in stated_numbers(sentence):
            if stated.direction and any(alike(wanted, stated) for wanted in rule.numbers):
                return f"with {stated.text!r} as a bound"
    return ""


def tightened(rule: Rule, here: Sequence[Sentence]) -> str:
    """The very hour told where the source means all before or after it."""
    for sentence in here:
        for stated in stated_numbers(sentence):
            at_once = stated.unit in (CLOCK, HALF_OPEN) and not stated.direction
            if (
                at_once
                and AT.search(_before(sentence, stated.at))
                and any(wanted.direction and alike(wanted, stated) for wanted in rule.numbers)
            ):
                return f"only 'at {stated.text.strip()}'"
    return ""


def _first(pattern: re.Pattern[str], here: Sequence[Sentence]) -> re.Match[str] | None:
    return next((match for sentence in here if (match := pattern.search(sentence.text))), None)


def _before(sentence: Sentence, at: int) -> str:
    return sentence.text[: sentence.words[at].start]


def _stands_away(sentence: Sentence, keys: Collection[str]) -> bool:
    match = AWAY.search(sentence.text)
    if match is None or any(is_negator(w.lower) for w in sentence.words if w.end <= match.start()):
        return False  # never away from it
    return any(word.key in keys for word in [w for w in sentence.words if w.start >= match.end()][:REACH])


def _negated_after(sentence: Sentence, keys: Collection[str]) -> bool:
    """Whether the content is followed by "is not"."""
    words = sentence.words
    for i, word in enumerate(words[:-1]):
        if word.key in keys and words[i + 1].lower.endswith("n't"):
            return words[i + 1].lower.removesuffix("n't") in BE
        if word.key in keys and words[i + 1].lower in BE and i + 2 < len(words) and is_negator(words[i + 2].lower):
            return True
    return False


def _over(sentence: Sentence, keys: Collection[str]) -> int:
    finished = FINISHED in sentence.keys or FINISHED in phrase_keys(sentence.text)
    return int(finished and order(sentence, keys) > 0)


def _during(rule: Rule) -> int:
    return int(rule.tied and rule.order == 0 and FINISHED not in rule.known)
