"""The rules for any text of a model before it becomes a cell."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import AfterValidator

from pytest_memfail.core import one_line
from pytest_memfail.texts import plain_words

SHORT: Final = 200
LONG: Final = 500
ESSAY: Final = 5000
"""The most characters of a name or phrase, of a sentence or question, and of an essay: three times the longest
published."""
FORMULA: Final = ("=", "+", "-", "@")
"""Spreadsheets run cells that start with these as formulas."""
UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Unicode categories of invisible characters: control and format characters, surrogates, private and unassigned
ones."""
STEM: Final = 4
COMMON: Final = frozenset(
    "about after before been does during every from gets have into just least less like more most only over some than that "
    "their them then there they this under until when with while".split()
)

Line = Annotated[str, AfterValidator(lambda text: " ".join(text.split()))]
"""A text on one line: models put line breaks into essays, which are one cell and one message here."""


def text_faults(field: str, text: str, most: int) -> Iterator[str]:
    """Yield the faults of a text, each as a rule for the model."""
    if not text:
        yield f"{field}: got nothing, expected a text"
        return
    if len(text) > most:
        yield f"{field}: got {len(text)} characters, expected {most} at most"
    if unseen := sorted({f"U+{ord(c):04X}" for c in text[: 10 * most] if unicodedata.category(c) in UNSEEN}):
        yield f"{field}: holds {', '.join(unseen[:3])}, expected only characters that can be seen"
    if text.startswith(FORMULA):
        yield f"{field}: begins with {text[0]!r}, expected a letter, a digit or a quotation mark"


def quoted(text: object) -> str:
    """Return a short excerpt of a model's text for a message."""
    return repr(one_line(text, 60))


def stems(phrase: str) -> frozenset[str]:
    """Return the stems of the content words of a phrase; of all words if it has none.

    >>> sorted(stems("when it has been raining"))
    ['rain']
    """
    words = plain_words(phrase)
    carrying = [word for word in words if (len(word) >= STEM and word not in COMMON) or any(map(str.isdigit, word))]
    return frozenset(word[:STEM] for word in carrying or words)
