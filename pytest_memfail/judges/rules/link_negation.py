"""Whether an end of a link is denied where it stands, and where a denial says no more than the end does itself."""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.judges.rules.anchor_words import Token
from pytest_memfail.judges.rules.anchors import Place
from pytest_memfail.judges.rules.links import Link, span
from pytest_memfail.judges.rules.polarity import is_negator
from pytest_memfail.judges.rules.relations import WITHOUT, prevented, said
from pytest_memfail.judges.rules.text import fold

UNDENIED: Final = frozenset(
    fold(w) or w
    for w in """only just until before without help stop resist avoid fail wait hesitate refuse decline reject forget skip
    miss""".split()
)
"""What a negation before these says is done all the same."""
UNDOING: Final = frozenset(
    """avoid avoids avoided avoiding stop stops stopped stopping quit quits quitting cease ceases refuse refuses skip skips
    skipped abandon abandons resist resists dread dreads forget forgets shun shuns""".split()
)
"""What is said before what is not done."""
NOT_MADE: Final = re.compile(
    r"(?:\bnot|n't|\bnever|\bhardly|\bno longer|\brarely|\bseldom) (?:ever |really )?"
    r"(?:leav|mak|giv|put|get|help|let|caus|lead|bring|send|hav|mov|inspir|prompt)\w*"
    r" (?:the )?(?:user|him|her|them|me|us)(?: (?:a|an|the|any|in|into|to|feel|feeling|with|more))*$"
)
"""Somebody is not led to what comes next."""
FAILING: Final = frozenset(
    """refuse refuses refused forget forgets forgot fail fails failed decline declines declined neglect neglects neglected
    omit omits omitted""".split()
)
"""With "to", what is said before what is not done."""
GIVING: Final = frozenset("give gives gave given giving".split())
OUT_OF_REACH: Final = frozenset("impossible unthinkable".split())
BEING: Final = frozenset("is are was were has have runs run gets goes feels".split())
GONE: Final = frozenset(
    "low lower lowest lacking missing gone absent lost vanished wavering shaky faded ebbing".split()
)
BECOMING: Final = frozenset(
    "cold dark quiet silent still dim grey gray pale red white limp numb stale mad wild all very".split()
)
"""What has gone so is not gone, but has become so: "once the room has gone cold"."""
LESSER: Final = frozenset("less least little lack lacks lacking lacked loses losing lost low".split())
SMALL: Final = frozenset("a an the his her their my its some every each one no".split())
"""After these, little is small: "a private little grin"."""
LOSS: Final = frozenset("lack loss want absence short devoid free rid instead".split())
LACKING: Final = frozenset(fold(w) for w in "lose forget skip miss avoid lack drain sap exhaust deplete".split())
EASING: Final = frozenset(fold(w) for w in "cure ease relieve banish dispel alleviate remove reduce lessen".split())
"""What stands behind these comes to an end."""
MOVING: Final = frozenset(fold(w) for w in "take drive chase wash push keep send melt blow clear".split())
AWAY: Final = frozenset("away off".split())
LESS: Final = re.compile(r"^un[a-z]{4,}|[a-z]{3,}less(?:ly)?$")


def _is_lacking(tokens: tuple[Token, ...], place: Place, taken: set[int]) -> bool:
    """Whether there is said to be none, or little, of what stands at the place: "when confidence is low"."""
    if any(_is_denied(tokens, i, taken) for i in range(place.first + 1, place.last) if i not in taken):
        return True  # "when the hedge isn't trimmed"
    behind = tokens[place.last + 1 : place.last + 4]
    breaks = next((i for i, t in enumerate(behind) if t.breaks), len(behind))
    told = [t.lower for t in behind[:breaks]]
    if OUT_OF_REACH.intersection(told[:1]):
        return True
    if (
        len(told) > 1
        and told[0] in BEING
        and GONE.intersection(told[1:])
        and place.last + 2 not in taken
        and not BECOMING.intersection(told[2:])
    ):
        return True
    if place.first - 1 in taken or tokens[place.first].breaks:
        return False
    before = [t.lower for t in tokens[max(0, place.first - 2) : place.first]]
    if before[-1:] == ["little"]:
        return not _is_of_size(tokens, place.first - 1)
    return before != [] and (
        (before[-1] in LESSER and before[0] not in ("a", "no")) or (before[-1] == "of" and before[0] in LOSS)
    )


def _is_of_size(tokens: tuple[Token, ...], little: int) -> bool:
    """Whether the word tells how big something is, and not how much there is of it: "little drawings"."""
    noun = tokens[little + 1].lower
    if noun.endswith("s") and not noun.endswith("ss"):
        return True
    before = tokens[max(0, little - 2) : little]
    return any(t.lower in SMALL or t.lower.endswith("'s") for t in before)


def negated(tokens: tuple[Token, ...], pair: tuple[Place, Place]) -> bool:
    """Whether one of the two is denied, or kept from by the other."""
    if prevented(tokens, span(pair[0]), span(pair[1])):
        return True
    left, right = sorted(span(place) for place in pair)
    if WITHOUT.search(said(tokens, left[1] + 1, right[0])):
        return False  # not done before, it is done after
    if any(t.lower == "without" for t in tokens[max(0, left[0] - 2) : left[0]]) and any(
        is_negator(t.lower) for t in tokens[left[1] + 1 : right[0]]
    ):
        return False  # "without tea she isn't talkative"
    taken = {i for place in pair for i in place.at}
    for place in pair:
        if _is_lacking(tokens, place, taken):
            return True
        if any(is_negator(t.lower) for t in tokens[max(0, place.first - 6) : place.first]) and NOT_MADE.search(
            said(tokens, max(0, place.first - 7), place.first)
        ):
            return True
        for i in range(max(0, place.first - 3), place.first):
            if i in taken or any(t.breaks for t in tokens[i + 1 : place.first + 1]):
                continue
            if is_negator(tokens[i].lower):
                return _is_denied(tokens, i, taken) and not _is_set_right(tokens, i, taken)
            if _is_left_undone(tokens, i, place.first):
                return not (i and is_negator(tokens[i - 1].lower))
            if f"{tokens[i].lower} {tokens[i + 1].lower}" in ("anything but", "far from"):
                return True
    return False


def _is_denied(tokens: tuple[Token, ...], at: int, taken: set[int]) -> bool:
    """Whether the word is a negation of what follows it."""
    if not is_negator(tokens[at].lower):
        return False
    return at + 1 in taken or not UNDENIED.intersection((tokens[at + 1].lower, tokens[at + 1].key))


def _is_left_undone(tokens: tuple[Token, ...], at: int, first: int) -> bool:
    """Whether the word says that what begins after it is not done: "refuses to sing", "gives up singing", "avoids singing"."""
    word, following = tokens[at].lower, tokens[at + 1].lower
    if at + 2 == first:
        return (word in FAILING and following == "to") or (word in GIVING and following == "up")
    return word in UNDOING and at + 1 == first and following.endswith("ing")


def _is_set_right(tokens: tuple[Token, ...], at: int, taken: set[int]) -> bool:
    """Whether something else is denied, and ours told in its place: "not sleepy but talkative"."""
    if at + 1 in taken:
        return False
    last = max(taken)
    return any(token.lower == "but" for token in tokens[at + 2 : last + 1])


def lacks(link: Link, tokens: tuple[Token, ...], pair: tuple[Place, Place]) -> bool:
    """Whether an end that says what is not there is told without its word for that: not to notice the hours, to lose track."""
    for end, place in zip(link.ends, pair, strict=True):
        held = {tokens[i].key for i in place.at}
        if any((p.key in LACKING or LESS.match(p.surface)) and p.key not in held for p in end.parts):
            return True
    return False


def eased(link: Link, tokens: tuple[Token, ...], pair: tuple[Place, Place]) -> bool:
    """Whether what the link leads to is said to be taken away: "takes the jitters away", "cures the headache"."""
    cause, place, end = (*pair, link.ends[1]) if link.direction > 0 else (*pair[::-1], link.ends[0])
    if lacks(link, tokens, pair) or LESSER.intersection(end.text.casefold().split()):
        return False  # less stress is what eases stress
    start = max(0, place.first - 4, cause.last + 1 if cause.first < place.first else 0)
    before = [t for t in tokens[start : place.first] if t.key and t.key not in link.known]
    if not before or tokens[place.first].breaks:
        return False
    behind = tokens[place.last + 1].lower if place.last + 1 < len(tokens) else ""
    return before[-1].key in EASING or (behind in AWAY and any(t.key in MOVING for t in before))
