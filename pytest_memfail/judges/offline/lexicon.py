"""Base forms, synonyms, more general words and opposites from WordNet: tables that are loaded on first use.

`tools/build_wordnet.py` builds the tables; `tables/LICENSE` is WordNet's licence.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

NONE: Final[frozenset[str]] = frozenset()
SAME, SYNONYM, CLOSE, NARROWER, BROADER, RELATED = 1.0, 0.9, 0.75, 0.8, 0.55, 0.4
"""How well one word replaces another: equal, a synonym, a related form or similar, a kind of it, a more general word,
in its definition."""
LOOKALIKE: Final = 5
"""Unknown words with this many first letters in common count as forms of one word."""
UNKNOWN_WEIGHT: Final = 1.0
NUMBER_WEIGHT: Final = 1.0
WEIGHT_SCALE: Final = 100
_RULES: Final = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("ies", "y"), ("es", "e"), ("es", ""),
    ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""), ("er", ""),
    ("er", "e"), ("est", ""), ("est", "e"), ("ly", ""), ("ally", ""),
)  # fmt: skip
"""Suffixes and their replacements: WordNet's rules of detachment, and adverbs."""
BASE_BONUS: Final = 4
"""A base form wins over a separate entry (painting, building) that is up to this many times as frequent."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What WordNet knows about a base form."""

    weight: float = UNKNOWN_WEIGHT
    """How informative the word is, 0.25 to 1; words that are rare in WordNet's definitions are informative."""
    part: str = ""
    """Its most common part of speech: n, v, a, r; empty for an unknown word."""
    field: int = -1
    """Number of the lexicographer file of its most common noun sense; -1 for none."""
    same: frozenset[str] = NONE
    close: frozenset[str] = NONE
    parents: frozenset[str] = NONE
    """The words it is directly a kind of."""
    general: frozenset[str] = NONE
    """The more general words above those."""
    opposite: frozenset[str] = NONE
    gloss: frozenset[str] = NONE
    """Content words of its definitions."""


EMPTY: Final = Entry()
PERSON: Final = 18
"""WordNet's lexicographer file of people."""


@cache
def _table(name: str) -> dict[str, str]:
    packed = files(__package__).joinpath("tables", f"{name}.tsv.gz").read_bytes()
    return dict(line.split("\t", 1) for line in gzip.decompress(packed).decode().split("\n") if line)


@cache
def counts() -> dict[str, int]:
    """Return how frequent each base form is; 1 for the rarest."""
    return {word: int(line.split("\t", 1)[0]) for word, line in _table("words").items()}


def forms() -> dict[str, str]:
    """Return irregular forms with their base forms."""
    return _table("forms")


@lru_cache(maxsize=16384)
def lookup(key: str) -> Entry:
    """Return the entry of a base form; an empty entry for an unknown one."""
    line = _table("words").get(key)
    if line is None:
        return EMPTY
    _, weight, part, field, *sets = line.split("\t")
    return Entry(
        int(weight) / WEIGHT_SCALE, part, int(field), *(frozenset(some.split()) if some else NONE for some in sets)
    )


@lru_cache(maxsize=16384)
def related(key: str) -> frozenset[str]:
    """Return the words with the same or a close meaning as a base form, and the more general ones."""
    entry = lookup(key) if key[:1].isalpha() else EMPTY
    return entry.same | entry.close | entry.parents | entry.general


def perhaps_similar(key: str, words: Iterable[str]) -> list[str]:
    """Return the words that may be similar to a base form through more than a definition."""
    mine, start = related(key), key[:LOOKALIKE]
    return [word for word in words if word in mine or key in related(word) or word[:LOOKALIKE] == start]


@lru_cache(maxsize=16384)
def phrase(words: str) -> frozenset[str]:
    """Return the single words that mean the same as two consecutive base forms ("call off": cancel)."""
    return frozenset(_table("phrases").get(words, "").split())


def base_form(word: str, counts: Mapping[str, int], forms: Mapping[str, str]) -> str:
    """Return the base form of a lower-case word among those in `counts`.

    Args:
        word: one lower-case word.
        counts: how frequent each base form is; 1 for the rarest.
        forms: irregular forms and their base forms.
    """
    best, most = word, counts.get(word, 0)
    found = forms.get(word)
    if found is not None and (weight := counts.get(found, 0) * BASE_BONUS) >= most:
        best, most = found, weight
    for ending, replacement in _RULES:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            base = word[: len(word) - len(ending)] + replacement
            weight = counts.get(base, 0) * BASE_BONUS
            if not weight and len(base) > 3 and base[-1] == base[-2] and ending in ("ed", "ing", "er", "est"):
                base = base[:-1]
                weight = counts.get(base, 0) * BASE_BONUS
            if weight > most and not (ending in ("er", "est", "ly", "ally") and most):
                best, most = base, weight
    return best


def is_common(word: str) -> bool:
    """Return whether a lower-case word is a common English word in any form."""
    known = counts()
    return word in known or base_form(word, known, forms()) in known


@lru_cache(maxsize=65536)
def weight(key: str) -> float:
    """Return how informative a key is, from 0.25 to 1; names and numbers have 1."""
    return NUMBER_WEIGHT if not key[:1].isalpha() else lookup(key).weight


@lru_cache(maxsize=262144)
def similarity(wanted: str, held: str) -> float:
    """Return how well the word `held` keeps the meaning of `wanted`, from 0 to 1; numbers and names are equal or not.

    >>> similarity("dog", "dog"), similarity("dog", "beagle"), similarity("beagle", "dog")
    (1.0, 0.8, 0.55)
    """
    if wanted == held:
        return SAME
    if not (wanted[:1].isalpha() and held[:1].isalpha()):
        return 0.0
    mine, other = lookup(wanted), lookup(held)
    if held in mine.opposite or wanted in other.opposite:
        return 0.0
    if held in mine.same or wanted in other.same:
        return SYNONYM
    if wanted in other.parents or wanted in other.general:
        return NARROWER
    if held in mine.close or wanted in other.close:
        return CLOSE
    if wanted[:LOOKALIKE] == held[:LOOKALIKE] and (mine is EMPTY or other is EMPTY) and len(wanted) >= LOOKALIKE:
        return CLOSE
    if held in mine.parents or held in mine.general:
        return BROADER
    if held in mine.gloss or wanted in other.gloss:
        return RELATED
    return 0.0


@lru_cache(maxsize=65536)
def is_rival(one: str, other: str) -> bool:
    """Return whether two words exclude each other: opposites, other kinds of the same, different numbers.

    >>> is_rival("monday", "tuesday"), is_rival("tea", "coffee"), is_rival("tea", "window")
    (True, True, False)
    """
    if one == other or not one or not other:
        return False
    if one[0].isdigit() or other[0].isdigit():
        return one[0].isdigit() and other[0].isdigit()
    mine, their = lookup(one), lookup(other)
    if other in mine.opposite or one in their.opposite:
        return True
    if similarity(one, other) or similarity(other, one):
        return False
    return not mine.parents.isdisjoint(their.parents)
