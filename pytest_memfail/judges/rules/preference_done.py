"""Whether what is done with a thing is played or only watched: told the other way round it is another preference."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.naming import Mention
from pytest_memfail.judges.rules.text import Sentence

PLAYED: Final = re.compile(
    r"\b(?:play(?:s|ed|ing)?|strum\w*|practi[cs](?:e|es|ed|ing)|train(?:s|ed|ing)?)\b", re.IGNORECASE
)
ACTIVE: Final = re.compile(
    r"\b(?:stay(?:s|ing)? (?:active|fit|in shape)|keeps? me (?:\w+ )?(?:active|fit|in shape|agile|moving))\b", re.I
)
"""What shows that a sport is played, not watched."""
WATCHED: Final = re.compile(
    r"\b(?:watch(?:es|ed|ing)?|follow(?:s|ed|ing)?|listen(?:s|ed|ing)? to|spectat\w+)\b", re.IGNORECASE
)
WATCHES: Final = re.compile(rf"{WATCHED.pattern}(?: (?!and\b|or\b|to\b)[\w'-]+){{0,3}} $", re.IGNORECASE)
"""Before what is only watched or listened to."""
BROADCAST: Final = re.compile(
    r"[^.;:]*?\bon (?:the )?(?:tv|t\.v|television|telly|screen|radio|youtube|twitch)\b", re.IGNORECASE
)


def is_other_use(statement: str, sentence: Sentence, mention: Mention) -> bool:
    """Whether the sentence has it watched where the statement has it played, or the other way round."""
    played, watched = _uses(statement)
    text = sentence.text
    if played == watched or (played and PLAYED.search(text)) or (watched and WATCHED.search(text)):
        return False
    before, after = text[: sentence.words[mention.first].start], text[sentence.words[mention.last].end :]
    if played:
        return WATCHES.search(before) is not None or BROADCAST.match(after) is not None
    return re.search(rf"{PLAYED.pattern}(?: [\w'-]+){{0,2}} $", before, re.IGNORECASE) is not None


@lru_cache(maxsize=1024)
def _uses(statement: str) -> tuple[bool, bool]:
    """Whether the statement speaks of playing, and of watching or listening."""
    return (
        PLAYED.search(statement) is not None or ACTIVE.search(statement) is not None,
        WATCHED.search(statement) is not None or BROADCAST.match(statement) is not None,
    )
