"""What somebody is allergic to or does without, and whether a stored sentence names something else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.persona_partners import APART, surface
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence, Word, fold

ALLERGIES: Final = frozenset("allergy allergies allergic intolerance intolerances intolerant".split())
REACHES: Final = frozenset("to of from for".split())
DEGREES: Final = frozenset(
    fold(word)
    for word in """severe serious bad rare mild strong slight known real life threatening dangerous deadly fatal acute
    lifelong unusual uncommon weird odd strange peculiar common new old food skin contact seasonal nasty terrible violent
    extreme certain most many all any some various suspected diagnosed confirmed highly mildly severely seriously badly
    deathly""".split()
)
"""How bad it is, not what it is."""
FARTHEST: Final = 4


def other_allergen(sentence: Sentence, source: Sentence, known: Collection[str]) -> str:
    """Something else that is not borne than what was told; empty if nothing.

    Known are all words of what was told: of them only what is not the allergen itself can take its place.
    """
    held = _allergens(sentence) if ALLERGIES & sentence.lowers or "free" in sentence.lowers else ()
    told = _allergens(source) if held else ()
    if not told or any(_alike(one, other) for one in held for other in told):
        return ""
    # Something new in its place, or something told of in its place and it in the place of that.
    strange = all(key not in known for key in held)
    if strange != any(key in sentence.keys for key in told):
        return f"'{surface(sentence, held[0])}' instead of '{surface(source, told[0])}'"
    return ""


def _alike(one: str, other: str) -> bool:
    return bool(related(one, other)) or one in lookup(other).general or other in lookup(one).general


@lru_cache(maxsize=4096)
def _allergens(sentence: Sentence) -> tuple[str, ...]:
    """The keys of what the sentence says somebody does not bear."""
    words = sentence.words
    return tuple(dict.fromkeys(key for at in range(len(words)) for key in _named(sentence, words, at)))


def _named(sentence: Sentence, words: Sequence[Word], at: int) -> Iterator[str]:
    lower = words[at].lower
    if lower == "free" and at and sentence.text[words[at - 1].end : words[at].start] == "-":
        yield from _before(sentence, words, at)
    elif lower in ALLERGIES:
        following = words[at + 1].lower if at + 1 < len(words) else ""
        yield from _behind(sentence, words, at + 1) if following in REACHES else _before(sentence, words, at)


def _before(sentence: Sentence, words: Sequence[Word], at: int) -> Iterator[str]:
    word = words[at - 1] if at else None
    if word and word.key and word.key not in DEGREES and not APART.search(sentence.text[word.end : words[at].start].replace("-", "")):
        yield word.key


def _behind(sentence: Sentence, words: Sequence[Word], at: int) -> Iterator[str]:
    for before, word in zip(words[at : at + FARTHEST], words[at + 1 :], strict=False):
        if APART.search(sentence.text[before.end : word.start]):
            return
        if word.key and word.key not in DEGREES:
            yield word.key
