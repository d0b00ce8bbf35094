"""Which words of a stretch stand for which words of a link's end, and how well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_memfail.judges.rules.anchor_words import CAUSING, FEELING, LIGHT, NEAR, PARTICLES, SOMEBODY, Part, Token
from pytest_memfail.judges.rules.apart import another_size, associated
from pytest_memfail.judges.rules.kinds import is_person
from pytest_memfail.judges.rules.kinship import FIRM, ORIGIN, PHRASAL, Kin, is_cut, kin, one_origin, phrasal
from pytest_memfail.judges.rules.polarity import is_negator
from pytest_memfail.judges.rules.targets import loose, respelled
from pytest_memfail.judges.rules.text import fold

ALIKE: Final = 0.45
"""What an associated word is worth."""
IN_GENERAL: Final = 0.4
"""What a general term is worth of the head of an end."""
PLACES: Final = frozenset("outside inside upstairs downstairs outdoors indoors".split())
NEGATING: Final = frozenset(fold(w) for w in "skip miss avoid lack omit forgo quit stop refuse without".split())
"""What these say, a negation says too: to skip breakfast is to go without it."""
ORDINALS: Final = frozenset("first second third last next".split())
"""They stand for nothing that is done: to start is not to be first."""
LOSING: Final = frozenset(fold(w) for w in "lose lack".split())


def is_somebody(key: str) -> bool:
    """Whether the key is somebody, not something."""
    return key in SOMEBODY or is_person(key)


def matches_of(parts: Sequence[Part], tokens: Sequence[Token], source: frozenset[str]) -> list[tuple[int, int, float]]:
    """Word by word: where it stands, which part it is, how well."""
    found = []
    for at, token in enumerate(tokens):
        for number, part in enumerate(parts):
            value = _worth(parts, number, tokens, at)
            if not value and token.key and part.kind == "head" and token.key not in source | LIGHT | CAUSING:
                value = _in_general(part, token)
            if not value and token.key and token.key not in LIGHT | CAUSING and _associated(part.key, token.key):
                value = ALIKE
            # What is one word of the end itself does not stand for another too.
            if value >= FIRM or (value and all(other.key != token.key for other in parts)):
                found.append((at, number, value))
    return found


def _in_general(part: Part, token: Token) -> float:
    """What a word is worth as a general term; whoever is annoyed may well be frustrated, but drinks are not coffee."""
    if kin(part.key, token.key)[0] is not Kin.GENERAL:
        return 0.0
    return ALIKE if part.surface.endswith("ed") else IN_GENERAL


def _worth(parts: Sequence[Part], number: int, tokens: Sequence[Token], at: int) -> float:
    """How well a word stands for a part by what the two mean."""
    part, token = parts[number], tokens[at]
    likeness, value = kin(part.key, token.key) if token.key else (Kin.NONE, 0.0)
    if value < FIRM and value and any(kin(other.key, token.key)[0] is Kin.GENERAL for other in parts):
        value = 0.0  # "clothes" is what became of the scarves, not of wearing
    if value < FIRM and token.lower in ORDINALS:
        value = 0.0
    relating = (value < 1.0 and token.key in LIGHT) or (value < FIRM and token.key in CAUSING)
    if another_size(part.key, token.key) or relating:
        value = 0.0
    elif value < ORIGIN and (_otherwise(part, token) or (likeness is Kin.OPPOSITE and _denied(tokens, at))):
        value = ORIGIN
    if value < ORIGIN and token.key[:2] == part.key[:2] and respelled(part.key) == respelled(token.key):
        value = ORIGIN
    if value < PHRASAL and (loose(part.key) == loose(token.key) or _by_phrase(part.key, tokens, at)):
        value = PHRASAL
    if value < 1.0 and len(token.lower) >= 3 and _compounded(parts, number, tokens, at):
        value = 1.0
    return value


def _denied(tokens: Sequence[Token], at: int) -> bool:
    """Whether the word is denied: mornings without noise are quiet, and who loses trust is distrustful."""
    return any(is_negator(t.lower) or t.key in LOSING for t in tokens[max(0, at - 2) : at] if not t.breaks)


def _associated(wanted: str, held: str) -> bool:
    # A mother is spoken of with a sister, and is somebody else; a family is more than either.
    return wanted not in SOMEBODY and associated(wanted, held) and not (is_somebody(wanted) and is_somebody(held))


def _otherwise(part: Part, token: Token) -> bool:
    """Whether a word stands for the part though their keys do not tell."""
    if part.surface in PLACES and len(token.lower) > 1 and part.surface.startswith(token.lower):
        return True
    if is_cut(part.surface, token.lower):
        return True
    if (part.key in NEGATING and is_negator(token.lower)) or (part.key in FEELING and token.key in FEELING):
        return True
    return bool(token.key) and one_origin(part.surface, token.lower)


def _by_phrase(wanted: str, tokens: Sequence[Token], at: int) -> bool:
    verb = tokens[at].key or (fold(tokens[at].lower) if tokens[at].lower[:3] in ("get", "got") else "")
    if not verb:
        return False
    return any(
        token.lower in PARTICLES and wanted in phrasal(verb, token.lower)
        for token in tokens[at + 1 : at + 2 + NEAR]
        if not token.wall
    )


def _compounded(parts: Sequence[Part], number: int, tokens: Sequence[Token], at: int) -> bool:
    """Whether what is one word here is two there: windowsills and window sills, eyestrain and strained eyes."""
    surface, lower = parts[number].surface, tokens[at].lower
    for first in (lower, lower.removesuffix("s")) if len(surface) >= 7 and surface.startswith(lower[:3]) else ():
        if 3 <= len(first) < len(surface) and surface.startswith(first):
            rest = fold(surface[len(first) :])
            around = tokens[max(0, at - NEAR) : at + NEAR]
            if len(rest) >= 3 and any(t.key and _stands_for(rest, t.key) for t in around):
                return True
    for one in (number - 1, number):
        if (
            0 <= one < len(parts) - 1
            and len(lower) >= 6
            and fold(parts[one].surface + parts[one + 1].surface) == fold(lower)
        ):
            return True
    return False


def _stands_for(rest: str, held: str) -> bool:
    """Whether a word stands for the second half of a compound: a work area is a workspace."""
    likeness, value = kin(rest, held)
    return value >= FIRM or likeness is Kin.GENERAL
