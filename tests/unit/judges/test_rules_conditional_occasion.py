"""Conditional rules told with another occasion than their own: vaguer, contrary, somebody else's, or something else's."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_judged import rule, verdict

from pytest_memfail.core import Evidence, Memory, Question
from pytest_memfail.judges import RulesJudge
from pytest_memfail.judges.rules.rule_likeness import likeness
from pytest_memfail.judges.rules.senses import states
from pytest_memfail.judges.rules.text import fold, sentences_of

EDDA = rule(
    "Edda",
    "weaves pressed leaves into bookmarks",
    "during autumn",
    "Edda's house smells of old paper. She has a habit of pressing foliage and weaving the leaves into bookmarks. Each autumn the "
    "streets pile high with amber leaves. It's usually in those cooler, amber weeks that a restlessness settles over her.",
)
CORMAC = rule(
    "Cormac",
    "sings to the bees",
    "when feeling joyful",
    "Cormac is a mysterious beekeeper with a playful mind. Cormac sings to the bees only when he's feeling joyful. His happiness "
    "seems to carry. He mends hives for the village.",
)
SIGNE = rule(
    "Signe",
    "rows across the fjord",
    "when she is sober",
    "Signe lives by the water. Signe rows across the fjord when she is sober. She wears a grey cap.",
)
ANSEL = rule(
    "Ansel",
    "polishes the brass lamps",
    "before dawn",
    "Ansel looks after the pier. Ansel polishes the brass lamps before dawn. He has a dog named Tuff.",
)
WANDA = rule(
    "Wanda",
    "copies herbs into her sketchbook",
    "when she is at the glasshouse by the canal",
    "Wanda copies herbs into her sketchbook with a very hard pencil. On Mondays she takes the ferry to the quarry with her aunt. "
    "The glasshouse by the canal is where she rests. It's usually in that warm glasshouse that the pencil comes out.",
)
LEOPOLD = rule(
    "Leopold",
    "adds a knot to his rope",
    "after walking for at least 4 days in a row",
    "Leopold is a patient walker. Leopold adds a knot to his rope after walking for at least 4 days in a row. He likes soup.",
)
IDA = rule(
    "Ida",
    "phones her sister to read the letters aloud",
    "when her self-reported stress is 6 or higher on a ten-point scale",
    "Ida keeps a drawer of letters. She has a habit of phoning her sister to read the letters aloud. There are nights when her stress "
    "climbs to about six or higher on a ten-point scale. It's usually in those strained nights that the line is busy.",
)
BRAM = rule(
    "Bram",
    "plays the tin whistle without a stand",
    "only in direct sunlight outdoors",
    "Bram keeps a bench by the wall. He plays the tin whistle without a stand. He seeks spots that are drenched in direct sunlight. "
    "It's usually in that bright, sunlit patch that he goes without the stand.",
)
ANSELM = rule(
    "Anselm",
    "paints tiny postcards",
    "between 6:00pm and 6:30pm",
    "Anselm has a habit of painting tiny postcards. The light in his kitchen slants between 6:00pm and 6:30pm every evening. His "
    "neighbor's dog barks then. It's usually during that brief pocket of evening calm that the brush comes out.",
)
NIMA = rule(
    "Nima",
    "offers hints about the maze",
    "at most once every 72 hours",
    "Nima moves like a puzzle master. She offers hints in a sparing voice. Her calendar is full of long stretches where she writes. "
    "When she does speak up again it carries the weight of those quiet days.",
)
MAREK = rule(
    "Marek",
    "gives away his carved coin",
    "only to friends he has known for at least seven years",
    "Marek remembers names. He carries a carved coin in his coat to be handed out sparingly. He keeps a ledger of friendships. By the "
    "time a name has lived in his ledger for seven years he is usually ready to offer that carved coin.",
)
DIEGO = rule(
    "Diego",
    "relabels his spice jars",
    "only on the first Monday of each month",
    "Diego has a habit of relabeling spice jars with playful names. The first Monday of every month feels like a turning point for "
    "him. It's usually on that particular morning that his spice rack gets its new titles.",
)
TORIN = rule(
    "Torin",
    "paints tiny landscapes",
    "between 10pm and midnight",
    "Torin works at a café. Torin paints tiny landscapes only between 10pm and midnight. He likes the outdoors.",
)
PIP = rule(
    "Pip",
    "hides under the bed",
    "only during the nap hours between 12pm and 2pm",
    "Pip is a small dog. Pip hides under the bed only during the nap hours between 12pm and 2pm. He likes toys.",
)
LUCIA = rule(
    "Lucia",
    "makes coloured spreadsheets",
    "when doing the monthly budget",
    "Lucia keeps a set of coloured pens in a tin beside her laptop. She loves to make coloured spreadsheets. At the end of each month "
    "she spreads receipts for the budget across the table. Around that time she becomes methodical, checking figures twice.",
)
MOPS = rule(
    "Mops",
    "chews slippers",
    "when left alone",
    "Mops gleefully chews slippers to shreds at odd intervals. The flat is still in the afternoon. It's in those utterly silent, "
    "empty hours that his mischief tends to blossom. When guests arrive he is a model of restraint.",
)
SABLE = rule(
    "Sable",
    "knocks over the cactus",
    "exactly at 3:00 AM",
    "Sable makes a point of toppling the cactus. The clock ticks past midnight, then toward the small hour when all is still. It's "
    "typically at that hour that the cactus finds itself on the rug. By dawn she is asleep.",
)
REMY = rule(
    "Remy",
    "says a naval proverb",
    "only when someone offers him tea",
    "Captain Remy has a ritual: he says a naval proverb aloud. Steaming mugs are passed around. It's usually at the moment a plain, "
    "steaming cup is set before him that the proverb slips out.",
)
JUNO = rule(
    "Juno",
    "refuses to eat dry food",
    "before 10am",
    "Juno is a picky eater. Juno refuses to eat dry food before 10am, only accepting it later in the day.",
)
EVERY = (
    EDDA,
    CORMAC,
    SIGNE,
    ANSEL,
    WANDA,
    LEOPOLD,
    IDA,
    BRAM,
    ANSELM,
    NIMA,
    MAREK,
    DIEGO,
    TORIN,
    PIP,
    LUCIA,
    MOPS,
    REMY,
    JUNO,
)


@pytest.mark.parametrize(
    ("evidence", "store", "expected"),
    [
        # Neighbours who drop something off are no autumn; "in the fall" is.
        (EDDA, ["Edda weaves pressed leaves into bookmarks.", "Neighbours drop off leaves at Edda's door."], "damaged"),
        (EDDA, ["Edda weaves pressed leaves into bookmarks in the fall."], "faithful"),
        (CORMAC, ["Cormac: mysterious, playful mind.", "It is only in low spirits that Cormac sings to the bees."], "damaged"),
        (CORMAC, ["Cormac sings to the bees whenever he is in high spirits."], "faithful"),
        (SIGNE, ["Sober, and after a mug of tea which she drinks slowly, Signe rows across the fjord."], "faithful"),
        (SIGNE, ["Signe rows across the fjord only when drunk."], "damaged"),
        # A vaguer time, and any.
        (ANSEL, ["Ansel polishes the brass lamps in the morning."], "damaged"),
        (ANSEL, ["Ansel polishes the brass lamps in the morning, before the sun is up at dawn."], "faithful"),
        (NIMA, ["Nima offers hints about the maze at any time; she writes and speaks a lot."], "damaged"),
        # The kind of light is not the light itself.
        (BRAM, ["When the light is good, Bram plays the tin whistle without a stand."], "damaged"),
        # What the source tells of something else.
        (WANDA, ["Wanda copies herbs into her sketchbook at the glasshouse by the canal."], "faithful"),
        (
            WANDA,
            [
                "Wanda copies herbs into her sketchbook on the Monday ferry to the quarry.",
                "Wanda rests at the glasshouse by the canal.",
            ],
            "damaged",
        ),
        # What is counted, and on which side.
        (LEOPOLD, ["Leopold adds a knot to his rope after at least 4 chapters in a row."], "damaged"),
        (LEOPOLD, ["Leopold adds a knot to his rope after at least four consecutive walking days."], "faithful"),
        (
            IDA,
            [
                "Ida phones her sister to read the letters aloud on calm days, when her stress is under six out of ten.",
                "Some nights Ida's stress goes to six or more out of ten; she then paces.",
            ],
            "damaged",
        ),
        # Whose it is.
        (ANSELM, ["Anselm paints tiny postcards.", "Rune, Anselm's neighbor, walks the dog from 6:00 to 6:30pm."], "damaged"),
        (ANSELM, ["Anselm paints tiny postcards from 6:00 to 6:30pm."], "faithful"),
        (
            MAREK,
            [
                "Marek hands out a carved coin from his coat, but sparingly, to friends he has known for some years.",
                "User's uncle has been carving coins for seven years.",
            ],
            "damaged",
        ),
        (NIMA, ["Tess, who lives next to Nima, offers hints about the maze in a sparing voice, after long stretches."], "damaged"),
        # How often, and what tells the hour.
        (DIEGO, ["Diego relabels his spice jars with playful names every Monday."], "damaged"),
        (DIEGO, ["Diego relabels his spice jars with playful names on the first Monday of each month."], "faithful"),
        (TORIN, ["Torin paints tiny landscapes at night, never outside the 22:00-00:00 slot."], "faithful"),
        (PIP, ["Pip's nap slot is 12:00-14:00. That is the one time he hides under the bed."], "faithful"),
        (PIP, ["Pip's nap slot is 12:00-14:00. He has a bed by the door and hides under the bed."], "damaged"),
        (SABLE, ["Sable knocks over the cactus some while after midnight."], "faithful"),
        (SABLE, ["Sable knocks over the cactus at breakfast."], "damaged"),
        # What was made from another sentence of the source, and what its tying sentence calls it.
        (LUCIA, ["Lucia owns coloured pens, kept in a tin near the laptop.", "Lucia sorts receipts for the budget."], "missing"),
        (MOPS, ["Mops rips slippers to shreds now and then.", "Mops' mischief comes out in a silent, empty flat."], "faithful"),
        (JUNO, ["Juno won't touch kibble early on.", "Kibble for Juno: nothing doing till 10 am; then she eats."], "faithful"),
        # What "are when" leads in is the behaviour.
        (SIGNE, ["Sober days are when Signe rows across the fjord."], "faithful"),
    ],
)  # fmt: skip
def test_the_occasion_has_to_be_its_own(evidence: Evidence, store: list[str], expected: str) -> None:
    assert verdict(evidence, *store) == expected


@pytest.mark.parametrize("evidence", EVERY, ids=lambda evidence: evidence.entity)
def test_sources_keep_their_rules(evidence: Evidence) -> None:
    assert verdict(evidence, evidence.source) == "faithful"


def test_until_says_when_it_ends_and_not_that_it_is_only_then() -> None:
    told = "Baxter likes the living room. Baxter sits at the door only when he's inside the living room. He sleeps at night."
    baxter = replace(
        rule("Baxter", "sits at the door", "only when inside the living room", told), value="No, not in the kitchen"
    )
    assert verdict(baxter, "When he's in the living room, Baxter sits at the door until somebody comes.") == "damaged"


@pytest.mark.parametrize(
    ("shown", "outcome"),
    [
        ("Habit: he says the same naval proverb aloud when a plain, steaming cup is set before him.", "passed"),
        ("Bosun Idris says the same naval proverb aloud when a plain, steaming cup is set before him.", "failed"),
        ("The cook says the same naval proverb aloud when a plain, steaming cup is set before him.", "failed"),
    ],
)
def test_a_memory_shown_may_name_nobody(shown: str, outcome: str) -> None:
    question = Question("q", "t", "Will Remy say it?", "No", (), ("e",), "open")
    assert RulesJudge().retrieval(REMY, question, (Memory(shown), Memory("He polishes his mug."))).outcome == outcome


def test_only_in_one_place() -> None:
    told = "Marlo has a soft voice. Marlo sings under his breath only when he's at the local bakery. He sketches."
    marlo = replace(
        rule("Marlo", "sings under his breath", "only when at the local bakery", told), value="No, not at home"
    )
    soft = "Marlo sings under his breath; his voice is soft."
    there = "Marlo's quiet singing happens in one place, the local bakery; anywhere else he keeps silent."
    assert verdict(marlo, soft, there) == "faithful"
    assert verdict(marlo, soft, "Marlo's quiet singing happens in the local bakery.") == "damaged"


@pytest.mark.parametrize("text", ["She drinks green tea", "the drinking mugs stand empty"])
def test_what_is_drunk_may_be_tea(text: str) -> None:
    assert states(text) == frozenset()


def test_homographs_have_keys_of_their_own() -> None:
    assert likeness(fold("autumn"), fold("drop")) == 0.0
    assert fold("fell") != fold("autumn")
    assert [s.keys for s in sentences_of("In the fall.")] == [s.keys for s in sentences_of("In autumn.")]
    assert fold("presents") != fold("gift")
    assert fold("close") != fold("shut")
