"""Whose a stored detail is: in an entry about the person a client or a student may have it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.persona_need import Essay, Stated
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence, Word, fold
from pytest_memfail.judges.rules.whose_words import RELATIONS

PRONOUNS: Final = frozenset("he she they i user".split())
VERBS: Final = frozenset("is are was were has have had will would can cannot must should does do did who".split())
BESIDE: Final = frozenset("with for to by from as about like than without".split())
ALIKE: Final = 0.6
PEOPLE: Final = frozenset(fold(word) for word in RELATIONS)


def given(sentence: Sentence, stated: Stated, essay: Essay, told: Collection[str]) -> str:
    """Who has the detail in the stored sentence, if that is somebody else than in the essay's; else nothing."""
    words = sentence.words
    first = next((i for i, w in enumerate(words) if w.key in told), 0)
    name = essay.name.parts if essay.name else frozenset()
    holder = ""
    for at, word in enumerate(words[:first]):
        bare = word.lower.removesuffix("'s")
        owned = bare != word.lower or words[at + 1].lower.removesuffix("'s") in name
        if (bare in name and not owned) or word.lower in PRONOUNS:
            return ""
        if bare not in name and _acts(words, at) and _other(words, at, stated, essay):
            holder = word.surface
    return holder


def _other(words: Sequence[Word], at: int, stated: Stated, essay: Essay) -> bool:
    """Whether the word is for one person, and none that the essay's sentence tells of."""
    word, before = words[at], words[max(0, at - 5) : at]
    if not word.key or word.key in stated.sentence.keys or any(related(k, word.key) >= ALIKE for k in essay.identity):
        return False
    if word.key in PEOPLE:
        return word.lower in RELATIONS or "one" in {w.lower for w in before}
    return bool(at) and word.surface[0].isupper() and word.key not in essay.keys and lookup(word.key) is EMPTY


def _acts(words: tuple[Word, ...], at: int) -> bool:
    """Whether the word is the subject of a verb."""
    if any(w.lower in BESIDE for w in words[max(0, at - 3) : at]) or at + 1 >= len(words):
        return False
    return words[at + 1].lower in VERBS or (
        not words[at].lower.endswith("'s") and bool(words[at + 1].key) and words[at + 1].lower.endswith("s")
    )
