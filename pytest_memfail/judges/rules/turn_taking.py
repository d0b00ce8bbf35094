"""How often something comes round: every Wednesday, or every second one."""

from __future__ import annotations

import re
from typing import Final

SKIPPING: Final = re.compile(
    r"\b(?:(?:every|each)[ -](?:second|other|third|fourth|fifth|two|three|four|five|six|2nd|3rd|\d+)"
    r"|bi-?(?:weekly|monthly)|(?:once|twice|once in) a fortnight|fortnight(?:s|ly)?|alternat(?:e|es|ing|ely))\b",
    re.IGNORECASE,
)
"""Some are left out."""
_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun|week|birth)?day"
EACH: Final = re.compile(
    rf"\b(?:(?:every|each)(?: single)? (?:{_DAY}|week|weekend|month|year|night|morning|afternoon|evening)"
    rf"|(?:weekly|daily|nightly|monthly|yearly|annually)|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
    re.IGNORECASE,
)
"""None is."""

EVERY: Final = re.compile(
    r"\b(?:(?:every|each)(?: single)? (?:day|morning|afternoon|evening|night)|daily|nightly)\b", re.IGNORECASE
)
SOME_DAYS: Final = re.compile(
    r"\b(?:weekends?|weekdays?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|now and then|once in a while|occasionally|sometimes)\b",
    re.IGNORECASE,
)
"""On some of them only."""
SEASON: Final = re.compile(
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december|spring|summer|autumn|winter)\b",
    re.IGNORECASE,
)
ALL_YEAR: Final = re.compile(
    r"\b(?:all year(?:[ -]round)?|year-?round|every month|in all seasons|summer and winter)\b", re.IGNORECASE
)


def other_turn(wanted: str, held: str) -> str:
    """Every one told where it is every second one, or the other way round; empty if neither.

    >>> other_turn("every second Wednesday", "on Wednesdays")
    "'Wednesdays' instead of 'every second'"
    >>> other_turn("every second Wednesday", "each fortnight"), other_turn("every Wednesday", "on Wednesdays")
    ('', '')
    """
    for mine, contrary in ((SKIPPING, EACH), (EACH, SKIPPING), (EVERY, SOME_DAYS), (SEASON, ALL_YEAR)):
        asked, told = mine.search(wanted), contrary.search(held)
        if asked and told and not contrary.search(wanted) and not mine.search(held):
            return f"'{told[0]}' instead of '{asked[0]}'"
    return ""
