"""What must be found of a link: read once from the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.actors import SPEAKER, is_name, whose
from pytest_memfail.judges.rules.anchor_words import CAUSING, LIGHT, Token
from pytest_memfail.judges.rules.anchors import Anchor, Place, places, read_anchor, tokens_of
from pytest_memfail.judges.rules.attitude import attitude
from pytest_memfail.judges.rules.finding import Finding, keys_of, quote
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.link_feeling import chosen_then
from pytest_memfail.judges.rules.names import renamed
from pytest_memfail.judges.rules.polarity import is_negator
from pytest_memfail.judges.rules.relations import PREVENTING, relate, said, told_back
from pytest_memfail.judges.rules.text import Sentence, fold, sentences_of
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.words import STOP

SOME: Final = 0.3
"""The share of an end that shows that it was meant."""


HALF: Final = 0.5


ALL: Final = 0.95


MOST: Final = 0.6


MOSTLY: Final = 0.75


BEST: Final = 9.0
"""The rank of what cannot be bettered."""


@dataclass(frozen=True, slots=True)
class Link:
    """What must be found of a link."""

    ends: tuple[Anchor, Anchor]
    wordings: tuple[str, str]
    person: int | None
    """Which end is a person, if one is: then the link is what the person does with the other."""
    direction: int
    telling: frozenset[str]
    """The words that relate the ends (all at once, where they are small ones), if they do not show which leads to which."""
    order: int
    """1 where the source names first what leads to the other, -1 where last."""
    relation: frozenset[str]
    """The words that tie a person to the other end, without both."""
    sentiment: int
    stated: frozenset[str]
    known: frozenset[str]
    """Words and keys of the source: they name nobody else."""
    negative: bool
    mine: frozenset[str]
    """The words that name whose link it is."""
    siblings: tuple[frozenset[str], ...]
    """The keys of each other link of the chain, without whose it is."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One place of a store, read as the link."""

    rank: tuple[float, ...]
    finding: Finding
    settled: bool = False
    """Whether both ends stand there, and what is between them is told to be something else."""


@lru_cache(maxsize=4096)
def read_link(evidence: Evidence, protocol: str) -> Link:
    """The link of the evidence."""
    source = sentences_of(evidence.source)
    stated = frozenset(key for s in source for key in s.keys)
    words = frozenset(w for s in source for w in s.lowers)
    texts = (
        evidence.anchors[:2]
        if len(evidence.anchors) >= 2
        else (evidence.entity or evidence.text, evidence.value or evidence.text)
    )
    tokens = tokens_of(source)
    wordings = _wordings(evidence, protocol)
    ends = tuple(_end(text, stated, tokens, protocol, also) for text, also in zip(texts, wordings, strict=True))
    person = next(
        (i for i, a in enumerate(texts) if a[:1].isupper() and len(a.split()) <= 2 and len(keys_of(a)) == 1), None
    )
    found = [next(iter(places(end, tokens, stated)), None) for end in ends]
    order = (span(found[0]), span(found[1]))
    turn = relate(tokens, *order) if found[0] and found[1] else 1
    # The chain's order is the link's, unless the fact itself says otherwise in so many words.
    direction = -1 if turn < 0 and told_back(tokens, *order) else 1
    named = _names(source, texts)
    whose_keys = frozenset(map(fold, named))
    apart = ends[0].keys | ends[1].keys
    return Link(
        (ends[0], ends[1]),
        (quote(evidence.source, texts[0].split()), quote(evidence.source, texts[1].split())),
        person,
        direction,
        _telling(tokens, found, apart) if turn != direction else frozenset(),
        -1 if order[0] > order[1] else 1,
        frozenset(_tie(tokens, found, apart)) if person is not None else frozenset(),
        _felt(source, tokens, found[1 - person]) if person is not None else 0,
        stated,
        words | stated,
        any(is_negator(w) for w in words) or PREVENTING.search(said(tokens, 0, len(tokens))) is not None,
        named or SPEAKER,
        tuple(
            frozenset(t.key for t in tokens_of(sentences_of(s)) if t.key) - LIGHT - CAUSING - whose_keys
            for s in evidence.siblings
        ),
    )


def _wordings(evidence: Evidence, protocol: str) -> tuple[tuple[str, ...], ...]:
    """What the row says that each end may be called."""
    found = tuple(detail.wordings[1:] for detail in evidence.details if detail.part == "anchor")
    return found if len(found) == 2 and protocol != "paper" else ((), ())


def _end(
    text: str, stated: frozenset[str], tokens: tuple[Token, ...], protocol: str, wordings: tuple[str, ...]
) -> Anchor:
    words = [w for s in sentences_of(text) for w in s.words]
    if protocol != "paper" and any(w.key in stated for w in words):
        text = " ".join(w.surface for w in words if not w.key or w.key in stated)
    verbal = _is_verbal(words[0].lower if words else "", tokens)
    return read_anchor(text, verbal, wordings)


def _is_verbal(first: str, tokens: tuple[Token, ...]) -> bool:
    """Whether an end that begins with this word says what somebody does."""
    if first.endswith("ing") and first not in ("morning", "evening", "spring"):
        return True
    at = next((i for i, t in enumerate(tokens) if t.lower == first or (t.key and t.key == fold(first))), 0)
    before = tokens[at - 1] if at else None
    if any(t.key and t.key == fold(first) and t.lower.endswith("ing") and t.lower != first for t in tokens):
        return True
    return (
        before is not None
        and not before.lower.endswith("'s")
        and (
            before.lower in ("i", "me", "we", "to", "she", "he", "they", "and", "then", "can", "will")
            or (before.surface[0].isupper() and not {first, before.lower} & STOP)
        )
    )


def _names(source: tuple[Sentence, ...], texts: tuple[str, ...]) -> frozenset[str]:
    """Whoever a source without "I" names."""
    lowers = {w for s in source for w in s.lowers}
    if lowers & {"i", "me", "my", "we", "i'm"}:
        return frozenset()
    # "Set Do Not Disturb", "call Mum": what is done with whatever has a capital there is not its own link.
    inside = {
        w.casefold()
        for text in texts
        for w in text.split()
        if not w[:1].isupper() or (not w.endswith(("'s", "’s")) and not text[:1].isupper())
    }
    uncapital = {w.lower for s in source for w in s.words if not w.surface[0].isupper()}
    names = {
        w.lower.removesuffix("'s")
        for s in source
        for at, w in enumerate(s.words)
        if w.surface[0].isupper()
        and w.lower not in STOP | inside | uncapital
        and (at or w.surface in texts or len(s.words) < 3 or _owns(w.surface) or is_name(tokens_of((s,)), 0))
    }
    return frozenset(names)


def _owns(surface: str) -> bool:
    """Whether a word that opens a sentence names whose the rest is."""
    return surface.endswith(("'s", "’s")) and not lookup(fold(surface[:-2])).general


def _telling(tokens: tuple[Token, ...], found: list[Place | None], apart: frozenset[str]) -> frozenset[str]:
    places = sorted((p for p in found if p), key=lambda p: p.first)
    between = tokens[places[0].last + 1 : places[-1].first]
    keys = frozenset(t.key for t in between if t.key and t.key not in apart)
    return keys or frozenset([" ".join(t.lower for t in between)])


def _tie(tokens: tuple[Token, ...], found: list[Place | None], apart: frozenset[str]) -> Iterator[str]:
    if found[0] is None or found[1] is None:
        return
    first, second = sorted((found[0], found[1]), key=lambda p: p.first)
    for token in tokens[first.last + 1 : second.first]:
        if token.key and token.key not in apart:
            yield token.key


@lru_cache(maxsize=4096)
def otherwise_worded(evidence: Evidence, protocol: str) -> tuple[Link, ...]:
    """The same link with what an end's name may be written as."""
    link = read_link(evidence, protocol)
    found = []
    for first, second in product(*((end.text, *_renamed(end)) for end in link.ends)):
        ends = (_like(first, link.ends[0]), _like(second, link.ends[1]))
        if ends != link.ends and all(end.parts for end in ends):
            stated = link.stated | ends[0].keys | ends[1].keys
            found.append(replace(link, ends=ends, stated=stated))
    return tuple(found)


def _renamed(end: Anchor) -> tuple[str, ...]:
    """What else the things in it are called: to phone somebody is no telephone set."""
    others = renamed(end.text)
    return tuple(text for text in others if text.split()[0] == end.text.split()[0]) if end.verbal else others


def _like(text: str, end: Anchor) -> Anchor:
    return end if text == end.text else read_anchor(text, end.verbal)


def _felt(source: tuple[Sentence, ...], tokens: tuple[Token, ...], place: Place | None) -> int:
    return felt_for(source[tokens[place.first].inside], tokens, place) if place else 0


def felt_for(sentence: Sentence, tokens: tuple[Token, ...], place: Place) -> int:
    """1 where what stands at the place is said to be liked, -1 disliked or past, 0 where neither is said."""
    start = next(i for i, t in enumerate(tokens) if t.inside == tokens[place.first].inside)
    own = [i for i in place.at if tokens[i].inside == tokens[place.first].inside]
    # What is liked more than any other is liked itself.
    last = max(i for i in own if i == own[0] or tokens[i - 1].lower != "other")
    felt = attitude(sentence, place.first - start, last - start)
    if felt > 0:
        words = sentence.words
        ahead, behind = sentence.text[: words[place.first - start].start], sentence.text[words[last - start].end :]
        return 0 if chosen_then(ahead, behind) else felt
    return felt


def span(place: Place | None) -> tuple[int, int]:
    return (place.first, place.last) if place else (0, 0)


def whose_is(link: Link, view: View, tokens: tuple[Token, ...], place: Place) -> int:
    return whose(tokens, span(place), link.mine, link.known, view)
