"""On which side of a relation one end of a link is told to stand, whatever stands on the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pytest_memfail.judges.rules.actors import is_name
from pytest_memfail.judges.rules.anchor_words import LIGHT, Token
from pytest_memfail.judges.rules.link_sequence import ADJUNCT
from pytest_memfail.judges.rules.relations import (
    ARTICLES,
    BACK,
    FORWARD,
    FRONTED,
    MARKING,
    NOT_BACK,
    OBJECTS,
    SUBJECTS,
    WALLS,
    last_of,
    said,
)
from pytest_memfail.judges.rules.words import STOP

AIMED: Final = re.compile(
    r"to (?!(?:the|a|an|his|her|their|my|some|user|user's|it|them|him|us|work|church|school|bed|sleep|which|music|and|or)\b)\w+ \w+"
)
DONE_TO: Final = re.compile(
    r"\b(?:is|are|was|were|been|being) (?:made|sent|brought|led|left|given|put|set|driven|moved|caused|followed)\b(?! by)"
)
"""What is made somewhere leads to nothing."""
OPENING: Final = 3
"""Words before a place that opens its sentence: "a bowl of"."""
MEANWHILE: Final = re.compile(r"^, (?:the )?(?:user|i|he|she|they|we)\b(?!')")
STATE: Final = re.compile(
    r"(?:in|with) (?:(?:a|an|the|his|her|their|my|such) )?(?:\w+ ){0,2}(?:mood|mind|head|spirits|heart|mindset|nerves|frame|state)\b"
)
"""In which somebody does what stands before."""
FAR: Final = 7
"""Words behind a place within which it may do something to somebody."""
POINTED: Final = re.compile(r"\S\s*(?:->|=>|→|⇒)[^|]*$")
"""An arrow leads to what comes next …"""
LABEL: Final = re.compile(r"^(?:the )?user\s*(?:->|=>|→|⇒)")
"""… but not where it stands behind whose it is."""
HELD: Final = re.compile(r"\b(?:has|have|having)(?: (?:a|an|the|his|her|their|my|some))?$")
"""What comes next is somebody's, and is not led to."""

OWNING: Final = re.compile(r"^(?:the )?(?:user|i|he|she|they|we) (?:also |still |now )?(?:has|have|had)\b")
"""Whoever has something is not led to it: "the user has a two-year-old phone"."""


def sides(tokens: Sequence[Token], place: tuple[int, int]) -> tuple[bool, bool]:
    """Whether the place is told as a cause, and whether as an effect of something."""
    ahead = said(tokens, 0, place[0])
    clause = WALLS.split(ahead)[-1]
    near = " ".join(ADJUNCT.sub("", said(tokens, place[1] + 1, len(tokens))).split()[:5])
    governed = led = False
    marker = FRONTED.search(clause)
    while marker is not None and not governed:
        # "When I do this" governs what follows at once, not what "When I do that I do this" ends with.
        words = clause[marker.start() :].split()
        first = max(0, place[0] - len(words) + 1)
        own = [tokens[i] for i in range(first, place[0]) if tokens[i - 1].lower not in SUBJECTS or i != place[0] - 1]
        governed = not any(t.key and t.key not in LIGHT and t.lower not in MARKING and t.surface.islower() for t in own)
        led = not governed
        marker = None if FORWARD.search(clause) else FRONTED.search(clause, marker.start() + 1)
    governed = governed or (place[0] <= OPENING and not clause.endswith("user") and MEANWHILE.match(near) is not None)
    held = governed and HELD.search(clause) is not None
    told = OWNING.sub("", clause)
    led = led or (not held and last_of(FORWARD, told) > last_of(BACK, told))
    led = led or POINTED.search(LABEL.sub("", ahead)) is not None
    led = led or any(FRONTED.search(part) for part in clause.split(",")[:-1])
    followed = (BACK.search(near) is not None and not NOT_BACK.search(near)) or STATE.match(near) is not None
    leads = not followed and (
        FORWARD.search(DONE_TO.sub("", near)) is not None or AIMED.match(near) is not None or _acts_on(tokens, place)
    )
    return (governed or leads) and not (led and not leads), led or followed


def _acts_on(tokens: Sequence[Token], place: tuple[int, int]) -> bool:
    """Whether the place opens the sentence and does something to somebody: open curtains tire Ada."""
    ahead = tokens[: place[0]]
    if len(ahead) > OPENING or any(t.lower in OBJECTS or t.breaks or is_name(tokens, i) for i, t in enumerate(ahead)):
        return False
    for at in range(place[1] + 1, min(len(tokens), place[1] + 1 + FAR)):
        if tokens[at].breaks:
            return False
        if tokens[at].lower in OBJECTS or is_name(tokens, at):
            verb = next(i for i in range(at - 1, -1, -1) if tokens[i].lower not in ARTICLES)
            if verb > place[1] and tokens[verb].key and tokens[verb].lower not in STOP - {"does", "did", "has", "had"}:
                return True
    return False
