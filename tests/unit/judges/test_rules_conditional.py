"""Conditional rules: what is asked of a store, and what would be asking too much."""

from __future__ import annotations

import pytest

from pytest_memfail.core import Evidence, Listing, Memory
from pytest_memfail.judges import RulesJudge
from pytest_memfail.judges.rules.quantities import quantities
from pytest_memfail.judges.rules.rule_other import contrary
from pytest_memfail.judges.rules.text import sentences_of

APART = (
    "Odalys keeps bees behind the brewery. She has a way of humming hymns to the hives. "
    "Her uncle left her a barometer, and in wet months it sinks below 980 on the dial. "
    "A crate of pears stands in the hall. The humming has always gone with a dial as low as that."
)
TOGETHER = (
    "Corvin is a cooper with a bad knee. He plays the spoons straight after a swim in the quarry. He owns two hats."
)


def rule(entity: str, behavior: str, condition: str, source: str) -> Evidence:
    text = f"{entity} {behavior} {condition}."
    return Evidence("e", "rule", "t", text, source, "c", entity, behavior=behavior, condition=condition, value="Yes")


ODALYS = rule("Odalys", "hums hymns to the hives", "when the barometer is below 980", APART)
CORVIN = rule("Corvin", "plays the spoons", "straight after a swim in the quarry", TOGETHER)


def faithful(evidence: Evidence, *texts: str) -> bool:
    store = Listing("s", tuple(Memory(text) for text in texts))
    judge = RulesJudge()
    assert judge.storage(evidence, store).outcome == "passed"
    return judge.summary(evidence, store).outcome == "passed"


@pytest.mark.parametrize("evidence", [ODALYS, CORVIN])
def test_source_itself_is_whole(evidence: Evidence) -> None:
    assert faithful(evidence, evidence.source)


def test_condition_told_apart_may_not_go() -> None:
    left = APART.replace("Her uncle left her a barometer, and in wet months it sinks below 980 on the dial. ", "")
    assert not faithful(ODALYS, left)


@pytest.mark.parametrize(("old", "new"), [("below 980", "above 980"), ("below 980", "below 960")])
def test_number_told_apart_keeps_value_and_side(old: str, new: str) -> None:
    assert not faithful(ODALYS, APART.replace(old, new))


def test_before_for_after_is_turned_though_a_word_stands_between() -> None:
    assert faithful(CORVIN, "Corvin plays the spoons right after swimming in the quarry.")
    assert not faithful(CORVIN, "Corvin plays the spoons straight before a swim in the quarry.")


def test_namesake_does_not_hide_the_rule() -> None:
    other = "Corvin the parrot plays dead in thunderstorms and bites ladders, spoons and guests."
    assert faithful(CORVIN, other, "Corvin plays the spoons right after swimming in the quarry.")


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("at 24 degrees or cooler", -1),
        ("at 24 degrees or warmer", 1),
        ("no fewer than 3 times", 1),
        ("fewer than 3", -1),
    ],
)
def test_side_of_a_number(text: str, direction: int) -> None:
    (sentence,) = sentences_of(text)
    assert [q.direction for q in quantities(sentence.text, sentence.words)] == [direction]


def test_comparatives_have_the_opposites_of_their_words() -> None:
    assert contrary("warmer", "cool")
