"""What is told to come first and what follows, where no "before" or "after" says so: first this, then that."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.text import Sentence

THEN: Final = re.compile(
    r"(?:,|;|\band)\s+(?:and |but )?(?:(?:\w+ ){0,3})?\b(?:then|afterwards?|later|subsequently)\b",
    re.IGNORECASE,
)
"""Between two things told in their order."""
FOLLOWING: Final = re.compile(
    r"\b(?:afterwards?|later(?: on)?|after that|follow(?:s|ed)?(?: (?:later|after(?:wards?)?|suit))?|comes? (?:later|after(?:wards?)?)"
    r"|in return|as (?:a|the|his|her|its) reward)\W*$",
    re.IGNORECASE,
)
"""At the end of what comes second."""
FIRST: Final = re.compile(
    r"^(?:\W*first(?:ly)?\b|(?:.{3,60}\b)?(?:comes?|goes|is) first\b)|\bfirst\b(?=\s*(?:[,;:]|\band\b))", re.IGNORECASE
)
AIM: Final = re.compile(
    r"\b(?:so (?:that|as to)|in order (?:to|that)|in the hopes? (?:of|that)|hoping (?:to|for|that)|with a view to|(?:aiming|trying) to"
    r"|to (?:win|earn|get|gain|obtain|secure|receive|attract|draw|elicit|invite|prompt|solicit|seek|collect|request|ask for))\b",
    re.IGNORECASE,
)
"""Before what is to come of it."""
PARTS: Final = re.compile(r"[,;:]|\band\b|\bbut\b|\s[-–—]\s", re.IGNORECASE)


SPAN: Final = re.compile(
    r"\b(hour|day|night|evening|morning|week|month)s? (?:right |just )?(before|after)\b", re.IGNORECASE
)


@lru_cache(maxsize=16384)
def spans_beside(text: str) -> frozenset[tuple[str, str]]:
    """The stretches of time that are told by what lies next to them: the hour before, the day after."""
    if "before" not in text and "after" not in text:
        return frozenset()
    return frozenset((match[1].lower(), match[2].lower()) for match in SPAN.finditer(text))


def sequence(sentence: Sentence, behavior: Collection[str], condition: Collection[str]) -> int:
    """1 where the condition is told to come first and the behaviour to follow, -1 the other way round, else 0."""
    text = sentence.text
    at = _turning_point(text)
    if at is None:
        return 0
    first = {w.key for w in sentence.words if w.key and w.end <= at}
    second = {w.key for w in sentence.words if w.key and w.start >= at}
    does = len(first.intersection(behavior)) - len(second.intersection(behavior))
    holds = len(first.intersection(condition)) - len(second.intersection(condition))
    if does > 0 > holds:
        return -1
    return 1 if holds > 0 > does else 0


@lru_cache(maxsize=16384)
def _turning_point(text: str) -> int | None:
    """Where what comes first ends, if the sentence tells two things in their order."""
    if match := THEN.search(text):
        return match.start()
    if match := AIM.search(text):
        return match.start()
    if match := FOLLOWING.search(text):
        parts = [part.start() for part in PARTS.finditer(text, 0, match.start())]
        return parts[-1] if parts else None
    if match := FIRST.search(text):
        part = PARTS.search(text, match.end())
        return None if part is None else part.start()
    return None
