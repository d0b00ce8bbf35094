"""What refuses, weakens or hands on a detail about a person, in more words than one."""

from __future__ import annotations

import pytest
from facts_judged import judged, persona

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.quantities import quantities
from pytest_memfail.judges.rules.text import plain, sentences_of

ESSAY = (
    "Runa Solberg photographs owls on the west coast and rents a loft above a bakery. She never uses flash when photographing owls. "
    "She will drive at least thirty miles from any town before setting up. She is an avid fan of hazelnuts and prefers them on cakes; "
    "she actively avoids silver sprinkles. Visitors are asked to wear scent-free jackets and avoid bright floral prints because "
    "strong perfume upsets the birds. She refuses to use power sanders on her frames. She types about 2,500 words a day. Runa refuses "
    "to serve anything with raw eggs to friends who come by unannounced. She has an allergy to stone fruits such as plums and "
    "cherries. She refuses to use a phone for star charts and keeps paper ones in a binder. She is a cartographer by training. She "
    "prefers front-clip harnesses for loose-leash training with her dogs."
)
WHO = "Runa Solberg photographs owls on the west coast."


def asks(asked: str, value: str | None = None, *telling: str) -> Evidence:
    return persona(ESSAY, "Runa Solberg", asked, value, telling)


FLASH = asks("What should I not use when photographing owls with Runa Solberg?", "Flash; she never uses flash.")
MILES = asks("How far from a town does Runa Solberg set up?", "At least thirty miles from any town.")
CAKE = asks("What should I put on a cake for Runa Solberg?", "Hazelnuts; she avoids silver sprinkles.")
JACKET = asks("What should I wear when I visit Bo Lind's birds?", None, "scent-free jackets avoid bright floral prints")
SANDER = asks("Which sanders does Runa Solberg not use?", "She refuses to use power sanders on her frames.")
WORDS = asks("How many words does Runa Solberg type a day?", "About 2,500 words.")
EGGS = asks("Would Bo Lind serve raw eggs?", None, "refuses to serve anything with raw eggs")
DESSERT = asks(
    "What dessert should I make for Runa Solberg?", "A dessert without stone fruits.", "allergy stone fruits"
)
CHARTS = asks("Would Bo Lind use a phone for star charts?", None, "refuses phone for star charts")
TRADE = asks("Is Bo Lind a cartographer?", None, "cartographer by training")
HARNESS = asks("Which harnesses does Runa Solberg prefer?", "Front-clip harnesses.")


@pytest.mark.parametrize(
    ("evidence", "stored", "kept"),
    [
        (FLASH, "Runa Solberg works without flash around owls.", True),
        (FLASH, "Runa Solberg uses flash sparingly around owls.", False),
        (FLASH, "Runa Solberg uses flash with owls now and then.", False),
        (MILES, "Runa Solberg won't set up nearer than thirty miles to a town.", True),
        (MILES, "Runa Solberg sets up nearer than thirty miles to a town.", False),
        (CAKE, "Runa Solberg wants hazelnuts on cakes and steers clear of silver sprinkles.", True),
        (CAKE, "Runa Solberg wants silver sprinkles on cakes and steers clear of hazelnuts.", False),
        (JACKET, "Runa Solberg's rules: no scents, no loud flower prints on jackets.", True),
        (SANDER, "Runa Solberg's frames never see a power sander.", True),
        (SANDER, "Runa Solberg works on her frames with power sanders, not by hand.", False),
        (WORDS, "Runa Solberg types some 2.5k words a day.", True),
        (WORDS, "Runa Solberg types some 3.5k words a day.", False),
        (EGGS, "Runa Solberg gladly serves raw eggs to friends who come by unannounced.", False),
        (DESSERT, "Runa Solberg has an allergy to stone fruits, so mind the dessert.", True),
        (DESSERT, "Runa Solberg has an allergy to some kinds of fruit, so mind the dessert.", False),
        (CHARTS, "Runa Solberg will not touch a phone for star charts.", True),
        (TRADE, "Runa Solberg learned to make a living as one who draws maps.", True),
        (FLASH, "Sven, a fellow photographer of Runa Solberg's, never uses flash with owls.", False),
        (HARNESS, "User's dog Bruno wears a front-clip harness in the car.", False),
    ],
)  # fmt: skip
def test_details_in_more_words_than_one(evidence: Evidence, stored: str, kept: bool) -> None:
    assert judged(evidence, WHO, "Runa Solberg rents a loft above a bakery.", stored)[1] is kept


def test_somebody_else_of_that_surname_goes_on() -> None:
    essay = "Ruth Amsel plays the organ at funerals. She wears dark green shoes and rides a folding bicycle. She plays barefoot."
    asked = persona(essay, "Ruth Amsel", "What does Ruth Amsel wear?", "Dark green shoes.")
    assert judged(asked, "Gunnar Amsel is the undertaker; he wears dark green shoes.") == (False, False)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("about 2.5k words", "about 2500 words"),
        ("10k steps a day", "10000 steps a day"),
        ("5k races", "5k races"),
        ("a 4k screen", "a 4k screen"),
    ],
)
def test_thousands(text: str, read: str) -> None:
    assert plain(text) == read


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("won't set up nearer than thirty miles", 1),
        ("sets up nearer than thirty miles", -1),
        ("doesn't go out when it is colder than five degrees", -1),
    ],
)
def test_no_nearer_is_at_least(text: str, side: int) -> None:
    (sentence,) = sentences_of(text)
    assert [q.direction for q in quantities(sentence.text, sentence.words)] == [side]
