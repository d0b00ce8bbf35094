"""The reason that is given for a refusal: who repeats it refuses, in whatever words; and what is refused in both tellings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.text import Sentence, Word, weight

BECAUSE: Final = frozenset("because since as".split())
ENDING: Final = frozenset("so instead therefore hence thus until unless".split())
"""They end a reason."""
SHARED: Final = 2
SHARE: Final = 0.5


def reason_told(part: Sequence[Word], source: Sentence) -> bool:
    """Whether the words tell the reason that the source gives for its refusal."""
    reason = _reason(source)
    told = reason & {w.key for w in part}
    return len(told) >= SHARED and len(told) >= SHARE * len(reason)


def _reason(source: Sentence) -> set[str]:
    found: set[str] = set()
    inside = False
    for at, word in enumerate(source.words):
        gap = source.text[source.words[at - 1].end : word.start] if at else ""
        inside = (inside or (word.lower in BECAUSE and (word.lower == "because" or "," in gap))) and (
            word.lower not in ENDING
        )
        if inside and word.key:
            found.add(word.key)
    return found


def still_refused(shared: Collection[str], one: str, other: str, stored: Sentence, source: Sentence) -> bool:
    """Whether what both tellings refuse is more than what goes with the two words: the gloves of latex gloves."""
    beside = _beside(one, stored) | _beside(other, source) | {one, other}
    return any(weight(k) >= 1.0 and k not in beside for k in shared)


def _beside(key: str, sentence: Sentence) -> set[str]:
    return {k for a, b in pairwise(sentence.words) if key in (a.key, b.key) for k in (a.key, b.key)}
