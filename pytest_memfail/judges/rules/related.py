"""How far one word can stand for another: the lexicon, and words of the same origin."""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile
from typing import Final

from pytest_memfail.judges.rules.lexicon import lookup, nearness

SAME_ORIGIN: Final = 0.7
THROUGH: Final = 0.6
"""A word of the same origin as a synonym: asthma for wheezing, by way of asthmatic."""
ROOT: Final = 4
ROOT_SHARE: Final = 0.66


@lru_cache(maxsize=65536)
def related(wanted: str, held: str) -> float:
    """How far the held key can stand for the wanted one, from 0 to 1."""
    if wanted == held:
        return 1.0
    if wanted[0].isdigit() or held[0].isdigit():
        return 0.0
    near = nearness(wanted, held)
    if near:
        return near
    root = held[:ROOT]
    through = _roots(wanted).get(root)
    if wanted[:ROOT] != root and through is None:
        return 0.0
    if opposed(wanted, held):
        return 0.0
    if same_origin(wanted, held):
        return SAME_ORIGIN
    return THROUGH if through and any(same_origin(other, held) for other in through) else 0.0


@lru_cache(maxsize=16384)
def _roots(key: str) -> dict[str, list[str]]:
    """The words of the same meaning by how they begin."""
    found: dict[str, list[str]] = {}
    for other in lookup(key).same:
        found.setdefault(other[:ROOT], []).append(other)
    return found


@lru_cache(maxsize=16384)
def akin(key: str) -> frozenset[str]:
    """The keys that mean the same as the key, or nearly so."""
    entry = lookup(key)
    return entry.same | entry.close


@lru_cache(maxsize=16384)
def _marks(key: str) -> frozenset[str]:
    """The key, the keys near to it and how it begins: what a word must share to be related."""
    return akin(key).union((key, f"^{key[:ROOT]}"))


@lru_cache(maxsize=8192)
def _marked(keys: frozenset[str]) -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple([(key, _marks(key)) for key in keys])


@lru_cache(maxsize=16384)
def _sought(wanted: str) -> frozenset[str]:
    return _marks(wanted).union([f"^{root}" for root in _roots(wanted)])


def within_reach(wanted: str, keys: frozenset[str]) -> list[str]:
    """Those of the keys that may be related to the wanted one: comparing it with the others would be in vain."""
    sought = _sought(wanted)
    return [key for key, marks in _marked(keys) if not marks.isdisjoint(sought)]


def opposed(one: str, other: str) -> bool:
    """Whether the keys are opposites."""
    return other in lookup(one).opposite or one in lookup(other).opposite


def same_origin(one: str, other: str) -> bool:
    """Whether the keys share a root that is most of both."""
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return (
        shared >= ROOT and shared >= ROOT_SHARE * max(len(one), len(other)) and shared >= min(len(one), len(other)) - 2
    )
