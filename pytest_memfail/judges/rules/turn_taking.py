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


def other_turn(wanted: str, held: str) -> str:
    """Every one told where it is every second one, or the other way round; empty if neither.

    >>> other_turn("every second Wednesday", "on Wednesdays")
    "'Wednesdays' instead of 'every second'"
    >>> other_turn("every second Wednesday", "each fortnight"), other_turn("every Wednesday", "on Wednesdays")
    ('', '')
    """
    for mine, contrary in ((SKIPPING, EACH), (EACH, SKIPPING)):
        asked, told = mine.search(wanted), contrary.search(held)
        if asked and told and not contrary.search(wanted) and not mine.search(held):
            return f"'{told[0]}' instead of '{asked[0]}'"
    return ""
