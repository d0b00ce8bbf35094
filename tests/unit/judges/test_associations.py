"""Words spoken of together, told from words that exclude each other."""

from __future__ import annotations

import pytest

from pytest_memfail.judges.rules.associations import association, contrast
from pytest_memfail.judges.rules.lexicon import nearness
from pytest_memfail.judges.rules.text import fold


@pytest.mark.parametrize(
    ("one", "other"), [("beach", "coast"), ("coding", "programming"), ("suburb", "outskirts"), ("parrot", "bird")]
)
def test_what_is_spoken_of_together(one: str, other: str) -> None:
    assert 0.45 <= association(fold(one), fold(other)) <= 1
    assert association(fold(one), fold(other)) == association(fold(other), fold(one))
    assert not contrast(fold(one), fold(other))


@pytest.mark.parametrize(
    ("one", "other"), [("tea", "coffee"), ("sushi", "tempura"), ("forget", "remember"), ("knit", "crochet")]
)
def test_what_excludes_each_other_is_not_associated(one: str, other: str) -> None:
    assert contrast(fold(one), fold(other))
    assert contrast(fold(other), fold(one))
    assert not association(fold(one), fold(other))


def test_synonyms_are_left_to_the_lexicon() -> None:
    assert nearness(fold("sofa"), fold("couch")) > 0
    assert association(fold("sofa"), fold("couch")) == 0


def test_unknown_words_have_nothing() -> None:
    assert association("qqqq", "beach") == 0
    assert not contrast("qqqq", "beach")
