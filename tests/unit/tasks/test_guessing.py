"""Guessing baselines and repeats, against cases worked out by hand."""

from __future__ import annotations

import pytest

from pytest_memfail.tasks.validate.guessing import above_chance, by_option, by_words
from pytest_memfail.tasks.validate.repeats import near_duplicates, shared_runs, trigrams


def test_a_word_that_gives_the_answer_away_is_learnt():
    questions = [f"surely thing {i}" if i % 2 else f"hardly thing {i}" for i in range(20)]
    assert by_words(questions, ["yes" if i % 2 else "no" for i in range(20)]) == 1.0


def test_questions_that_tell_nothing_give_chance_or_less():
    questions = [f"thing {i // 2}" for i in range(40)]
    assert by_words(questions, ["yes" if i % 2 else "no" for i in range(40)]) <= 0.5


def test_options_told_by_their_length_are_found():
    stems = ["what of the bells"] * 3
    options = [["a b c d e", "x", "y"], ["x", "a b c d e f", "y"], ["x", "y", "the bells"]]
    found = by_option(stems, options, [0, 1, 2])
    assert found["the longest option"] == 1.0
    assert found["the shortest option"] == 0.0
    assert found["the option nearest to the question"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(("share", "above"), [(0.5, False), (0.64, False), (0.66, True)])
def test_above_chance_is_three_standard_errors(share, above):
    assert above_chance(share, 0.5, 100) is above


def test_near_duplicates_are_confirmed_exactly():
    base = " ".join(f"word{i}" for i in range(60))
    texts = {"a": base, "b": base.replace("word30", "other"), "c": base[: len(base) // 2], "d": "something else here"}
    found = {(one, other): alike for one, other, alike in near_duplicates(texts, 0.8)}
    assert set(found) == {("a", "b")}
    exact = len(trigrams(texts["a"]) & trigrams(texts["b"])) / len(trigrams(texts["a"]) | trigrams(texts["b"]))
    assert found["a", "b"] == pytest.approx(exact)


def test_runs_of_eight_words_are_found_across_punctuation_and_case():
    texts = {"a": "One two, three four five; six seven EIGHT nine.", "b": "so one two three four five six seven eight!"}
    assert list(shared_runs(texts, {"a": "a", "b": "b"})) == [("a", "b", "one two three four five six seven eight")]
    assert list(shared_runs(texts, {"a": "twins", "b": "twins"})) == []


def test_seven_words_are_no_run():
    texts = {"a": "one two three four five six seven", "b": "one two three four five six seven"}
    assert list(shared_runs(texts, {"a": "a", "b": "b"})) == []
