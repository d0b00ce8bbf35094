"""The offline judge notices a negation that was added or lost in an otherwise unchanged statement, for any weights."""

from __future__ import annotations

import pytest
from facts_judged import listing

from pytest_memfail.core import Claim, Fact, Part
from pytest_memfail.judges import OfflineJudge

TURNED = [
    ("Dana eats shellfish.", "Dana does not eat shellfish."),
    ("Dana does not eat shellfish.", "Dana eats shellfish."),
    ("Hana works on Saturdays.", "Hana never works on Saturdays."),
    ("The contract includes maintenance.", "The contract doesn't include maintenance."),
    ("Guests may not park in the yard.", "Guests may park in the yard."),
    ("The user works in Faro.", "The user formerly worked in Faro."),
]
KEPT = [
    ("Dana eats shellfish.", "Dana eats shellfish."),
    ("Dana does not eat shellfish.", "Dana doesn't eat shellfish."),
    ("The hut is in Bergweg.", "The hut is in Bergweg, no. 5."),
    ("The shop does not open until ten.", "The shop opens only after ten."),
    ("The user never flies.", "Flying? The user doesn't, never."),
]


def said(text: str) -> Fact:
    return Fact("e", "point", text, text, "c", Claim((Part(text),)))


@pytest.mark.parametrize(("fact", "memory"), TURNED)
def test_the_contrary_is_damage(fact: str, memory: str) -> None:
    judge, store = OfflineJudge(), listing(memory, "The user plays golf at the weekend.")
    result = judge.summary(said(fact), store)
    assert (result.outcome, result.confidence) == ("failed", 0.95)
    assert judge.storage(said(fact), store).outcome == "passed"


@pytest.mark.parametrize(("fact", "memory"), KEPT)
def test_other_negations_are_left_to_the_model(fact: str, memory: str) -> None:
    result = OfflineJudge().summary(said(fact), listing(memory, "The user plays golf."))
    assert result.confidence != 0.95


def test_a_store_with_both_is_left_to_the_model() -> None:
    fact = said("Dana eats shellfish.")
    store = listing("Dana does not eat shellfish.", "Dana said again that she eats shellfish.")
    assert OfflineJudge().summary(fact, store).confidence != 0.95
