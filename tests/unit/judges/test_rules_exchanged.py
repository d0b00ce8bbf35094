"""Another thing in the place of a needed one, in a sentence that otherwise stands as it was said."""

from __future__ import annotations

import pytest
from facts_judged import link, persona, preference, rule, verdict

from pytest_memfail.core import Evidence, Listing, Memory
from pytest_memfail.judges.rules.judge import RulesJudge

SABINE = rule(
    "Sabine",
    "paints murals on the garage doors",
    "only in the hour before sunrise",
    "Sabine is a painter of large things. Her murals are known in the whole valley. Sabine paints murals on the garage doors "
    "only in the hour before sunrise. She keeps two goats.",
)
OTTO = rule(
    "Otto",
    "etches runes into his shield",
    "after a morning in high spirits",
    "Otto lives by the fjord and mends nets. He has a quiet ritual of etching runes into his shield, each stroke deliberate. "
    "Some mornings he is in high spirits and sings. It is after those mornings that he can be seen taking a graver to metal.",
)
PREFERENCE = preference("kanban board", "A kanban board hangs in our hall, and moving a card gives me a thrill.")
LINK = link("Quiet mornings inspire Yara to sketch city scenes.", "Quiet mornings", "sketch city scenes")
PERSONA = persona(
    "Dag Lunde pilots tankers into the harbour. The first basket of each season goes to the girl who stamps tickets at the "
    "station. He is afraid of swans.",
    "Dag Lunde",
    "Who gets the first basket of the season from Dag Lunde?",
    "The girl who stamps tickets at the station.",
    ("girl who stamps tickets",),
)
EVERY = pytest.mark.parametrize(
    ("fact", "thing"),
    [(SABINE, "murals"), (OTTO, "runes"), (PREFERENCE, "board"), (LINK, "scenes"), (PERSONA, "tickets")],
    ids=["rule", "rule told apart", "preference", "link", "persona"],
)


@EVERY
def test_another_thing_in_its_place_is_damage(fact: Evidence, thing: str) -> None:
    judge = RulesJudge()
    store = Listing("s", (Memory(fact.source.replace(thing, "umbrella")), Memory("Someone else keeps bees.")))
    found = judge.summary(fact, store)
    assert found.outcome == "failed"
    assert found.reason == f"stored, but with 'umbrella' in the place of '{thing}'"
    assert found.missing == (thing,)


@EVERY
def test_as_it_was_said_it_is_kept(fact: Evidence, thing: str) -> None:
    assert verdict(fact, fact.source) == "faithful"


@pytest.mark.parametrize(
    ("fact", "entry"),
    [
        (SABINE, "Sabine paints frescoes on the garage doors only in the hour before sunrise."),  # a kind of mural
        (SABINE, "Sabine paints Murals on the garage gates only in the hour before sunrise."),
        (LINK, "Quiet mornings inspire Yara to sketch town scenes."),
        (LINK, "Quiet mornings inspire Yara to draw city scenes."),
        (
            PREFERENCE,
            "A kanban board stands in our kitchen, and moving a card gives me a thrill.",
        ),  # not what is asked for
    ],
)
def test_a_word_for_the_same_or_for_something_unneeded_is_none(fact: Evidence, entry: str) -> None:
    assert verdict(fact, entry) == "faithful"


def test_a_thing_lost_by_the_way_is_kept_where_the_fact_itself_has_it() -> None:
    assert verdict(SABINE, SABINE.source.replace("Her murals", "Her umbrellas")) == "faithful"


def test_told_right_once_it_is_kept() -> None:
    told = "Sabine paints murals on the garage doors only in the hour before sunrise."
    assert verdict(SABINE, told, told.replace("murals", "umbrellas")) == "faithful"
    assert verdict(SABINE, f"{told.replace('murals', 'umbrellas')} {told}") == "faithful"


def test_a_name_or_a_heading_is_no_other_thing() -> None:
    store = SABINE.source.replace("murals on", "Umbrellas on")
    assert verdict(SABINE, store) == "faithful"
