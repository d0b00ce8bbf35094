"""Curated wordings of a detail, read once, and how much of one stands in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.polarity import is_negator
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.text import Sentence, plain, sentences_of
from pytest_memfail.judges.rules.view import View, needs

WHOLE: Final = 0.75
"""Share that keeps a wording of four or more words; shorter ones must be whole."""
LONG: Final = 4
STRONG: Final = 1.0
CHANGED: Final = 0.4
"""What is left of a wording whose number was changed."""
CODE: Final = re.compile(r"(?<![\w.,:])(?:[^\W\d_]{1,3}[- ]?\d+|\d+[^\W\d_]{1,3})(?![\w])")
"""A number with letters to it, such as X3, B1 or 3U, is a name: the number alone does not keep it."""
JOINED: Final = re.compile(r"[a-z][A-Z]")
"""Two words written as one, such as OkapiS: no ending may be taken off it."""
UNIT: Final = re.compile(r"\d(?:am|pm|mg|kg|km|cm|mm|ml|g|m|h|k|C|F)$|^(?:no|GBP|USD|EUR) ?\d", re.IGNORECASE)

DECIMAL_COMMA: Final = re.compile(r"\b(\d+),(\d{1,2})\b")


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of a detail, read once."""

    text: str
    need: tuple[tuple[str, float], ...]
    numbers: tuple[Quantity, ...]
    negative: bool
    letters: frozenset[str]
    """Single letters, which have no key: the O of O negative."""
    literal: re.Pattern[str] | None
    """What must stand there word for word, where the words by themselves say too little."""

    @property
    def size(self) -> int:
        """How many words and numbers tell."""
        return len(self.need) + len(self.numbers)


@lru_cache(maxsize=8192)
def read_wording(text: str) -> Wording:
    """The wording's words, quantities and negation."""
    sentences = sentences_of(DECIMAL_COMMA.sub(r"\1.\2", text))
    words = [w for s in sentences for w in s.words]
    numbers = tuple(q for s in sentences for q in quantities(s.text, s.words))
    need = needs(key for s in sentences for key in s.keys)
    letters = frozenset(w.lower for w in words if len(w.lower) == 1 and w.lower.isalpha()) - {"a", "i"}
    joined = bool(JOINED.search(text))
    code = bool(CODE.search(text)) and not UNIT.search(text.strip())
    vague = not numbers and sum(need.values()) < STRONG
    negative = any(is_negator(w.lower) for w in words)
    return Wording(
        text, tuple(need.items()), numbers, negative, letters, _literal(text) if code or vague or joined else None
    )


def _literal(text: str) -> re.Pattern[str]:
    parts = re.findall(r"\w+(?:'\w+)*", plain(text))
    return re.compile(r"(?<!\w)" + r"\W{0,3}".join(map(re.escape, parts)) + r"(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=8192)
def _in_order(text: str) -> re.Pattern[str] | None:
    parts = re.findall(r"\w+(?:'\w+)*", plain(text))
    return re.compile(r"\W{0,3}".join(map(re.escape, parts)), re.IGNORECASE) if parts else None


def verbatim(wording: str, text: str) -> re.Match[str] | None:
    """Where the wording stands in the text, if it does word for word."""
    pattern = _in_order(wording)
    return pattern.search(text) if pattern else None


def share_of(wording: Wording, sentences: list[Sentence]) -> float:
    """The share of the wording that stands in the sentences; 1.0 keeps it."""
    if wording.literal is not None:
        return float(any(wording.literal.search(s.text) for s in sentences))
    if wording.letters and not any(wording.letters <= s.lowers for s in sentences):
        return 0.0
    keys = frozenset().union(*(s.keys for s in sentences))
    total = sum(value for _, value in wording.need) + len(wording.numbers)
    got = sum(value for key, value in wording.need if key in keys)
    stated = [q for s in sentences for q in quantities(s.text, s.words)] if wording.numbers else []
    for number in wording.numbers:
        if not any(number.same(q) and number.direction * q.direction >= 0 for q in stated):
            return CHANGED * got / total  # a changed number makes another detail, whatever the words around it
        got += 1
    share = got / total
    if wording.negative and not any(is_negator(w.lower) for s in sentences for w in s.words):
        share = min(share, 0.5)
    return 1.0 if share >= WHOLE and wording.size >= LONG else share


def candidates(wording: Wording, view: View, among: frozenset[int] | None = None) -> list[int]:
    """The sentences, of all or of some, that may hold the wording, or a part of it."""
    strong = [key for key, value in wording.need if value >= STRONG] or [key for key, _ in wording.need]
    if among is not None and strong:
        return sorted([i for i in among if not view.sentences[i].keys.isdisjoint(strong)])
    if strong:
        found: Iterable[int] = {i for key in strong for i in view.postings.get(key, ())}
    elif wording.literal is None:
        found = numbered(view)
    else:
        found = range(len(view.sentences))
    return sorted(found if among is None else among.intersection(found))


def numbered(view: View) -> list[int]:
    """The sentences that state any number."""
    known = view.shared.get("numbered")
    if known is None:
        keys = [key for key in view.postings if key[0].isdigit() or key in ("noon", "midnight")]
        known = view.shared["numbered"] = sorted({i for key in keys for i in view.postings[key]})
    assert isinstance(known, list)
    return known
