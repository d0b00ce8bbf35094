"""The reasons given in what was told: repeated, they refuse in whatever words; and they may change places with what they explain."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.persona_partners import AWAY, surface
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence, Word, weight

BECAUSE: Final = frozenset("because since as".split())
ENDING: Final = frozenset("so instead therefore hence thus until unless".split())
"""They end a reason."""
SHARED: Final = 2
SHARE: Final = 0.5
RESULTS: Final = frozenset("so therefore hence".split())
PURPOSE: Final = frozenset(("as", "that"))
"""So as to: that is what it is for."""
GROUNDING: Final = RESULTS | {"because", "since", "why"}


def reason_told(part: Sequence[Word], source: Sentence) -> bool:
    """Whether the words tell the reason that the source gives for its refusal."""
    reason = _reason(source)
    told = reason & {w.key for w in part}
    return bool(told) and len(told) >= min(SHARED, len(reason)) and len(told) >= SHARE * len(reason)


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


def grounds_exchanged(sentence: Sentence, source: Sentence, telling: Collection[str]) -> str:
    """The reason in the place of what it is the reason for, and the other way round."""
    mine, theirs = _grounds(source), _grounds(sentence)
    if not (mine and theirs):
        return ""
    (done, why), (does, because) = mine, theirs
    for one in sorted((done - why) & (because - does) & set(telling)):
        for other in sorted((why - done) & (does - because)):
            if (
                weight(one) >= 1.0
                and weight(other) >= 1.0
                and surface(source, other) not in AWAY
                and not related(one, other)
            ):
                return f"'{surface(source, one)}' and '{surface(source, other)}' are exchanged"
    return ""


def _grounds(sentence: Sentence) -> tuple[frozenset[str], frozenset[str]] | None:
    """The words of what is done, and of the reason given for it; nothing where there is not one reason."""
    words = sentence.words
    if sum(w.lower in GROUNDING for w in words) > 1:
        return None  # one reason after another: what follows the one may come before the other
    for at, word in enumerate(words):
        if not at or word.lower not in GROUNDING:
            continue
        before, after = (frozenset(w.key for w in part) - {""} for part in (words[:at], words[at + 1 :]))
        if word.lower == "so" and words[at + 1 : at + 2] and words[at + 1].lower in PURPOSE:
            continue
        gap = sentence.text[words[at - 1].end : word.start]
        # "Since" without a comma mostly tells a time.
        if word.lower == "because" or (word.lower == "since" and "," in gap):
            return before, after
        if word.lower in RESULTS or (word.lower == "why" and words[at - 1].lower in ("is", "that's")):
            return after, before
    return None
