"""Whether a store keeps what the user said word for word."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Final

from pytest_memfail.judges.rules.text import sentences_of
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose_words import FIRST_PERSON, NARRATED

MOSTLY: Final = 0.6
"""Share of a store's sentences in the first person that shows it to keep what was said."""


def word_for_word(view: View, at: int) -> bool:
    """Whether the sentence reads like one that the user said, in a store that keeps what was said."""
    sentence = view.sentences[at]
    if view.shared.get("restated"):
        return False
    if sentence.lowers & FIRST_PERSON and not sentence.lowers & NARRATED:
        return True
    return not sentence.lowers & NARRATED and verbatim_store(view)


def verbatim_store(view: View) -> bool:
    """Whether most of the view's sentences are the user's own."""
    known = view.shared.get("first person")
    if known is None:
        spoken = sum(bool(s.lowers & FIRST_PERSON) for s in view.sentences)
        known = view.shared["first person"] = spoken >= MOSTLY * max(1, len(view.sentences))
    assert isinstance(known, bool)
    return known


def keeps(view: View, statements: Iterable[str]) -> bool:
    """Whether one of the statements stands in the view as it was said."""
    known = view.shared.get("texts")
    if known is None:
        known = view.shared["texts"] = frozenset(sentence.text for sentence in view.sentences)
    assert isinstance(known, frozenset)
    return any(sentence.text in known for statement in statements for sentence in sentences_of(statement))


def as_kept(view: View, statements: Iterable[str]) -> View:
    """The view, or, where it speaks as the user but has none of the statements as it was said, as one that puts all in other words."""
    if not verbatim_store(view) or keeps(view, statements):
        return view
    restated = copy(view)
    restated.results = {}
    restated.shared = {**view.shared, "first person": False, "restated": True}
    return restated
