"""Who does it to whom: whether a stored rule has changed the places of the entity and the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import zip_longest
from typing import Final, Literal

from pytest_memfail.judges.rules.rule_likeness import can_be_person
from pytest_memfail.judges.rules.rule_needed import Rule
from pytest_memfail.judges.rules.rule_people import PRONOUNS, RELATIVES
from pytest_memfail.judges.rules.text import Sentence, Word, fold, sentences_of
from pytest_memfail.judges.rules.words import OPENERS, STOP

Side = Literal["entity", "others"]
ANYBODY: Final = frozenset("someone somebody anyone anybody everyone everybody people others nobody".split())
PASSIVE: Final = frozenset("is are was were be been being gets got get getting".split())
POSSESSIVE: Final = frozenset("his her their its".split())
ASPECTS: Final = frozenset(fold(word) for word in "start begin keep tend stop continue become".split())
"""Verbs of how something goes: anybody and anything starts."""
BREAK: Final = re.compile(r'[:;|={}"]')
"""What parts a field from its value, and one clause from the next."""
REACH: Final = 4
"""So many words after a verb tell to whom it is done."""


def swapped_roles(rule: Rule, here: Sequence[Sentence]) -> str:
    """A verb that others do to the entity where the rule has it the other way round, or the reverse."""
    if rule.name is None:
        return ""
    meant = verbs(rule, f"{rule.gold} {rule.told}")
    for sentence in here:
        for i, word in enumerate(sentence.words):
            doer = meant.get(word.key)
            if doer is None:
                continue
            found = _subject(sentence, i, rule)
            if found is None or found == doer:
                continue
            done_to = _object(sentence.words, i, rule)
            if done_to == doer or (
                done_to is None and doer == "entity" and _finite(word) and word.key in rule.behavior
            ):
                return f"who does what to whom is turned around ({word.surface!r})"
    return ""


@cache
def verbs(rule: Rule, text: str) -> dict[str, Side]:
    """By verb, who does it in what is said of the rule; verbs that both do are left out."""
    found: dict[str, set[Side]] = {}
    for sentence in sentences_of(text):
        for i, word in enumerate(sentence.words):
            side = _subject(sentence, i, rule) if word.key and word.key not in ASPECTS else None
            if side is not None:
                found.setdefault(word.key, set()).add(side)
    return {key: next(iter(sides)) for key, sides in found.items() if len(sides) == 1}


def _subject(sentence: Sentence, at: int, rule: Rule) -> Side | None:
    """Who stands right before the verb, with no more than adverbs and auxiliaries between; None for a passive."""
    words = sentence.words
    for i in range(at - 1, -1, -1):
        word = words[i]
        if word.lower in PASSIVE or BREAK.search(sentence.text, word.end, words[i + 1].start):
            return None
        side = _side(word, rule)
        if side == "others" and _names_it(words, word, rule):
            side = "entity"
        if side is not None:
            return None if word.lower in ("his", "her", "him", "them") or word.lower.endswith("'s") else side
        if word.key and not word.lower.endswith("ly") and word.lower not in ("often", "usually", "always"):
            return None
        if word.lower in ("a", "an", "the", "to", "for", "of", "by", "his", "their", "and"):
            return None
    return None


def _names_it(words: Sequence[Word], word: Word, rule: Rule) -> bool:
    """Whether the word says what the entity is: "Mango the parrot"."""
    at = words.index(word)
    assert rule.name is not None
    return at > 1 and words[at - 1].lower == "the" and words[at - 2].lower in rule.name.parts


def _finite(word: Word) -> bool:
    return word.lower.endswith("s") and not word.lower.endswith("ss")


def _object(words: Sequence[Word], at: int, rule: Rule) -> Side | None:
    for word, following in zip_longest(words[at + 1 : at + 1 + REACH], words[at + 2 : at + 1 + REACH]):
        if word.lower == "by":
            return None
        if word.lower in POSSESSIVE and following is not None and _side(following, rule) == "others":
            continue  # "asks her guests"
        side = _side(word, rule)
        if side is not None:
            return side
    return None


def _side(word: Word, rule: Rule) -> Side | None:
    assert rule.name is not None
    bare = word.lower.removesuffix("'s")
    if bare in rule.name.parts:
        return "entity"
    if bare in PRONOUNS:
        return "entity" if PRONOUNS[bare] == rule.pronoun else None
    if bare in ANYBODY or bare in RELATIVES or (word.key and not word.surface[0].isupper() and can_be_person(word.key)):
        return "others"
    named = word.surface[0].isupper() and word.start > 0 and bare not in OPENERS and bare not in STOP
    return "others" if named and not word.surface.isupper() else None
