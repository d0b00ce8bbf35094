"""Words that stand side by side in what was told of a person, and whether two of them changed partners."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import combinations, pairwise
from typing import Final

from pytest_memfail.judges.rules.persona_refusals import AFFIRMING
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence

APART: Final = re.compile(r"[,;:.!?()/]|\s-\s|\b(?:and|or|but)\b")
NEAR: Final = 0.6
AWAY: Final = frozenset("away clear beyond outside far free off out apart".split())
"""They say where something is not done."""


def crossed(sentence: Sentence, source: Sentence, telling: Collection[str]) -> str:
    """Two words that changed partners: Greek to dogs and English to people, allergic to this and gloves of that."""
    told, held = _partners(source), _partners(sentence)
    for one, other in combinations(
        sorted(k for k in told.keys() & held.keys() if k in telling and k not in AFFIRMING), 2
    ):
        # Of two that stand side by side the order may change, and with it their neighbours.
        apart = not related(one, other) and other not in told[one] and other not in held[one]
        apart = apart and AWAY.isdisjoint((surface(source, one), surface(source, other)))
        if apart and _went(one, other, told, held) and _went(other, one, told, held):
            return f"'{surface(source, one)}' and '{surface(source, other)}' are exchanged"
    return ""


def _partners(sentence: Sentence) -> dict[str, set[str]]:
    """For each content word those next to it, or with one small word between them."""
    close = {
        k for at, w in enumerate(sentence.words) for k in ((w.key, o.key) for o in sentence.words[at + 1 : at + 3])
    }
    found: dict[str, set[str]] = {}
    for one, other in pairs(sentence) & close:
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


def _went(one: str, other: str, told: Mapping[str, Collection[str]], held: Mapping[str, Collection[str]]) -> bool:
    """Whether a partner of the one word stands beside the other now, and no more beside its own."""
    return any(
        partner not in told[other]
        and any(related(partner, k) >= NEAR for k in held[other])
        and not any(related(partner, k) for k in held[one])
        for partner in told[one]
        if partner != other
    )


def pairs(sentence: Sentence) -> frozenset[tuple[str, str]]:
    """Neighbouring content words that nothing sets apart."""
    words = [w for w in sentence.words if w.key]
    return frozenset(
        (one.key, other.key)
        for one, other in pairwise(words)
        if not APART.search(sentence.text[one.end : other.start])
        and not (one.key[0].isdigit() or other.key[0].isdigit())
    )


def surface(sentence: Sentence, key: str) -> str:
    """The key as it is written in the sentence."""
    return next((w.surface for w in sentence.words if w.key == key), key)
