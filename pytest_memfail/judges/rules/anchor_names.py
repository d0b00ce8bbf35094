"""Where a wording that a row lists stands for the end of a link: its words in their order, with little between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pytest_memfail.judges.rules.anchor_words import Token
from pytest_memfail.judges.rules.text import sentences_of

NAMED: Final = 0.9
"""What a wording of the row is worth of the end."""
APART: Final = 2
"""Other words that may stand between two of such a wording."""


def in_order(wordings: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The keys of each wording, in its order."""
    found = (tuple(word.key for s in sentences_of(wording) for word in s.words if word.key) for wording in wordings)
    return tuple(dict.fromkeys(keys for keys in found if keys))


def by_name(
    wordings: Iterable[tuple[str, ...]], parts: int, tokens: Sequence[Token]
) -> Iterator[tuple[int, int, float]]:
    """Where a wording stands, word by word: the place, which of so many parts of the end it is taken for, and what it is worth."""
    keys = [token.key for token in tokens]
    for wording in wordings:
        if wording[0] not in keys or not set(wording).issubset(keys):
            continue
        for start, key in enumerate(keys):
            at = _follow(wording, tokens, start) if key == wording[0] else ()
            for number in range(max(parts, len(at)) if at else 0):
                yield at[min(number, len(at) - 1)], min(number, parts - 1), NAMED


def _follow(wording: tuple[str, ...], tokens: Sequence[Token], start: int) -> tuple[int, ...]:
    """Where the words of the wording are that begins here, if all of it is there."""
    at = [start]
    for key in wording[1:]:
        behind = range(at[-1] + 1, min(len(tokens), at[-1] + 2 + APART))
        found = next((i for i in behind if tokens[i].key == key), None)
        if found is None or any(tokens[i].wall for i in range(at[-1] + 1, found + 1)):
            return ()
        at.append(found)
    return tuple(at)
