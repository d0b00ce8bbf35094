"""Whose a stored detail is: in an entry about the person a client or a student may have it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.persona_essay import Essay, Stated
from pytest_memfail.judges.rules.persona_partners import APART
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence, Word, fold
from pytest_memfail.judges.rules.whose_words import RELATIONS

PRONOUNS: Final = frozenset("he she they i user".split())
VERBS: Final = frozenset("is are was were has have had will would can cannot must should does do did who".split())
BESIDE: Final = frozenset("with for to by from as about like than without".split())
HAVING: Final = frozenset("who with has had whose".split())
OWNERS: Final = frozenset("her his their my our".split())
OWNED: Final = 3
HELD: Final = 6
"""Among so many words behind somebody stands what is theirs."""
INTRODUCTION: Final = 4
ARTICLES: Final = frozenset("a an the another one".split())
FELLOWS: Final = frozenset("fellow another other of".split())
ALIKE: Final = 0.6
PEOPLE: Final = frozenset(fold(word) for word in RELATIONS)


def given(sentence: Sentence, sources: Collection[Stated], essay: Essay, told: Collection[str]) -> str:
    """Who has the detail in the stored sentence, if that is somebody of whom its sources do not tell; else nothing."""
    words = sentence.words
    first = next((i for i, w in enumerate(words) if w.key in told), len(words) - 1)
    name = essay.name.parts if essay.name else frozenset()
    holder = _introduced(sentence, essay, name)
    if holder:
        return holder
    for at, word in enumerate(words[:first]):
        bare = word.lower.removesuffix("'s")
        # A colleague of hers is not she.
        owned = (
            bare != word.lower
            or words[at + 1].lower.removesuffix("'s") in name
            or "of" in {w.lower for w in words[max(0, at - 2) : at]}
        )
        if (bare in name and not owned) or word.lower in PRONOUNS:
            return ""
        if bare not in name and _acts(sentence, at) and _other(words, at, sources, essay):
            holder = word.surface
    return holder


def _introduced(sentence: Sentence, essay: Essay, name: frozenset[str]) -> str:
    """Who opens the sentence, if that is somebody new of whom it says who they are: "Sven, a fellow guide, skis"."""
    if len(sentence.words) < INTRODUCTION:
        return ""
    word, following = sentence.words[:2]
    joint = sentence.text[word.end : following.start].strip()
    new = word.key and word.key not in essay.keys and word.lower not in name and lookup(word.key) is EMPTY
    if not (new and word.surface[0].isupper() and joint == "," and following.lower in ARTICLES):
        return ""
    clause = sentence.text[following.start :].split(",", 1)
    # Who it is stands between two commas, and who that is to the person in it.
    return (
        word.surface
        if len(clause) == 2 and any(w.lower in RELATIONS | FELLOWS for w in _inside(sentence, clause[0]))
        else ""
    )


def _inside(sentence: Sentence, clause: str) -> list[Word]:
    return [w for w in sentence.words[1:] if w.end <= sentence.words[1].start + len(clause)]


def lent(sentence: Sentence, essay: Essay, told: Collection[str]) -> str:
    """Somebody new whom the stored sentence gives a word of the detail: "a friend with a nut allergy"."""
    words = sentence.words
    for at, word in enumerate(words):
        bare = word.lower.removesuffix("'s")
        if not (word.key and _new(word, bare, at, essay)):
            continue
        owns = bare != word.lower
        if owns and _closes(sentence, at) and words[max(0, at - 3) : at] and _is(words, at):
            before = words[:at]
            if any(w.key in told for w in before):
                return bare
        after = words[at + 1 : at + 2]
        # Anybody's may be meant by a colleague's.
        sure = word.surface[0].isupper() or (
            at and (words[at - 1].lower in OWNERS or words[at - 1].lower.endswith("'s"))
        )
        if owns and sure and _within(sentence, at, at + OWNED, told):
            return bare
        if after and after[0].lower in HAVING and _within(sentence, at + 1, at + 1 + HELD, told):
            return bare
    return ""


def _new(word: Word, bare: str, at: int, essay: Essay) -> bool:
    """Whether the word is for one person of whom the essay does not tell."""
    if word.key in essay.keys or word.key in essay.near or word.key in essay.ignored:
        return False
    return bare in RELATIONS or (bool(at) and word.surface[0].isupper() and lookup(word.key) is EMPTY)


def _is(words: Sequence[Word], at: int) -> bool:
    """Whether the words before say whose something is."""
    return any(w.lower in ("is", "are", "was", "were") for w in words[max(0, at - 3) : at])


def _closes(sentence: Sentence, at: int) -> bool:
    """Whether nothing follows in the clause."""
    following = sentence.words[at + 1 : at + 2]
    return not following or bool(APART.search(sentence.text[sentence.words[at].end : following[0].start]))


def _within(sentence: Sentence, at: int, end: int, told: Collection[str]) -> bool:
    """Whether a word of the detail follows in the same clause."""
    words = sentence.words
    for i in range(at + 1, min(end + 1, len(words))):
        if i > at + 1 and APART.search(sentence.text[words[i - 1].end : words[i].start]):
            return False
        if words[i].key in told:
            return True
    return False


def _other(words: Sequence[Word], at: int, sources: Collection[Stated], essay: Essay) -> bool:
    """Whether the word is for one person, and none that the essay's sentences tell of."""
    word, before = words[at], words[max(0, at - 5) : at]
    if not word.key or any(related(k, word.key) >= ALIKE for k in essay.identity):
        return False
    if any(word.key in source.sentence.keys for source in sources):
        return False
    if word.key in PEOPLE:
        return word.lower in RELATIONS or "one" in {w.lower for w in before}
    # "Her partner Ken": after a relation any word is a name.
    named = lookup(word.key) is EMPTY or (bool(at) and words[at - 1].lower in RELATIONS)
    return bool(at) and word.surface[0].isupper() and word.key not in essay.keys and named


def _acts(sentence: Sentence, at: int) -> bool:
    """Whether the word is the subject of a verb."""
    words = sentence.words
    if any(w.lower in BESIDE for w in words[max(0, at - 3) : at]) or at + 1 >= len(words):
        return False
    if " - " in sentence.text[words[at].end : words[at + 1].start]:
        return False  # who it is, and not who does what follows: "Ken, dentist - keeps bees"
    if words[at + 1].lower == "of":
        at = next((i - 1 for i in range(at + 2, len(words)) if not words[i].surface[0].isupper()), at)
        return at + 1 < len(words) and words[at].surface[0].isupper() and _is_verb(words[at + 1])
    return words[at + 1].lower in VERBS or (not words[at].lower.endswith("'s") and _is_verb(words[at + 1]))


def _is_verb(word: Word) -> bool:
    return word.lower in VERBS or (bool(word.key) and word.lower.endswith("s"))
