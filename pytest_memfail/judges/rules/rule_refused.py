"""Rules of refusing: done or not done, when or unless, told in whichever of the four ways."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.rule_likeness import coverage
from pytest_memfail.judges.rules.rule_needed import Rule
from pytest_memfail.judges.rules.rule_numbers import alike, stated_numbers
from pytest_memfail.judges.rules.rule_other import LACKING, REFUSING, condition_keys, contrary
from pytest_memfail.judges.rules.rule_phrases import clashes
from pytest_memfail.judges.rules.senses import is_contrary
from pytest_memfail.judges.rules.text import Sentence, sentences_of, weight

WITHHELD: Final = re.compile(
    r"\b(?:refus\w+|declin\w+|avoid\w*|skip\w*|not|never|no|cannot|ignor\w+|leaves? .{0,30}\balone"
    r"|untouched|uneaten|reject\w*|resist\w*"
    r"|stays? (?:away|off|out|put|clear)|balks?|unwilling|nothing|neither|abstain\w*|turns? (?:down|away|up)|wants? none|stops?)\b"
    r"|n't\b",
    re.IGNORECASE,
)
UNLESS: Final = re.compile(r"\b(?:unless|except|excepting|without|other than|until|till)\b", re.IGNORECASE)
NEGATIVE: Final = re.compile(r"\b(?:not|no|never|without|absent|gone)\b|n't\b", re.IGNORECASE)
UNTIL: Final = frozenset(("until", "till"))
ONLY: Final = re.compile(
    r"\b(?:only|just|exclusively|solely|as long as|so long as|provided|(?:has|have|need|needs) to be|must be)\b",
    re.IGNORECASE,
)
UNDONE: Final = re.compile(
    rf"{LACKING.pattern}|\b(?:cannot|off|away|alone|untouched|uneaten|ignor\w+|leav\w+|left|reject\w*|resist\w*|stops?|stay\w*"
    r"|balks?|stubborn\w*|unwilling|nothing|none|till|interest|appetite|fast(?:s|ing)|only|instead|down|until|sooner|earlier|earliest)\b",
    re.IGNORECASE,
)
"""Words of not doing something, in whatever turn."""
TOLD: Final = 0.4


@lru_cache(maxsize=4096)
def is_refusal(rule: Rule) -> bool:
    """Whether the behaviour is to refuse something."""
    return next((w.key for s in sentences_of(rule.gold) for w in s.words if w.key in rule.behavior), "") in REFUSING


def done(rule: Rule, told: Sequence[Sentence]) -> str:
    """Whether what the rule says to be refused is told as done."""
    if not is_refusal(rule) or any(UNDONE.search(s.text) or s.keys & REFUSING for s in told):
        return ""
    does = rule.behavior.keys() - REFUSING
    return "its behaviour is told as done" if coverage(dict.fromkeys(does, 1.0), told) >= TOLD else ""


def refusal_kept(rule: Rule, sentence: Sentence) -> int:
    """Of a rule of refusing: 1 where the sentence tells it from behind (done unless so), -1 where the reverse, else 0."""
    acts = rule.behavior.keys() - REFUSING
    if rule.negative or not is_refusal(rule) or sentence.keys.isdisjoint(acts):
        return 0
    if match := UNLESS.search(sentence.text):
        apart, main = _split(sentence.text, match.start(), match.end())
        if not _tells_condition(rule, sentence, apart):
            return 0
        if match[0].lower() in UNTIL and (rule.asked_order < 0 or any(q.direction < 0 for q in rule.numbers)):
            return 0  # not until ten is not before ten
        if NEGATIVE.search(apart) or _contrary(rule, sentence):
            return 0
        return -1 if WITHHELD.search(main) else 1
    if not ONLY.search(sentence.text) or WITHHELD.search(sentence.text):
        return 0
    return 1 if _contrary(rule, sentence) else -1 if _tells_condition(rule, sentence, sentence.text) else 0


def _split(text: str, start: int, end: int) -> tuple[str, str]:
    """The clause that the word opens, and the rest."""
    comma = text.find(",", end)
    if start > len(text) // 2 or comma < 0:
        return text[end:], text[:start]
    return text[end:comma], text[:start] + text[comma:]


def _tells_condition(rule: Rule, sentence: Sentence, clause: str) -> bool:
    keys: Collection[str] = rule.asked - rule.behavior.keys()
    if any(alike(q, o) for q in rule.numbers for o in stated_numbers(sentence)):
        return True
    return any(word.key in keys and weight(word.key) >= 1.0 and word.surface in clause for word in sentence.words)


def _contrary(rule: Rule, sentence: Sentence) -> bool:
    """Whether it tells the contrary of the condition: no bowl, the lights on, above where it is below."""
    stated = stated_numbers(sentence)
    if rule.numbers:
        return any(alike(q, o) and q.direction * o.direction < 0 for q in rule.numbers for o in stated)
    if clashes(rule.when, (sentence.text,), rule.told) or any(is_contrary(sentence.text, s) for s in rule.asked_state):
        return True
    told = [key for key in condition_keys(sentence, rule) if key not in rule.asked]
    return any(contrary(key, held) for held in told for key in rule.asked if weight(key) >= 1.0)
