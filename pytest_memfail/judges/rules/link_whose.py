"""Whether a link is told of others than those whose it is: "gives strangers a new perspective", "when others feel confident"."""

from __future__ import annotations

from typing import Final

from pytest_memfail.judges.rules.anchor_words import CAUSING, SOMEBODY, Token
from pytest_memfail.judges.rules.anchors import Anchor, Place
from pytest_memfail.judges.rules.kinship import kin
from pytest_memfail.judges.rules.links import Link

OTHERS: Final = frozenset("others people strangers".split())
ANYBODY: Final = frozenset("someone somebody".split())
WHOM: Final = frozenset("user me him her them us".split())
HAVING: Final = frozenset("has have had gets get got".split())
"""With somebody behind it, these make them do something too: "has her neighbour baking"."""
LEADING: Final = frozenset("when whenever if once as because since after while and so then that makes lets".split())
WHOSE: Final = frozenset("a an the his her their my our some other many several most all user's".split())
SLIGHT: Final = frozenset("often usually always sometimes also then can will may might".split())


def is_told_of_others(link: Link, tokens: tuple[Token, ...], pair: tuple[Place, Place]) -> bool:
    """Whether it is done to, or by, somebody whom the source does not name."""
    left, right = sorted(pair, key=lambda p: p.first)
    if _is_done_to(link, tokens, left, right) or any(_is_done_by(link, tokens, place) for place in pair):
        return True
    number = 1 if link.direction > 0 else 0
    return _is_received(link, tokens, link.ends[number], pair[number])


def _is_done_to(link: Link, tokens: tuple[Token, ...], left: Place, right: Place) -> bool:
    """Whether what stands first makes others do what follows, or gives it to them."""
    for at in range(left.last + 1, right.first):
        if tokens[at].breaks:
            return False
        if (tokens[at].key not in CAUSING and tokens[at].lower not in HAVING) or at in left.at:
            continue
        whom = at + 1
        while whom < right.first and (tokens[whom].lower in WHOSE or tokens[whom].lower.endswith("'s")):
            whom += 1
        return whom < right.first and not tokens[whom].breaks and _is_other(link, tokens[whom])
    return False


def _is_done_by(link: Link, tokens: tuple[Token, ...], place: Place) -> bool:
    """Whether others are said right before the place to do it."""
    who = place.first - 1
    while who > 0 and tokens[who].lower in SLIGHT:
        who -= 1
    if who < 0 or tokens[who].lower not in OTHERS or tokens[who].lower in link.known or tokens[who + 1].breaks:
        return False
    return _opens(tokens, who)


def _opens(tokens: tuple[Token, ...], who: int) -> bool:
    """Whether a clause begins with the word."""
    return who == 0 or tokens[who].breaks or tokens[who - 1].lower in LEADING


def _is_received(link: Link, tokens: tuple[Token, ...], end: Anchor, place: Place) -> bool:
    """Whether what the person does is told to be done to them: "somebody gives them a hug"."""
    if not end.verbal or end.parts[0].kind == "light":
        return False
    for at in range(max(2, place.first - 3), place.last + 1):
        if tokens[at].lower in WHOM | link.mine and tokens[at - 1].key and not tokens[at].breaks:
            who = at - 2
            while who > 0 and tokens[who].lower in SLIGHT:
                who -= 1
            if tokens[who].lower in OTHERS | ANYBODY and tokens[who].lower not in link.known and _opens(tokens, who):
                return True
    return False


def _is_other(link: Link, token: Token) -> bool:
    if token.lower in link.known or token.key in link.known or token.lower in link.mine:
        return False
    if token.lower in OTHERS:
        return True
    return token.key in SOMEBODY and not any(kin(key, token.key)[1] for key in link.known & SOMEBODY)
