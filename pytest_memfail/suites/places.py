"""Say where evidence is, if it is not in the conversation that a row names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from pytest_memfail.grading import states
from pytest_memfail.texts import fold

SAID: Final = 0.5
"""The share of a text's words that the conversation which states it should have."""


def elsewhere(wordings: Sequence[str], named: str, others: Iterable[tuple[str, str]]) -> str | None:
    """Return the name of the first other text with one of the wordings; None if the named text has one.

    The name is empty if no text has any. `others` are pairs of a name and a text.
    """
    if any(_has(named, wording) for wording in wordings):
        return None
    return next((name for name, text in others if any(_has(text, wording) for wording in wordings)), "")


def _has(text: str, wording: str) -> bool:
    """Return whether a text states a wording; a number is not stated by a longer one."""
    wanted = fold(wording)
    if not (wanted[:1].isdigit() or wanted[-1:].isdigit()):
        return states(text, wording)
    return re.search(rf"(?<!\d){re.escape(wanted)}(?!\d)", fold(text)) is not None


def better_said(
    wanted: frozenset[str], named: frozenset[str], others: Iterable[tuple[str, frozenset[str]]]
) -> tuple[float, str] | None:
    """Return the share of the wanted words in the named text, and the name of another text that has at least half.

    None if the named text has at least half; the name is empty if no text has. Texts are given by their words (`content`).
    """
    share = len(wanted & named) / len(wanted) if wanted else 1.0
    if share >= SAID:
        return None
    most, name = max(((len(wanted & words), name) for name, words in others), default=(0, ""), key=lambda one: one[0])
    return share, name if most >= SAID * len(wanted) else ""
