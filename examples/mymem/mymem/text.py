"""Words and sentences."""

from __future__ import annotations

import re

_COMMON = frozenset(
    "a about after again all also am an and any are as at be because been before but by can could did do does for from get got "
    "had has have he her here him his how i if in into is it its just like me more my no not now of off on one or our out over "
    "she so some than that the their them then there these they this to too up us was we were what when where which while who "
    "why will with would you your".split()
)


def words(text: str) -> list[str]:
    """Return the content words, in lower case and in order."""
    found = re.findall(r"\w+", text.lower())
    return [word for word in dict.fromkeys(found) if word not in _COMMON]


def sentences(text: str) -> list[str]:
    """Split the text after full stops, question marks and exclamation marks."""
    return [part for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part]
