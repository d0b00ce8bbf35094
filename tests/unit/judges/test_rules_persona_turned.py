"""Whether a stored sentence says of a person the other way round what was told."""

from __future__ import annotations

from itertools import zip_longest

import pytest

from pytest_memfail.judges.rules.persona_allergy import allergen_instead
from pytest_memfail.judges.rules.persona_essay import read_essay
from pytest_memfail.judges.rules.persona_owner import lent
from pytest_memfail.judges.rules.persona_turned import turned
from pytest_memfail.judges.rules.text import sentences_of

NIGHT_TRAINS = "Lena refuses to fly and takes night trains to every concert."
SHOES = "Lena does not allow shoes in the studio and hands out felt slippers."
SUNDAYS = "Sundays are off-limits for research because Lena needs a day to rest."
CELLO = "Lena keeps her cello in a locker and never leaves the instrument in the ambulance."
TOOLS = "Lena never lends tools and keeps the workshop locked at night."
CASH = "Lena refuses cash and asks all clients to pay by bank transfer."
MUSIC = "Lena likes loud music while painting and keeps the windows open."
STINGS = "Lena is allergic to cedar, so all racks are metal or maple."
LEASH = "Lena hates retractable leashes and asks clients to bring a six-foot flat leash instead."
STORM = "Lena refuses to take the boat out in winds over twenty knots and will cancel rather than risk it."
BLADES = "Lena takes no serrated blades in class. She prefers octagonal Japanese blades for teaching."
DRILLS = "Lena plans most of her cabinets with hand drills rather than power drills."
MASK = "Lena never sands a table without a mask and goggles."
RECIPES = "Lena refuses to publish a recipe that hasn't been baked twice."
FLOORS = "Lena avoids concrete floors in kitchens when oak boards can be saved instead."
FEET = "Lena never lets bare feet onto the deck and scrubs it with sand."
WHISTLING = "Lena bans whistling on deck and does not want umbrellas aboard."
CAKES = "Lena refuses orders for wedding cakes in December."
HEMP = "Lena always wears hemp gloves and is careful to avoid vinyl because of a rash."
POTS = "Lena prefers clay pots to plastic ones."
TRAINS = "Lena picks trains rather than buses for long trips."
TOWEL = "Lena asks pupils to bring a towel and a lunch box."
HELMETS = "Lena insists on helmets in the quarry."
MAY = "Lena takes no appointments in May."
SUCCULENTS = "Succulents are never placed near the bathroom by Lena."
MIRROR = "Lena uses a mirror only rarely to find hidden screws."
LENSES = "Lena refuses to photograph with long lenses indoors, and she plans most portraits around short lenses."
MURALS = "Lena refuses commissions for outdoor murals during winter and prefers to accept them in May."
SCARVES = (
    "Guests are asked to wear plain shirts and avoid bright woollen scarves because loud patterns upset the geese."
)
PISTACHIOS = "Lena is an avid fan of pistachios and likes them on cakes."
TOOLBOX = "Lena takes a box of lost buttons to every fair."


def fault(told: str, stored: str) -> str:
    essay = read_essay(f"Lena Vogt is a baker. {told}", "Lena Vogt")
    source = essay.stated[-1]
    sentences = sentences_of(stored)
    faults = (
        turned(s, source, essay, source.weights, frozenset(), following)
        or allergen_instead(s, source.sentence, essay.keys)
        or lent(s, essay, source.weights)
        for s, following in zip_longest(sentences, sentences[1:])
    )
    return next(filter(None, faults), "")


@pytest.mark.parametrize(
    ("told", "stored"),
    [
        (NIGHT_TRAINS, "Lena Vogt loves to fly."),
        (SHOES, "Shoes are fine in Lena Vogt's studio."),
        (SHOES, "Lena Vogt lets people wear shoes in the studio."),
        (SUNDAYS, "Lena Vogt does research on Sundays."),
        (CELLO, "Lena Vogt's cello travels in the ambulance."),
        (TOOLS, "Lena Vogt is glad to lend her tools."),
        (CASH, "Clients settle in cash, since Lena Vogt accepts no bank transfers."),
        (CASH, "Lena Vogt takes cash only."),
        (MUSIC, "Lena Vogt does not like loud music."),
        (STINGS, "Lena Vogt is allergic to metal, so all racks are cedar or maple."),
        (STINGS, "Lena Vogt has a pollen allergy."),
        (STINGS, "Lena Vogt is not allergic to cedar."),
        (STINGS, "Lena Vogt has a friend with a cedar allergy."),
        (SUCCULENTS, "Lena Vogt's succulents live in the bathroom."),
        (MASK, "Lena Vogt sands tables bare-faced and likes the dust."),
        (RECIPES, "Lena Vogt publishes recipes straight away."),
        (FLOORS, "Lena Vogt loves concrete floors in kitchens and rips out oak boards."),
        (FEET, "At Lena Vogt's, bare feet are allowed on the deck, which is scrubbed with sand."),
        (CAKES, "Wedding cakes in December: Lena Vogt takes them gladly."),
        (HEMP, "Lena Vogt wears vinyl gloves, as hemp bothers her skin."),
        (POTS, "Lena Vogt likes plastic pots better than clay ones."),
        (POTS, "Lena Vogt favours plastic pots over clay."),
        (TRAINS, "Lena Vogt picks buses rather than trains for long trips."),
        (MAY, "Lena Vogt takes appointments in May."),
        (TOWEL, "Pupils of Lena Vogt need not bring a towel or a lunch box."),
        (TOWEL, "Lena Vogt hands towels and lunch boxes out to pupils, who need bring nothing."),
        (HELMETS, "Helmets are optional in Lena Vogt's quarry."),
        (BLADES, "Lena Vogt takes no Japanese blades for teaching."),
        (LEASH, "Lena Vogt on retractable leashes: loves them."),
        (STINGS, "Lena Vogt: metal allergy -> racks of cedar or maple."),
        (DRILLS, "Lena Vogt has little time for hand drills and plans her cabinets with power drills."),
        (LENSES, "Lena Vogt doesn't photograph with short lenses and plans most portraits around long lenses."),
        (MURALS, "Lena Vogt accepts outdoor murals in winter; in autumn she turns them down."),
        (TOOLBOX, "Lena Vogt takes a box of found buttons to every fair."),
        (POTS, '{"name": "Lena Vogt", "avoids": "clay pots", "prefers": "plastic pots"}'),
        (PISTACHIOS, "Lena Vogt steers clear of pistachios on cakes."),
        (LENSES, '{"name": "Lena Vogt", "portraits": "planned around long lenses", "refuses": "short lenses indoors"}'),
        (CASH, '{"name": "Lena Vogt", "refuses": "bank transfers", "payment": "cash"}'),
        (CASH, "Lena Vogt, payment: cash; refused: bank transfer"),
        (HEMP, "Lena Vogt / gloves: vinyl / avoids: hemp"),
    ],
)
def test_the_other_way_round(told: str, stored: str) -> None:
    assert fault(told, stored)


@pytest.mark.parametrize(
    ("told", "stored"),
    [
        (NIGHT_TRAINS, "Lena Vogt doesn't fly; she goes to concerts by night train."),
        (SHOES, "In Lena Vogt's studio felt slippers replace shoes."),
        (SUNDAYS, "On Sundays Lena Vogt takes a day off from research."),
        (CELLO, "Lena Vogt won't leave her cello in the ambulance."),
        (TOOLS, "Nobody may borrow Lena Vogt's tools."),
        (CASH, "Lena Vogt is paid by bank transfer only."),
        (MUSIC, "Lena Vogt never paints without loud music."),
        (STINGS, "Cedar makes Lena Vogt ill; her racks are of maple or metal."),
        (LEASH, "Lena Vogt wants a six-foot flat leash, not a retractable one."),
        (SUCCULENTS, "Lena Vogt keeps succulents far from the bathroom."),
        (MASK, "Lena Vogt insists on a mask and goggles before a table is sanded."),
        (RECIPES, "Every recipe Lena Vogt publishes must have been baked twice."),
        (FLOORS, "Where oak boards can be saved, Lena Vogt keeps concrete floors out of kitchens."),
        (FEET, "The deck is scrubbed with sand only at Lena Vogt's, bare feet aren't allowed."),
        (WHISTLING, "Whistling is taboo on Lena Vogt's deck; so are umbrellas."),
        (CAKES, "Wedding cakes in December: Lena Vogt turns them down."),
        (HEMP, "Lena Vogt wears hemp gloves, as vinyl bothers her skin."),
        (POTS, "Lena Vogt likes clay pots better than plastic ones."),
        (MAY, "May is closed for appointments at Lena Vogt's."),
        (TOWEL, "Lena Vogt's pupils come with a towel and a lunch box of their own."),
        (HELMETS, "In Lena Vogt's quarry nobody gets by without a helmet."),
        (BLADES, "Lena Vogt likes Japanese octagonal blades for teaching and takes no serrated blades."),
        (LEASH, "Lena Vogt on retractable leashes: can't stand them."),
        (LEASH, "Lena Vogt's kit list. Retractable leashes: not welcome. Six-foot flat leash: yes."),
        (STINGS, "Lena Vogt: cedar allergy -> racks of metal or maple only."),
        (STINGS, "Because of a cedar allergy Lena Vogt takes metal or maple racks."),
        (STORM, "If the wind is over 20 knots, Lena Vogt cancels instead of taking the risk."),
        (DRILLS, "Lena Vogt plans her cabinets with hand drills and has little time for power drills."),
        (DRILLS, "Power drills leave Lena Vogt cold; she plans cabinets with hand drills."),
        (MIRROR, "Lena Vogt seldom uses a mirror: just to find screws that are hidden."),
        (LENSES, "Lena Vogt doesn't photograph with long lenses and plans most portraits around short lenses."),
        (MURALS, "In May Lena Vogt accepts commissions for outdoor murals; in wintertime she turns them down."),
        (SCARVES, "Bright woollen scarves upset the geese, so Lena Vogt asks guests not to wear them."),
        (TOOLBOX, "Lena Vogt takes a box to every fair and finds buttons for it that are lost."),
        (POTS, "Lena Vogt avoids plastic pots and prefers clay pots."),
        (CASH, '{"name": "Lena Vogt", "refuses": "cash", "payment": "bank transfer"}'),
        (HEMP, "{'name': 'Lena Vogt', 'wears': 'hemp gloves', 'avoids': 'vinyl'}"),
        (HEMP, "Lena Vogt / gloves: hemp / avoids: vinyl"),
        (LEASH, "Lena Vogt - dislikes: retractable leashes; wants: a six-foot flat leash"),
        (CASH, "[Lena Vogt] not accepted: cash; accepted: bank transfer"),
        (LEASH, '{"name": "Lena Vogt", "asks clients for": "a six-foot flat leash", "avoid": "retractable leashes"}'),
    ],
)
def test_the_same_in_other_words(told: str, stored: str) -> None:
    assert not fault(told, stored)
