"""Compare texts with gold values, as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Final

from pytest_memfail.grading.markers import is_hypothetical
from pytest_memfail.texts import NEGATIONS, STOP_WORDS, Term, content, fold, sentences, terms, words

_SKIPPED: Final = frozenset(("a", "an", "the", "and"))
"""Words that a text may have or lack, wherever they stand in a value."""
_ELSE: Final = frozenset(("or", "but", "versus", "vs", "except", "rather", "instead"))
"""Words that make something else of the words around them."""
_LISTS: Final = re.compile(r"[,;/+&]|\band\b", re.I)
REACH: Final = 3
"""A negation denies a value with fewer words than these between: "does not run on"."""
_CANCELS: Final = frozenset(("only", "forget", "but", "just"))
"""After a negation these assert what follows."""
_ENDED: Final = frozenset(("longer", "more", "anymore"))
"""After a negation these say that a value held before."""
_VERBS: Final = frozenset("is was are were does do did has have had will would".split())


def verbatim(gold: str, answer: str) -> bool:
    """Return whether an answer repeats a text verbatim, ignoring case, whitespace and the style of quotes.

    Quotes around the text and its final full stop are ignored.

    >>> verbatim("Spun slowly.", 'It says: "spun\\nslowly"')
    True
    """
    wanted = fold(gold).strip("\"'").rstrip(".")
    return bool(wanted) and wanted in fold(answer)


def same(one: str, other: str) -> bool:
    """Return whether two texts are the same value.

    Case, punctuation, brackets, articles, plural endings, hyphens, "&", "+" or "and", and numbers as digits or words do not
    matter. Every other word does, and so does the order.

    >>> same("paired (primary + secondary)", "Paired: primary and secondary"), same("two weeks", "3 weeks")
    (True, False)
    """
    first = joined(words(one))
    return bool(first) and first == joined(words(other))


def contains(value: str, answer: str) -> bool:
    """Return whether an answer gives a value (see `same`) and does not deny it.

    >>> contains("the Lissom automatic", "You drive your Lissom automatic."), contains("Lissom", "It is not the Lissom.")
    (True, False)
    """
    said = terms(answer)
    return any(not denied(said, *place) for place in places(value, [term.word for term in said]))


def names(value: str, answer: str) -> bool:
    """Return whether an answer has a value (see `same`), even to deny it."""
    return next(places(value, words(answer)), None) is not None


def states(text: str, value: str) -> bool:
    """Return whether a text contains a value, verbatim or by its words."""
    return bool(value) and (verbatim(value, text) or names(value, text))


def fits(value: str, said: Sequence[Term], first: int, last: int) -> bool:
    """Return whether a stretch of text that has all words of a value gives the value.

    Words may stand between those of the value, unless they make something else of it: another name or number, "or", a
    negation. A changed order is another way to say the same only if nothing stands between.
    """
    wanted = words(value)
    own, inside = set(wanted), [term.word for term in said[first : last + 1]]
    between = [term for term in said[first : last + 1] if term.word not in own]
    if [word for word in inside if word in NEGATIONS] != [word for word in wanted if word in NEGATIONS]:
        return False
    if any((t.is_name and t.word not in STOP_WORDS) or _is_number(t.word) or t.word in _ELSE for t in between):
        return False
    if any(t.word == "and" for t in between) and not _LISTS.search(value):
        return False
    rest = iter(inside)
    if not all(word in rest for word in wanted if word in inside):
        beside = [said[at] for at in (first - 1, last + 1) if 0 <= at < len(said)]
        if any(t.word not in STOP_WORDS for t in between) or sum(map(_is_number, wanted)) > 1:
            return False
        if any(t.is_name and t.word not in STOP_WORDS for t in beside):
            return False
    return inside[0] in NEGATIONS or not denied(said, first, last, ended=False)


def denied(said: Sequence[Term], first: int, last: int, *, ended: bool = True) -> bool:
    """Return whether a negation near a stretch of text denies it; "no longer" does so only with `ended`."""
    between: list[str] = []
    at = first
    while at and not said[at].starts and len(between) < REACH:
        at -= 1
        if said[at].word in NEGATIONS:
            return _denies(between, ended=ended)
        if said[at].word not in _SKIPPED:
            between.append(said[at].word)
    after = [term.word for term in takewhile(lambda term: not term.starts, said[last + 1 : last + 4])]
    if len(after) > 1 and after[0] in _VERBS and after[1] in NEGATIONS:
        return ended and _denies(after[2:], ended=ended)
    return False


def _denies(near: Sequence[str], *, ended: bool) -> bool:
    return not _CANCELS & set(near) and (ended or not _ENDED & set(near))


def asserts(text: str, value: str) -> bool:
    """Return whether a sentence of a text states a value as a fact, not as a possibility.

    >>> asserts("If it breaks, we take Tugrope.", "Tugrope"), asserts("We take Tugrope.", "Tugrope")
    (False, True)
    """
    said = (sentence for sentence in sentences(text) if contains(value, sentence) or verbatim(value, sentence))
    return any(not is_hypothetical(sentence) for sentence in said)


def share(value: str, answer: str) -> float:
    """Return the share of a value's meaningful words that an answer contains."""
    wanted = content(value)
    return len(wanted & set(words(answer))) / len(wanted) if wanted else 0.0


def ordered(values: Sequence[str], answer: str) -> bool:
    """Return whether an answer names all values in order."""
    return bool(values) and longest_run(values, answer) == len(values)


def longest_run(values: Sequence[str], answer: str) -> int:
    """Return the length of the longest run of consecutive values of the history that an answer names in order.

    >>> longest_run(["Tollund", "Vessary", "Amber"], "First Vessary, then Amber.")
    2
    """
    said, best = words(answer), 0
    found = [[first for first, _ in places(value, said)] for value in values]
    for start in range(len(values)):
        at, run = -1, 0
        for firsts in found[start:]:
            after = next((place for place in firsts if place > at), None)
            if after is None:
                break
            at, run = after, run + 1
        best = max(best, run)
    return best


def places(value: str, said: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last place of each stretch of words that is the value (see `same`)."""
    wanted = joined(words(value))
    for first in range(len(said)):
        if (last := stretch(wanted, said, first)) is not None:
            yield first, last


def stretch(wanted: str, said: Sequence[str], first: int) -> int | None:
    """Return the last place of the stretch from `first` whose words, joined, are `wanted`; None if they are not."""
    if said[first] in _SKIPPED or not wanted:
        return None
    found = ""
    for last in range(first, len(said)):
        found += "" if said[last] in _SKIPPED else _fenced(said[last])
        if not wanted.startswith(found):
            return None
        if found == wanted:
            return last
    return None


def joined(value: Sequence[str]) -> str:
    """Return the words of a value as one text, in which "on call" and "oncall" are the same, and "1 2" and "12" are not."""
    return "".join(_fenced(word) for word in value if word not in _SKIPPED)


@lru_cache(maxsize=65536)
def _fenced(word: str) -> str:
    return f" {word} " if _is_number(word) or word in NEGATIONS or word in _ELSE else word


def _is_number(word: str) -> bool:
    return any(map(str.isdigit, word))


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall; 0 if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
