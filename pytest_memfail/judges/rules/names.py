"""What else a thing is called, where a name has several words: a table made from WordNet's nouns, loaded when first needed.

`tools/build_names.py` makes the table; `lexicon.LICENSE` holds WordNet's licence.
"""

from __future__ import annotations

import gzip
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from pytest_memfail.judges.rules.text import words_of

TABLE: Final = "names.tsv.gz"
LONGEST: Final = 3
AT_MOST: Final = 6


@cache
def _lines() -> dict[str, str]:
    packed = files(__package__).joinpath(TABLE).read_bytes()
    text = gzip.decompress(packed).decode()
    return dict(line.split("\t", 1) for line in text.split("\n"))


@lru_cache(maxsize=8192)
def renamed(text: str) -> tuple[str, ...]:
    """The text with each name in it called otherwise.

    >>> renamed("forget people's surnames")
    ("forget people's family name", "forget people's cognomen", "forget people's last name")
    """
    words = words_of(text)
    found = []
    for first in range(len(words)):
        for last in range(first, min(len(words), first + LONGEST)):
            name = " ".join(word.key for word in words[first : last + 1])
            others = _lines().get(name, "").split(",")
            found += [text[: words[first].start] + other + text[words[last].end :] for other in others if other]
    return tuple(found[:AT_MOST])
