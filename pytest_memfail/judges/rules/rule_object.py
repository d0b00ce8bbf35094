"""What is done to another thing than the rule's: the roses watered, and not the tomatoes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.finding import written
from pytest_memfail.judges.rules.kinds import is_noun
from pytest_memfail.judges.rules.rule_likeness import GENERAL, said, unlike
from pytest_memfail.judges.rules.rule_needed import Rule
from pytest_memfail.judges.rules.text import Sentence, fold, sentences_of, weight

TYING: Final = frozenset(
    "a an the his her its their my some any on in at to with into onto under over by of for up out off down away back".split()
)
"""Words between a verb and what it is done to."""
NOWHERE: Final = frozenset(
    fold(word) for word in "end side way place part bit kind sort piece front back top bottom".split()
)
"""They name no thing of their own."""
REACH: Final = 3


def other_object(rule: Rule, here: Sequence[Sentence]) -> str:
    """Another thing behind the same verb, where the rule's own is not said."""
    for verb, things in _objects(rule):
        if any(said(thing, here, rule.name_keys) >= GENERAL for thing in (things[0], things[-1])):
            continue
        for sentence in here:
            for held_verb, at, end in _behind(sentence):
                word = sentence.words[end]
                plain = not word.lower.endswith(("ly", "ing", "ed"))
                if (
                    held_verb == verb
                    and plain
                    and not _known(rule, sentence.words[at].key)
                    and _is_other(rule, things, word.key)
                ):
                    own = written(things[-1], sentences_of(f"{rule.told} {rule.gold}"))
                    return f"it is done to {word.surface!r} and not to {own!r}"
    return ""


def _known(rule: Rule, held: str) -> bool:
    """Whether the source or the gold speaks of it."""
    return held in rule.stated or held in rule.asked or held in rule.behavior or held in rule.name_keys


def _is_other(rule: Rule, things: tuple[str, ...], held: str) -> bool:
    """Whether the word is for something that neither the source nor the gold speaks of."""
    if _known(rule, held) or held in NOWHERE or weight(held) < 1.0 or held[0].isdigit() or not is_noun(held):
        return False
    return all(unlike(thing, held) for thing in things)


@lru_cache(maxsize=4096)
def _objects(rule: Rule) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The verbs of the behaviour, and the words for what each is done to."""
    found = []
    for sentence in sentences_of(f"{rule.gold} {rule.told}"):
        for verb, at, end in _behind(sentence):
            things = tuple(w.key for w in sentence.words[at : end + 1])
            if (
                verb in rule.behavior
                and rule.behavior.keys() >= set(things)
                and weight(things[-1]) >= 1.0
                and is_noun(things[-1])
            ):
                found.append((verb, things))
    return tuple(dict.fromkeys(found))


def _behind(sentence: Sentence) -> Iterator[tuple[str, int, int]]:
    """Each content word with the first and last of those that stand behind it, with no more than small words between."""
    words = sentence.words
    for at, word in enumerate(words):
        if not word.key:
            continue
        back = at - 1
        while back >= max(0, at - REACH) and words[back].lower in TYING and not _gap(sentence, back):
            back -= 1
        if back < 0 or not words[back].key or _gap(sentence, back):
            continue
        end = at
        while (
            end + 1 < len(words)
            and words[end + 1].key
            and not _gap(sentence, end)
            and not words[end + 1].lower.endswith("ly")
        ):
            end += 1
        yield words[back].key, at, end


def _gap(sentence: Sentence, at: int) -> bool:
    """Whether more than a space stands behind the word."""
    return sentence.text[sentence.words[at].end : sentence.words[at + 1].start] != " "
