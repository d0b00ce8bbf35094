"""Tokens of English text: base forms, names, function words, and characters made plain."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.english import DAYS, MONTHS, NUMBERS, STOP, Token, key_of, plain, tokens_of

FEW = settings(max_examples=60, deadline=None, database=None, derandomize=True)


def keys(text: str) -> list[str]:
    """Return the keys of the words with content."""
    return [token.key for token in tokens_of(plain(text)) if token.key]


def names(text: str) -> list[str]:
    return [token.surface for token in tokens_of(plain(text)) if token.is_name]


@pytest.mark.parametrize(
    "forms",
    [
        "write writes wrote written writing",
        "child children",
        "goose geese",
        "stop stops stopped stopping",
        "carry carries carried carrying",
        "church churches",
        "happy happier happiest",
        "buy buys bought buying",
    ],
)
def test_forms_of_a_word_have_one_key(forms: str) -> None:
    assert len({key_of(form) for form in forms.split()}) == 1


@pytest.mark.parametrize("words", ["bread bred", "tea team", "goose moose", "paint pint", "bus busy"])
def test_different_words_have_different_keys(words: str) -> None:
    one, other = words.split()
    assert key_of(one) != key_of(other)


def test_function_words_have_no_key() -> None:
    assert [word for word in sorted(STOP - NUMBERS.keys()) if key_of(word)] == []


@pytest.mark.parametrize("word", ["don't", "can't", "won't", "isn't", "quillon's"])
def test_an_apostrophe_is_part_of_a_word(word: str) -> None:
    (token,) = tokens_of(word)
    assert token.surface == word


def test_a_key_is_the_key_of_itself() -> None:
    known = sorted(lexicon.counts())[::397]
    assert len(known) > 100
    unstable = [word for word in known if key_of(word) and key_of(key_of(word)) != key_of(word)]
    assert len(unstable) <= len(known) / 50


@pytest.mark.parametrize(
    ("short", "full"), [("Tue", "Tuesday"), ("hrs", "hours"), ("Sept", "September"), ("km", "kilometres")]
)
def test_common_abbreviations_have_the_key_of_the_word(short: str, full: str) -> None:
    assert keys(f"on {short}") == keys(f"on {full}")


@pytest.mark.parametrize(
    ("word", "number"), [("eleven", "11"), ("11", "11"), ("1,000", "1000"), ("1.50", "1.5"), ("third", "3")]
)
def test_numbers_are_digits(word: str, number: str) -> None:
    assert keys(f"about {word}") == [number]


def test_an_accent_makes_no_other_word() -> None:
    assert keys("a naïve café") == keys("a naive cafe")


# -- names -------------------------------------------------------------------------------------------------------------


def test_a_capital_in_a_sentence_is_a_name() -> None:
    assert names("the dog of Rose and of Quillon") == ["Rose", "Quillon"]


def test_a_word_that_opens_a_sentence_is_a_name_only_if_it_is_no_word() -> None:
    assert names("Bread is baked. Quillon bakes. Ovens are hot.") == ["Quillon"]
    assert names('"Bread," said Quillon: "Ovens"') == ["Quillon"]


@pytest.mark.parametrize("word", sorted(w.capitalize() for w in DAYS | MONTHS - {"may", "march", "august"}))
def test_days_and_months_are_no_names(word: str) -> None:
    assert names(f"we met on {word}") == []


@pytest.mark.parametrize("word", ["I", "The", "She", "NASA", "Two", "Every"])
def test_function_words_numbers_and_capitals_are_no_names(word: str) -> None:
    assert names(f"we met and {word} ran") == []


def test_a_name_keeps_its_key_with_a_possessive() -> None:
    assert keys("the kettle of Quillon")[-1] == keys("that is Quillon's")[-1] == "@quillon"
    assert keys("that is Quillon’s") == keys("that is Quillon's")


def test_names_that_are_known_are_names_however_they_are_spelt() -> None:
    known = frozenset({"rose"})
    assert [token.is_name for token in tokens_of("rose waters a plant", known)] == [True, False, False, False]
    assert not any(token.is_name for token in tokens_of("rose waters a plant"))


# -- any text ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("set_by_a_typesetter", "typed"), [("it’s", "it's"), ("“tea”", '"tea"'), ("7–9", "7-9"), ("a\u00a0b", "a b")]
)
def test_typographic_characters_are_made_plain(set_by_a_typesetter: str, typed: str) -> None:
    assert plain(set_by_a_typesetter) == typed


@FEW
@given(st.text(max_size=60))
def test_any_text_has_tokens_in_order(text: str) -> None:
    text = plain(text)
    end = 0
    for token in tokens_of(text):
        assert token.start >= end
        assert text[token.start : token.end] == token.surface
        end = token.end


@FEW
@given(st.text(max_size=60))
def test_every_letter_and_digit_is_in_a_token(text: str) -> None:
    text = plain(text)
    covered = {at for token in tokens_of(text) for at in range(token.start, token.end)}
    assert all(at in covered for at, c in enumerate(text) if c.isascii() and c.isalnum())


@FEW
@given(st.text("abcdefghijklmnopqrstuvwxyzéß'", min_size=1, max_size=14).filter(lambda word: word.strip("'")))
def test_a_key_has_no_capital_and_no_space(word: str) -> None:
    for token in tokens_of(word):
        assert isinstance(token, Token)
        assert token.key == token.key.casefold()
        assert " " not in token.key


# -- words that are like each other ------------------------------------------------------------------------------------


def test_a_word_is_most_like_itself_and_a_synonym_more_than_a_kind() -> None:
    same, synonym, kind, none = (
        lexicon.similarity("dog", "dog"),
        lexicon.similarity("sofa", "couch"),
        lexicon.similarity("beagle", "dog"),
        lexicon.similarity("dog", "window"),
    )
    assert 1 == same > synonym > kind > none == 0


def test_a_kind_says_more_than_what_it_is_a_kind_of() -> None:
    assert lexicon.similarity("dog", "beagle") > lexicon.similarity("beagle", "dog") > 0


@pytest.mark.parametrize(("one", "other"), [("hot", "cold"), ("love", "hate"), ("remember", "forget"), ("7", "8")])
def test_opposites_and_other_numbers_are_rivals_and_not_alike(one: str, other: str) -> None:
    for a, b in ((one, other), (other, one)):
        assert lexicon.similarity(a, b) == 0
        assert lexicon.is_rival(a, b)


@pytest.mark.parametrize(("one", "other"), [("sofa", "couch"), ("dog", "beagle"), ("dog", "dog"), ("tea", "window")])
def test_words_that_are_alike_or_unrelated_are_no_rivals(one: str, other: str) -> None:
    assert not lexicon.is_rival(one, other)
    assert not lexicon.is_rival(other, one)


def test_an_unknown_word_has_no_relatives() -> None:
    assert lexicon.lookup("qqqq") is lexicon.EMPTY
    assert not lexicon.similarity("qqqq", "beach")
    assert not lexicon.is_rival("qqqq", "beach")


def test_a_rare_word_tells_more_than_a_frequent_one() -> None:
    assert 0 < lexicon.weight("person") < lexicon.weight("accordion") <= 1
    assert lexicon.weight("7") == lexicon.weight("@quillon") == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [("I've sold it", []), ("But I'm deaf", []), ("Today We're in Rome", ["Rome"]), ("So You'll see it", [])],
)
def test_a_contraction_is_no_name(text: str, found: list[str]) -> None:
    assert names(text) == found
    assert [key for key in keys(text) if key.startswith("@")] == [f"@{name.casefold()}" for name in found]


def test_words_in_the_manner_of_keys_are_read_apart() -> None:
    assert keys("doorLocks: childSafety") == keys("door locks: child safety")
    assert keys("door-locks: child-safety") == keys("door locks: child safety")


@pytest.mark.parametrize("word", ["iPhone", "McDonald", "YouTube", "macOS", "eBay", "LaTeX"])
def test_names_with_a_capital_inside_stay_one_word(word: str) -> None:
    assert len(keys(word)) == 1
