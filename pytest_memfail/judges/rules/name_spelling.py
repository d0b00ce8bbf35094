"""Where in a sentence the words of a name stand: in another form or spelling, joined or apart, cut short."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.kinship import SHARED, is_cut
from pytest_memfail.judges.rules.targets import Part, Target, loose, relatives, squash
from pytest_memfail.judges.rules.text import Sentence, Word, fold, words_of

LABELS: Final = frozenset(
    """note notes topic topics subject category type kind tag tags label labels keyword keywords context text memory fact detail
    details content summary info entry record item date title""".split()
)
"""What fields of notes are called: none of these is a word of a name that another field has."""
LABELLING: Final = re.compile(r"[\"']?\s*[:=]")
NUMBER: Final = re.compile(r"\d+")
SERIES: Final = re.compile(r"\d+(?:\s?[-/:\u2013]\s?\d+)+")
"""Numbers of which the order tells: "4-7-8 breathing", "16:8 fasting"."""


@lru_cache(maxsize=512)
def coded(code: str) -> re.Pattern[str]:
    """The code with or without a space between number and letters."""
    return re.compile(r"\b" + re.sub(r"(?<=\d)(?=[a-z])|(?<=[a-z])(?=\d)", r"[ -]?", code) + r"\b", re.IGNORECASE)


def phrase_at(target: Target, sentence: Sentence) -> tuple[int, int] | None:
    """Where all words of the phrase stand one after the other, the first and last in any form."""
    size = len(target.phrase)
    if not size:
        return None
    folded = tuple(fold(w) for w in target.phrase)
    words = sentence.words
    for i in range(len(words) - size + 1):
        if all(fold(w.lower) == f for w, f in zip(words[i : i + size], folded, strict=True)):
            return i, i + size - 1
    return None


def is_reordered(target: Target, sentence: Sentence) -> bool:
    """Whether the numbers of the name stand joined in another order: 50/20/30 for 50/30/20."""
    if len(target.digits) < 2:
        return False
    wanted = next(iter(_series(target.text)), ())
    found = _series(sentence.text) if wanted else ()
    return wanted not in found and any(sorted(one) == sorted(wanted) for one in found)


@lru_cache(maxsize=4096)
def _series(text: str) -> tuple[tuple[str, ...], ...]:
    """The numbers that stand joined in the text, those of each series in their order."""
    return tuple(tuple(NUMBER.findall(match[0])) for match in SERIES.finditer(text))


def initials_at(target: Target, sentence: Sentence) -> int | None:
    """Where the initials of the name stand in capitals, one or several of it."""
    if not target.initials or not sentence.lowers & {target.initials, f"{target.initials}s"}:
        return None
    for i, word in enumerate(sentence.words):
        bare = word.surface.removesuffix("s")
        if bare.casefold() == target.initials and bare.isupper():
            return i
    return None


def joined_at(target: Target, sentence: Sentence) -> int | None:
    """Where a name of two words is written as one."""
    if len(target.parts) != 2 and not (len(target.parts) == 1 and target.joined):
        return None
    spelled = _spelling(sentence)
    at = [spelled.squashed[joined] for joined in target.joined if joined in spelled.squashed]
    for joined in target.joined:
        at += spelled.loosely.get(joined, ())[:1] + spelled.loosely.get(loose(fold(joined)), ())[:1]
    return min(at, default=None)


@dataclass(frozen=True, slots=True)
class _Spelling:
    """Where the words with a key stand in a sentence, by how they are written."""

    loosely: dict[str, tuple[int, ...]]
    squashed: dict[str, int]
    pairs: dict[str, tuple[int, ...]]
    """Neighbours written together."""
    begins: dict[str, tuple[int, ...]]
    """Where a word begins so."""


@lru_cache(maxsize=4096)
def _spelling(sentence: Sentence) -> _Spelling:
    loosely: dict[str, tuple[int, ...]] = {}
    squashed: dict[str, int] = {}
    pairs: dict[str, tuple[int, ...]] = {}
    begins: dict[str, tuple[int, ...]] = {}
    for i, w in enumerate(sentence.words):
        if w.lower in LABELS and LABELLING.match(sentence.text, w.end):
            continue
        begins[w.lower[:SHARED]] = (*begins.get(w.lower[:SHARED], ()), i)
        if w.key:
            spelled = loose(w.key)
            loosely[spelled] = (*loosely.get(spelled, ()), i)
            squashed.setdefault(squash(w.lower), i)
    for i, (a, b) in enumerate(pairwise(sentence.words)):
        if a.key and b.key:
            one, other = fold(a.lower), fold(b.lower)  # not what they are but synonyms of
            for pair in {loose(fold(a.lower + b.lower)), one + other, other + one}:
                pairs[pair] = (*pairs.get(pair, ()), i)
    return _Spelling(loosely, squashed, pairs, begins)


def places_of(part: Part, sentence: Sentence) -> list[int]:
    """Where one word of the name stands."""
    spelled = _spelling(sentence)
    found = list(spelled.loosely.get(part.loose, ()))
    if not found and len(part.loose) >= 5:
        akin = relatives(part.loose) & spelled.loosely.keys()
        found = sorted(i for other in akin for i in spelled.loosely[other])
    if not found:
        found = [i for i in spelled.begins.get(part.key[:SHARED], ()) if is_cut(part.key, sentence.words[i].lower)]
    if not found and len(part.loose) > 5:
        found = list(spelled.pairs.get(part.loose, ()))
    return found


def is_exact(word: Word, key: str) -> bool:
    """Whether the word has the key itself, and does not only stand for it."""
    own = _own_key(word.lower)
    return own is not None and (own == key or loose(own) == loose(key))


def is_own(sentence: Sentence, at: int) -> bool:
    """Whether the word itself stands there, and not only one that stands for it."""
    word = sentence.words[at]
    return word.key not in sentence.aliased or is_exact(word, word.key)


@lru_cache(maxsize=16384)
def _own_key(lower: str) -> str | None:
    return next((word.key for word in words_of(lower)), None)
