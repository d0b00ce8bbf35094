"""Exclusivity in all its wordings: then, and at no other time."""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.judges.rules.polarity import exclusive
from pytest_memfail.judges.rules.text import Sentence

CONFINED: Final = re.compile(
    r"\b(?:restricts?|reserves?|confines?|limits?|confined|sole|lone|just (?:once|one|on|when|if|for)|nothing but)\b"
    r"|\b(?:one|single|sole) (?:place|occasion|time|exception|spot|thing|circumstance|trigger|day|condition)\b"
    r"|\b(?:no|nobody|no one|none|nothing|never|not)\b.{0,40}\b(?:else|other|otherwise|elsewhere)\b"
    r"|\b(?:otherwise|elsewhere|anywhere else|any other|all other|every other case)\b"
    r"|\b(?:the )?(?:rest of the (?:time|week|year|day)|other (?:days?|times?|cases?|nights?|evenings?|six|occasions?))\b"
    r"|\b(?:depends? (?:entirely |solely )?on|it takes|takes? .{1,40} to (?:get|make|start)|has to be|have to be|needs? (?:to be)?)\b"
    r"|\b(?:alone|by (?:him|her|them)sel(?:f|ves)) (?:sets?|triggers?|makes?)\b"
    r"|\b(?:below|above|under|over|past|with more than|with less than) (?:that|it|this)\b"
    r"|\b(?:as|so) long as\b|\bprovided\b|\bafter that\b|\bstops?\b|\bno longer\b"
    r"|\buntil\b|\bkeeps? .{1,60} for\b|\belse\b|\bor (?:less|more|fewer)\b ?(?:->|:|=|means)|\bif not\b|\bmust\b",
    re.IGNORECASE,
)
"""Turns of phrase that leave nothing besides."""


def tells_when_not(sentence: Sentence) -> bool:
    """Whether the sentence says, or clearly implies, that it does not hold at other times."""
    return exclusive(sentence) or bool(CONFINED.search(sentence.text))
