"""Exclusivity in all its wordings: then, and at no other time."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.polarity import never_except
from pytest_memfail.judges.rules.text import Sentence
from pytest_memfail.judges.rules.words import EXCLUSIVE

AMBIGUOUS: Final = frozenset("alone reserved limited required must".split())
"""Words that say so only in company: a reserved person is not reserved for Sundays."""
PLAINLY: Final = EXCLUSIVE - AMBIGUOUS
_TIMES: Final = (
    r"(?:days?|times?|weeks?|months?|nights?|evenings?|mornings?|afternoons?|hours?|occasions?|cases?|circumstances?"
    r"|conditions?|moods?|weathers?|seasons?|places?|settings?|situations?|company)"
)
ELSEWHEN: Final = re.compile(
    r"\b(?:no|nobody|no one|none|nothing|nowhere|never|not|\w+n't)\b.{0,40}\b(?:else|others?|otherwise|elsewhere|sooner|earlier)\b"
    r"|\b(?:otherwise|elsewhere|anywhere else|any other|all other|every other case)\b"
    rf"|\b(?:rest of the (?:time|week|year|day|month)|other six"
    rf"|(?<!among )(?<!amongst )(?<!and )(?<!many )(?:other|remaining) {_TIMES})\b"
    r"|\b(?:that|this|those|these|it|then) (?:\w+ )?alone\b"
    r"|\b(?:any|every|all) \w{3,}er (?:days?|times?|nights?|ones?|marks?|counts?|levels?|figures?|scores?|readings?)\b"
    r"|\bany (?:sooner|earlier|later|less|fewer|more)\b|\bat the (?:earliest|latest|most)\b|\bearliest\b"
    r"|\bafter that\b|\bno longer\b|\bor (?:less|more|fewer)\b ?(?:->|:|=|means)|\bif not\b|\belse\b"
    r"|\b(?:not|\w+n't|never|nothing|no) (?:\w+ )?(?:before|until|till|prior to)\b"
    r"|\b(?:won't|will not|would not|wouldn't|does not|doesn't|do not|don't|never) \w[^.;:,]{0,60} (?:before|until|till)\b"
    r"|\b(?:not?|never|\w+n't|nor|seldom|rarely) (?:\w+ ){0,3}(?:more often|oftener|more frequently|more than(?: that| once| twice)?"
    r"|again|a (?:second|third|day|minute|moment)|sooner|any (?:sooner|earlier|other|more))\b"
    r"|\b(?:at most|at the most|maximum|max|capped? at|cap of|limit of) \w+\b"
    r"|\b(?:nowhere|nothing|none|nobody|no one|no \w+|anything|anywhere|never|not) (?:\w+ ){0,2}(?:but|save|bar|barring)\b"
    r"|\b(?:no|without)\b [^,.;]{2,40}, (?:no|not|never)\b"
    r"|\b(?:that is|that's) (?:it|all)\b|\bfull stop\b|\bend of story\b|\band no more\b(?! than)"
    r"|\b(?:and|but|then|thereafter|afterwards?) (?:not|never)\b|, (?:not|never)\b|\bnot (?:at|in|on|when|during|if|with)\b",
)
"""What is said of all the other times; it tells by itself."""
CONFINED: Final = re.compile(
    r"\b(?:restrict(?:s|ed|ing)?|confin(?:es?|ed|ing)|limit(?:s|ed|ing)?|nothing but)\b"
    r"|\b(?:reserv(?:es?|ed|ing)|sav(?:es?|ed|ing)|sets? aside) (?:.{1,80} )?(?:for|until|till)\b|\breserv(?:es?|ed|ing) to\b"
    r"|\b(?:keeps?|kept) .{1,60}(?= for (?:days?|times?|when|while|after)\b)"
    r"|\b(?:exclusive|unique|peculiar|specific|special|dedicated|strictly tied|bound|belongs?) to\b"
    r"|\b(?:purely|strictly|entirely|wholly|expressly|uniquely|singularly)\b"
    r"|\b(?:sole|lone|single|the one|his one|her one|its one|(?<=at )one) \w+\b"
    r"|\bin one (?:place|spot|room|setting|situation|case)\b|\b(?:once|that'?s) and only\b"
    r"|\bif\b.{1,40}\b(?:not|n't|\w+n't)\b.{0,80}\b(?:no|not|none|never|\w+n't)\b"
    r"|\bjust (?:once|one|on|when|if|for|then|in|at|during|after)\b"
    r"|\b(?:depend(?:s|ent|ing)?|conditional|contingent|hinges?|rests?|relies|rely)\b (?:\w+ )?(?:up)?on\b|\bsubject to\b"
    r"|\b(?:it takes|what it takes|(?<!it )takes? .{1,60} to (?:get|make|start|have|bring|set))\b"
    r"|\b(?:has to|have to|must|needs? to|ought to) (?:be|have|come|go|get|show|read|reach|rise|drop|fall|stand|pass)\b"
    r"|\bneeds?\b|\brequir(?:es?|ed|ing)\b|\b(?:prerequisite|precondition|condition is|on (?:the )?condition)\b"
    r"|\b(?:as|so) long as\b|\b(?:provided|providing)\b|\bstops?\b|\bwaits? (?:for|until|till|to)\b|\bholds? off\b"
    r"|\b(?:below|above|under|over|past|with more than|with less than) (?:that|it|this)\b",
)
"""Turns of phrase that leave nothing besides, where they are said of the behaviour or its condition."""


def tells_when_not(sentence: Sentence) -> bool:
    """Whether a sentence about the rule says, or clearly implies, that it does not hold at other times."""
    return tells_otherwise(sentence) or _confines(sentence.text)


@lru_cache(maxsize=16384)
def _confines(text: str) -> bool:
    return CONFINED.search(text.lower()) is not None


def tells_otherwise(sentence: Sentence) -> bool:
    """Whether a sentence beside the rule says so, without a word of the rule."""
    return not sentence.lowers.isdisjoint(PLAINLY) or _excludes(sentence.text)


@lru_cache(maxsize=16384)
def _excludes(text: str) -> bool:
    return never_except(text) or ELSEWHEN.search(text.lower()) is not None
