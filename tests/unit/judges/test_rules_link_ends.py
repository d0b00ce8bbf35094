"""The rules on links: what the ends of a link may be told by, and what they are not without."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_judged import judged, link

OK, DAMAGED = (True, True), (True, False)
CHILLY = ("A chilly cellar makes me hum.", "chilly cellar", "hum")
NEPHEW = ("Fog makes me call my nephew.", "fog", "call my nephew")
BASS = ("Playing brass marches makes me feel uplifted.", "playing brass marches", "feel uplifted")
MARKETS = ("Quiet markets make Ida whistle.", "quiet markets", "whistle")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        # An adjective that ends like an adverb tells which.
        (CHILLY, "The cellar makes the user hum.", DAMAGED),
        (CHILLY, "The cold cellar makes the user hum.", OK),
        # Deeds that are never each other, whatever they are done to.
        (NEPHEW, "Fog makes the user visit the nephew.", DAMAGED),
        (NEPHEW, "Fog makes the user sing for the nephew.", DAMAGED),
        (NEPHEW, "Fog makes the user ring the nephew.", OK),
        # One word that is near to several of an end is one of them.
        (BASS, "Music leaves the user in high spirits.", DAMAGED),
        # Quiet, in other words.
        (MARKETS, "Markets where nobody makes a sound set Ida whistling.", OK),
        (MARKETS, "Markets where nobody makes a living set Ida whistling.", DAMAGED),
    ],
)
def test_what_an_end_is_not_without(parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*parts), entry, "User lives in Ghent.", "User owns a kettle.") == expected


YOGA_AM = ("Morning yoga leads me to brew matcha.", "morning yoga", "brew matcha")
STATUE = ("Fog makes me finish a statue.", "fog", "finish a statue")
CHOIR = ("Fog makes me skip the choir.", "fog", "skip the choir")
GRAN = ("Fog makes me call my gran.", "fog", "call my gran")
HERON = ("When I cross the bridge I spot a heron.", "cross the bridge", "spot a heron")
SWIM = ("Midday swims make me hungry.", "midday swims", "hungry")
EARLY = ("Fog makes me sing early.", "fog", "sing early")
POEMS = ("Poems give me a calm mind.", "poems", "calm mind")
CUPBOARD = ("Fog makes me clean my cupboard.", "fog", "clean my cupboard")


@pytest.mark.parametrize(
    ("parts", "entry", "expected"),
    [
        # Half of the day without an hour.
        (YOGA_AM, "A.m. yoga has the user brewing matcha.", OK),
        (YOGA_AM, "Yoga at 9 p.m. has the user brewing matcha.", DAMAGED),
        # What is finished is not bought, and what is skipped is not gone to.
        (STATUE, "Fog makes the user buy a statue.", DAMAGED),
        (STATUE, "Fog makes the user complete a statue.", OK),
        (CHOIR, "Fog makes the user go to the choir.", DAMAGED),
        (CHOIR, "Fog makes the user miss the choir.", OK),
        # A denial of what denies.
        (GRAN, "In fog the user never hesitates to call gran.", OK),
        (GRAN, "In fog the user never wants to call gran.", DAMAGED),
        (CHOIR, "In fog the user never skips the choir.", DAMAGED),
        # A verb that is also the name of a person.
        (HERON, "Crossing the bridge, the user catches sight of a heron.", OK),
        (SWIM, "Swims in the evening make the user hungry.", DAMAGED),
        # "Leads" is no word for "early", though to be early is to lead.
        (EARLY, "Fog leads to singing late.", DAMAGED),
        (EARLY, "Fog leads to singing ahead of time.", OK),
        # What is done after "after" belongs to what comes after it.
        (POEMS, "The user's mind is calm after putting a thought or two into poems.", OK),
        # The thing in another word, and a verb that is known for nothing else.
        (CUPBOARD, "Fog makes the user blitz the closet.", OK),
        (CUPBOARD, "Fog makes the user buy a closet.", DAMAGED),
    ],
)
def test_what_an_end_may_be_without(parts: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    assert judged(link(*parts), entry, "User lives in Ghent.", "User owns a kettle.") == expected


def test_a_clause_that_refers_back_tells_the_link_of_what_it_refers_to() -> None:
    wanted = link("After I call my mom I plan a day trip.", "call my mom", "plan a day trip")
    wanted = replace(wanted, siblings=("When I plan a day trip I pack snacks.",))
    entry = "User packs the snacks first; only afterwards is a day trip planned."
    assert judged(wanted, entry, "User lives in Ghent.") == (False, False)
    assert judged(wanted, "User feeds the cat first; only afterwards is a day trip planned.") == DAMAGED
