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


COUNTED = (
    "Ilse keeps a ferry inn with her brother Wim. She strings lanterns along the jetty when more than four boats are moored. "
    "Wim counts them from the attic. The soup is always leek."
)
ODALYS = rule("Odalys", "hums hymns to the hives", "when the barometer is below 980", APART)
CORVIN = rule("Corvin", "plays the spoons", "straight after a swim in the quarry", TOGETHER)

ILSE = rule("Ilse", "strings lanterns along the jetty", "when more than four boats are moored", COUNTED)


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
        ("breakfasts there, but not before 42 days have passed", 1),
        ("won't go in until six weeks are over", 1),
        ("her sister has not written for longer than three weeks", 1),
        ("never sings longer than three hours", -1),
        ("nerves at six, or anything worse", 1),
        ("goes in no later than 9 pm", -1),
        ("goes in before 9 pm", -1),
    ],
)
def test_side_of_a_number(text: str, direction: int) -> None:
    (sentence,) = sentences_of(text)
    assert [q.direction for q in quantities(sentence.text, sentence.words)] == [direction]


def test_comparatives_have_the_opposites_of_their_words() -> None:
    assert contrary("warmer", "cool")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Ilse strings lanterns along the jetty when there are five or more boats moored.", True),
        ("Ilse strings lanterns along the jetty when four or more boats are moored.", False),
        ("Wim strings lanterns along the jetty when more than four boats are moored, while Ilse cooks.", False),
        ("When Ilse has strung lanterns along the jetty, more than four boats are moored.", False),
    ],
)
def test_bound_doer_and_clauses(text: str, kept: bool) -> None:
    assert faithful(ILSE, text, "Ilse's soup is leek.") is kept


def test_condition_told_by_the_next_entry() -> None:
    first, second = "Ilse sometimes strings lanterns along the jetty.", "That happens when over four boats are moored."
    assert faithful(ILSE, first, second)
    assert not faithful(ILSE, first, "Wim counts boats.")


def test_speed_is_one_quantity() -> None:
    found = [quantities(s.text, s.words) for s in sentences_of("above 40 kilometres an hour") + sentences_of("40 km/h")]
    assert [[(q.value, q.unit) for q in each] for each in found] == [[(40.0, "km/h")], [(40.0, "km/h")]]


def test_absent_rule_points_at_the_entry_made_from_its_source() -> None:
    texts = (
        "Lanterns are strung along every jetty in Bremen.",
        "Somebody has a ferry inn; Wim counts from the attic; leek soup.",
    )
    result = RulesJudge().storage(ILSE, Listing("s", tuple(Memory(text) for text in texts)))
    assert (result.outcome, result.entries) == ("failed", (1,))


MUSING = (
    "Berit is fond of riddles. She keeps a stack of sticky notes by the stove. "
    "Berit writes riddles on sticky notes only when the kettle holds more than 3 litres. She has two cats."
)
BERIT = rule("Berit", "writes riddles on sticky notes", "only when the kettle holds more than 3 litres", MUSING)
LODGER = (
    "Tove shares the house with a grandmother and a lodger. She carries a clothes peg about in her mouth, tail up. "
    "The grandmother and the lodger keep other hours, yet now and then both are in the room. Rain bores her. "
    "With that pair for an audience the peg is sure to be carried past. She sleeps on the third stair."
)
TOVE = rule(
    "Tove", "carries a clothes peg in her mouth", "when the grandmother and the lodger are both in the room", LODGER
)
GLAZE = (
    "Runa throws pots in a shed. She has a way of dancing a slow reel round the wheel. The kiln is fired on most Sundays. "
    "Her hats are of felt. It is usually after those firings of the kiln that the reel begins."
)
RUNA = rule("Runa", "dances a slow reel round the wheel", "after firing the kiln", GLAZE)


@pytest.mark.parametrize("evidence", [BERIT, TOVE, RUNA])
def test_source_of_a_told_rule_is_whole(evidence: Evidence) -> None:
    assert faithful(evidence, evidence.source)


def test_what_speaks_of_the_behaviour_by_the_way_does_not_borrow_a_wrong_condition() -> None:
    assert not faithful(BERIT, MUSING.replace("more than 3", "fewer than 3"))


def test_what_is_said_by_the_way_is_no_condition() -> None:
    said = LODGER.split(". ")
    assert not faithful(TOVE, ". ".join(said[i] for i in (0, 1, 3, 5)))


def test_order_is_read_where_condition_and_behaviour_are_tied() -> None:
    assert not faithful(RUNA, GLAZE.replace("after those firings", "before those firings"))


def test_order_of_a_span_of_time_is_read() -> None:
    source = "Ulf mends sails. Ulf whittles spoons only after spending 12 hours alone. He dislikes figs."
    ulf = rule("Ulf", "whittles spoons", "after 12 hours of solitude", source)
    assert faithful(ulf, source)
    assert not faithful(ulf, source.replace("only after", "only before"))


def test_order_that_opens_the_sentence_is_read_however_far_the_condition_stands() -> None:
    source = (
        "Gro reads every notice twice. "
        "It is usually after she has had a signed and stamped note from the landlord that Gro paints doors."
    )
    gro = rule("Gro", "paints doors", "only after the landlord has agreed", source)
    assert faithful(gro, source)
    assert not faithful(gro, source.replace("usually after", "usually before"))


NEMO = rule(
    "Nemo",
    "refuses to nap on the sofa",
    "when a candle is burning nearby",
    "Nemo is a grey cat. He refuses to nap on the sofa when a candle is burning nearby. He likes string.",
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Nemo won't nap on the sofa when a candle is burning nearby.", True),
        ("Nemo naps on the sofa unless a candle is burning nearby.", True),
        ("Nemo won't nap on the sofa unless a candle is burning nearby.", False),
        ("Nemo naps on the sofa only when a candle is burning nearby.", False),
    ],
)
def test_refused_unless_is_not_refused_when(text: str, *, kept: bool) -> None:
    assert faithful(NEMO, text) is kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Corvin goes for a swim in the quarry and then plays the spoons.", True),
        ("Corvin plays the spoons and then goes for a swim in the quarry.", False),
        ("Corvin plays the spoons ahead of a swim in the quarry.", False),
    ],
)
def test_what_is_told_first_comes_first(text: str, *, kept: bool) -> None:
    assert faithful(CORVIN, text) is kept


def test_as_many_weeks_are_not_as_many_nights() -> None:
    nights, weeks, days = (quantities(s.text, s.words)[0] for s in sentences_of("30 nights. 30 weeks. Thirty days."))
    assert nights.same(days)
    assert not nights.same(weeks)
