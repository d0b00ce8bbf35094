"""What the rules found out about one fact in one view, before it becomes the result of a stage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

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


def quote(source: str, words: Sequence[Word | str]) -> str:
    """The words as they stand in the source, from the first to the last; else simply one after the other."""
    texts = [word if isinstance(word, str) else word.lower for word in words]
    pattern = r"\W+".join(re.escape(part) for text in texts for part in re.split(r"\W+", text) if part)
    match = re.search(pattern, source, re.IGNORECASE) if pattern else None
    return match[0] if match else " ".join(texts)


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
    return quote(source, sentence.words[first : last + 1])


def keys_of(text: str) -> set[str]:
    """All content keys of a text."""
    return {key for sentence in sentences_of(text) for key in sentence.keys}


def listed(items: Iterable[str]) -> str:
    """Quoted and joined for a sentence.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    return ", ".join(f"'{plain(item)}'" for item in items)
