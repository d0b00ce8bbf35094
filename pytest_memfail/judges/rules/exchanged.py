"""Another thing in the place of one that is needed, in a sentence that is otherwise as it was said: the umbrella watered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import Finding, keys_of, stated_keys
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.measures import MEASURES
from pytest_memfail.judges.rules.rule_likeness import ALIKE, MATCHED, likeness, said, unlike
from pytest_memfail.judges.rules.text import Sentence, Word, sentences_of, weight
from pytest_memfail.judges.rules.view import View

SAME: Final = 0.75
"""Share of the words that stand in both sentences, in the same order, where the one was made from the other."""
SHARED: Final = 2
"""So many content words must be among them."""
ARTICLES: Final = frozenset("the a an his her its their my".split())
"""What stands behind them is a thing."""
ROOT: Final = 3
"""What begins alike may be the same in a shorter word: keys for a keyboard."""
MAIN: Final = 0.5
"""Share of what is needed that shows a sentence to tell the fact itself."""


def exchanged(evidence: Evidence, view: View, kept: Finding) -> Finding:
    """The finding of a fact that is kept, unless another thing stands in the place of one that it needs."""
    here = [view.sentences[at] for entry in kept.entries for at in range(view.first[entry], view.first[entry + 1])]
    as_said = {sentence.text for sentence in sentences_of(evidence.source)}
    for sentence in here:
        for word, instead in _instead(evidence, sentence) if sentence.text not in as_said else ():
            telling = [other for other in here if _tells(evidence, other, word.key)]
            if any(word.key in other.keys for other in telling):
                continue  # told right once, it is kept
            if sentence in telling or said(word.key, here) < MATCHED:
                reason = f"stored, but with {instead.surface!r} in the place of {word.surface!r}"
                return replace(
                    kept,
                    faithful=False,
                    reason=reason,
                    found=(),
                    missing=(word.surface,),
                    confidence=0.8,
                    fault="turned",
                )
    return kept


def _instead(evidence: Evidence, held: Sentence) -> Iterator[tuple[Word, Word]]:
    """Needed words of the source, and what stands for them in the sentence."""
    needed = frozenset[str]().union(*_needed(evidence))
    for told in sentences_of(evidence.source):
        if len(told.keys & held.keys) < SHARED or needed.isdisjoint(told.keys - held.keys):
            continue
        for word, instead in _aligned(told, held):
            new = held.keys - told.keys
            if (
                word.key in needed
                and word.key not in held.keys
                and weight(word.key) >= 1.0
                and (_is_thing(instead) or (_behind_article(word, told) and _behind_article(instead, held)))
                and (instead.surface.islower() or (_is_named(word, told) and _is_named(instead, held)))
                and not any(likeness(word.key, key) >= ALIKE for key in new)
                and _differ(word.key, instead.key)
                and instead.key not in _known(evidence)
            ):
                yield word, instead


def _tells(evidence: Evidence, sentence: Sentence, lost: str) -> bool:
    """Whether the sentence has so much of the rest of what the word is a part of that it tells the fact itself."""
    rest = [part - {lost} for part in _needed(evidence) if lost in part]
    return any(len(part & sentence.keys) >= MAIN * len(part) for part in rest)


def _is_thing(word: Word) -> bool:
    """Whether it names a thing, and not what a number counts in."""
    if word.lower in MEASURES:
        return False
    return word.key.isalpha() and weight(word.key) >= 1.0 and bool(kinds_of(word.key))


def _behind_article(word: Word, sentence: Sentence) -> bool:
    """Whether it names a thing by its place: no table has them all."""
    before = sentence.text[: word.start].rstrip().rpartition(" ")[2].lower()
    return before in ARTICLES and word.lower not in MEASURES and word.key.isalpha()


def _is_named(word: Word, sentence: Sentence) -> bool:
    """Whether it is written as a name is, and not because something begins with it."""
    return word.surface.istitle() and word.start > 0 and sentence.text[word.start - 2 : word.start - 1].isalnum()


def _differ(one: str, other: str) -> bool:
    return one[:ROOT] != other[:ROOT] and unlike(one, other)


@lru_cache(maxsize=16384)
def _aligned(said: Sentence, held: Sentence) -> tuple[tuple[Word, Word], ...]:
    """Pairs of words, the one of what was said and the one that stands between the same words in what is held."""
    mine, other = [_form(w) for w in said.words], [_form(w) for w in held.words]
    codes = SequenceMatcher(None, mine, other, autojunk=False).get_opcodes()
    same = sum(end - start for tag, start, end, _, _ in codes if tag == "equal")
    if same < SAME * min(len(mine), len(other)):
        return ()
    return tuple(
        (word, instead)
        for tag, start, end, at, to in codes
        if tag == "replace" and end - start == to - at
        for word, instead in zip(said.words[start:end], held.words[at:to], strict=True)
        if word.key and instead.key and word.key != instead.key
    )


def _form(word: Word) -> str:
    return word.key or word.lower


@lru_cache(maxsize=4096)
def _known(evidence: Evidence) -> frozenset[str]:
    """Every word that the source, the gold or the row's wordings have."""
    wordings = [text for detail in evidence.details for text in detail.wordings]
    return stated_keys(evidence).union(*map(keys_of, (evidence.entity or "", *wordings)))


@lru_cache(maxsize=4096)
def _needed(evidence: Evidence) -> tuple[frozenset[str], ...]:
    """The words without which the fact cannot be told, part by part."""
    if evidence.kind == "rule":
        parts = [evidence.behavior, evidence.condition]
    elif evidence.kind == "persona":
        parts = [detail.wordings[0] for detail in evidence.details] or [*evidence.telling] or [evidence.value]
    else:
        parts = [evidence.preference, *evidence.anchors, evidence.value]
    names = keys_of(evidence.entity or "") | keys_of(evidence.asked or "")
    return tuple(frozenset(keys_of(part)) - names for part in parts if part)
