"""Links of a person with a thing: what the person does with it, or feels for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pytest_memfail.judges.rules.actors import OTHER
from pytest_memfail.judges.rules.anchor_fate import DEEDS, is_another_deed
from pytest_memfail.judges.rules.anchor_words import CAUSING, LIGHT, Token
from pytest_memfail.judges.rules.anchors import Place, places
from pytest_memfail.judges.rules.apart import poles
from pytest_memfail.judges.rules.associations import association
from pytest_memfail.judges.rules.attitude import attitude
from pytest_memfail.judges.rules.finding import Finding
from pytest_memfail.judges.rules.kinship import Kin, kin
from pytest_memfail.judges.rules.link_feeling import figured, leaning
from pytest_memfail.judges.rules.link_negation import negated
from pytest_memfail.judges.rules.link_part import is_small, of_another
from pytest_memfail.judges.rules.link_sides import sides
from pytest_memfail.judges.rules.links import (
    ALL,
    BEST,
    HALF,
    MOST,
    MOSTLY,
    SOME,
    Link,
    Reading,
    felt_for,
    span,
    whose_is,
)
from pytest_memfail.judges.rules.stretches import tokens as tokens_in
from pytest_memfail.judges.rules.text import fold
from pytest_memfail.judges.rules.view import View

MOVING: Final = frozenset(
    fold(w) for w in "annoy irritate bother please delight fascinate excite scare bore amuse".split()
)
"""Here the thing acts on the person, so that it may well be the subject."""


DOING: Final = 5
"""Within so many words behind a thing it is told what it does."""
DOES: Final = frozenset("do does did doing".split())
"""What ties a person to a thing where nothing more is said than that it is done."""


MILD: Final = re.compile(
    r"\b(?:do(?:es)?n't|do(?:es)? not|never) (?:really )?(?:mind\b|care\b(?! (?:much )?for))"
    r"|\b(?:fine|okay|ok|all right|at ease) with\b"
    r"|\b(?:nothing|no objection) (?:against|to)\b|\bno (?:problem|trouble|issue)s? with\b|\b(?:used|indifferent|neutral) to\b"
    r"|\b(?:tolerat|endur)\w+|\bputs? up with\b|\b(?:can|could) take or leave\b|\bunbothered\b|\bdoesn't bother\b"
)
"""Neither liked nor disliked: whoever dreads a thing minds it."""


BINDING: Final = frozenset("is are was by of for to with as that".split())


def read_person(link: Link, view: View, at: tuple[int, ...], tokens: tuple[Token, ...]) -> Reading | None:
    """What a person does with a thing, or feels for it."""
    assert link.person is not None
    thing = link.ends[1 - link.person]
    owner = link.wordings[link.person]
    wanted = link.wordings[1 - link.person]
    place = next(iter(places(thing, tokens, link.stated)), None)
    if place is None or (place.soft < SOME and not place.generalised):
        return None
    entries = view.entries_of(at)
    said_of = whose_is(link, view, tokens, place)
    tie = tie_found(link, view, at, tokens, place)
    if (tie < 0 and not place.kept) or (tie == 0 and of_another(link, tokens, thing)):
        return None
    cause, effect = sides(tokens, span(place))
    if _reversed(link, tokens, place, tie):
        tie = -1
    elsewhere = (cause or effect) and tie <= 0 and link.relation != frozenset() and not _only(link, tokens)

    def damaged(reason: str, confidence: float, rank: float) -> Reading:
        return Reading(
            (rank + place.soft,), Finding(True, False, reason, entries, (), link.wordings, confidence=confidence)
        )

    if elsewhere and tie == 0:
        return None
    if not named(link, view, at, tokens) or said_of == OTHER:
        if (
            place.kept
            and (tie > 0 or not link.relation)
            and place.firm >= (MOST if is_small(view) else MOSTLY)
            and not (cause and not tie)
        ):
            return damaged(f"{wanted!r} is stored, but not as {owner}'s", 0.7, 4.0)
        return None
    if not place.kept:
        general = place.generalised and place.share >= HALF and is_small(view)
        if (tie > 0 or not link.relation or general) and (max(place.share, place.soft) >= HALF or place.generalised):
            return damaged(f"{owner}'s link is stored, but {wanted!r} is blurred", 0.65, 4.0)
        return None
    if tie < 0:
        return damaged(
            f"{owner}'s link with {wanted!r} is stored the other way round", 0.85, 7.5 if place.share >= ALL else 6.0
        )
    if not link.negative and not link.sentiment and negated(tokens, (place, place)):
        return damaged(f"{owner}'s link with {wanted!r} is stored, but negated", 0.75, 5.0)
    whole = tie > 0 and place.share >= 0.99
    return Reading(
        (BEST if whole else 8.0 if tie > 0 else 7.0, place.soft),
        Finding(
            True, True, f"{owner}'s link with {wanted!r} is kept", entries, link.wordings,
            confidence=0.96 if whole else 0.85 if tie > 0 else 0.65,
        ),
    )  # fmt: skip


def in_its_place(link: Link, view: View) -> Finding | None:
    """What the person is said to feel for something near to the thing, in a small store: "likes travelling" for road trips."""
    if not link.sentiment or link.person is None or not is_small(view):
        return None
    parts = [part.key for part in link.ends[1 - link.person].parts if part.weight >= 0.75]
    for at, sentence in enumerate(view.sentences):
        tokens = tokens_in(view, (at,))
        if not tokens or tokens[0].lower not in link.mine:
            continue
        for i, token in enumerate(tokens[1:], 1):
            near = token.key and token.key not in LIGHT and any(_near(key, token.key) for key in parts)
            if near and attitude(sentence, i, i) == link.sentiment:
                wanted = link.wordings[1 - link.person]
                reason = f"{tokens[0].surface}'s link is stored with {token.lower!r} in the place of {wanted!r}"
                return Finding(True, False, reason, view.entries_of((at,)), (), link.wordings, confidence=0.55)
    return None


def _near(wanted: str, held: str) -> bool:
    likeness, value = kin(wanted, held)
    return value > 0 or likeness is Kin.GENERAL or kin(held, wanted)[0] is Kin.GENERAL or association(wanted, held) > 0


def _reversed(link: Link, tokens: tuple[Token, ...], place: Place, tie: int) -> bool:
    """Whether the thing does to the person what the person did to it: active, and person last."""
    after = tokens[place.last + 1 :]
    at = next((i for i, t in enumerate(after) if t.lower in link.mine), None)
    if tie <= 0 or not at or link.relation & MOVING or any(t.gap for t in after[: at + 1]) or place.first > 2:
        return False
    verbs = after[:at]
    ends = {t.lower for t in verbs[-1:] + verbs[:1]}
    return not ends & BINDING and any(t.key in link.relation for t in verbs)


def _does_elsewhere(link: Link, behind: Sequence[Token]) -> bool:
    """Whether it is told what the thing does to the person, which is another link's to say, and not how it is liked."""
    if not any(token.key in CAUSING for token in behind):
        return False
    thing = link.ends[1 - (link.person or 0)]
    heads = {part.key for part in thing.parts if part.kind == "head"}
    return any(heads <= keys for keys in link.siblings)


def _only(link: Link, tokens: tuple[Token, ...]) -> bool:
    """Whether the stretch tells nothing but the link's own words."""
    return all(not t.key or t.key in link.stated or t.key in LIGHT for t in tokens)


def named(link: Link, view: View, at: tuple[int, ...], tokens: tuple[Token, ...]) -> bool:
    """Whether the name stands there, or in the sentences before, in the same entry."""
    if any(t.lower.removesuffix("'s") in link.mine for t in tokens):
        return True
    start = view.first[view.entry[at[0]]]
    return any(
        t.lower.removesuffix("'s") in link.mine
        for i in range(max(start, at[0] - 6), at[0])
        for t in tokens_in(view, (i,))
    )


def tie_found(link: Link, view: View, at: tuple[int, ...], tokens: tuple[Token, ...], place: Place) -> int:
    """1 where the words that tie person and thing stand there too, -1 where their opposite does, 0 where neither does."""
    if not link.relation:
        return 1
    inside = tokens[place.first].inside
    here = [t for i, t in enumerate(tokens) if t.inside == inside and i not in place.at]
    if link.sentiment:
        said = " ".join(t.lower for t in here)
        if MILD.search(said):
            return -1
        felt = figured(said) or felt_for(view.sentences[at[inside]], tokens, place) or leaning(said)
        if felt * link.sentiment < 0 and _does_elsewhere(link, tokens[place.last + 1 : place.last + DOING]):
            return 0
        if felt:
            return felt * link.sentiment
    keys = link.relation - LIGHT - CAUSING
    if any(t.key and poles(key, t.key) for key in keys for t in here):
        return -1
    if (
        not keys
        and not link.sentiment
        and any(t.key in (LIGHT - CAUSING) | link.relation or t.lower in DOES for t in here)
    ):
        return 1
    keys = keys or link.relation
    if any(t.key and kin(key, t.key)[1] >= 0.7 for key in keys for t in here):
        return 1
    # Whoever sells maps may not collect them.
    return -1 if any(t.key in DEEDS and is_another_deed(key, t.key) for key in keys & DEEDS.keys() for t in here) else 0
