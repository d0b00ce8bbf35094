"""Words that stand side by side in what was told of a person, and whether two of them changed partners."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.finding import written
from pytest_memfail.judges.rules.text import Sentence

APART: Final = re.compile(r"[,;:.!?()/]|\s-\s|\b(?:and|or|but)\b")
NEAR: Final = 0.6
AWAY: Final = frozenset("away clear beyond outside far free off out apart".split())
"""They say where something is not done."""


def pairs(sentence: Sentence) -> frozenset[tuple[str, str]]:
    """Neighbouring content words that nothing sets apart."""
    words = [w for w in sentence.words if w.key]
    return frozenset(
        (one.key, other.key)
        for one, other in pairwise(words)
        if not APART.search(sentence.text[one.end : other.start])
        and not (one.key[0].isdigit() or other.key[0].isdigit())
    )


def surface(sentence: Sentence, key: str) -> str:
    """The key as it is written in the sentence."""
    return written(key, (sentence,))
