"""How well the words of stored sentences stand for the words that a rule needs: in degrees, not yes or no."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.associations import associations
from pytest_memfail.judges.rules.lexicon import ENDS, likely, lookup, nearness
from pytest_memfail.judges.rules.rule_phrases import phrase_keys
from pytest_memfail.judges.rules.text import Sentence, fold, words_of

SAME: Final = 1.0
SYNONYM: Final = 0.9
"""A word that the view reads as the wanted one, or one of the same stem."""
SPECIFIC: Final = 0.4
ALIKE: Final = 0.5
"""A word that shares most of its synonyms."""
SHARED: Final = 0.25
GENERAL: Final = 0.3
"""A word for the kind of thing: "noise" for "jingle"."""
LINKED: Final = 0.65
"""Of the strength with which words are spoken of together, so much shows the one where the other is wanted."""
PART: Final = 0.6
"""One half of a compound: the "town" of "hometown"."""
STEM: Final = 5
HALF: Final = ENDS
PERSON: Final = frozenset(fold(word) for word in ("person", "individual", "somebody", "relative", "visitor"))
SORTS: Final = frozenset(
    fold(word) for word in ("worker", "expert", "artist", "musician", "official", "leader", "professional")
)
"""Kinds of people that the lexicon has between a trade and a person."""
NO_PERSON: Final = frozenset(
    fold(word)
    for word in """soft ancient red white green rich poor high brave common simple modern classic public double favourite favorite
    steady natural tender tough""".split()
)
"""What the lexicon has for people too, and mostly says what something is like."""
ROUNDING: Final = 1e-9
MATCHED: Final = 0.6
"""From here on a word counts as said."""


@lru_cache(maxsize=131072)
def likeness(wanted: str, held: str) -> float:
    """How far the one word can stand for the other.

    >>> likeness("puppetri", "puppet"), likeness("lose", "win")
    (0.75, 0.0)
    """
    near = nearness(wanted, held)
    if near or not wanted.isalpha() or not held.isalpha():
        return near
    mine, other = lookup(wanted), lookup(held)
    if held in mine.opposite or wanted in other.opposite:
        return 0.0
    if wanted[:STEM] == held[:STEM] and _stem_shared(wanted, held):
        return SYNONYM
    longer = len(wanted) - len(held)
    if (longer >= HALF - 1 and _half(wanted, held)) or (longer <= 1 - HALF and _half(held, wanted)):
        return PART
    if not mine.same.isdisjoint(other.same):
        shared, either = len(mine.same & other.same), len(mine.same | other.same)
        if shared > 1 and shared >= SHARED * either:
            return ALIKE
    if wanted in other.general:
        return SPECIFIC
    if held in mine.general or _kin(mine.general, other.general):
        return GENERAL
    return 0.0


def unlike(one: str, other: str) -> bool:
    """Whether neither word can stand for the other.

    >>> unlike("umbrella", "chess"), unlike("puppetri", "puppet")
    (True, False)
    """
    return max(likeness(one, other), likeness(other, one)) < MATCHED


def _kin(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two words are of much the same kinds."""
    if one.isdisjoint(other):
        return False
    shared = len(one & other)
    return shared > 1 and 2 * shared >= min(len(one), len(other))


@lru_cache(maxsize=16384)
def can_be_person(key: str) -> bool:
    """Whether the word is one for a kind of people in any of its senses."""
    if key in NO_PERSON:
        return False
    kinds = lookup(key).general
    return bool(kinds & PERSON) or any(lookup(kind).general & PERSON for kind in kinds & SORTS)


def opposed(wanted: str, held: str) -> bool:
    """Whether the one word says the opposite of the other."""
    return held in lookup(wanted).opposite or wanted in lookup(held).opposite


def _stem_shared(one: str, other: str) -> bool:
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared >= STEM and shared >= 0.7 * max(len(one), len(other))


def _half(whole: str, part: str) -> bool:
    return len(part) >= HALF and (whole.startswith(part) or whole.endswith(part))


@lru_cache(maxsize=65536)
def _as_written(text: str) -> frozenset[str]:
    """A sentence's keys before synonyms took the places of some: each stands for one wanted word only."""
    return frozenset(word.key for word in words_of(text) if word.key)


def said(key: str, sentences: Iterable[Sentence], skip: frozenset[str] = frozenset()) -> float:
    """How well any word of the sentences, but for those to skip (a name's), stands for the key."""
    best = 0.0
    for sentence in sentences:
        if key in sentence.keys and key not in skip:
            if key not in sentence.aliased:
                return SAME
            best = max(best, SYNONYM)
        elif best < SYNONYM:
            best = max(best, _nearest(key, sentence.text, sentence.keys, bool(sentence.aliased), skip))
    return best


@lru_cache(maxsize=262144)
def _nearest(key: str, text: str, keys: frozenset[str], aliased: bool, skip: frozenset[str]) -> float:
    if key in phrase_keys(text):
        return SYNONYM
    held = _as_written(text) if aliased else keys
    best = max([likeness(key, word) for word in likely(key, held) if word not in skip], default=0.0)
    if best >= MATCHED:
        return best
    near = associations(key).near
    return max(best, LINKED * max([near[word] for word in near.keys() & held], default=0.0))


def coverage(
    need: Mapping[str, float], sentences: Collection[Sentence], skip: frozenset[str] = frozenset(), least: float = 0.0
) -> float:
    """The share of what is needed that the sentences say; words said only vaguely count a little.

    A share below `least` is given as 0.0, as soon as it can be told.
    """
    total = sum(need.values())
    got, open_to = 0.0, total
    for key, value in need.items():
        share = said(key, sentences, skip)
        got += value * share
        open_to -= value
        if got + open_to < least * total - ROUNDING:
            return 0.0
    return got / total if total else 0.0


def most_covered(need: Mapping[str, float], sentences: Sequence[Sentence]) -> tuple[int, float]:
    """The first of the sentences that say most of what is needed, and the share that it says; there must be one."""
    kept = [sum(v for k, v in need.items() if k in s.keys and k not in s.aliased) for s in sentences]
    best, share = 0, -1.0
    for i in sorted(range(len(sentences)), key=lambda i: (-kept[i], i)):
        other = coverage(need, (sentences[i],), least=share)
        if other > share or (other == share and i < best):
            best, share = i, other
    return best, share
