"""What somebody is allergic to: another thing in its place is a loss that no wording can excuse."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.persona_essay import Essay
from pytest_memfail.judges.rules.persona_partners import APART, surface
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence, Word, fold

ALLERGIES: Final = frozenset(
    fold(word) for word in "allergy allergies allergic allergen intolerant intolerance".split()
)
MATTER: Final = frozenset(
    "food foodstuff fruit nut seafood fish plant flora animal fauna beverag metal fabric drug resin dust".split()
)
"""Kinds of what people are allergic to."""
ALIKE: Final = 0.6
NONE: Final = re.compile(r"\b(?:no|not|without|never|isn't|doesn't)(?: \w+){0,2} (?:allerg|intoleran)", re.IGNORECASE)
FREE: Final = "free"
REACHES: Final = frozenset("to of from for".split())
DEGREES: Final = frozenset(
    fold(word)
    for word in """severe serious bad rare mild strong slight known real life threatening dangerous deadly fatal acute
    lifelong unusual uncommon weird odd strange peculiar common new old food skin contact seasonal nasty terrible violent
    extreme certain most many all any some various suspected diagnosed confirmed highly mildly severely seriously badly
    deathly""".split()
)
"""How bad it is, not what it is."""
DETERMINERS: Final = frozenset("a an the his her their its this some".split())
FARTHEST: Final = 4
"""So many words on stands the last of what an allergy is to."""


def other_allergen(stored: Iterable[Sentence], essay: Essay) -> str:
    """What the stored sentences call an allergy, where the essay tells of another one; empty if nothing."""
    source = [s.sentence for s in essay.stated if not ALLERGIES.isdisjoint(s.sentence.keys)]
    told = _matter(source)
    held = [s for s in stored if not ALLERGIES.isdisjoint(s.keys)] if told else []
    if held and all(NONE.search(s.text) for s in held) and not any(NONE.search(s.text) for s in source):
        return f"an allergy is denied, where one to '{min(told)}' was told"
    if any(_may_be(key, other) for s in held for key in s.keys for other in told):
        return ""
    strange = _matter(held) - essay.keys - essay.ignored
    return f"an allergy to '{min(strange)}' is told instead of '{min(told)}'" if strange else ""


def _matter(of: Sequence[Sentence]) -> Set[str]:
    """What the sentences about an allergy may call its cause."""
    named = {key for s in of for key in _allergens(s) if key not in ALLERGIES}
    return named or {key for s in of for key in s.keys - ALLERGIES if not MATTER.isdisjoint(kinds_of(key))}


def _may_be(one: str, other: str) -> bool:
    """Whether the two may be the same, or the one a kind of the other."""
    wider = kinds_of(one) | lookup(one).general, kinds_of(other) | lookup(other).general
    return related(one, other) >= ALIKE or one in wider[1] or other in wider[0]


def allergen_instead(sentence: Sentence, source: Sentence, known: Collection[str]) -> str:
    """Something else that is not borne than what was told; empty if nothing.

    Known are all words of what was told: of them only what is not the allergen itself can take its place.
    """
    if NONE.search(sentence.text) and not ALLERGIES.isdisjoint(source.keys) and not NONE.search(source.text):
        return "an allergy is denied in what is stored"
    held = _allergens(sentence) if not ALLERGIES.isdisjoint(sentence.keys) or FREE in sentence.lowers else ()
    told = _allergens(source) if held else ()
    if not told or any(_may_be(one, other) for one in held for other in told):
        return ""
    # Something new in its place, or something told of in its place and it in the place of that.
    strange = [key not in known for key in held]
    if not all(strange) if any(key in sentence.keys for key in told) else any(strange):
        return f"'{surface(sentence, held[0])}' instead of '{surface(source, told[0])}'"
    return ""


def unnamed(keys: Collection[str], stored: Sequence[Sentence], source: Sentence) -> bool:
    """Whether the keys are of what somebody is allergic to, and what is stored only tells that there is an allergy."""
    told = _allergens(source)
    if ALLERGIES.isdisjoint(source.keys) or not any(key in told for key in keys):
        return False
    held = {key for s in stored for key in s.keys}
    return not ALLERGIES.isdisjoint(held) and not any(_may_be(one, other) for one in held for other in told)


@lru_cache(maxsize=4096)
def _allergens(sentence: Sentence) -> tuple[str, ...]:
    """The keys of what the sentence says somebody does not bear."""
    words = sentence.words
    return tuple(dict.fromkeys(key for at in range(len(words)) for key in _named(sentence, words, at)))


def _named(sentence: Sentence, words: Sequence[Word], at: int) -> Iterator[str]:
    if words[at].lower == FREE and at and sentence.text[words[at - 1].end : words[at].start] == "-":
        yield from _before(sentence, words, at)
    elif words[at].key in ALLERGIES:
        following = words[at + 1].lower if at + 1 < len(words) else ""
        yield from _behind(sentence, words, at + 1) if following in REACHES else _before(sentence, words, at)


def _before(sentence: Sentence, words: Sequence[Word], at: int) -> Iterator[str]:
    word = words[at - 1] if at else None
    if (
        word
        and word.key
        and word.key not in DEGREES
        and not APART.search(sentence.text[word.end : words[at].start].replace("-", ""))
    ):
        yield word.key


def _behind(sentence: Sentence, words: Sequence[Word], at: int) -> Iterator[str]:
    for i, (before, word) in enumerate(zip(words[at : at + FARTHEST], words[at + 1 :], strict=False), at + 2):
        if APART.search(sentence.text[before.end : word.start]):
            return
        if before.lower in ("and", "or") and any(w.lower in DETERMINERS for w in words[i : i + 1]):
            return  # "allergic to walnuts and carries a pen"
        if word.key and word.key not in DEGREES:
            yield word.key
