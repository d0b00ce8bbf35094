"""Guessing baselines and repeated text, on cases computed by hand."""

from __future__ import annotations

import pytest

from pytest_memfail.rows.repeats import near_duplicates, shared_runs, trigrams
from pytest_memfail.suites.memfail.shortcuts import rejected, tail


def test_the_tail_of_a_binomial_distribution():
    assert tail(2, 2, 0.5) == 0.25
    assert tail(0, 5, 0.2) == 1.0
    assert tail(9, 10, 0.5) == pytest.approx(11 / 1024)


def test_chance_is_rejected_after_holm():
    assert rejected([0.004, 0.2, 0.003]) == [2, 0]
    assert rejected([0.004, 0.2, 0.004]) == []
    assert rejected([]) == []


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
