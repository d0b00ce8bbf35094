"""How one sentence refers to what another names: "it", "that hour", "the session"."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.actors import OTHER
from pytest_memfail.judges.rules.anchor_fate import SAYING
from pytest_memfail.judges.rules.anchor_words import LIGHT, Token
from pytest_memfail.judges.rules.anchors import Anchor, Place, places
from pytest_memfail.judges.rules.kinship import Kin, kin
from pytest_memfail.judges.rules.link_likeness import likeness
from pytest_memfail.judges.rules.link_part import is_field
from pytest_memfail.judges.rules.links import SOME, Link, whose_is
from pytest_memfail.judges.rules.relations import FORWARD
from pytest_memfail.judges.rules.stretches import tokens as tokens_in
from pytest_memfail.judges.rules.text import fold
from pytest_memfail.judges.rules.view import View

ENOUGH: Final = 24
"""Sentences that are searched for what is pointed at."""
REFERRING: Final = frozenset(
    "this that these those it they them there then such result consequence afterwards therefore hence so which trigger".split()
)
VAGUE: Final = frozenset("something anything things stuff somebody someone somewhere".split())
POINTING: Final = frozenset("that those this these such same".split())
OCCASIONS: Final = frozenset(
    fold(w)
    for w in """session activity habit routine ritual practice task experience occasion exercise pastime hobby place spot
    setting""".split()
)
"""What is done, when it has been named before."""
SECOND: Final = 2
BEHIND: Final = 3
"""Words behind the second place that may still refer back: "puts on audiobooks for the ride"."""
PRONOUNS: Final = frozenset("it them one ones".split())
DEFINITE: Final = POINTING | {"the", "his", "her", "their", "my", "all"}


def is_tied(link: Link, tokens: tuple[Token, ...], pair: tuple[Place, Place]) -> bool:
    """Within a sentence, or in one that refers back."""
    left, right = sorted(pair, key=lambda p: p.first)
    end = link.ends[0] if left is pair[0] else link.ends[1]
    if tokens[left.last].inside == tokens[right.first].inside:
        return True
    first = next(i for i, t in enumerate(tokens) if t.inside == tokens[right.first].inside)
    opening = tokens[first : min(first + 5, right.last + 1)]
    if any(_refers(t, at) for at, t in enumerate(opening)) or is_field(tokens, right.first):
        return True
    if any(one.lower == "one" and (two.breaks or FORWARD.fullmatch(two.lower)) for one, two in pairwise(opening)):
        return True  # "having one gets her dancing"
    # "He brews espresso. The brewing gets him pacing": one of its words, or what it is one of, stands for the whole.
    whole = tokens[first : right.last + 1 + BEHIND]
    return any(one.lower in DEFINITE and two.key and _calls_back(end, two) for one, two in pairwise(whole))


def _refers(token: Token, at: int) -> bool:
    # "So relaxing" refers to nothing, "so" and "doing so" do.
    return token.lower in REFERRING and (token.lower != "so" or at < SECOND)


def _names(wanted: str, held: str) -> bool:
    """Whether what has been named may be called so: a smoothie is a drink."""
    return kin(wanted, held)[0] is Kin.GENERAL or likeness(wanted, held) > 0


def _calls_back(end: Anchor, token: Token) -> bool:
    """Whether a noun after an article may stand for the end: the ride for a commute, the session for yoga."""
    parts = [part for part in end.parts if part.kind != "light"]
    return token.key in OCCASIONS or any(part.key == token.key or _names(part.key, token.key) for part in parts)


def is_pointed_at(link: Link, view: View, tokens: tuple[Token, ...], end: Anchor, place: Place) -> bool:
    """Whether "that hour", "those" stand for what another entry says in full."""
    near = [t.lower for t in tokens[max(0, place.first - 2) : place.first]]
    after = [t.lower for t in tokens[place.first : place.last + 6]]
    lost = {fate for _, fate in place.gaps}
    # "He tunes it": what is done, with a pronoun for what it is done to.
    pronoun = end.verbal and PRONOUNS.intersection(after[place.last - place.first + 1 :][:1])
    pointed = (
        pronoun
        or _elided(link, tokens, end, place)
        or POINTING.intersection(near + after)
        or (near[-1:] == ["the"] and lost == {"dropped"})
    )
    if place.share < SOME or lost & {"opposite", "general"} or not pointed:
        return False
    if "rival" in lost and not pronoun and not POINTING.intersection(near + after[-6:]):
        return False
    for at in _where_whole(end, view):
        others = tokens_in(view, (at,))
        if others != tokens and any(
            p.kept and whose_is(link, view, others, p) != OTHER for p in places(end, others, link.stated)[:1]
        ):
            return True
    return False


def _elided(link: Link, tokens: tuple[Token, ...], end: Anchor, place: Place) -> bool:
    """Whether nothing but the head is left out: what else is tuned "while tuning", what else is roasted dark?"""
    heads = {(part.surface, "dropped") for part in end.parts[end.verbal :] if part.kind == "head"}
    if set(place.gaps) != heads or not end.keys.issuperset(tokens[at].key for at in place.at):
        return False
    if VAGUE.intersection(t.lower for t in tokens[max(0, place.first - 2) : place.first]):
        return False  # "something to calm down"
    for token in tokens[place.last + 1 :]:
        if token.breaks or token.lower in SAYING:
            break
        if token.lower in VAGUE or (token.key and token.key not in link.stated | LIGHT):
            return False
    return True


def _where_whole(end: Anchor, view: View) -> list[int]:
    heads = [p.key for p in end.parts if p.kind == "head"] or [p.key for p in end.parts]
    return sorted({at for key in heads for at in view.postings.get(key, ())})[:ENOUGH]
