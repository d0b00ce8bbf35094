"""What is done to another thing than the rule's: the roses watered, and not the tomatoes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.rule_likeness import GENERAL, MATCHED, likeness, said
from pytest_memfail.judges.rules.rule_needed import Rule
from pytest_memfail.judges.rules.text import Sentence, fold, sentences_of, weight

TYING: Final = frozenset(
    "a an the his her its their my some any on in at to with into onto under over by of for".split()
)
"""Words between a verb and what it is done to."""
NOWHERE: Final = frozenset(
    fold(word) for word in "end side way place part bit kind sort piece front back top bottom".split()
)
"""They name no thing of their own."""
REACH: Final = 3


def other_object(rule: Rule, here: Sequence[Sentence]) -> str:
    """Another thing behind the same verb, where the rule's own is not said."""
    for verb, thing, head in _objects(rule):
        if said(thing, here, rule.name_keys) >= GENERAL or (head and said(head, here, rule.name_keys) >= MATCHED):
            continue
        for sentence in here:
            for held_verb, at in _behind(sentence):
                word = sentence.words[at]
                plain = not word.lower.endswith(("ly", "ing", "ed"))
                if held_verb == verb and plain and _is_other(rule, thing, word.key):
                    return f"it is done to {word.surface!r} and not to {_as_told(rule, thing)!r}"
    return ""


def _is_other(rule: Rule, thing: str, held: str) -> bool:
    """Whether the word is for something that neither the source nor the gold speaks of."""
    if held in rule.stated or held in rule.asked or held in rule.behavior or held in rule.name_keys:
        return False
    if held in NOWHERE or weight(held) < 1.0 or held[0].isdigit() or not (kinds_of(held) and kinds_of(thing)):
        return False
    return likeness(thing, held) < MATCHED and likeness(held, thing) < MATCHED


@lru_cache(maxsize=4096)
def _objects(rule: Rule) -> tuple[tuple[str, str, str], ...]:
    """The verbs of the behaviour, what each is done to, and what that is of, if another word follows."""
    found = []
    for sentence in sentences_of(f"{rule.gold} {rule.told}"):
        for verb, at in _behind(sentence):
            words = sentence.words
            following = words[at + 1].key if at + 1 < len(words) and not _gap(sentence, at) else ""
            thing = words[at].key
            if verb in rule.behavior and thing in rule.behavior and weight(thing) >= 1.0:
                found.append((verb, thing, following if following in rule.behavior else ""))
    return tuple(dict.fromkeys(found))


def _behind(sentence: Sentence) -> Iterator[tuple[str, int]]:
    """Each content word that stands behind another one, with no more than small words between."""
    words = sentence.words
    for at, word in enumerate(words):
        if not word.key:
            continue
        back = at - 1
        while back >= max(0, at - REACH) and words[back].lower in TYING and not _gap(sentence, back):
            back -= 1
        if back >= 0 and words[back].key and not _gap(sentence, back):
            yield words[back].key, at


def _gap(sentence: Sentence, at: int) -> bool:
    """Whether more than a space stands behind the word."""
    return sentence.text[sentence.words[at].end : sentence.words[at + 1].start] != " "


def _as_told(rule: Rule, key: str) -> str:
    return next((w.surface for s in sentences_of(f"{rule.told} {rule.gold}") for w in s.words if w.key == key), key)
