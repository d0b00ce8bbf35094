"""Exclusivity in all its wordings: then, and at no other time."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.polarity import never_except
from pytest_memfail.judges.rules.text import Sentence
from pytest_memfail.judges.rules.words import EXCLUSIVE

AMBIGUOUS: Final = frozenset("alone reserved limited required must".split())
"""Words that say so only in company: a reserved person is not reserved for Sundays."""
PLAINLY: Final = EXCLUSIVE - AMBIGUOUS
ELSEWHEN: Final = re.compile(
    r"\b(?:no|nobody|no one|none|nothing|never|not)\b.{0,40}\b(?:else|other|otherwise|elsewhere|sooner|earlier)\b"
    r"|\b(?:otherwise|elsewhere|anywhere else|any other|all other|every other case)\b"
    r"|\b(?:rest of the (?:time|week|year|day)|other (?:days?|times?|cases?|nights?|evenings?|six|occasions?))\b"
    r"|\bafter that\b|\bno longer\b|\bor (?:less|more|fewer)\b ?(?:->|:|=|means)|\bif not\b|\belse\b"
    r"|\b(?:not|n't|never) (?:before|until)\b",
)
"""What is said of all the other times; it tells by itself."""
CONFINED: Final = re.compile(
    r"\b(?:restricts?|confines?|confined|limits? (?:his|her|its|their|this|that)|nothing but)\b"
    r"|\b(?:reserves?|reserved|limited|restricted|keeps? .{1,60}(?= for (?:days?|times?|when)\b)) (?:for|to)\b"
    r"|\b(?:sole|lone|single|the one|his one|her one|its one|(?<=at )one) \w+\b"
    r"|\bif\b.{1,40}\b(?:not|n't|\w+n't)\b.{0,80}\b(?:no|not|none|never|\w+n't)\b"
    r"|\bjust (?:once|one|on|when|if|for)\b|\b(?:depends? (?:entirely |solely )?on|it takes|takes? .{1,40} to (?:get|make|start))\b"
    r"|\b(?:has|have) to be\b|\bmust be\b|\bneeds?\b|\brequire[sd]?\b|\b(?:as|so) long as\b|\bprovided\b|\buntil\b|\bstops?\b"
    r"|\b(?:below|above|under|over|past|with more than|with less than) (?:that|it|this)\b",
)
"""Turns of phrase that leave nothing besides, where they are said of the behaviour or its condition."""


def tells_when_not(sentence: Sentence) -> bool:
    """Whether a sentence about the rule says, or clearly implies, that it does not hold at other times."""
    return tells_otherwise(sentence) or _confines(sentence.text)


@lru_cache(maxsize=16384)
def _confines(text: str) -> bool:
    return CONFINED.search(text.lower()) is not None


def tells_otherwise(sentence: Sentence) -> bool:
    """Whether a sentence beside the rule says so, without a word of the rule."""
    return not sentence.lowers.isdisjoint(PLAINLY) or _excludes(sentence.text)


@lru_cache(maxsize=16384)
def _excludes(text: str) -> bool:
    return never_except(text) or ELSEWHEN.search(text.lower()) is not None
