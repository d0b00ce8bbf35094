"""Sentences that only resemble a preference's statement: they tell its occasion, another of its row, or another thing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.attitude import DISLIKED, liked
from pytest_memfail.judges.rules.preference_aversion import AVERSE
from pytest_memfail.judges.rules.preference_called import wordings_of
from pytest_memfail.judges.rules.preference_reading import Preference
from pytest_memfail.judges.rules.preference_unmissed import untwisted
from pytest_memfail.judges.rules.preference_words import soft_support, stands_for
from pytest_memfail.judges.rules.text import Sentence, fold, sentences_of
from pytest_memfail.judges.rules.traces import VAGUE
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose_words import FAVOURING

STOPS: Final = r"(?:(?!\b(?:because|since|with|to|by|so|as|which|that|and I|but)\b)[^,.;])*"
OCCASION: Final = re.compile(
    rf"\b(?:during|after|before|on|at|for(?! (?:its?|their|the|his|her|my|a|an|both|all|how|what|\w+ing)\b)"
    r"|in(?= (?:(?:the|early|late|slow|busy) )*(?:morning|afternoon|evening|night|summer|winter|spring|autumn|fall)))\b"
    rf"(?P<told>{STOPS})|\b(?:when(?:ever)?|if) i(?:'m| am| feel)(?: not)? (?!\w+ing\b)(?P<state>{STOPS})",
    re.IGNORECASE,
)
"""What a statement says of when and where a thing is liked, not of the thing."""
STANDS: Final = 0.35
"""What a word is worth at least that tells one of the statement."""
PLAINLY: Final = 0.6
"""The same for one that tells more than the occasion."""
MUCH: Final = 0.4
"""Share of our statement with which a sentence that names another of the row tells ours too."""
EVENT: Final = re.compile(
    r"\W*(?:(?:the )?(?:user|she|he|they|i)\b\W*)?(?:(?:just|recently|has|had|have|will|once|also) )*"
    r"(?:buys?|bought|buying|pa(?:ys?|id)|sells?|sold|owns?|owned|mov(?:es?|ed)|los(?:es?|t)|broke|broken|repair(?:s|ed)|mend(?:s|ed)"
    r"|book(?:s|ed)|rent(?:s|ed)|hir(?:es?|ed)|borrow(?:s|ed)|lent|lends"
    r"|cancel\w*|renew(?:s|ed)|order(?:s|ed) (?:a|an|the|some|two|new)"
    r"|works? (?:as|for|at|in|part|full|nights)|lives? (?:in|at|near|on|with)|deliver(?:s|ed)|receiv(?:es?|ed)|s(?:ends?|ent) back)\b",
    re.IGNORECASE,
)
"""What is no way of liking a thing."""
HAD: Final = re.compile(r"\s*(?:the )?(?:user's|my|their|his|her)\b", re.IGNORECASE)
"""What the user has, where a sentence begins with it."""
OPENING: Final = 3
"""Of so many words at most it is said what they do or are."""
LIFE: Final = FAVOURING | frozenset(
    """way routine method approach answer list kind type sort day days morning mornings evening evenings weekend weekends week
    ideal perfect dream preferred chosen""".split()
)
"""What is no thing of the user's, but what they like or when."""


def resembles(wanted: Preference, view: View, at: int) -> bool:
    """Whether the sentence only resembles the statement."""
    return _is_occasion(wanted, view.sentences[at]) or tells_another(wanted, view, at)


def tells_another(wanted: Preference, view: View, at: int) -> bool:
    """Whether the sentence tells another of the row, what else happened, or something else of the user's."""
    sentence = view.sentences[at]
    if _is_complaint(wanted, sentence) or _is_event(wanted, sentence):
        return True
    return _is_of_named_sibling(wanted, view, at) or _is_of_another(wanted, sentence)


def _is_event(wanted: Preference, sentence: Sentence) -> bool:
    """Whether the sentence begins with what is done once or for use, and says nothing of liking."""
    if EVENT.match(sentence.text) is None or liked(sentence) or VAGUE.search(sentence.text):
        return False
    return wanted.topic.isdisjoint(sentence.keys)


def _is_complaint(wanted: Preference, sentence: Sentence) -> bool:
    """Whether the sentence speaks only against something, as the statement does not."""
    text = untwisted(sentence.text)
    disliked = DISLIKED.search(text) or AVERSE.search(text)
    return disliked is not None and not liked(sentence) and not wanted.negative


def _is_occasion(wanted: Preference, sentence: Sentence) -> bool:
    """Whether of the statement only its occasion is there, and no vague word for what is done then."""
    occasion = occasion_of(wanted.source)
    if not occasion or VAGUE.search(sentence.text) or not wanted.topic.isdisjoint(sentence.keys):
        return False
    held = {fold(word.lower) for word in sentence.words if word.key}
    telling = [key for key, value in wanted.context.items() if value >= 1.0]
    told = (max((_worth(key, other) for other in held), default=0.0) for key in telling)
    there = {key for key, worth in zip(telling, told, strict=True) if worth >= (STANDS if key in occasion else PLAINLY)}
    return bool(there) and there <= occasion


@lru_cache(maxsize=65536)
def _worth(wanted: str, held: str) -> float:
    return stands_for(wanted, held)[1]


@lru_cache(maxsize=4096)
def occasion_of(source: str) -> frozenset[str]:
    """The words of a statement's occasion.

    >>> sorted(occasion_of("I always have popcorn ready for movie nights at home."))
    ['home', 'movi', 'night']
    """
    told = (match["told"] or match["state"] or "" for match in OCCASION.finditer(source.replace("\u2019", "'")))
    return frozenset(word.key for text in told for s in sentences_of(text) for word in s.words if word.key)


def _is_of_named_sibling(wanted: Preference, view: View, at: int) -> bool:
    """Whether another of the row stands there under another wording, and little of ours."""
    keys = view.as_written().sentences[at].keys
    if not any(wording <= keys for sibling in wanted.siblings for wording in wordings_of(sibling)):
        return False
    return soft_support(wanted.statement, [view.sentences[at]]) < MUCH


def _is_of_another(wanted: Preference, sentence: Sentence) -> bool:
    """Whether something that the user has, and that has nothing to do with the statement, is or does something."""
    had = HAD.match(sentence.text)
    if had is None:
        return False
    words = [w for w in sentence.words if w.start >= had.end()][:OPENING]
    if not words or any(w.lower in LIFE for w in words) or not words[0].key:
        return False
    head = fold(words[0].lower)
    return not any(_worth(key, head) >= STANDS for key in (*wanted.statement, *wanted.topic))
