"""The rules on preferences: what is said for and against things, whose they are, and names in other words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_rules_lists import ABSENT, DAMAGED, OK, judged, preference

from pytest_memfail.core import Detail

KARAOKE = ("karaoke", "Karaoke is my go-to activity for breaking the ice and having some silly fun.")
RABBITS = ("rabbits", "Rabbits appeal to me for their gentle nature and soft fur.")
CANDLES = ("candle making", "Candle making is a calming craft that lets me give handmade presents.")
PUPPETRY = ("string puppetry", "String puppetry lets me entertain local children with hand-made dolls at fairs.")
TEA = ("green tea", "I drink green tea in the morning because it wakes me gently.")


@pytest.mark.parametrize(
    ("stated", "entry"),
    [
        (KARAOKE, "Nothing beats karaoke for the user."),
        (KARAOKE, "User hates quiet parties, so karaoke it is."),
        (KARAOKE, "User avoids small talk and starts karaoke."),
        (KARAOKE, "When a party is boring or stiff, user starts karaoke."),
        (KARAOKE, "User's friends groan, but karaoke is user's go-to."),
        (TEA, "User replaced coffee with green tea in the morning."),
        (TEA, "User's mornings are dull without green tea."),
        (TEA, "User drinks green tea even though her family finds it boring."),
        (RABBITS, "Rabbits calm the user when anxious."),
        (RABBITS, "User's wife prefers dogs, the user rabbits."),
        (RABBITS, "Rabbits never bore the user."),
        (KARAOKE, "User refuses to miss karaoke."),
        (TEA, "User drinks green tea to avoid headaches."),
        (TEA, "User stopped drinking coffee and took up green tea."),
        (TEA, "A morning without green tea is hardly bearable for the user."),
        (TEA, "Without green tea a morning is hardly bearable for the user."),
        (TEA, "User has green tea in the morning without fail."),
        (TEA, "Green tea in the morning is what user would not give up."),
        (RABBITS, "User wouldn't trade rabbits for any other pet."),
        (RABBITS, "User won't hear a word against rabbits."),
        (KARAOKE, "Karaoke won't let the user go."),
        (TEA, "User drinks green tea in the morning so as not to need coffee."),
        (CANDLES, "User makes candles so that friends do not go without handmade presents."),
        (RABBITS, "There is nothing the user likes more than rabbits."),
        (RABBITS, "User has nothing against rabbits, quite the contrary."),
        (KARAOKE, "User hates going without karaoke."),
        (RABBITS, "The user can never have enough rabbits."),
        (TEA, "Green tea in the morning: wakes gently, yet nothing that would irritate."),
        (CANDLES, "Candle making calms the user, so nobody gets bought presents."),
    ],
)
def test_what_is_said_against_something_else_is_not_said_against_it(stated: tuple[str, str], entry: str) -> None:
    assert judged(preference(*stated), entry, "User lives in Ghent.", "User owns a kettle.") == OK


@pytest.mark.parametrize(
    ("stated", "entry"),
    [
        (KARAOKE, "User finds karaoke rather embarrassing."),
        (KARAOKE, "Karaoke makes the user cringe."),
        (KARAOKE, "User would rather sit through a lecture than sing karaoke."),
        (KARAOKE, "User was once keen on karaoke but has moved on."),
        (KARAOKE, "Karaoke: no thanks."),
        (KARAOKE, "Karaoke is tiresome to the user."),
        (KARAOKE, "Karaoke strikes her as overpriced and silly."),
        (KARAOKE, "Karaoke comes across as tedious to the user."),
        (KARAOKE, "Karaoke sounds like noise to the user."),
        (KARAOKE, "User sees nothing in karaoke."),
        (KARAOKE, "User's sister, rather than the user, goes for karaoke as silly fun."),
        (KARAOKE, "It is flatmate Ben, and not the user, who enjoys karaoke."),
        (KARAOKE, "User has never got the hype about karaoke."),
        (KARAOKE, "Karaoke? Not the user's thing."),
        (TEA, "The smell of green tea makes her gag."),
        (TEA, "Green tea turns the user's stomach."),
        (TEA, "Green tea is the last thing the user would order."),
        (TEA, "User finds green tea too bitter."),
        (RABBITS, "Rabbits put the user off."),
        (TEA, "User switched from green tea to coffee."),
        (TEA, "Green tea gives the user headaches."),
        (RABBITS, "User was fond of rabbits as a child."),
        (RABBITS, "Pets: cats yes, rabbits no."),
        (RABBITS, "User said rabbits are too much work."),
        (KARAOKE, "Karaoke is the go-to of user's friend Lena for breaking the ice."),
        (KARAOKE, "Pia, a friend of the user, loves karaoke for breaking the ice."),
        (KARAOKE, "User knows someone who breaks the ice with karaoke."),
        (TEA, "Every morning the user's boyfriend drinks green tea."),
        (RABBITS, "Rabbits appeal to user's wife because they are gentle."),
        (KARAOKE, "User has soured on karaoke."),
        (KARAOKE, "User gives karaoke a miss."),
        (KARAOKE, "User thinks karaoke is tacky."),
        (KARAOKE, 'party_dislikes: ["karaoke"]'),
        (KARAOKE, "When karaoke comes on, the user switches it off."),
        (KARAOKE, "User gave karaoke up."),
        (TEA, "User finds no joy in green tea."),
        (TEA, "Green tea holds no appeal for the user."),
        (RABBITS, "User leaves rabbits alone; finds them smelly."),
        (KARAOKE, "Karaoke is the pastime the user's grandmother likes best for breaking the ice."),
        (KARAOKE, "Karaoke? No thanks."),
        (KARAOKE, "User would take a quiz over karaoke any day."),
        (KARAOKE, "User likes quizzes more than karaoke."),
        (KARAOKE, "There is nothing the user likes less than karaoke."),
        (KARAOKE, "User cringes at karaoke."),
        (RABBITS, "Rabbits are a nightmare for the user."),
        (TEA, "Most of the user's friends prefer green tea in the morning."),
    ],
)
def test_what_is_said_against_it_and_what_others_like_is_damage(stated: tuple[str, str], entry: str) -> None:
    assert judged(preference(*stated), entry, "User lives in Ghent.", "User owns a kettle.") == DAMAGED


@pytest.mark.parametrize(
    ("name", "statement", "entry"),
    [
        (
            "coding",
            "Learning coding excites me, it opens up tech jobs.",
            "User wants to learn to program: tech jobs open up.",
        ),
        (
            "lakeside cabin",
            "A lakeside cabin is my escape, fog on the water.",
            "Escapes to cabins by the lake, fog on the water.",
        ),
        (
            "day hiking",
            "Day hiking is refreshing and short.",
            "Likes hikes that can be done within a day: refreshing, short.",
        ),
        (
            "salsa",
            "Salsa keeps me moving all night with its pulsating beats.",
            "Salsa nights keep the user moving till dawn.",
        ),
    ],
)
def test_a_name_in_other_words_is_kept_where_the_statement_stands_behind_it(
    name: str, statement: str, entry: str
) -> None:
    evidence = preference(name, statement)
    assert judged(evidence, entry, "User lives in Ghent.", "User owns a kettle.") == OK
    assert judged(evidence, "User lives in Ghent.", "User owns a kettle.") == ABSENT


def test_other_words_stand_for_neither_numbers_nor_names() -> None:
    evidence = preference("Ticket to Ride", "I enjoy Ticket to Ride, planning routes across the map.")
    assert (
        judged(evidence, "User enjoys Ticket to Rome, planning routes across the map.", "User owns a kettle.")
        == DAMAGED
    )


GUITAR = ("playing guitar", "Playing guitar is how I unwind and enjoy music.")


@pytest.mark.parametrize(
    ("entry", "label"),
    [
        ("User plays a musical instrument to wind down.", DAMAGED),
        ("User's sister plays a musical instrument to wind down.", ABSENT),
        ("The user's ideal instrument is one to wind down with.", DAMAGED),
        ("The user's cellar has an instrument to wind down with.", ABSENT),
        ("User owns a drum.", ABSENT),
        ("User is looking for an instrument to play.", ABSENT),
    ],
)
def test_the_memory_likest_to_a_statement_is_what_became_of_it(entry: str, label: object) -> None:
    assert judged(preference(*GUITAR), entry, "User lives in Ghent.", "User has a kettle.") == label


def test_a_memory_of_another_preference_of_the_row_is_not_what_became_of_this_one() -> None:
    ours = preference("open window", "Even with frost on the sill I want an open window at night, for the owls.")
    other = "With the windows shut I sleep well in winter, whatever the owls do."
    entries = ("User sleeps with the window shut in winter because of the owls.", "User lives in Ghent.")
    assert judged(ours, *entries) == DAMAGED
    assert judged(replace(ours, siblings=(other,)), *entries) == ABSENT


def test_a_name_told_word_by_word_in_other_words_is_named() -> None:
    moon = preference("lunar phases", "Tracking lunar phases helps me plan my activities by the moon.")
    entry = "The user schedules activities by the phase the moon is in."
    assert judged(moon, entry, "User lives in Ghent.", "User has a kettle.") == OK


@pytest.mark.parametrize(
    ("stated", "entry"),
    [
        (
            ("hiking", "I spend weekends hiking new trails for the fresh air."),
            "Weekends, user walks new trails in fresh air.",
        ),
        (
            ("small parties", "Small parties suit me for close talk."),
            "User likes parties with few guests and close talk.",
        ),
        (("50/30/20 rule", "The 50/30/20 rule splits my pay clearly."), "User splits pay 50/30/20."),
        (
            ("zero-based planning", "Zero-based planning gives each hour a use."),
            "Planning from zero gives user a use for each hour.",
        ),
    ],
)
def test_everyday_things_have_other_names(stated: tuple[str, str], entry: str) -> None:
    assert judged(preference(*stated), entry, "User lives in Ghent.", "User owns a kettle.") == OK


def test_what_the_user_merely_has_does_not_make_it_a_preference() -> None:
    rust = preference("Rust", "Rust appeals to me because it is safe and fast.")
    assert judged(rust, "User's team lead Sven rewrote their backend in Rust.", "User lives in Ghent.") == ABSENT


def test_the_user_says_it_again_in_other_words() -> None:
    music = preference("music", "Music always gets me excited, especially sharing favorite artists.")
    assert judged(music, "I get excited about music talk, especially favourite artists.", "I live in Ghent.") == OK


@pytest.mark.parametrize(
    ("stated", "entry", "expected"),
    [
        # A description has particulars of its own where the name stood; what is blurred has none.
        (CANDLES, "User pours scented wax into jars, a soothing pastime that yields homemade gifts.", OK),
        (CANDLES, "User likes soothing crafts.", DAMAGED),
        (PUPPETRY, "User makes children laugh with something at fairs.", DAMAGED),
        (PUPPETRY, "User's aunt Olga entertains local children at fairs, working dolls on strings by hand.", DAMAGED),
        (PUPPETRY, "User lives near a school with many children.", ABSENT),
        # All of a kind at once name none of it.
        (
            ("art museums", "Art museums calm me with their paintings."),
            "User likes museums of all kinds on trips.",
            DAMAGED,
        ),
        # What others have is nobody's preference, a name of several words stands for itself.
        (("tennis", "Tennis keeps me active on weekends."), "The office got a table tennis table.", ABSENT),
        (
            ("Bullet Journaling", "Bullet Journaling keeps my tasks in one place."),
            "User's lists sit in a bullet journal.",
            OK,
        ),
        # One word does not tell two parts of a name.
        (("tote bag", "A tote bag is roomy for errands."), "User takes a plain bag on errands.", DAMAGED),
    ],
)
def test_descriptions_and_what_is_left(stated: tuple[str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(preference(*stated), entry, "User lives in Ghent.", "User owns a kettle.") == expected


def test_only_the_fault_that_the_statement_itself_seems_to_have_is_excused() -> None:
    lace = preference(
        "tatting", "An old neighbour in Delft passed tatting on to me, shuttle included, and I feel proud doing it."
    )
    told = "User learned an old-fashioned craft from a neighbour in Delft and feels proud doing it."
    assert (
        judged(lace, "User learned tatting from a neighbour in Delft and feels proud doing it.", "User owns a kettle.")
        == OK
    )
    assert judged(lace, told, "User owns a kettle.") == DAMAGED


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("User unwinds over a bowl of zorch on rainy evenings.", OK),
        ("User unwinds over a thick barley broth on rainy evenings.", OK),
        ("User likes peasant food.", DAMAGED),
        ("User likes opera.", ABSENT),
        ("User's sister cooks peasant food.", ABSENT),
    ],
)
def test_a_row_says_what_keeps_a_preference_and_what_only_covers_it(entry: str, expected: tuple[bool, bool]) -> None:
    stated = preference("zorch", "I unwind over a bowl of zorch when the evening is rainy.")
    detail = Detail(("zorch", "thick barley broth"), "preference", ("peasant food", "something warm"))
    assert judged(replace(stated, details=(detail,)), entry, "User owns a kettle.") == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("User finds that yoga adds to stress.", DAMAGED),
        ("For user, yoga usually causes headaches and stretches nothing.", DAMAGED),
        ("Yoga helps user when work adds to stress.", OK),
        ("Yoga calms user as work causes stress.", OK),
    ],
)
def test_what_brings_on_what_is_bad_is_not_liked(entry: str, expected: tuple[bool, bool]) -> None:
    wanted = preference("yoga", "Yoga stretches my back and reduces stress.", "exercises")
    assert judged(wanted, entry, "User lives in Ghent.", "User owns a kettle.") == expected
