"""Split texts into sentences and clauses.

`sentences` is for any text. The other splitters differ on purpose: published rows, records and the judge's weights depend on
where they split.
"""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.texts.words import QUOTES, UNSPACED, spellings

_BREAK: Final = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？।])|\n+")
_TITLES: Final = frozenset("dr mr mrs ms st prof no vs e.g i.e".split())
_BEFORE_CAPITAL: Final = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]*[A-Z0-9])")
_SHORT: Final = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|No|Nos|a\.m|p\.m)\.$")
_AFTER_STOP: Final = re.compile(r"(?<=[.!?])\s+")
_STATEMENT: Final = re.compile(r"(?<=[.!?…])[\"')\]]*\s+(?=\S)|\s*[;•|]\s+|\s+(?:->|→|=>)\s+(?=[A-Z])")
_DOTTED: Final = re.compile(
    r"\b(Mr|Mrs|Ms|Dr|St|Prof|vs|e\.g|i\.e|etc|approx|No|min|hrs?|a\.m|p\.m)\.(?= )", re.IGNORECASE
)
_CLAUSE: Final = re.compile(r"[;()]|[,:](?!\d)|(?<!\d)[,:]|\s-+\s")
_STOP: Final = re.compile(r"[.!?:;|\]\n•。।؟؛]")
_COMMA: Final = re.compile(rf"[.!?:;|\]\n•。।؟؛,،、()—]|(?<=[{UNSPACED}])\s+(?=[{UNSPACED}])")
"""Punctuation at the end of a sentence, and at that of a clause; scripts without spaces use one as punctuation."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; a line ends a sentence, and a title such as "Dr." does not."""
    parts: list[str] = []
    for part in _BREAK.split(text):
        if parts and _ends_in_title(parts[-1]):
            parts[-1] += f" {part}"
        elif part.strip():
            parts.append(part)
    return [part.strip() for part in parts]


def _ends_in_title(part: str) -> bool:
    return part.endswith(".") and part.rstrip(".").rpartition(" ")[2].lstrip("([\"'").casefold() in _TITLES


def essay_sentences(text: str) -> list[str]:
    """Return the sentences of an essay, the next of which begins with a capital letter or a digit, on any line.

    >>> essay_sentences("Dr. Ames hums. She is 40.")
    ['Dr. Ames hums.', 'She is 40.']
    """
    parts: list[str] = []
    for part in _BEFORE_CAPITAL.split(text.strip()):
        if parts and _SHORT.search(parts[-1]):
            parts[-1] += f" {part}"
        else:
            parts.append(part)
    return parts


def statements(line: str) -> list[str]:
    """Return the statements of a line: sentences without the dots of abbreviations, and items set off by ";", "|" or an arrow."""
    line = _DOTTED.sub(r"\1", " ".join(line.split()))
    return [part for part in (piece.strip() for piece in _STATEMENT.split(line)) if part]


def after_stops(text: str) -> list[str]:
    """Return the parts of a text after each full stop, question mark or exclamation mark, as they are."""
    return _AFTER_STOP.split(text)


def clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence, split at commas, colons, dashes and brackets."""
    return [part for part in _CLAUSE.split(sentence.translate(QUOTES)) if part.strip()]


def has_sentence(entry: str, text: str, *, within: bool = False) -> bool:
    """Return whether an entry has a text word for word, in any script, as sentences of its own.

    With `within`, commas may bound it too: a text that other words follow at once may mean something else.

    >>> has_sentence("Note: he rows. He reads, too.", "He rows"), has_sentence("He rows on Mars.", "He rows")
    (True, False)
    >>> has_sentence("He reads, too.", "he reads"), has_sentence("He reads, too.", "he reads", within=True)
    (False, True)
    """
    wanted = [match[0] for match in spellings(text)[1]]
    held, found = spellings(entry)
    words_held = [match[0] for match in found]
    bound, size = _COMMA if within else _STOP, len(wanted)
    for at in range(len(found) - size + 1 if wanted else 0):
        if words_held[at : at + size] == wanted:
            last = at + size - 1
            if (not at or bound.search(held, found[at - 1].end(), found[at].start() + 1)) and (
                last + 1 == len(found) or bound.search(held, found[last].end(), found[last + 1].start() + 1)
            ):
                return True
    return False
