"""Whether a word of a preference's name is meant as it: no verb, no other form, no certain thing of that name, no everyday word."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from pytest_memfail.judges.rules.attitude import liked
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.naming import Mention
from pytest_memfail.judges.rules.text import Sentence
from pytest_memfail.judges.rules.traces import HAVING
from pytest_memfail.judges.rules.whose_words import PRONOUNS, RELATIONS, USER

if TYPE_CHECKING:
    from pytest_memfail.judges.rules.preference_reading import Preference

ADORNED: Final = 2
"""So many words may stand between the article and a thing of which there is but one: "the old stone bridge"."""
ADJOINED: Final = re.compile(r"[\w -]+")
SPANS: Final = frozenset("days nights weeks weekends hours minutes".split())

GOT: Final = re.compile(
    r"\b(?:g(?:ave|ives?|iving)|bought|buys?|buying|brought|brings?|sent|sends?|got|ordered|orders?|made|makes?|knits?|knitted|keeps?"
    r"|picked up|wrapped)\b",
    re.IGNORECASE,
)
PRESENTED: Final = re.compile(
    rf"{GOT.pattern} (?:(?i:the|her|his|their|my|user's) )?(?:(?i:old|new|best|little|younger|elder) )?(?P<who>[\w-]+) "
    r"(?:an?|some|two|the) (?:[\w-]+ )?$"
)
"""Before what somebody is given."""
BOUND: Final = re.compile(
    r"(?: [\w-]+)? (?:for (?:(?:guests|visitors|company)\b(?: only)?|(?:the|her|his|their|my|a|an|user's) (?:\w+ )?(?P<who>[\w-]+))"
    r"|as a (?:[\w-]+ )?(?:gift|present|thank-you|surprise))\W*(?:$|[,;.])",
    re.IGNORECASE,
)
"""Behind what is meant for somebody."""


def is_count(sentence: Sentence, mention: Mention, said: str) -> bool:
    """Whether days or the like are counted here, of which nothing is said: treks of several days are no day hikes."""
    words = sentence.words[mention.first : mention.last + 1]
    return any(w.lower in SPANS and w.lower not in said for w in words)


def is_verb(sentence: Sentence, mention: Mention, wanted: Preference) -> bool:
    """Whether a plural of ours stands as a verb: "User books flights"."""
    words, at = sentence.words, mention.first
    plural = wanted.wording.endswith("s") and " " not in wanted.wording
    following = words[at + 1] if at + 1 < len(words) else None
    return plural and at > 0 and words[at - 1].lower == "user" and following is not None and bool(following.key)


def is_for_another(sentence: Sentence, mention: Mention) -> bool:
    """Whether the thing was given or bought for somebody: "gave the dentist a bonsai", "a matcha set for her niece"."""
    before = sentence.text[: sentence.words[mention.first].start]
    after = sentence.text[sentence.words[mention.last].end :]
    given = PRESENTED.search(before)
    if given is not None and (given["who"].casefold() in RELATIONS or given["who"][:1].isupper()):
        return True
    bound = BOUND.match(after) if GOT.search(before) else None
    return bound is not None and (bound["who"] is None or bound["who"].casefold().removesuffix("s") in RELATIONS)


def is_turned_compound(sentence: Sentence, mention: Mention) -> bool:
    """Whether the name's words stand hyphenated and turned round: walls in a pale tea-green are no green tea."""
    return mention.turned and all(
        sentence.text[one.end : two.start] == "-"
        for one, two in pairwise(sentence.words[mention.first : mention.last + 1])
    )


def is_other_form(sentence: Sentence, mention: Mention, wanted: Preference) -> bool:
    """Whether a thing stands for what is done with such things, or the other way round: journals, journaling."""
    word = sentence.words[mention.first]
    if (
        mention.first != mention.last
        or wanted.topic & sentence.keys
        or " " in wanted.wording
        or not word.lower.startswith(wanted.wording[:3].casefold())
    ):
        return False
    before = sentence.words[mention.first - 1].lower if mention.first else ""
    done = before in USER | PRONOUNS or before in ("to", "and")
    return word.lower.endswith("ing") != wanted.wording.endswith("ing") and not done


def is_particular(sentence: Sentence, mention: Mention, wanted: Preference) -> bool:
    """Whether the word stands for one certain thing of that name: "crosses the old bridge" is no card game."""
    at, words = mention.first, sentence.words
    if not at or at != mention.last or f" the {words[at].lower}" in f" {wanted.source}":
        return False
    # Other words for it ("the old roadster") and what is made with it ("the wooden chess set") may well mean our own.
    alone = at + 1 == len(words) or not words[at + 1].key or sentence.text[words[at].end : words[at + 1].start] != " "
    first = at - 1
    for _ in range(ADORNED if alone and mention.exact and words[at].key in wanted.name else 0):
        first -= bool(words[first].key) and not words[first].lower.endswith("s") and words[first].lower not in USER
    if (
        first < 0
        or words[first].lower != "the"
        or ADJOINED.fullmatch(sentence.text, words[first].end, words[at].start) is None
    ):
        return False
    return not liked(sentence) and HAVING.search(sentence.text) is None


def is_common(sentence: Sentence, mention: Mention, wanted: Preference) -> bool:
    """Whether an everyday word stands where a name is meant: rust on a chain is no programming language."""
    word = sentence.words[mention.first]
    named = wanted.wording[:1].isupper() and mention.first == mention.last
    return (
        named
        and word.surface.islower()
        and bool(sentence.capitals)
        and not liked(sentence)
        and lookup(word.key) is not EMPTY
    )
