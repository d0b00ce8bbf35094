"""A preference told by its kind alone: "a Nordic country" for Iceland, "Latin dancing" for salsa, "some hot drink" for a tea."""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.judges.rules.attitude import is_liking, liked
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.kinship import Kin
from pytest_memfail.judges.rules.lexicon import lookup, paraphrases
from pytest_memfail.judges.rules.preference_reading import Preference
from pytest_memfail.judges.rules.preference_words import soft_support, stands_for
from pytest_memfail.judges.rules.text import Sentence, Word, fold, weight
from pytest_memfail.judges.rules.traces import ASKING, HAVING, LISTED, Trace
from pytest_memfail.judges.rules.verbatim import word_for_word
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose import owner
from pytest_memfail.judges.rules.whose_after import MINE

BACKED: Final = 0.2
"""Share of our statement, in whatever words, with which "some kind of drink" is ours."""
STANDS: Final = 0.5
"""What a word of the statement is worth that goes with the kind."""
REACH: Final = 5
"""How many words before the kind a vague one may stand."""
SOME: Final = re.compile(
    r"\b(?:some|a (?:certain|particular|kind|sort|type)|one (?:of the|kind|sort|type)"
    r"|(?:any|another|various|several) (?:kinds?|sorts?|types?))\b[^,.;:]*$",
    re.IGNORECASE,
)
"""What shows the thing before which it stands to be left open."""
DIRECTIONS: Final = frozenset(
    fold(word) for word in "north south east west northern southern eastern western southeast southwest".split()
)


def told_by_kind(wanted: Preference, view: View, asked: frozenset[str]) -> Trace | None:
    """The user's sentence that names the kind alone, with nothing before it but what goes with the preference."""
    heads = asked.union(
        *(
            kinds_of(part.key) | paraphrases(part.key).near
            for target in wanted.targets[:1]
            for part in target.parts[-1:]
        )
    )
    for at in sorted({at for key in heads & view.postings.keys() for at in view.postings[key]}):
        sentence = view.sentences[at]
        if ASKING.search(sentence.text) or word_for_word(view, at):
            continue
        found = next((i for i in range(len(sentence.words)) if _is_kind(wanted, sentence, i, heads)), None)
        if found is not None and owner(view, at, len(sentence.words), -1) == MINE:
            return Trace(at, (sentence.words[found].surface,), 0.6)
    return None


def _is_kind(wanted: Preference, sentence: Sentence, at: int, heads: frozenset[str]) -> bool:
    """Whether the word is what is liked, and says of what kind the preference is."""
    words = sentence.words
    word = words[at]
    following = words[at + 1] if at + 1 < len(words) else None
    if fold(word.lower) not in heads or LISTED.match(sentence.text, word.end):
        return False
    if (
        following is not None
        and following.key[:1].isalpha()
        and sentence.text[word.end : following.start] in (" ", "-")
    ):
        return False  # it is part of another name
    backed = soft_support(wanted.context, [sentence]) >= BACKED
    if backed and SOME.search(sentence.text[words[max(0, at - REACH)].start : word.start]):
        return True
    before = [fold(w.lower) for w in _before(sentence, at)]
    if wanted.topic.union(DIRECTIONS).issuperset(before) or not all(_goes_with(wanted, key) for key in before):
        return False
    return backed or liked(sentence) or HAVING.search(sentence.text) is not None


def _before(sentence: Sentence, at: int) -> list[Word]:
    """The telling words directly before the word."""
    words = sentence.words
    found = []
    while at and sentence.text[words[at - 1].end : words[at].start] in (" ", "-"):
        at -= 1
        if not words[at].key or is_liking(words[at].lower):
            break
        if weight(words[at].key) >= 1.0:
            found.append(words[at])
    return found


def _goes_with(wanted: Preference, key: str) -> bool:
    """Whether the word may be said of the preference: of its kind, where it comes from, what was said of it."""
    if key in wanted.topic | DIRECTIONS:
        return True
    for part in wanted.name:
        told = paraphrases(part)
        if key in told.same | told.near | kinds_of(part) | lookup(part).general or part in paraphrases(key).near:
            return True
    return any(_stands(one, key) for one in wanted.context)


def _stands(wanted: str, held: str) -> bool:
    how, worth = stands_for(wanted, held)
    return how is not Kin.GENERAL and worth >= STANDS
