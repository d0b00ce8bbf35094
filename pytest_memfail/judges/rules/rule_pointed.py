"""Entries that name nobody, where another entry tells who does it: "Tess is the one with the pine cones"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.rule_likeness import SYNONYM, coverage, said
from pytest_memfail.judges.rules.rule_needed import Rule
from pytest_memfail.judges.rules.rule_people import PRONOUNS
from pytest_memfail.judges.rules.text import Sentence, weight
from pytest_memfail.judges.rules.view import OPEN, View

POINTING: Final = re.compile(
    r"\bthe \w+ (?:with|who|that|whose|behind)\b|\bwho(?:se)? (?:that |it )?is\b"
    r"|\b(?:habit|quirk|ritual|routine|custom|hobby|trait|trick|thing|business|story)\b",
    re.IGNORECASE,
)
SUBJECTS: Final = frozenset(("he", "she", "they", "it"))
LEAST: Final = 0.3
"""Share of the behaviour that an entry says which names nobody."""


def pointed_at(rule: Rule, view: View) -> list[int]:
    """The sentences that name nobody and tell the behaviour, where another one says whose it is."""
    name = rule.name
    if name is None or not any(_points(rule, view.sentences[i]) for i in view.mentions(name)):
        return []
    at = {i for window in view.search(rule.behavior, None) for i in window.sentences}
    return [i for i in sorted(at) if view.link(i, name) == OPEN and _nameless(rule, view.sentences[i])]


def _points(rule: Rule, sentence: Sentence) -> bool:
    if not _is_pointer(sentence.text):
        return False
    telling = (key for key in rule.behavior if weight(key) >= 1.0)
    return any(said(key, (sentence,), rule.name_keys) >= SYNONYM for key in telling)


@lru_cache(maxsize=16384)
def _is_pointer(text: str) -> bool:
    return POINTING.search(text) is not None


def _nameless(rule: Rule, sentence: Sentence) -> bool:
    """Whether its first pronoun may be the entity's, no name stands before, and it says the behaviour."""
    for word in sentence.words:
        if word.lower in SUBJECTS:
            fits = not rule.pronoun or PRONOUNS.get(word.lower) in (rule.pronoun, None)
            return fits and coverage(rule.behavior, (sentence,)) >= LEAST * rule.reachable
        if word.surface[0].isupper() and word.start:
            return False
    return False
