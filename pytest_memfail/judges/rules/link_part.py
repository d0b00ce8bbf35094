"""Links of which a part stands: an end blurred, an end alone, both without what ties them."""

from __future__ import annotations

from typing import Final

from pytest_memfail.judges.rules.actors import OTHER, headed, next_actor
from pytest_memfail.judges.rules.anchor_words import LIGHT, Token
from pytest_memfail.judges.rules.anchors import Anchor, Place
from pytest_memfail.judges.rules.finding import Finding, listed
from pytest_memfail.judges.rules.kinship import ORIGIN, kin
from pytest_memfail.judges.rules.link_likeness import NEAR, likeness
from pytest_memfail.judges.rules.link_sides import sides
from pytest_memfail.judges.rules.links import (
    ALL,
    HALF,
    MOST,
    MOSTLY,
    SOME,
    Link,
    Reading,
    span,
    whose_is,
)
from pytest_memfail.judges.rules.stretches import tokens as tokens_in
from pytest_memfail.judges.rules.text import fold
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.words import LIKING

OPENING: Final = 3
REFERRING: Final = frozenset(
    "this that these those it then afterwards thereafter after later next therefore so hence which".split()
)
"""Words that open a sentence with what was said before."""
SMALL: Final = 80
"""In a store of more sentences, two words meet by chance in another link."""


def blurred(
    link: Link,
    entries: tuple[int, ...],
    pair: tuple[Place, Place],
    kept: list[bool],
    turn: int,
    owner: int,
    *,
    small: bool,
) -> Reading | None:
    """Both ends are there, one or both not in full."""
    shares = sorted(p.share for p in pair)
    turned = small and turn == -link.direction and any(kept) and min(p.firm for p in pair) >= SOME and owner != OTHER
    if turn != link.direction and shares[0] < MOST and (shares[0] < HALF or shares[1] < ALL) and not turned:
        return None
    if owner == OTHER and min(p.firm for p in pair) < MOST:
        return None
    least, most = sorted(p.soft - p.reworded for p in pair)
    known = [
        (place, other)
        for (place, other), k in zip((pair, pair[::-1]), kept, strict=True)
        if k
        and (place.firm >= MOST or place.share >= MOSTLY)
        and (other.firm > (0 if small else HALF) or (small and (other.generalised or other.share >= SOME)))
        and (
            _end_of(link, place, pair).telling > 1
            or other.firm >= HALF
            or (small and other.soft >= HALF and turn == link.direction)
        )
    ]
    general = small and most >= HALF and any(p.generalised for p in pair)
    if (known and least >= (SOME if small else HALF)) or (general and least >= SOME):
        lost = tuple(w for w, whole in zip(link.wordings, kept, strict=True) if not whole)
        whole = tuple(w for w in link.wordings if w not in lost)
        gaps = [f"{word!r} ({fate})" for p, k in zip(pair, kept, strict=True) if not k for word, fate in p.gaps]
        reason = f"the link is stored, but {listed(lost)} is blurred: {', '.join(gaps)}"
        return Reading(
            (4.0 + pair[0].soft + pair[1].soft,),
            Finding(True, False, reason, entries, whole, lost, confidence=0.65),
        )
    return None


def _end_of(link: Link, place: Place, pair: tuple[Place, Place]) -> Anchor:
    """The end that stands at the place."""
    return link.ends[0] if place is pair[0] else link.ends[1]


def half(
    link: Link, view: View, at: tuple[int, ...], tokens: tuple[Token, ...], found: tuple[list[Place], list[Place]]
) -> Reading | None:
    """One end in its role, with something else in the place of the other; `found`: where each of the two stands."""
    if len(at) > 1 and not all(is_field(tokens, at_field) for at_field in _openings(tokens)):
        return None
    wanted = 1 if is_small(view) else 3
    for number, end in enumerate(link.ends):
        place = next(iter(found[number]), None)
        if (
            place is None
            or not place.kept
            or (place.firm < HALF and (wanted > 1 or place.share < MOST))
            or place.reworded
            or end.telling < wanted
            or _somebody_else(link, view, tokens, place)
            or headed(view, at[0], link.mine, link.known) == OTHER
            or of_another(link, _with_what_is_meant(view, at, tokens), end)
        ):
            continue
        cause, effect = sides(tokens, span(place))
        role = cause if (number == 0) == (link.direction == 1) else effect
        alone = (
            end.verbal
            and (number == 1) == (link.direction == 1)
            and not cause
            and not effect
            and ((place.firm >= ALL and anywhere(link.ends[1 - number], view)) or _nothing_else(link, tokens, place))
        )
        if (role and not (cause and effect)) or alone:
            lost = link.wordings[1 - number]
            how = "without" if alone else "with something else than"
            reason = f"{link.wordings[number]!r} is stored {how} {lost!r}"
            finding = Finding(
                True, False, reason, view.entries_of(at), (link.wordings[number],), (lost,), confidence=0.6
            )
            return Reading((2.0 + place.soft,), finding)
    return None


def _with_what_is_meant(view: View, at: tuple[int, ...], tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The words of the sentence, with those of the one before where it refers to that: "only afterwards …"."""
    before = at[0] - 1
    if before < view.first[view.entry[at[0]]] or view.sentences[at[0]].starts_turn:
        return tokens
    refers = any(token.lower in REFERRING for token in tokens[:OPENING])
    return tokens_in(view, (before,)) + tokens if refers else tokens


def _nothing_else(link: Link, tokens: tuple[Token, ...], place: Place) -> bool:
    """Whether nothing is told but that it is done: "Ada tends to go to bed early"."""
    return not any(
        token.key and token.key not in LIGHT and token.lower.removesuffix("'s") not in link.mine | OFTEN
        for at, token in enumerate(tokens)
        if not place.first <= at <= place.last
    )


OFTEN: Final = frozenset(
    """often usually always sometimes regularly frequently occasionally generally typically normally commonly tends tend
    something someone thing habit known apt prone likely inclined mostly also""".split()
)


def _somebody_else(link: Link, view: View, tokens: tuple[Token, ...], place: Place) -> bool:
    """Whether anybody else acts in the stretch."""
    if whose_is(link, view, tokens, place) == OTHER:
        return True
    return next_actor(tokens, place.last + 1, link.mine, link.known, view) == OTHER


LIKED: Final = frozenset(fold(w) for w in LIKING)


def of_another(link: Link, tokens: tuple[Token, ...], end: Anchor) -> bool:
    """Whether the stretch tells another link of the chain, which has the end in common with this one."""
    held = {t.key for t in tokens if t.key}
    for keys in link.siblings:
        rest = keys - end.keys
        there = sum(max((_worth(key, other) for other in held), default=0.0) for key in rest)
        # Of what a person likes the other link says no more than that.
        told = there >= HALF * len(rest) if rest else bool(held & LIKED)
        if told and not end.keys.isdisjoint(keys):
            return True
    return False


def _worth(wanted: str, held: str) -> float:
    """What a word of the stretch is worth for one of another link: half, where it is but like it."""
    return 1.0 if kin(wanted, held)[1] >= ORIGIN else HALF if likeness(wanted, held) >= NEAR else 0.0


def is_of_another(link: Link, tokens: tuple[Token, ...], place: Place) -> bool:
    """Whether all that stands at the place are words of another link of the chain, and none of this one's."""
    rest = {key for keys in link.siblings for key in keys} - link.stated
    told = [tokens[i].key for i in place.at if tokens[i].key]
    return bool(told) and all(any(kin(key, held)[1] >= ORIGIN for key in rest) for held in told)


def _openings(tokens: tuple[Token, ...]) -> list[int]:
    """The last word of every sentence but the first."""
    last = {t.inside: i for i, t in enumerate(tokens)}
    return [i for inside, i in last.items() if inside]


def is_field(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a label stands before the word: "trigger: …"."""
    inside = tokens[at].inside
    return any(t.inside == inside and ":" in t.gap for t in tokens[: at + 1])


def is_small(view: View) -> bool:
    """Whether two words do not meet there by chance."""
    return len(view.sentences) <= SMALL


def anywhere(end: Anchor, view: View) -> bool:
    """Whether the words that tell the end stand in the view at all."""
    return all(view.postings.get(part.key) for part in end.parts if part.weight >= 1.0)
