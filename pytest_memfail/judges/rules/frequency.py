"""How often something comes round: every Wednesday, or every second one."""

from __future__ import annotations

import re
from typing import Final

_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
SKIPPING: Final = re.compile(
    r"\b(?:(?:every|each)[ -](?:second|other|third|fourth|fifth|two|three|four|five|six|2nd|3rd|\d+)"
    r"|bi-?(?:weekly|monthly)|(?:once|twice|once in) a fortnight|fortnight(?:s|ly)?|alternat(?:e|es|ing|ely))\b",
    re.IGNORECASE,
)
"""Some are left out."""
EACH: Final = re.compile(
    rf"\b(?:(?:every|each)(?: single)? (?:{_WEEKDAY}|weekday|birthday|day|week|weekend|month|year|night|morning|afternoon|evening)"
    rf"|(?:weekly|daily|nightly|monthly|yearly|annually)|{_WEEKDAY}s)\b",
    re.IGNORECASE,
)
"""None is."""
EVERY: Final = re.compile(
    r"\b(?:(?:every|each)(?: single)? (?:day|morning|afternoon|evening|night)|daily|nightly)\b", re.IGNORECASE
)
"""On all days."""
SOME_DAYS: Final = re.compile(
    rf"\b(?:weekends?|weekdays?|{_WEEKDAY}s?|now and then|once in a while|occasionally|sometimes)\b",
    re.IGNORECASE,
)
"""On some of them only."""
SEASON: Final = re.compile(
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december|spring|summer|autumn|winter)\b",
    re.IGNORECASE,
)
"""At some time of the year."""
ALL_YEAR: Final = re.compile(
    r"\b(?:all year(?:[ -]round)?|year-?round|every month|in all seasons|summer and winter)\b", re.IGNORECASE
)
"""At all."""
CONTRARY: Final = ((SKIPPING, EACH), (EACH, SKIPPING), (EVERY, SOME_DAYS), (SEASON, ALL_YEAR))


def other_frequency(wanted: str, held: str) -> str:
    """How often it is told to be done, where that is not how often it was said to be; empty if nothing.

    >>> other_frequency("every second Wednesday", "on Wednesdays")
    "'Wednesdays' instead of 'every second'"
    >>> other_frequency("every second Wednesday", "each fortnight"), other_frequency("every Wednesday", "on Wednesdays")
    ('', '')
    """
    for mine, contrary in CONTRARY:
        asked = mine.search(wanted)
        told = asked and contrary.search(held)
        if asked and told and not contrary.search(wanted) and not mine.search(held):
            return f"'{told[0]}' instead of '{asked[0]}'"
    return ""
