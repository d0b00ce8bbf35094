"""The rules on preferences told in the words of their other wordings, or in those of what says less."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_judged import judged, preference

OK, DAMAGED, ABSENT = (True, True), (True, False), (False, False)
KNITTING = ("knitting", "Knitting is my favorite way of making cozy socks and mittens.", "crafts")
EMBROIDERY = ("embroidery", "Embroidery allows me to put rich patterns on linen.", "crafts")
MOJITO = ("mojito", "A mojito cools me down on hot summer evenings.", "cocktail types")
SWIMMING = ("swimming", "Swimming gives my entire body a workout and goes easy on my knees.", "exercises")
YOGA = ("yoga", "Yoga stretches my back and reduces headaches.", "exercises")
LOOK = ("natural look", "I like a natural look at work because it is quick to do.", "makeup styles")
SKETCHNOTING = ("sketchnoting", "Sketchnoting lets me combine drawings and words for notes that last.", "notes")
SQUASH = ("squash", "Squash keeps me fit with fast rallies.", "sports")
CHESS = ("chess", "Chess sharpens my mind with its deep tactics.", "games")
PERL = ("Perl", "Perl is what I use for quick text processing.", "programming languages")
FILLED = ("User lives in Ghent.", "User owns a kettle.", "User's cousin has a tram pass.")


@pytest.mark.parametrize(
    ("stated", "entry", "expected"),
    [
        # Words of several of its other wordings together tell the thing; what says less has none of them.
        (KNITTING, "User likes purling rows with thick needles.", OK),
        (KNITTING, "User's aunt likes purling rows with thick needles.", ABSENT),
        (KNITTING, "User owns a case of needles; two rows of hooks hang above it.", ABSENT),
        # What stands for the name stands for what says less, too.
        (MOJITO, "On hot summer evenings user cools down with rum.", DAMAGED),
        (MOJITO, "On hot summer evenings user cools down with rum, lime and soda over muddled leaves.", OK),
        (
            SWIMMING,
            "Gentle: likes water-based exercise before noon, which works the whole body and spares the knees.",
            DAMAGED,
        ),
        # A compound with another word is another thing.
        (LOOK, "User likes natural-ingredient products at work as they are quick to do.", DAMAGED),
        # What is neither liked nor done, nor anything about the user, is nobody's preference.
        (YOGA, "Gym contract shrinks in October.", ABSENT),
        (YOGA, "User likes the gym as it reduces headaches.", DAMAGED),
    ],
)
def test_words_of_other_wordings(stated: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(preference(*stated), entry, *FILLED) == expected


def test_several_of_a_row_become_one_wording() -> None:
    entries = ("User is into textile crafts: warm garments, decorated cloth.", *FILLED)
    for stated, sibling in ((KNITTING, EMBROIDERY), (EMBROIDERY, KNITTING)):
        assert judged(replace(preference(*stated), siblings=(sibling[1],)), *entries) == DAMAGED


def test_treks_of_several_days_are_no_day_hikes() -> None:
    stated = preference("day hiking", "Day hiking is ideal for me when I want a short outing.")
    assert judged(stated, "User is drawn to treks lasting several days.", "User owns a kettle.") != OK
    assert judged(stated, "User goes on day hikes when time is short.", "User owns a kettle.") == OK


def test_a_herb_garden_near_the_kitchen_is_no_kitchen_garden() -> None:
    stated = preference("vegetable garden", "Growing my own food in a vegetable garden is rewarding.")
    stated = replace(stated, siblings=("I enjoy having a herb garden close by for fresh flavours when I cook.",))
    assert judged(stated, "User keeps a herb garden near the kitchen for fresh flavours.", "User owns a kettle.") != OK
    assert judged(stated, "User enjoys a kitchen garden.", "User owns a kettle.") == OK


def test_a_word_for_a_name_written_as_one_is_not_the_name() -> None:
    wanted = preference("backpacking", "Backpacking draws me for long adventures where I carry all my gear.", "travel")
    assert judged(wanted, "User likes a hike before lunch.", *FILLED) == DAMAGED
    assert judged(wanted, "User is drawn to treks that last several days, with all the gear.", *FILLED) == OK


@pytest.mark.parametrize(
    ("stated", "entry", "expected"),
    [
        # What a field is called is no word of a name.
        (SKETCHNOTING, '{"topic": "drawing", "note": "user took a class in May"}', ABSENT),
        (SKETCHNOTING, '{"topic": "class", "note": "user makes notes with drawings"}', OK),
        # One certain thing of that name, whatever is said of it, unless it is part of another name.
        (SQUASH, "User peels the large orange squash on Sundays.", ABSENT),
        (SQUASH, "The user trains squash on Sundays.", OK),
        (CHESS, "User brings the old wooden chess set to cafes.", OK),
        # Of whom more is told, that one does it.
        (PERL, "User's shop page was made by a contractor who knows Perl.", ABSENT),
        (PERL, "User is a contractor who knows Perl.", OK),
    ],
)
def test_words_that_are_no_name(stated: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(preference(*stated), entry, *FILLED) == expected


def test_the_beginning_of_a_word_is_nobody() -> None:
    wanted = preference("tea house", "I find peace in a Japanese tea house with its minimalist rooms.", "places")
    assert judged(wanted, "User finds peace in Asian-inspired cafes with a minimalist look.", *FILLED) == DAMAGED


def test_one_that_happened_is_not_what_many_are_read_for() -> None:
    wanted = preference("mystery novels", "Mystery novels grip me with their suspenseful plots and twists.", "books")
    entry = "A real mystery at the office: user jokes of suspense and missing staplers in the kitchen."
    assert judged(wanted, entry, *FILLED) == ABSENT
    assert judged(wanted, "User loves a good mystery for its suspense.", *FILLED) == OK
    assert judged(wanted, "User loves mysteries on trains.", *FILLED) == OK
