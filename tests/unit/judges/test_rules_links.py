"""The rules on links: what stands for an end, and what takes a link back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_judged import judged, link

from pytest_memfail.core import Detail

OK, DAMAGED = (True, True), (True, False)
JITTERS = ("Because Clara has jitters she writes poetry.", "jitters", "writes poetry")
TEA = ("Strong tea makes me talkative.", "strong tea", "talkative")
INVITE = ("When I feel confident I invite my neighbors.", "feel confident", "invite my neighbors")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        # What keeps somebody from it does not lead to it.
        (JITTERS, "Jitters keep Clara from writing poetry.", DAMAGED),
        (JITTERS, "Jitters kill Clara's urge to write poetry.", DAMAGED),
        (JITTERS, "Clara avoids writing poetry when she has jitters.", DAMAGED),
        (JITTERS, "Clara writes poetry when the jitters are gone.", DAMAGED),
        (JITTERS, "Nothing keeps Clara from writing poetry when she has jitters.", OK),
        (JITTERS, "When she has jitters, Clara can't help but write poetry.", OK),
        (JITTERS, "Clara doesn't write poetry unless she has jitters.", OK),
        # Less of it, another kind of it, what is left open.
        (TEA, "Strong tea makes the user less talkative.", DAMAGED),
        (TEA, "Green tea makes the user talkative.", DAMAGED),
        (TEA, "Strong tea changes the user's mood.", DAMAGED),
        (TEA, "Robust tea makes the user talkative.", OK),
        # Done by those to whom it should be done, or by others.
        (INVITE, "When feeling confident, the user gets invited by the neighbours.", DAMAGED),
        (INVITE, "On confident days, strangers come round and invite the user's neighbours.", DAMAGED),
        (INVITE, "The neighbours are invited when the user feels confident.", OK),
        # Others to whom it is done, or who do it.
        (TEA, "Strong tea makes the user's guests talkative.", DAMAGED),
        (TEA, "Strong tea makes people talkative, but not the user.", DAMAGED),
        (INVITE, "When others feel confident they invite the user's neighbours.", DAMAGED),
        (INVITE, "When the user feels confident, one of the neighbours is invited.", OK),
        (TEA, "In company, strong tea makes the user talkative.", OK),
        # A name that the lexicon knows a river of, and a thing that does as people do.
        (TEA, "Lena: talkative after strong tea.", DAMAGED),
        (TEA, "Strong tea it is for Lena, who gets talkative.", DAMAGED),
        (INVITE, "Lena invites the neighbours when feeling confident.", DAMAGED),
        (INVITE, "Feeling confident, the user invites the neighbours.", OK),
        # A name that the lexicon knows a bearer of.
        (
            ("Quiet mornings inspire Yara to sketch city scenes.", "quiet mornings", "sketch city scenes"),
            "Teresa sketches city scenes on quiet mornings.",
            DAMAGED,
        ),
    ],
)
def test_what_takes_a_link_back(parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*parts), entry, "User lives in Ghent.", "User owns a kettle.") == expected


def test_an_end_told_with_a_word_that_has_no_key_is_judged() -> None:
    said = "Morning meditation gives me a clear head."
    wanted = replace(link("A clear head helps me tackle email.", "clear head", "tackle email"), siblings=(said,))
    assert judged(wanted, "With a clear head, the user can get through the inbox.") == OK


SNACKS = ("When I skip breakfast I lose my patience.", "skip breakfast", "lose my patience")
YOGA = ("Morning yoga leads me to brew matcha.", "morning yoga", "brew matcha")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        # What another sentence calls the first thing.
        (YOGA, "The user does yoga in the morning; the session has them brewing matcha.", OK),
        (YOGA, "Yoga in the morning is a habit of the user. Doing so leads to brewing matcha.", OK),
        (TEA, "The user drinks strong tea. The drink makes them talkative.", OK),
        (TEA, "The user drinks strong tea. The neighbour makes them talkative.", DAMAGED),
        # To lack something, and to be denied it.
        (SNACKS, "Without breakfast the user loses patience.", OK),
        (SNACKS, "When the user skips breakfast, patience is lost.", OK),
        (SNACKS, "When skipping breakfast the user never loses patience.", DAMAGED),
        (TEA, "Strong tea does not make the user talkative.", DAMAGED),
        # In its role, with something else in the place of the other.
        (TEA, "Strong tea after a meal gives the user hiccups.", DAMAGED),
        (TEA, "The strong tea was made in a tin kettle.", (False, False)),
        (TEA, "A mug of strong tea keeps the user warm.", DAMAGED),
        (TEA, "Warm milk -> talkative", DAMAGED),
        (TEA, "Warm milk opens the door to feeling talkative.", DAMAGED),
        (TEA, "strong tea -> a warm nose", DAMAGED),
        (INVITE, "Feeling confident, the user goes for a walk.", DAMAGED),
    ],
)
def test_what_stands_for_an_end(parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*parts), entry, "User lives in Ghent.", "User owns a kettle.") == expected


RUNS = ("Hana loves solo runs.", "Hana", "solo runs")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("Given the choice, Hana goes for a solo run.", OK),
        ("Nothing beats a solo run for Hana.", OK),
        ("Hana is in her element on solo runs.", OK),
        ("Hana gets a lot of joy out of solo runs.", OK),
        ("Hana gets a lot out of solo runs.", OK),
        ("Hana thrives on solo runs.", OK),
        ("Solo runs are one of Hana's pleasures.", OK),
        ("Hana cannot live without solo runs.", OK),
        ("Hana can never have enough solo runs.", OK),
        ("Hana takes no pleasure in solo runs.", DAMAGED),
        ("There is nothing Hana likes less than solo runs.", DAMAGED),
        ("Hana has a distaste for solo runs.", DAMAGED),
        ("Given the choice, Hana skips solo runs.", DAMAGED),
        ("Solo runs leave Hana cold.", DAMAGED),
        ("Hana sees solo runs as a chore.", DAMAGED),
        ("Solo runs ruin Hana's day.", DAMAGED),
        ("Hana loves runs with a crowd of friends.", DAMAGED),
    ],
)
def test_what_somebody_is_said_to_feel_in_figures(entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*RUNS), entry, "User lives in Ghent.", "Hana owns a kettle.") == expected


def test_to_miss_something_is_not_done_by_a_miss() -> None:
    wanted = link("Hana loves rainy fairs.", "Hana", "rainy fairs")
    assert judged(wanted, "Hana would not miss rainy fairs for anything.", "User lives in Ghent.") == OK


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        (("Old maps make me nostalgic.", "old maps", "nostalgic"), "Old maps take the user back to the past.", OK),
        (("Humming helps me relax.", "humming", "relax"), "When the user hums, tension drains away.", OK),
        (("Humming helps me relax.", "humming", "relax"), "When the user hums, tension mounts.", DAMAGED),
        (("Fog makes me call my cousin.", "fog", "call my cousin"), "Fog has the user on the phone to the cousin.", OK),
        (
            ("Fog makes me call my cousin.", "fog", "call my cousin"),
            "Fog has the user on the phone to the dentist.",
            DAMAGED,
        ),
        (
            ("Rain makes me plan my week.", "rain", "plan my week"),
            "When it rains the user maps out the coming week.",
            OK,
        ),
        (("Rain makes me plan my week.", "rain", "plan my week"), "When it rains the user maps out a garden.", DAMAGED),
        (("Knitting helps me calm my nerves.", "knitting", "calm my nerves"), "Knitting calms the user down.", OK),
        (
            ("When I paint I lose track of time.", "paint", "lose track of time"),
            "While painting, the user loses sight of the clock.",
            OK,
        ),
        # To start over is not to do it for the first time.
        (
            ("When I ruin a sleeve I start over.", "ruin a sleeve", "start over"),
            "User gets a sleeve wrong when knitting one for the first time.",
            (False, False),
        ),
    ],
)
def test_everyday_wordings_of_an_end(parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*parts), entry, "User lives in Ghent.", "User owns a kettle.") == expected


POEM = ("After I write a poem I show my wife.", "write a poem", "show my wife")
CANAL = ("When I follow the canal I spot herons.", "follow the canal", "spot herons")
INVOICES = ("A clear head helps me sort invoices.", "clear head", "sort invoices")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        # Whoever gets a thing is led to by it.
        (POEM, "User's wife is shown the poem that was written.", OK),
        (POEM, "The wife is shown the newly written poem.", OK),
        (POEM, "The user writes a poem once the wife has been shown one.", DAMAGED),
        # Where something is done comes before it.
        (CANAL, "Herons get spotted by the user along the canal followed.", OK),
        (CANAL, "Spotting herons makes the user follow the canal.", DAMAGED),
        # The state in which something is done.
        (INVOICES, "Thinking straight, the user sorts the invoices.", OK),
        (INVOICES, "The user sorts the invoices with a heavy heart.", DAMAGED),
        (INVOICES, "The neighbour sorts invoices with a heavy heart.", (False, False)),
    ],
)
def test_what_stands_behind_leads_to_it(parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*parts), entry, "User lives in Ghent.", "User owns a kettle.") == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("When spirits are high, the user paints.", OK),
        ("Brimming with joy, the user paints.", OK),
        ("With spirits low, the user paints.", DAMAGED),
        ("With a heavy heart, the user paints.", DAMAGED),
    ],
)
def test_states_of_mind_in_other_words(entry: str, expected: tuple[bool, bool]) -> None:
    wanted = link("A joyful mood makes me paint.", "joyful mood", "paint")
    assert judged(wanted, entry, "User lives in Ghent.", "User owns a kettle.") == expected


def test_items_of_a_list_lead_to_nothing() -> None:
    wanted = link("Warm soup makes me sleepy.", "warm soup", "sleepy")
    assert (
        judged(wanted, "Topics of the day: warm soup, feeling sleepy, a lost glove.", "User lives in Ghent.") == DAMAGED
    )
    assert judged(wanted, "Evening habit: warm soup, then sleepy.", "User lives in Ghent.") == OK


def test_a_name_that_ends_like_a_plural_is_no_word_of_another_link() -> None:
    wanted = link("Spicy salsa makes Elias drink lots of water.", "spicy salsa", "drink lots of water")
    wanted = replace(wanted, siblings=("Elias loves spicy salsa.",))
    assert judged(wanted, "Spicy salsa makes Elias sneeze.", "User lives in Ghent.") == DAMAGED


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("The zorch sends the user to sort out the button jar.", OK),
        ("The tide siren sends the user to put buttons in order.", OK),
        ("When the siren of the fire brigade has gone, the tide makes the user sort out the button jar.", DAMAGED),
    ],
)
def test_the_wordings_of_a_row_stand_for_an_end_where_they_stand_together(
    entry: str, expected: tuple[bool, bool]
) -> None:
    stated = link("The zorch makes me sort out the button jar.", "zorch", "sort out the button jar")
    ends = (
        Detail(("zorch", "tide siren"), "anchor"),
        Detail(("sort out the button jar", "put buttons in order"), "anchor"),
    )
    assert judged(replace(stated, details=ends), entry, "User owns a kettle.") == expected


LAMP = ("Lamplight makes me read poetry.", "lamplight", "read poetry")
DOODLE = ("When I wait for the bus I doodle a fish.", "wait for the bus", "doodle a fish")
OMELETTE = ("When I make an omelette I ring my aunt.", "make an omelette", "ring my aunt")
RECORD = ("After I rehearse my lines I record a tape.", "rehearse my lines", "record a tape")
JITTERS = ("A latte late in the day gives me the jitters.", "latte late in the day", "jitters")
LOOP = ("If I miss the paper I feel uninformed.", "miss the paper", "feel uninformed")
DUET = ("Because Ida drinks cocoa she sleeps soundly.", "drinks cocoa", "sleeps soundly")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        # Small is not scarce.
        (DOODLE, "When waiting for the bus the user sketches little doodles of a fish.", OK),
        (TEA, "A modest little strong tea makes the user talkative.", OK),
        (LAMP, "With little lamplight, the user reads poetry.", DAMAGED),
        # Things that go together go together either way.
        (OMELETTE, "A ring to the aunt always goes hand in hand with an omelette of the user's making.", OK),
        (OMELETTE, "Ringing the aunt is followed by making an omelette.", DAMAGED),
        # A while is a time, and does not join clauses.
        (RECORD, "Having rehearsed the lines for a while, the user records a tape.", OK),
        (RECORD, "The user rehearses the lines while recording a tape.", DAMAGED),
        # What is taken away is not led to.
        (JITTERS, "A latte late in the day takes the user's jitters away.", DAMAGED),
        (JITTERS, "A latte late in the day cures the user's jitters.", DAMAGED),
        (JITTERS, "A latte late in the day takes the user straight to the jitters.", OK),
        # "Is when" keeps the order of things.
        (RECORD, "Rehearsing the lines is when the user records a tape.", OK),
        (RECORD, "When the user has recorded a tape, it is time to rehearse the lines.", DAMAGED),
        # A wording begins with its first word.
        (LOOP, "On days of missing the paper, the user is out of the loop.", OK),
        # Whose cousin somebody is.
        (DUET, "Omar, a cousin of Ida, slept soundly after the flight.", (False, False)),
        (DUET, "Ida sleeps soundly after the flight.", DAMAGED),
    ],
)
def test_small_words_that_look_like_others(
    parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]
) -> None:
    assert judged(link(*parts), entry, "User lives in Ghent.", "User owns a kettle.") == expected


def test_a_word_of_the_one_end_is_no_sign_of_the_other() -> None:
    wanted = link("A tender mood makes me play love songs.", "tender mood", "play love songs")
    wanted = replace(wanted, siblings=("To play love songs leads me to text affectionate notes.",))
    entry = "Putting on love songs has the user sending affectionate messages by phone."
    assert judged(wanted, entry, "User lives in Ghent.") == (False, False)


def test_an_end_in_another_wording_alone_shows_where_the_link_may_stand() -> None:
    wanted = link("Thunderstorms make me pace around.", "thunderstorms", "pace around")
    assert judged(wanted, "Bad news has the user walking to and fro.", "User lives in Ghent.") == DAMAGED
    assert judged(wanted, "Bad news has the user staring at the wall.", "User lives in Ghent.") == (False, False)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        # What is chosen when the thing is there is not the thing.
        ("On windy evenings Ada picks a red hat to wear.", (False, False)),
        ("When the evening is windy, Ada chooses a red hat.", (False, False)),
        ("Ada picks a red hat on windy evenings.", DAMAGED),
        ("Windy evenings are what Ada picks over still ones.", OK),
        ("Windy evenings please Ada, who then picks a red hat.", OK),
    ],
)
def test_what_is_chosen_beside_a_thing(entry: str, expected: tuple[bool, bool]) -> None:
    wanted = link("Ada enjoys windy evenings.", "Ada", "windy evenings")
    assert judged(wanted, entry, "User lives in Ghent.", "User owns a kettle.") == expected


def test_what_gets_done_by_something_does_not_lead_to_it() -> None:
    wanted = link("Evening gaming gives me eyestrain.", "evening gaming", "eyestrain")
    assert judged(wanted, "User's eyes get strained by gaming in the evening.", "User lives in Ghent.") == OK
    assert judged(wanted, "Strained eyes get user gaming in the evening.", "User lives in Ghent.") == DAMAGED


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("A sweet waffle is something Ida enjoys; having one gets her humming softly.", OK),
        ("Ida enjoys sweet waffles; after one, she hums softly.", OK),
        ("Ida enjoys sweet waffles. One day she hummed softly on the tram.", DAMAGED),
    ],
)
def test_one_of_what_was_named_refers_back(entry: str, expected: tuple[bool, bool]) -> None:
    wanted = link("Sweet waffles make Ida hum softly.", "sweet waffles", "hum softly")
    assert judged(wanted, entry, "User lives in Ghent.", "User owns a kettle.") == expected
