"""Whether a stored rule is said to hold then and at no other time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_memfail.judges.rules.exclusivity import tells_otherwise, tells_when_not
from pytest_memfail.judges.rules.polarity import is_negator
from pytest_memfail.judges.rules.rule_needed import Rule
from pytest_memfail.judges.rules.rule_other import contrary
from pytest_memfail.judges.rules.senses import is_contrary
from pytest_memfail.judges.rules.text import Sentence, weight
from pytest_memfail.judges.rules.view import View

ALONE: Final = "alone"
"""It says "only" where the source has nobody who is alone: on Sundays alone."""


def leaves_nothing(rule: Rule, view: View, core: Sequence[int], region: Sequence[int]) -> bool:
    """Whether it is said, there or right beside it, that the rule does not hold at other times."""
    words = {*rule.behavior, *rule.condition}
    told = [view.sentences[i] for i in region if i in core or view.sentences[i].keys & words]
    if any(tells_when_not(s) or (ALONE in s.lowers and ALONE not in rule.source.casefold()) for s in told):
        return True
    at = [i for i in region if i in core or len(view.sentences[i].keys & words) > 1]
    for i in at:
        for beside in (i - 1, i + 1):
            if beside in core or not 0 <= beside < len(view.sentences) or view.entry[beside] != view.entry[i]:
                continue
            if tells_otherwise(view.sentences[beside]) or _other_side(rule, view, beside):
                return True
    return any(_denies_the_contrary(rule, view.sentences[i]) for i in region)


def _denies_the_contrary(rule: Rule, sentence: Sentence) -> bool:
    """Whether it says that under the contrary of the condition it is not so: bright rooms never set him off."""
    if rule.negative or not any(is_negator(word) for word in sentence.lowers):
        return False
    if any(is_contrary(sentence.text, state) for state in rule.asked_state):
        return True
    return any(contrary(key, held) for key in rule.asked for held in sentence.keys - rule.asked if weight(key) >= 1.0)


def _other_side(rule: Rule, view: View, at: int) -> bool:
    """Whether the sentence tells what happens on the other side of the rule's number."""
    text = view.sentences[at].text
    return any(
        wanted.same(stated) and (stated.direction * wanted.direction < 0 or f"{stated.text}+" in text)
        for wanted in rule.numbers
        for stated in view.quantities((at,))
    )
