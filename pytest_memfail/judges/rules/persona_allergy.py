"""What somebody is allergic to: another thing in its place is a loss that no wording can excuse."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Final

from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.persona_essay import Essay
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence, fold

ALLERGIES: Final = frozenset(
    fold(word) for word in "allergy allergies allergic allergen intolerant intolerance".split()
)
MATTER: Final = frozenset(
    "food foodstuff fruit nut seafood fish plant flora animal fauna beverag metal fabric drug resin dust".split()
)
"""Kinds of what people are allergic to."""
ALIKE: Final = 0.6


def other_allergen(stored: Iterable[Sentence], essay: Essay) -> str:
    """What the stored sentences call an allergy, where the essay tells of another one; empty if nothing."""
    told = _matter(s.sentence.keys for s in essay.stated if not ALLERGIES.isdisjoint(s.sentence.keys))
    held = [s.keys for s in stored if not ALLERGIES.isdisjoint(s.keys)] if told else []
    if any(_may_be(key, other) for keys in held for key in keys for other in told):
        return ""
    strange = _matter(held) - essay.keys
    return f"an allergy to '{min(strange)}' is told instead of '{min(told)}'" if strange else ""


def _matter(of: Iterable[Set[str]]) -> Set[str]:
    return {key for keys in of for key in keys - ALLERGIES if not MATTER.isdisjoint(kinds_of(key))}


def _may_be(one: str, other: str) -> bool:
    """Whether the two may be the same, or the one a kind of the other."""
    wider = kinds_of(one) | lookup(one).general, kinds_of(other) | lookup(other).general
    return related(one, other) >= ALIKE or one in wider[1] or other in wider[0]
