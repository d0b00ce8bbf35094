"""Needed details of an essay that are kept in other measures, told in part, or met by chance."""

from __future__ import annotations

import pytest
from facts_judged import persona

from pytest_memfail.core import Listing, Memory
from pytest_memfail.judges import RulesJudge
from pytest_memfail.judges.rules.persona_need import telling_items
from pytest_memfail.judges.rules.quantities import quantities
from pytest_memfail.judges.rules.text import sentences_of

ESSAY = (
    "Bruno Keel paints lighthouses and keeps a studio in a boathouse. Visitors leave outdoor boots at the door, and he "
    "lends them felt slippers so that no salt gets in. He heats his glue to sixty degrees Celsius. He labels both ends "
    "of every rope with blue tape. For a sitting he asks guests to bring dry biscuits and a sketchbook. On the ladder he "
    "wears a hard hat and orange gloves. He is allergic to cashews and keeps none of them in the boathouse. He won't "
    "climb in winds over thirty knots. Every month he rehearses the rescue drill. He keeps at least eighty percent of "
    "the old paint. He is seasick on rolling boats, so a tin of ginger stands on every shelf. He refuses to serve cream "
    "in the studio because he is lactose intolerant. On Thursdays he teaches a drawing class in the old net loft. He practices "
    "the accordion in the boathouse at 9 p.m. most nights. He rinses his brushes only in distilled water. He uses the foghorn "
    "only rarely to greet old friends. On Saturday mornings he drinks a strong cup of oolong while he works."
)


BOOTS = ("What should I not wear into Bruno Keel's studio?", "Outdoor boots; visitors leave them at the door.", ())
GLUE = ("How hot does Bruno Keel heat his glue?", "To sixty degrees Celsius.", ())
ROPES = ("How does Bruno Keel label a rope?", "He labels both ends with blue tape.", ())
SITTING = (
    "What should I bring to a sitting with Bruno Keel?",
    "Bring dry biscuits and a sketchbook for drawing, as he asks his guests.",
    ("dry biscuits sketchbook",),
)
LADDER = ("What does Bruno Keel wear on the ladder?", "A hard hat and orange gloves.", ())
NUTS = ("What must I keep off the table for Otto Brandt?", None, ("allergic cashews",))
PAINT = ("How much of the old paint does Bruno Keel keep?", "At least eighty percent of it.", ())
SAFETY = ("How does Otto Brandt stay safe at work?", None, ("winds thirty knots", "rescue drill"))
VISIT = (
    "What should I bring to Bruno Keel, and what not?",
    "Bring dry biscuits (or plain toast), and avoid cashews because he is allergic.",
    (),
)
TRIP = ("What should I pack for a boat trip with Bruno Keel?", "Ginger, because he gets seasick on rolling boats.", ())
CLASS = ("When does Bruno Keel teach his class?", "On Thursdays, in the old net loft.", ())
MUSIC = (
    "When does Bruno Keel practice the accordion?",
    "He practices in the boathouse at 9 p.m. most nights.",
    ("9 p.m.",),
)
RINSING = ("In what water should I rinse Otto Brandt's brushes?", None, ("rinses brushes distilled water",))
FOGHORN = ("May I use the foghorn often at Otto Brandt's?", None, ("foghorn only rarely greet friends",))
OOLONG = (
    "What should I bring Bruno Keel to drink in his studio?",
    "Bring him a strong cup of oolong—Bruno drinks oolong while he works.",
    ("oolong",),
)
CREAM = ("What won't Bruno Keel serve?", "Cream, because he is lactose intolerant.", ())


@pytest.mark.parametrize(
    ("case", "stored", "faithful"),
    [
        pytest.param(
            BOOTS,
            "At Bruno Keel's studio boots stay at the door (there are felt slippers for indoors).",
            True,
            id="a contrary said of something else",
        ),
        pytest.param(GLUE, "Bruno Keel heats the glue to 140 °F.", True, id="the same heat on another scale"),
        pytest.param(GLUE, "Bruno Keel heats the glue to 60 °F.", False, id="the same number on another scale"),
        pytest.param(ROPES, "Bruno Keel labels each rope at both ends with blue tape.", True, id="both"),
        pytest.param(ROPES, "Bruno Keel labels each rope at one end with blue tape.", False, id="one of both"),
        pytest.param(
            SITTING, "Bruno Keel asks guests at a sitting for dry biscuits.", False, id="half of what is told"
        ),
        pytest.param(
            LADDER, "Bruno Keel wears a hardhat and orange gloves on the ladder.", True, id="compound as a word"
        ),
        pytest.param(
            NUTS,
            "Bruno Keel bans one ingredient from the boathouse on allergy grounds.",
            False,
            id="an allergy to nobody says what",
        ),
        pytest.param(NUTS, "Bruno Keel has an allergy: cashews.", True, id="a named allergen"),
        pytest.param(
            PAINT,
            "Bruno Keel keeps as much of the old paint as he can.\n\nEighty percent of Bruno Keel's orders come by letter.",
            False,
            id="the number of something else",
        ),
        pytest.param(
            PAINT,
            "Bruno Keel keeps the old paint wherever he can.\n\nAt least eighty percent of the paint stays (Bruno Keel).",
            True,
            id="the number in another entry",
        ),
        pytest.param(
            SAFETY, "Bruno Keel stays down in winds over thirty knots.", False, id="one of two borrowed texts"
        ),
        pytest.param(VISIT, "Bruno Keel asks guests for dry biscuits at a sitting.", False, id="a refusal of its own"),
        pytest.param(
            TRIP,
            "Rolling vessels make Bruno Keel seasick, hence the tin of ginger on every shelf.",
            True,
            id="a reason in general words",
        ),
        pytest.param(
            CREAM,
            "Bruno Keel can't digest lactose: nothing with cream is served in his studio.",
            True,
            id="a reason of not bearing",
        ),
        pytest.param(
            CLASS, "Bruno Keel gives a weekly drawing class in the old net loft.", False, id="a week is no day"
        ),
        pytest.param(CLASS, "Bruno Keel gives a class in the old net loft each Thursday.", True, id="the day"),
        pytest.param(
            MUSIC,
            "Bruno Keel practises the accordion in the boathouse at 9 a.m.\n\nBruno's neighbour Hugo practises the trumpet at 9 p.m.",
            False,
            id="the number of a neighbour",
        ),
        pytest.param(RINSING, "Bruno Keel rinses his brushes in filtered water.", False, id="water of another kind"),
        pytest.param(RINSING, "Bruno Keel uses distilled water to rinse brushes.", True, id="water of that kind"),
        pytest.param(FOGHORN, "Bruno Keel seldom uses the foghorn to greet old friends.", True, id="only rarely"),
        pytest.param(FOGHORN, "Bruno Keel uses the foghorn to greet old friends.", False, id="not rarely"),
        pytest.param(
            OOLONG,
            "On Saturday mornings Bruno Keel has a strong oolong with his brushes.\n\nBruno's friend Petra drinks cocoa all day.",
            True,
            id="what somebody else drinks",
        ),
        pytest.param(
            MUSIC,
            "Bruno Keel practises the accordion in the boathouse.\n\nUser's friends practise in a boathouse at 9 p.m. most nights.",
            False,
            id="the number of the user's friends",
        ),
    ],
)
def test_details(case: tuple[str, str | None, tuple[str, ...]], stored: str, faithful: bool) -> None:
    entries = ("Bruno Keel paints lighthouses and has a studio in a boathouse.", *stored.split("\n\n"))
    judge, listing = RulesJudge(), Listing("s", tuple(Memory(text) for text in entries))
    assert judge.storage(persona(ESSAY, "Bruno Keel", *case), listing).outcome == "passed"
    assert (judge.summary(persona(ESSAY, "Bruno Keel", *case), listing).outcome == "passed") == faithful


def test_a_yes_does_not_run_into_the_words_that_answer() -> None:
    (item,) = telling_items(
        persona(
            ESSAY, "Bruno Keel", "Does Bruno Keel keep old paint?", "Yes—at least eighty percent.", ("eighty percent",)
        )
    )
    assert [number.text for number in item.numbers] == ["eighty percent"]


def test_a_scale_is_read_with_its_degrees() -> None:
    (warm,), (hot,) = (
        quantities(s.text, s.words) for s in sentences_of("It is ten degrees Celsius. It is fifty degrees Fahrenheit.")
    )
    assert warm.same(hot)
    assert warm.text == "ten degrees Celsius"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a rope of 30 miles", "a rope of 48 km", True),
        ("a mast of six feet", "a mast of 1.8 metres", True),
        ("twelve inches", "one foot of rope", True),
        ("a mast of six feet", "a mast of six inches", False),
        ("an 18th-century chart", "a chart from the 1700s", True),
        ("a chart of the nineteenth century", "a chart from the 1800s", True),
        ("an 18th-century chart", "a chart from the 1800s", False),
        ("a walk of five miles", "a walk of 5 km", False),
    ],
)
def test_measures_of_either_system(one: str, other: str, same: bool) -> None:
    (first,), (second,) = (quantities(s.text, s.words) for text in (one, other) for s in sentences_of(text))
    assert first.same(second) == second.same(first) == same
