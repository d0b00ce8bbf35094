"""Which sentence of the source a stored one was made from: the rule's, or another."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from pytest_memfail.judges.rules.lexicon import likely
from pytest_memfail.judges.rules.rule_likeness import MATCHED, likeness
from pytest_memfail.judges.rules.rule_needed import Rule
from pytest_memfail.judges.rules.text import Sentence, weight

TELLING: Final = 0.9
"""Weight of the rule's words that a sentence has to have, to be held against the rest of the source."""
BARELY: Final = 0.1
HARDLY: Final = 0.6
"""Share of what it has of another sentence that it has of the rule."""
CONDITION: Final = frozenset(
    "when whenever if after during only unless while before once until above below under past over without".split()
)
"""Words that tell a condition, as hardly any sentence of an essay but the rule's does."""


def tells_the_rule(sentence: Sentence, rule: Rule) -> bool:
    """Whether more of the sentence is the rule's than any other sentence's of the source."""
    held = _held(sentence, rule)
    own = _shared(held, rule.spoken)
    if own < TELLING:
        return False
    rest = max((_shared(held, other) for other in rule.elsewhere), default=0.0)
    return own > rest or (own == rest and bool(sentence.lowers & CONDITION))


def tells_the_rest(sentence: Sentence, rule: Rule, share: float) -> bool:
    """Whether it was made from a sentence that does not state the rule, and says no more of the behaviour than that one."""
    held = _held(sentence, rule)
    if len(held & rule.spoken) >= HARDLY * len(held):
        return False
    rest = max((_shared(held, other) for other, does in rule.beside_the_rule if share <= does + BARELY), default=0.0)
    return rest >= TELLING and _shared(held, rule.spoken) <= HARDLY * rest


def _held(sentence: Sentence, rule: Rule) -> set[str]:
    return {key for key in sentence.keys - rule.name_keys if not key[0].isdigit()}


def _shared(held: Collection[str], said: frozenset[str]) -> float:
    total = 0.0
    for key in held:
        near = 1.0 if key in said else max((likeness(other, key) for other in likely(key, said)), default=0.0)
        if near >= MATCHED:
            total += weight(key) * near
    return total
