"""Each planted fault changes what it should in a store, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_memfail.calibration import planted_cases
from pytest_memfail.core import (
    CORRECT,
    Claim,
    Conversation,
    Fact,
    Ingest,
    Message,
    Part,
    Probe,
    Question,
    StorePlan,
    Task,
)
from pytest_memfail.suites.memfail.gold import Link, Persona, Preference, Rule
from pytest_memfail.suites.memfail.plants import PLANTS

TEXTS = {
    "rule": "Ada keeps bees. Ada whistles only before 6pm. She is tall.",
    "preference": "Gazpacho is my July.",
    "persona": "Ama Osei mends clocks. She rests on day 3 of each week.",
    "link": "Rain makes me bake bread.",
}
GOLD = {
    "rule": Rule("whistles", "only before 6pm"),
    "preference": Preference("gazpacho"),
    "persona": Persona("On day 3 of each week."),
    "link": Link(("rain", "bake bread")),
}
OWNERS = {"rule": "Ada", "persona": "Ama Osei"}


def task_of(kind, text=None, others=(), places=None, details=("day 3 of each week",), **gold):
    text = text or TEXTS[kind]
    listed = [Part(text, wordings=(text,)) for text in details if kind == "persona"]
    claim = Claim((Part(text), *listed), owner=OWNERS.get(kind))
    fact = Fact("f", kind, text, text, "c0", claim, replace(GOLD[kind], **gold))
    about = {"condition_met": "no", "category": "soups", "rule_sentences": places}
    question = Question("q", "t", "?", "?", ("gold",), ("f",), "open", keys=about)
    told = [text, *others, *(f"Bo does thing {i}." for i in range(6))]
    steps = [Ingest(Conversation(f"c{i}", (Message("user", said),))) for i, said in enumerate(told)]
    return Task("t", (CORRECT,), (StorePlan("s", (*steps, Probe((question,)))),), {"f": fact}, "", "")


def planted(kind, *args, **gold):
    return {case.labels[0].kind: case for case in planted_cases(PLANTS, [task_of(kind, *args, **gold)])}


APART = "Ada keeps bees. She whistles. Six strikes late. It is usually before that sixth stroke that tunes are heard."


@pytest.mark.parametrize(
    ("kind", "fault", "text"),
    [
        ("rule", "given to another", "Bartholomew keeps bees. Bartholomew whistles only before 6pm. She is tall."),
        ("rule", "condition dropped", "Ada keeps bees. Ada whistles. She is tall."),
        ("rule", "condition inverted", "Ada keeps bees. Ada whistles only after 6pm. She is tall."),
        ("rule", "exclusivity dropped", "Ada keeps bees. Ada whistles before 6pm. She is tall."),
        ("rule", "number changed", "Ada keeps bees. Ada whistles only before 21pm. She is tall."),
        ("persona", "answer dropped", "Ama Osei mends clocks."),
        ("persona", "number changed", "Ama Osei mends clocks. She rests on day 18 of each week."),
        ("persona", "given to another", "Bartholomew mends clocks. She rests on day 3 of each week."),
        ("preference", "generalised", "soups is my July."),
        ("preference", "turned into a dislike", "The user can't stand gazpacho."),
        ("persona", "thing exchanged", "Ama Osei mends clocks. She rests on day 3 of each umbrella."),
        ("preference", "thing exchanged", "umbrella is my July."),
        ("link", "thing exchanged", "Rain makes me bake umbrella."),
        ("link", "link reversed", "Bake bread makes me rain."),
        ("link", "end of link lost", "Rain makes me something."),
    ],
)
def test_a_fault_changes_its_own_entry_alone(kind, fault, text):
    case = planted(kind)[fault]
    texts = [memory.text for memory in case.listing.memories]
    assert texts == [text, *(f"Bo does thing {i}." for i in range(6))]
    assert case.shown[0].text == text
    assert len(case.shown) == 5


@pytest.mark.parametrize("kind", TEXTS)
def test_what_is_never_stored_is_gone_and_what_is_not_shown_is_not(kind):
    found = planted(kind)
    gone, hidden = found["never stored"], found["not shown"]
    assert TEXTS[kind] not in [memory.text for memory in gone.listing.memories]
    assert TEXTS[kind] in [memory.text for memory in hidden.listing.memories]
    assert TEXTS[kind] not in [memory.text for memory in hidden.shown]
    assert (gone.labels[0].label, hidden.labels[0].label) == ("not_stored", "not_retrieved")


def test_a_fault_that_cannot_befall_a_fact_is_not_planted():
    kinds = set(planted("preference"))
    assert kinds == {
        "stored and shown (no fault)",
        "never stored",
        "not shown",
        "thing exchanged",
        "generalised",
        "turned into a dislike",
    }


def test_the_same_seed_gives_the_same_cases():
    one, two = (planted_cases(PLANTS, [task_of("rule")], seed=7) for _ in range(2))
    assert [case.shown for case in one] == [case.shown for case in two]


@pytest.mark.parametrize("places", [None, {"behavior": 1, "condition": 2, "link": 3}])
def test_a_condition_told_apart_goes_with_what_ties_it_to_the_behaviour(places):
    gone = planted("rule", APART, places=places, condition="before it strikes six")["condition dropped"]
    assert gone.listing.memories[0].text == "Ada keeps bees. She whistles."


def test_a_condition_goes_with_what_is_said_of_it_next():
    text = "Ada whistles only before 6pm, at home. Later than that she hums. She is tall."
    gone = planted("rule", text)["condition dropped"]
    assert gone.listing.memories[0].text == "Ada whistles. She is tall."


def test_an_inverted_condition_is_that_of_the_behaviour():
    told = planted("rule", "Ada bakes before dusk, at 6pm. Ada whistles before 6pm.")["condition inverted"]
    assert told.listing.memories[0].text == "Ada bakes before dusk, at 6pm. Ada whistles after 6pm."


@pytest.mark.parametrize(
    ("behavior", "text", "left"),
    [
        ("waters the roses", "Ada grows roses. Ada waters the roses.", "Ada grows umbrella. Ada waters the umbrella."),
        ("waters roses at night", "Ada waters every rose then.", "Ada waters every umbrella then."),
        ("feeds an umbrella bird", "Ada feeds an umbrella bird.", "Ada feeds an umbrella turnip."),
        ("waters roses in the yard", "Ada grows roses. Ada waters what is in the yard.", None),  # stated without it
        ("walks the dog backwards", "Ada walks the dog backwards.", None),
        ("reads the news aloud", "Ada reads the news aloud.", None),
        ("whistles softly", "Ada whistles softly.", None),
    ],
)
def test_the_thing_of_a_rule_is_what_its_behaviour_is_done_to(behavior, text, left):
    told = planted("rule", text, behavior=behavior, condition="at night").get("thing exchanged")
    assert (told.listing.memories[0].text if told else None) == left


@pytest.mark.parametrize(
    ("text", "condition", "fault"),
    [
        ("Ada whistles only before 6pm, and never later.", "only before 6pm", "exclusivity dropped"),
        ("Ada whistles. She rates moods on a ten-point scale.", "above 7 out of 10", "number changed"),
        ("Ada whistles at 12:00, at noon.", "at exactly 12:00", "number changed"),
    ],
)
def test_what_is_still_told_in_other_words_is_no_fault(text, condition, fault):
    assert fault not in planted("rule", text, condition=condition)


def test_the_number_of_a_detail_that_is_not_needed_stays():
    assert "number changed" not in planted("persona", details=["mends clocks"])


def test_a_fact_told_twice_is_not_lost_with_one_of_the_two():
    assert set(planted("preference", None, ("I like gazpacho.",))) == {"stored and shown (no fault)"}
