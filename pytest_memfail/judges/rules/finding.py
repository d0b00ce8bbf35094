"""What the rules found out about one fact in one view, before it becomes the result of a stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.text import Sentence, Word, plain, sentences_of


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether the fact is there, whether it is whole, and why."""

    present: bool
    faithful: bool
    reason: str
    """One sentence that holds for the first of the two that failed, or for both."""
    entries: tuple[int, ...] = ()
    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    confidence: float = 0.9
    label: str | None = None
    fault: Literal["", "turned", "elsewhere"] = ""
    """What no wording can excuse: said the other way round, or of somebody else."""
    vacuous: bool = False
    """Whether nothing is there of a state that was taken back."""


def quote(source: str, words: Sequence[Word | str]) -> str:
    """The words as they stand in the source, from the first to the last; else simply one after the other.

    >>> quote("On days above 12°C, she sings.", ["above", "12", "c"])
    'above 12°C'
    """
    texts = [word if isinstance(word, str) else word.lower for word in words]
    squashed, at = _squashed(source)
    wanted, _ = _squashed(" ".join(texts))
    start = squashed.find(wanted) if wanted else -1
    while (
        start > 0 and at[start] == at[start - 1] + 1 and source[at[start]].isalpha() and source[at[start] - 1].isalpha()
    ):
        start = squashed.find(wanted, start + 1)  # in the middle of a word
    return source[at[start] : at[start + len(wanted) - 1] + 1] if start >= 0 else " ".join(texts)


@lru_cache(maxsize=256)
def _squashed(source: str) -> tuple[str, tuple[int, ...]]:
    """Letters and digits alone, in lower case, each with its place: so punctuation and "a.m." never hide a match."""
    at = [i for i, char in enumerate(source) if char.isalnum()]
    return "".join([source[i].lower()[0] for i in at]), tuple(at)


def passage(source: str, sentence: Sentence, keys: Iterable[str], at_most: int = 12) -> str:
    """The stretch of a source sentence that holds the keys, in the source's own wording."""
    wanted = set(keys)
    at = [i for i, word in enumerate(sentence.words) if word.key in wanted]
    if not at:
        return ""
    first, last = at[0], at[-1]
    if last - first >= at_most:
        # Too long to point at: the densest stretch says more than the whole sentence.
        first = max(at, key=lambda i: (sum(i <= j < i + at_most for j in at), -i))
        last = max(j for j in at if first <= j < first + at_most)
    place = source.find(sentence.text)
    if place >= 0:
        return source[place + sentence.words[first].start : place + sentence.words[last].end]
    return quote(source, sentence.words[first : last + 1])


def keys_of(text: str) -> set[str]:
    """All content keys of a text."""
    return {key for sentence in sentences_of(text) for key in sentence.keys}


@lru_cache(maxsize=4096)
def stated_keys(evidence: Evidence) -> frozenset[str]:
    """Every key that the fact and its source have."""
    parts = (
        evidence.source,
        evidence.text,
        evidence.behavior,
        evidence.condition,
        evidence.preference,
        evidence.value,
        *evidence.anchors,
    )
    return frozenset(key for part in parts if part for key in keys_of(part))


def written(key: str, sentences: Iterable[Sentence]) -> str:
    """The key as it is written in the first of the sentences that has it."""
    return next((word.surface for sentence in sentences for word in sentence.words if word.key == key), key)


def listed(items: Iterable[str]) -> str:
    """Quoted and joined for a sentence.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    return ", ".join(f"'{plain(item)}'" for item in items)
