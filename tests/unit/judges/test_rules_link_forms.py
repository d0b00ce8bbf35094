"""The rules on links: titles, rows, pronouns and other forms that systems write them in."""

from __future__ import annotations

import pytest
from facts_judged import judged, link

from pytest_memfail.judges.rules.anchors import tokens_of
from pytest_memfail.judges.rules.link_sides import sides
from pytest_memfail.judges.rules.text import sentences_of

OK, DAMAGED = (True, True), (True, False)
DOG = ("Walking the dog helps me clear my head.", "walking the dog", "clear my head")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("The user has a clear head because they have walked the dog.", OK),
        ("The user walks the dog because they have cleared their head.", DAMAGED),
        ("The user walks the dog because they have a clear head.", DAMAGED),
        ("The user walks the dog and comes back with a clear head.", OK),
        ("The user walks the dog and comes out of it with a clear head.", OK),
        ("The user walks the dog, and from that gets a clear head.", OK),
        ("The user walks the dog thanks to that clear head.", DAMAGED),
        ("For a clear head, the user walks the dog.", OK),
        ("With a clear head, the user walks the dog.", DAMAGED),
    ],
)
def test_what_has_been_done_and_what_is_had_from_it(entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*DOG), entry) == expected


def test_what_has_a_capital_within_an_end_is_not_whose_the_link_is() -> None:
    quiet = link("Night calls make Lena set Quiet Hours.", "night calls", "set Quiet Hours")
    assert judged(quiet, "Night calls cause Lena to switch on Quiet Hours.") == OK
    assert judged(quiet, "Night calls cause Piotr to switch on Quiet Hours.", "Lena is a nurse.") == DAMAGED


def test_a_title_tells_no_direction() -> None:
    assert judged(link(*DOG), "# Walks and head: a clear head has the user walk the dog.") == DAMAGED
    assert judged(link(*DOG), "# Clear head: a dog walk clears the user's head.") == OK
    assert judged(link(*DOG), "Walking the dog: clear head") == OK


def test_somebody_to_whom_a_cause_is_done_does_nothing() -> None:
    aunt = link("To call my aunt always leads to planning a picnic.", "call my aunt", "planning a picnic")
    assert judged(aunt, "Planning a picnic always leads to the user calling their aunt.") == DAMAGED
    assert judged(aunt, "To call their aunt always leads to the user planning a picnic.") == OK


STORM = ("Storms make Tilda knit scarves.", "storms", "knit scarves")
ELSE = "Tilda | job | nurse"


@pytest.mark.parametrize(
    ("entry", "other", "expected"),
    [
        ("Tilda | storms | knits scarves", ELSE, OK),
        ("Tilda | reaction to storms | knits scarves", ELSE, OK),
        ("Tilda | trigger for knitting scarves | storms", ELSE, OK),
        ("storms | make knit scarves | Tilda", ELSE, OK),
        ("Habits | storms -> knits scarves", ELSE, OK),
        ("storms | Tilda knits scarves", ELSE, OK),
        ("Tilda | knitting scarves -> storms", ELSE, DAMAGED),
        ("Junko | storms -> knits scarves", ELSE, DAMAGED),
        ("storms | make knit scarves | Junko", ELSE, DAMAGED),
        ("junko | storms | knits scarves", ELSE.lower(), DAMAGED),
        ("tilda | storms | knits scarves", ELSE.lower(), OK),
    ],
)
def test_rows_of_fields(entry: str, other: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*STORM), entry, other) == expected


AUNT = ("When Tomas feels lonely he phones his aunt.", "feels lonely", "phones his aunt")
CARDS = ("When I feel grateful I write thank-you cards.", "feel grateful", "write thank-you cards")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        (AUNT, "Loneliness moves Tomas to ring his aunt.", OK),
        (AUNT, "Loneliness moves Tomas's aunt to ring Tomas.", DAMAGED),
        (AUNT, "When Tomas feels lonely he gets a call from his aunt.", DAMAGED),
        (CARDS, "When the user feels grateful, they write people thank-you cards.", OK),
        (CARDS, "When the user feels grateful, someone writes them thank-you cards.", DAMAGED),
        (CARDS, "When the user feels grateful, they receive thank-you cards.", DAMAGED),
    ],
)
def test_who_does_it_and_to_whom(parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*parts), entry) == expected


OIL = ("Peppermint oil gives Lena headaches.", "peppermint oil", "headaches")
PARTY = ("Loud parties drain my energy.", "loud parties", "drain my energy")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        (OIL, "Lena avoids peppermint oil because of the headaches it brings on.", OK),
        (OIL, "Lena avoids peppermint oil because of headaches.", DAMAGED),
        (OIL, "Lena can't use peppermint oil without getting headaches.", OK),
        (PARTY, "Loud parties leave the user with no energy.", OK),
        (PARTY, "Loud parties don't drain the user's energy.", DAMAGED),
    ],
)
def test_what_it_brings_and_what_it_takes(parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*parts), entry) == expected


FOG = ("Foggy evenings make me light candles.", "foggy evenings", "light candles")
LETTERS = ("Lighting candles helps me write letters.", "lighting candles", "write letters")
SNOW = ("Fresh snow makes Britt call her brother.", "fresh snow", "call her brother")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        (FOG, "Foggy evenings make the user's landlady light candles.", DAMAGED),
        (FOG, "The user's favourite on foggy evenings: lighting candles.", OK),
        (FOG, "The user lights candles on rainy evenings.", DAMAGED),
        (FOG, "The user buys candles on foggy evenings.", DAMAGED),
        (LETTERS, "In order to write letters, the user lights candles.", OK),
        (LETTERS, "In order to light candles, the user writes letters.", DAMAGED),
        (LETTERS, "Helps the user write letters: lighting candles", OK),
        (SNOW, "Fresh snow has Britt ringing her brother.", OK),
        (SNOW, "Fresh snow has Britt's brother ringing her.", DAMAGED),
    ],
)
def test_purposes_titles_that_name_the_effect_and_other_people(
    parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]
) -> None:
    assert judged(link(*parts), entry) == expected


MAPS = ("Odile collects antique maps.", "Odile", "antique maps")
JAZZ = ("If I hear jazz I dance in the kitchen.", "hear jazz", "dance in the kitchen")
LATE = ("Dancing in the kitchen makes me late for work.", "dancing in the kitchen", "late for work")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        (SNOW, "Title: winter. Keywords: calls, family. Fresh snow has Britt ring her brother.", OK),
        (SNOW, "Name: Junko. Keywords: calls, family. Fresh snow: rings her brother.", DAMAGED),
        (MAPS, "Odile has a collection of antique maps.", OK),
        (MAPS, "Odile sells antique maps.", DAMAGED),
        (JAZZ, "Jazz gets the user dancing in the kitchen, and stops the arguments there.", OK),
        (JAZZ, "Jazz stops the dancing in the kitchen.", DAMAGED),
        (JAZZ, "Jazz gets the user swimming in the kitchen.", DAMAGED),
        (LATE, "The user dances in the kitchen because they have come late to work.", DAMAGED),
        (LATE, "The user has come late to work because they danced in the kitchen.", OK),
    ],
)
def test_labels_deeds_and_what_is_stopped(parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*parts), entry) == expected


def test_what_somebody_has_is_no_effect_of_anything() -> None:
    def told(text: str) -> tuple[bool, bool]:
        words = tokens_of(sentences_of(text))
        return sides(words, (len(words) - 1, len(words) - 1))

    assert told("User has a two-year-old phone") == (False, False)
    assert told("Boredom has the user checking the phone") == (False, True)
