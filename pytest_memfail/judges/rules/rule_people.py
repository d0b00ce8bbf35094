"""Who besides the entity a source speaks of, and how it speaks of the entity."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from pytest_memfail.judges.rules.text import Sentence, fold
from pytest_memfail.judges.rules.words import OPENERS

OPENING_KEYS: Final = frozenset(fold(word) for word in OPENERS)
RELATIVES: Final = frozenset(
    """mate mates flatmate flatmates housemate housemates roommate roommates classmate classmates cousin cousins friend
    friends brother brothers sister sisters mother father mum mom dad parent parents son sons daughter daughters wife
    husband partner uncle aunt nephew nephews niece nieces neighbour neighbours neighbor neighbors colleague colleagues
    coworker apprentice assistant crew boss owner owners landlord landlady teacher student students grandmother
    grandfather grandma grandpa twin""".split()
)
CALLED: Final = frozenset("called calls named names which that whom she he they known as a an the".split())
PRONOUNS: Final = {"he": "he", "his": "he", "him": "he", "she": "she", "her": "she", "hers": "she", "they": "they"}


def others_of(told: Sequence[Sentence], ignore: set[str], behavior: Collection[str]) -> frozenset[str]:
    """The words that the source writes with a capital within a sentence, and never without one: names of others.

    Not that of a thing of the behaviour's own ("her parrot, Almirante"), to which it is done.
    """
    inner = {
        w.lower.removesuffix("'s")
        for s in told
        for i, w in enumerate(s.words)
        if i and w.surface[0].isupper() and w.key and not _names_a_thing(s, i, behavior)
    }
    plain = {w.lower for s in told for w in s.words if w.surface[0].islower()}
    return frozenset(word for word in inner - plain if fold(word) not in ignore | OPENING_KEYS)


def _names_a_thing(sentence: Sentence, at: int, behavior: Collection[str]) -> bool:
    before = next((w for w in reversed(sentence.words[:at]) if w.lower not in CALLED), None)
    return before is not None and before.key in behavior and before.lower not in RELATIVES


def pronoun_of(told: Sequence[Sentence]) -> str:
    """How the source speaks of the entity, if it settles on one pronoun."""
    count = dict.fromkeys(PRONOUNS.values(), 0)
    for sentence in told:
        for word in sentence.words:
            if word.lower in PRONOUNS:
                count[PRONOUNS[word.lower]] += 1
    first, second = sorted(count, key=lambda p: -count[p])[:2]
    return first if count[first] >= 2 * max(1, count[second]) else ""
