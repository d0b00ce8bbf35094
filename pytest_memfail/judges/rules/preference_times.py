"""When a preference holds: a part of the day, of the week or of the year, or how often; told of another it is another habit."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.text import Sentence, sentences_of

CLASSES: Final = tuple(
    tuple(frozenset(group.split()) for group in line.split(" | "))
    for line in (
        "morning mornings dawn sunrise breakfast daybreak a.m | noon midday lunch lunchtime afternoon afternoons teatime"
        " | evening evenings night nights nightly bedtime dusk sunset nightfall twilight bed p.m asleep sleep",
        "weekend weekends saturday saturdays sunday sundays | weekday weekdays workday workdays monday mondays tuesday tuesdays"
        " wednesday wednesdays thursday thursdays",
        "daily | weekly | fortnightly biweekly | monthly | yearly annual annually",
        "summer summers summertime | winter winters wintertime",
    )
)
UNTIL: Final = frozenset(("till", "until", "til"))
"""What stands before the end of a time: who dances till dawn does so at night."""
REACH: Final = 2
EVERY: Final = {"day": "daily", "week": "weekly", "fortnight": "fortnightly", "month": "monthly", "year": "yearly"}


def is_shifted(statement: str, sentence: Sentence) -> bool:
    """Whether the sentence tells a time of the same sort as the statement's, and only others."""
    said = _said(statement)
    if not any(said):
        return False
    return any(own and held and own.isdisjoint(held) for own, held in zip(said, _groups((sentence,)), strict=True))


@lru_cache(maxsize=1024)
def _said(statement: str) -> tuple[frozenset[int], ...]:
    return _groups(tuple(sentences_of(statement)))


def _groups(sentences: tuple[Sentence, ...]) -> tuple[frozenset[int], ...]:
    """Which groups of each class the sentences name."""
    words = {
        word.lower
        for sentence in sentences
        for at, word in enumerate(sentence.words)
        if not UNTIL.intersection(before.lower for before in sentence.words[max(0, at - REACH) : at])
    }
    for sentence in sentences:
        for before, word in zip(sentence.words, sentence.words[1:], strict=False):
            if before.lower in ("each", "every", "a", "per") and word.lower in EVERY:
                words.add(EVERY[word.lower])
    return tuple(frozenset(i for i, group in enumerate(groups) if not words.isdisjoint(group)) for groups in CLASSES)
