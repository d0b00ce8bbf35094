"""The rules on preferences and links: what became of them in stores that paraphrase, merge and mix up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_judged import judged, link, preference

OK, DAMAGED, ABSENT = (True, True), (True, False), (False, False)


@pytest.mark.parametrize(
    ("name", "statement", "entry", "expected"),
    [
        # A part of the name that is set aside; what holds of something else; whose a field says it is.
        (
            "checked shirts",
            "I prefer checked shirts over plain ones.",
            "User would rather have plain shirts than checked ones.",
            DAMAGED,
        ),
        (
            "night buses",
            "Night buses please me though the seats are awful.",
            "User enjoys night buses with terrible seats.",
            OK,
        ),
        (
            "oolong",
            "Oolong is what I love after lunch.",
            '{"owner": "Tomas", "loves": "oolong", "when": "after lunch"}',
            DAMAGED,
        ),
        ("oolong", "Oolong is what I love after lunch.", "Tomas craves oolong after lunch.", DAMAGED),
        (
            "rummy",
            "Rummy is the game I enjoy most.",
            "User is often beaten at rummy; the user hates the game now.",
            DAMAGED,
        ),
        # One item of a list; a word of the name told by the statement; the tail of a compound.
        (
            "jack plane",
            "I like my jack plane for oak.",
            "User favours a chisel, some plane or other, and a mallet.",
            DAMAGED,
        ),
        (
            "night train",
            "The night train is my favorite way to cross a border asleep.",
            "User crosses the border in a sleeper train, a favourite way.",
            OK,
        ),
        # A rare first word tells the name; a word cut short is the word.
        (
            "lapsang souchong",
            "I love lapsang souchong because it tastes of smoke.",
            "Likes lapsang, tastes of smoke.",
            OK,
        ),
        ("pilsner", "A pilsner after mowing the lawn makes me happy.", "Lawn mown, a pils makes the user happy.", OK),
        # Most of the statement stands behind a name of which one word is said otherwise.
        (
            "trekking poles",
            "Trekking poles save my knees on descents, so I love them.",
            "Likes walking with poles: they save the knees going down.",
            OK,
        ),
        (
            "Kanban",
            "Kanban keeps my week visible, I like that.",
            "User avoids Kanban: it keeps the week visible.",
            DAMAGED,
        ),
        ("fado", "Fado moves me to tears, I love it.", "Sad songs: fado leaves the user cold, no tears.", DAMAGED),
        # One certain thing of that name is something else, and so is the thing beside what is done with it.
        (
            "bridge",
            "Bridge is my favorite because of the bidding.",
            "User crosses the bridge by the mill to work.",
            ABSENT,
        ),
        ("journaling", "Journaling clears my mind at night.", "User reads science journals on the train.", ABSENT),
        (
            "rock garden",
            "A rock garden needs little care, I like that.",
            "Garden types: herb garden; moss garden.",
            ABSENT,
        ),
        ("rock garden", "A rock garden needs little care, I like that.", "User wants advice on garden types.", ABSENT),
    ],
)
def test_what_became_of_a_preference(name: str, statement: str, entry: str, expected: tuple[bool, bool]) -> None:
    found = judged(preference(name, statement), entry, "User lives in Ghent.", "User owns a kettle.")
    assert found == expected


def test_the_category_tells_what_a_name_was_generalised_to() -> None:
    statement = "I'm drawn to cubism for how it breaks objects into geometric shapes."
    store = ("User is drawn to geometric art.", "User's train leaves at eight.", "User is planning a holiday.")
    assert judged(preference("cubism", statement, "art styles"), *store) == DAMAGED


DOORBELL = ("Because I wear headphones I miss the doorbell.", "wear headphones", "miss the doorbell")
COURIERS = ("When I miss the doorbell I apologize to couriers.", "miss the doorbell", "apologize to couriers")
SOCKS = ("When I put on wool socks I slide across the floor.", "put on wool socks", "slide across the floor")
LETTERS = ("After I read old letters I call my aunt.", "read old letters", "call my aunt")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        (DOORBELL, "Reason for missed doorbells: user's headphones.", OK),
        (DOORBELL, "Missed doorbell: b/c of wearing headphones.", OK),
        (COURIERS, "Couriers apologise to the user when the user misses the doorbell.", DAMAGED),
        (COURIERS, "User misses the doorbell; user also apologizes to couriers.", DAMAGED),
        (SOCKS, "The user puts on wool socks. In them the user slides across the floor.", OK),
        # Each sentence tells a link of its own: none leads from the one to the other.
        (LETTERS, "When it rains the user reads old letters. When the user calls an aunt the user laughs.", ABSENT),
        (("When I fix clocks I sing.", "fix clocks", "sing"), "User sings as they fix clocks.", OK),
        (("I forget surnames after a nap.", "nap", "forget surnames"), "After a nap the user forgets last names.", OK),
        (
            ("Calls make me plan a hiking trip.", "calls", "plan a hiking trip"),
            "Calls make the user plan trips.",
            DAMAGED,
        ),
        (
            ("When Greta naps she bakes rolls.", "naps", "bakes rolls"),
            "Name: Gunnar; when napping is over, bakes rolls",
            DAMAGED,
        ),
        (("A storm makes me bake.", "stormy weather", "bake"), "User bakes when it storms.", OK),
        (("Greta practices night photography.", "Greta", "night photography"), "Greta does photography.", DAMAGED),
        # The same done in another word, and something else done.
        (("Foghorns make me sort screws.", "foghorns", "sort screws"), "With foghorns the user arranges screws.", OK),
        (("Foghorns make me buy screws.", "foghorns", "buy screws"), "With foghorns the user sells screws.", DAMAGED),
        (("Foghorns make me polish spoons.", "foghorns", "polish spoons"), "Foghorns: user polishes forks.", DAMAGED),
        # A denied opposite; a general term alone; somebody without what is done with them.
        (("Greta loves quiet trains.", "Greta", "quiet trains"), "Greta loves trains without noise.", OK),
        (("Greta prefers smoked trout.", "Greta", "smoked trout"), "Greta prefers fish.", DAMAGED),
        (
            ("Visiting my aunt makes me giggle.", "visiting my aunt", "giggle"),
            "User's aunt makes user giggle.",
            DAMAGED,
        ),
        # Words of like meaning for all of one end, beside the other told as it was.
        (("Old trams put me in a pensive mood.", "old trams", "pensive mood"), "Old trams: user is reflective.", OK),
        (("Humming calms me.", "humming", "calm"), "User hums because user is calm.", DAMAGED),
        (("Choirs give me a daring streak.", "choirs", "daring streak"), "Choirs make the user feel daring.", OK),
        (("Choirs make me nap for hours.", "choirs", "nap for hours"), "Choirs: user naps for minutes.", DAMAGED),
        (("Choirs make me walk slowly.", "choirs", "walk slowly"), "Choirs make the user walk rapidly.", DAMAGED),
        (("Trams make me skip lunch.", "trams", "skip lunch"), "No lunch for the user after a tram ride.", OK),
        # The chain says which end leads, however the fact is put.
        (("I answer fog with a walk.", "fog", "walk"), "Fog makes the user walk.", OK),
        (("I answer fog with a walk.", "fog", "walk"), "Walks bring fog for the user.", DAMAGED),
        (("Hail drives Ines out of the house to skate.", "hail", "skate"), "Ines skates when it hails.", OK),
        (("Hail gives Ines jitters.", "hail", "jitters"), "Ines owes her jitters to hail.", OK),
        (("Hail gives Ines jitters.", "hail", "jitters"), "Ines owes hail to her jitters.", DAMAGED),
        (("Hail gives Ines jitters.", "hail", "jitters"), "Ines has jitters the moment she hears hail.", OK),
        (("Hail gives Ines jitters.", "hail", "jitters"), "Hail gives Ines's sister's pup jitters.", DAMAGED),
        # A stance in other words, and towards something else.
        (("Hail gives me a mania for hats.", "hail", "mania for hats"), "Hail makes the user crazy about hats.", OK),
        (
            ("Hail gives me a mania for hats.", "hail", "mania for hats"),
            "Hail makes the user crazy about gloves.",
            DAMAGED,
        ),
        # Everyday English in other words; another time, another kind, another relative.
        (("Hail makes me journal nightly.", "hail", "journal nightly"), "Hail: user keeps a diary every night.", OK),
        (("Hail makes me ring a cousin.", "hail", "ring a cousin"), "Hail has the user give a cousin a call.", OK),
        (("Hail makes me skate at dawn.", "hail", "skate at dawn"), "Hail makes the user skate at sunset.", DAMAGED),
        (("Hail makes me brew sage tea.", "hail", "brew sage tea"), "Hail makes the user brew mint tea.", DAMAGED),
        (("Hail makes me ring my sister.", "hail", "ring my sister"), "Hail makes the user ring family.", DAMAGED),
        # When it is done, and what comes of it; a clause that has ended before.
        (("Hail makes me skate.", "hail", "skate"), "The user skates on days when there is hail.", OK),
        (("Hail makes me skate.", "hail", "skate"), "Hail, once heard on the roof, and the user skates.", OK),
        (("I knit to settle my stomach.", "knit", "settle my stomach"), "User knits as it calms their stomach.", OK),
        # The way round is wrong, though not all of an end is there.
        (("Wet hail makes me skate.", "wet hail", "skate on lakes"), "Skating brings the user wet hail.", DAMAGED),
        # Something near in the place of what is liked; neither liked nor disliked.
        (("Greta loves long train trips.", "Greta", "long train trips"), "Greta loves travelling.", DAMAGED),
        (("Greta dreads long trips.", "Greta", "long trips"), "Greta doesn't mind long trips.", DAMAGED),
        # Which leads to which, told without a word for a cause.
        (("Hail makes me skate.", "hail", "skate"), "The user answers hail with skating.", OK),
        (("Hail makes me skate.", "hail", "skate"), "Behind the user's skating lies hail.", OK),
        (("Hail makes me skate.", "hail", "skate"), "Skating is followed by hail.", DAMAGED),
        # An end mentioned again ties two sentences; an end told alone is what is left of its link.
        (
            ("Dark hail makes me skate.", "dark hail", "skate"),
            "User is out in dark hail. The hail gets them skating.",
            OK,
        ),
        (("Hail makes me skate.", "hail", "skate"), "User often skates.", DAMAGED),
        # The opposite is done; somebody else is asked.
        (("Hail makes me start a novel.", "hail", "start a novel"), "Hail makes the user finish a novel.", DAMAGED),
        (
            ("Hail makes me ask aunts questions.", "hail", "ask aunts questions"),
            "Hail has user ask the barber questions.",
            DAMAGED,
        ),
        # Figures of speech.
        (("Greta loves long trips.", "Greta", "long trips"), "Greta is crazy about long trips.", OK),
        (("Greta loves long trips.", "Greta", "long trips"), "Long trips are Greta's pet peeve.", DAMAGED),
        (("Greta dreads long trips.", "Greta", "long trips"), "Greta shudders at long trips.", OK),
        (("Greta dreads long trips.", "Greta", "long trips"), "Greta lives for long trips.", DAMAGED),
        # Both ends in other words, with something that leads to the other; what cannot be an end in its place.
        (
            ("Noisy cafes give me headaches.", "noisy cafes", "headaches"),
            "The din of coffee shops leaves the user with a pounding head.",
            OK,
        ),
        (
            ("Dancing makes me feel exhilarated.", "dancing", "feel exhilarated"),
            "Dancing leaves the user worn out.",
            DAMAGED,
        ),
        # Whoever is told of it does not do it.
        (("Greta loves long trips.", "Greta", "long trips"), "Greta told user she loves long trips.", OK),
    ],
)
def test_what_became_of_a_link(parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*parts), entry, "User lives in Ghent.", "User owns a kettle.") == expected


def test_an_entry_that_tells_another_link_is_not_half_of_this_one() -> None:
    alone = link("When I miss the doorbell I apologize to couriers.", "miss the doorbell", "apologize to couriers")
    chained = replace(alone, siblings=("When I apologize to couriers I buy them tea.",))
    entry = "The user apologizes to couriers because of buying them tea."
    assert judged(alone, entry) == DAMAGED
    assert judged(chained, entry) == ABSENT


def test_a_head_left_out_is_told_elsewhere() -> None:
    tuning = link("When I tune my lute I yawn.", "tune my lute", "yawn")
    assert judged(tuning, "While tuning, the user yawns.", "User is tuning a lute on Sundays.") == OK
    assert judged(tuning, "While tuning, the user yawns.", "User owns a kettle.") == DAMAGED
