"""The offline judge notices the contrary of a fact in its own words: a negation added or lost, persons or states exchanged."""

from __future__ import annotations

import pytest
from facts_judged import QUESTION, listing

from pytest_memfail.core import Claim, Fact, Part
from pytest_memfail.judges import OfflineJudge

TURNED = [
    ("Dana eats shellfish.", "Dana does not eat shellfish."),
    ("Dana does not eat shellfish.", "Dana eats shellfish."),
    ("Hana works on Saturdays.", "Hana never works on Saturdays."),
    ("The contract includes maintenance.", "The contract doesn't include maintenance."),
    ("Guests may not park in the yard.", "Guests may park in the yard."),
    ("The user works in Faro.", "The user formerly worked in Faro."),
    ("The user bought an electric bike.", "I plan to buy an electric bike."),
    ("The user moved to Leeds.", "User might move to Leeds."),
    ("The user plans to buy a bike.", "The user bought a bike."),
    ("Dana eats shellfish.", "Does Dana eat shellfish?"),
]
KEPT = [
    ("Dana eats shellfish.", "Dana eats shellfish."),
    ("Dana does not eat shellfish.", "Dana doesn't eat shellfish."),
    ("The hut is in Bergweg.", "The hut is in Bergweg, no. 5."),
    ("The shop does not open until ten.", "The shop opens only after ten."),
    ("The user never flies.", "Flying? The user doesn't, never."),
    ("The user plans to visit Oslo.", "I am planning to visit Oslo."),
    ("The user might move to Leeds.", "User may move to Leeds."),
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


@pytest.mark.parametrize(
    ("fact", "memory"),
    [
        ("Hugo manages Iris.", "Iris manages Hugo."),
        ("The user lent Hugo the drill.", "Hugo lent the user the drill."),
        ("I lent Hugo the drill.", "Hugo lent the user the drill."),
        ("Hugo's manager is Iris.", "Iris's manager is Hugo."),
        ("Dr Kern referred the user to Dr Abel.", "Dr Abel referred the user to Dr Kern."),
        ("Ada Lund owes Bo Lund 40 euros.", "Bo Lund owes Ada Lund 40 euros."),
    ],
)
def test_two_persons_in_each_others_place_are_damage(fact, memory):
    result = OfflineJudge().summary(said(fact), listing(memory, "The user plays golf."))
    assert (result.outcome, result.confidence) == ("failed", 0.95)
    assert result.reason == f"two persons in each other's place in {memory!r}"


@pytest.mark.parametrize(
    ("fact", "memory"),
    [
        ("Hugo gave the book to Iris.", "To Iris, Hugo gave the book."),
        ("Hugo married Iris in May.", "Iris married Hugo in May."),
        ("Hugo and Iris row.", "Iris and Hugo row."),
        ("Hugo manages Iris.", "Iris is managed by Hugo."),
        ("Hugo manages Iris.", "Hugo manages Iris, and Iris manages Bo."),
    ],
)
def test_persons_who_may_change_places_are_left_to_the_model(fact, memory):
    assert OfflineJudge().summary(said(fact), listing(memory, "The user plays golf.")).confidence != 0.95


MOVED = Fact(
    "e",
    "point",
    "The choir meets on Friday now.",
    "From May on, the choir meets on Friday.",
    "c",
    Claim(
        (Part("The choir meets on Friday now."), Part("Friday", wordings=("Friday", "Fridays"))), replaced=("Tuesday",)
    ),
)


@pytest.mark.parametrize(
    "memory",
    [
        "The choir meets on Tuesday now; it used to be Friday.",
        "The choir does not meet on Friday but on Tuesday.",
        "The choir meets on Tuesday, no longer on Friday.",
        "Choir: changed from Friday to Tuesday.",
        "The choir was on Fridays. It is on Tuesday now.",
    ],
)
@pytest.mark.parametrize("is_shown", [False, True])
def test_a_replaced_state_told_as_what_holds_is_damage(memory, is_shown):
    judge, store = OfflineJudge(), listing(memory, "The user plays golf at the weekend.")
    stage = judge.retrieval(MOVED, QUESTION, store.memories) if is_shown else judge.summary(MOVED, store)
    assert (stage.outcome, stage.confidence) == ("failed", 0.95)
    assert stage.reason == f"a replaced state is told as what holds, and this as past, in {memory!r}"


@pytest.mark.parametrize(
    "memory",
    [
        "The choir meets on Friday (was Tuesday before).",
        "The choir meets on Friday. It used to be Tuesday.",
        "Choir: changed from Tuesday to Friday.",
        "Not Tuesday any more: the choir meets on Friday.",
        "The choir was moved to Friday and no longer meets on Tuesday.",
    ],
)
def test_the_past_told_as_past_is_none(memory):
    assert OfflineJudge().summary(MOVED, listing(memory, "The user plays golf.")).confidence != 0.95


@pytest.mark.parametrize("memory", ["The choir meets on Friday.", "The choir currently meets on Friday."])
def test_a_memory_of_the_present_need_not_say_now(memory):
    result = OfflineJudge().summary(MOVED, listing("The choir meets on Tuesday.", memory))
    assert (result.outcome, result.entries) == ("passed", (1,))
    assert OfflineJudge().summary(MOVED, listing("The choir meets on Thursday.", memory)).confidence < 0.99


def test_a_question_contradicts_nothing():
    fact = said("The pool is open on Sunday.")
    store = listing("user: Is the pool open on Sunday?", "assistant: The pool is open on Sunday.")
    result = OfflineJudge().summary(fact, store)
    assert (result.outcome, result.entries) == ("passed", (1,))
    assert OfflineJudge().summary(fact, listing("user: Is the pool open on Sunday?")).outcome == "failed"
