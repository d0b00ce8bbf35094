"""What else a thing is called, where a name has several words: a table made from WordNet's nouns, loaded when first needed.

`tools/build_names.py` makes the table; `lexicon.LICENSE` holds WordNet's licence.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.tables import table
from pytest_memfail.judges.rules.text import words_of

LONGEST: Final = 3
AT_MOST: Final = 6


@lru_cache(maxsize=8192)
def renamed(text: str) -> tuple[str, ...]:
    """The text with each name in it called otherwise.

    >>> renamed("forget people's surnames")
    ("forget people's family name", "forget people's last name")
    """
    words = words_of(text)
    found = []
    for first in range(len(words)):
        for last in range(first, min(len(words), first + LONGEST)):
            name = " ".join(word.key for word in words[first : last + 1])
            others = table("names").get(name, "").split(",")
            found += [text[: words[first].start] + other + text[words[last].end :] for other in others if other]
    return tuple(found[:AT_MOST])
