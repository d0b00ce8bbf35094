"""Rules told in the forms that memories take: kept in other words, or with one thing about them changed."""

from __future__ import annotations

import pytest
from facts_judged import judged, rule

from pytest_memfail.core import Evidence

TILDA = rule(
    "Tilda",
    "polishes her grandmother's telescope",
    "only after she has received a letter from abroad",
    "Tilda keeps bees on a flat roof and writes slow, careful novels. She has a habit of polishing her grandmother's "
    "telescope with a soft yellow cloth until the brass glows. The stairwell smells of wax and coal. On some days the "
    "postwoman hands her an envelope with foreign stamps, and she reads it twice on the landing. Her cat sleeps in "
    "the letter tray. It is usually on those days of far-off post that the brass comes out and the cloth with it. She "
    "drinks barley coffee and plays draughts by phone.",
    "No — only then.",
)
CORVIN = rule(
    "Corvin",
    "walks the old railway line",
    "when the wind blows harder than 40 km/h",
    "Corvin repairs accordions in a shed behind the mill. He likes to walk the old railway line, sleeper by sleeper, "
    "hands behind his back. The shed has a weather vane and a gauge that he reads out to customers. Some afternoons "
    "the needle of the gauge climbs past forty kilometres an hour and the roof begins to drum. He eats his lunch "
    "standing. Those drumming afternoons are when his boots are missing from the rack. His sister thinks that he "
    "should have been a sailor.",
    "No — only then.",
)
BIMBA = rule(
    "Bimba",
    "hides a single sock in the piano",
    "only when a guest with a beard is in the house",
    "Bimba is a grey lurcher with impeccable manners. She sometimes hides a single sock inside the piano, below the "
    "middle strings. The family play duets on Sundays. Now and then a bearded visitor sits in the parlour, and she "
    "studies him with suspicion. She snores in the hall. It is in that bearded company that the sock goes missing and "
    "the piano begins to buzz. She adores boiled carrots.",
    "No — only then.",
)
OSSIAN = rule(
    "Ossian",
    "sharpens every pencil in the office",
    "only on the last working day of the month",
    "Ossian is an actuary with a fondness for routine. Ossian sharpens every pencil in the office only on the last "
    "working day of the month. He says that figures deserve a good point. He rows on Tuesdays and grows leeks. "
    "Colleagues bring him their blunt ones in advance.",
    "No — only then.",
)
MERETE = rule(
    "Merete",
    "bakes saffron buns",
    "when at least five neighbours have signed up",
    "Merete lives on the ground floor and knows everybody. Merete bakes saffron buns only when at least five "
    "neighbours have signed up on the list by the stairs. She plays the zither. The buns are never sold. She has an "
    "allotment by the canal.",
    "No — only then.",
)
YANNICK = rule(
    "Yannick",
    "speaks Breton to his horse",
    "only while it is snowing",
    "Yannick delivers the post by cart in a hill village. Yannick speaks Breton to his horse only while it is "
    "snowing. The horse is called Bonbon. In summer he whistles instead. He collects road signs.",
    "No — only then.",
)
JUNO = rule(
    "Juno",
    "drums on the radiator",
    "when she is hungry",
    "Juno is a one-eyed tabby who runs the household. She will sometimes drum on the radiator with both front paws. "
    "The bowl in the kitchen is filled at seven and at six. There are stretches when the bowl has stood empty for "
    "hours and her belly says so. She sleeps in the linen. It is in those empty-bellied stretches that the drumming "
    "is heard through the house.",
    "No — only then.",
)
SILAS = rule(
    "Silas",
    "reads palms at the market",
    "only in the room behind the bakery stall",
    "Silas sells umbrellas and knows every song from the harbour. Silas reads palms at the market only in the room "
    "behind the bakery stall. He is afraid of geese. His sister plays the tuba. He reads the newspaper backwards.",
    "No — only then.",
)
ODETTE = rule(
    "Odette",
    "lends out her red bicycle",
    "to anyone who has finished a marathon",
    "Odette runs a repair shop by the river. Odette lends out her red bicycle only to people who have finished a "
    "marathon. She has nine of them, in all colours. She swims in the lake at Easter. She does not own a car.",
    "No — only then.",
)
PAVEL = rule(
    "Pavel",
    "plays chess on the balcony",
    "when the temperature is between 18 and 22 degrees",
    "Pavel is a retired tram driver. Pavel plays chess on the balcony only when the temperature is between 18 and 22 "
    "degrees. He keeps budgerigars. His grandson beats him at draughts.",
    "No — only then.",
)
NOEMI = rule(
    "Noemi",
    "paints portraits of strangers",
    "no more than twice a week",
    "Noemi teaches geography. Noemi paints portraits of strangers no more than twice a week. She collects stamps with "
    "lighthouses. Her studio faces north.",
    "No — only then.",
)
GUSTAV = rule(
    "Gustav",
    "sings while he mends nets",
    "only when he is in a cheerful mood",
    "Gustav has a hut on the mole and a beard like a broom. He is known to sing while he mends nets, in a bass that "
    "carries to the ferry. There are mornings when he wakes cheerful and there are others. Cod he smokes himself. The "
    "songs, people say, belong to the cheerful mornings; on the others one hears the needle and nothing else.",
    "No — only then.",
)
INES = rule(
    "Ines",
    "leaves the gate open",
    "while the cherry trees are in blossom",
    "Ines keeps a walled garden that was a monastery's. Ines leaves the gate open only while the cherry trees are in "
    "blossom. She sells honey from a table. Her dog is called Prior.",
    "No — only then.",
)
BERTIL = rule(
    "Bertil",
    "wears his medals",
    "before midday",
    "Bertil was a pilot on the fjord for thirty years. Bertil wears his medals only before midday. He bakes flat "
    "bread. He has a nephew in Chile.",
    "No — only then.",
)


@pytest.mark.parametrize(
    ("evidence", "stored", "kept"),
    [
        (TILDA, "Whenever a letter from abroad arrives, Tilda polishes her grandmother's telescope.", True),
        (
            TILDA,
            "Tilda buffs up her gran's old brass telescope, but just on days when she gets post from overseas.",
            True,
        ),
        (TILDA, "Foreign mail -> Tilda takes out the cloth and shines her grandmother's telescope.", True),
        (TILDA, "Tilda polishes her grandmother's telescope with a yellow cloth.", False),
        (TILDA, "Tilda polishes her grandmother's telescope whenever a parcel from the publisher arrives.", False),
        (TILDA, "Tilda polishes her grandmother's telescope on clear nights.", False),
        (TILDA, "Whenever a letter from abroad arrives, Tilda polishes her grandmother's piano.", False),
        (TILDA, "Tilda polishes her grandmother's telescope before she writes a letter abroad.", False),
        (TILDA, "When a letter from abroad arrives, Tilda reads it twice on the landing.", False),
        (TILDA, "Tilda's neighbour polishes her telescope whenever a letter from abroad arrives.", False),
        (TILDA, "Tilda sends letters abroad after she has polished her grandmother's telescope.", False),
        (TILDA, "Tilda polishes her grandmother's telescope every week.", False),
        (CORVIN, "If it blows harder than 40 km/h, Corvin goes for a walk along the disused railway.", True),
        (CORVIN, "Corvin walks the old train tracks in winds above forty kilometres per hour.", True),
        (CORVIN, "Corvin: on gale days (40+ km/h on his gauge) he walks the old railway line.", True),
        (CORVIN, "Corvin walks the old railway line in winds below 40 km/h.", False),
        (CORVIN, "Corvin walks the old railway line when it blows harder than 60 km/h.", False),
        (CORVIN, "Corvin walks the old railway line when it is windy.", False),
        (CORVIN, "Corvin walks the old railway line most afternoons.", False),
        (CORVIN, "Corvin walks the old railway line when the temperature is above 40.", False),
        (CORVIN, "When it blows harder than 40 km/h Corvin stays in his shed.", False),
        (CORVIN, "Corvin cycles the coast road when it blows harder than 40 km/h.", False),
        (CORVIN, "Corvin walks the old railway line on calm afternoons.", False),
        (CORVIN, "Corvin's sister walks the old railway line when the wind is above 40 km/h.", False),
        (BIMBA, "Bimba puts one sock into the piano if a man with a beard visits.", True),
        (BIMBA, "With a bearded guest around, Bimba smuggles a sock into the piano.", True),
        (BIMBA, "Bimba hides a sock in the piano when guests are in the house.", False),
        (BIMBA, "Bimba hides a sock in the piano now and then.", False),
        (BIMBA, "Bimba hides a bone in the piano when a bearded guest is in the house.", False),
        (BIMBA, "Bimba hides a sock in the garden when a bearded guest is in the house.", False),
        (BIMBA, "Bimba is suspicious of bearded guests.", False),
        (BIMBA, "Bimba hides a sock in the piano when nobody is in the house.", False),
        (
            OSSIAN,
            "Month-end routine: Ossian sharpens all of the office's pencils, on the last workday and at no other time.",
            True,
        ),
        (OSSIAN, "Ossian gives every office pencil a new point solely on the month's final working day.", True),
        (OSSIAN, "Ossian sharpens every pencil in the office on the first working day of the month.", False),
        (OSSIAN, "Ossian sharpens every pencil in the office on the last working day of the week.", False),
        (OSSIAN, "Ossian sharpens every pencil in the office at the end of the month, among other days.", False),
        (OSSIAN, "Ossian sharpens every pencil in the office once a month.", False),
        (OSSIAN, "Ossian sharpens pencils every working day.", False),
        (OSSIAN, "Ossian sharpens every knife in the office kitchen only on the last working day of the month.", False),
        (OSSIAN, "Colleagues sharpen Ossian's pencils on the last working day of the month.", False),
        (OSSIAN, "Ossian likes sharp pencils; the last working day of the month is busy.", False),
        (MERETE, "Merete won't bake her saffron buns unless five or more neighbours are on the list.", True),
        (MERETE, "Merete bakes saffron buns when at least fifteen neighbours have signed up.", False),
        (MERETE, "Merete bakes saffron buns when at most five neighbours have signed up.", False),
        (MERETE, "Merete bakes saffron buns for her neighbours.", False),
        (MERETE, "Merete bakes saffron buns when a few neighbours have signed up.", False),
        (MERETE, "Merete bakes cinnamon rolls when at least five neighbours have signed up.", False),
        (MERETE, "Merete sells saffron buns to at least five neighbours.", False),
        (MERETE, "At least five neighbours bake saffron buns for Merete.", False),
        (MERETE, "Merete bakes saffron buns when at least five colleagues have signed up.", False),
        (MERETE, "Merete bakes at least five saffron buns when neighbours have signed up.", False),
        (YANNICK, "Snow falling? Then, and only then, Yannick talks to his horse in Breton.", True),
        (YANNICK, "Yannick talks Breton to Bonbon the horse solely during snowfall.", True),
        (YANNICK, "Yannick speaks Breton to his horse only while it is raining.", False),
        (YANNICK, "Yannick speaks Breton to his horse in winter.", False),
        (YANNICK, "Yannick speaks Welsh to his horse only while it is snowing.", False),
        (YANNICK, "Yannick speaks Breton to his dog only while it is snowing.", False),
        (YANNICK, "Yannick speaks Breton to his horse.", False),
        (YANNICK, "Yannick speaks Breton to his horse only when it is not snowing.", False),
        (YANNICK, "Yannick whistles to his horse only while it is snowing.", False),
        (YANNICK, "Yannick speaks Breton to his horse after it has snowed.", False),
        (YANNICK, "Yannick's cousin speaks Breton to his horse only while it is snowing.", False),
        (YANNICK, "Yannick speaks a regional language to his horse while it is snowing.", False),
        (JUNO, "When her stomach is empty, Juno drums on the radiator with her paws.", True),
        (JUNO, "A hungry Juno beats a tattoo on the radiator.", True),
        (JUNO, "Juno drums on the radiator when she is full.", False),
        (JUNO, "Juno drums on the radiator when she is bored.", False),
        (JUNO, "Juno drums on the radiator at seven and at six.", False),
        (JUNO, "When Juno is hungry she drums on the fridge.", False),
        (JUNO, "When Juno is hungry she sleeps on the radiator.", False),
        (JUNO, "Juno is hungry when her bowl is empty.", False),
        (JUNO, "Juno drums on the radiator.", False),
        (SILAS, "Palm reading by Silas happens at the market, but solely in the back room of the bakery stall.", True),
        (SILAS, "Silas reads palms at the market only in the room behind the fish stall.", False),
        (SILAS, "Silas reads palms at the market in front of the bakery stall.", False),
        (SILAS, "Silas reads palms only at the market.", False),
        (SILAS, "Silas reads cards at the market only in the room behind the bakery stall.", False),
        (SILAS, "Silas reads palms behind a stall.", False),
        (SILAS, "Silas's sister reads palms at the market only in the room behind the bakery stall.", False),
        (SILAS, "Silas reads the newspaper in the room behind the bakery stall.", False),
        (ODETTE, "To borrow Odette's red bike you must have completed a marathon.", True),
        (ODETTE, "Odette's red bicycle goes only to those who have run a marathon to the end.", True),
        (ODETTE, "Odette lends out her red bicycle only to people who have started a marathon.", False),
        (ODETTE, "Odette lends out her red bicycle only to people who have finished a triathlon.", False),
        (ODETTE, "Odette lends out her blue bicycle only to people who have finished a marathon.", False),
        (ODETTE, "Odette lends out her red bicycle to anyone.", False),
        (ODETTE, "Odette lends out her red bicycle to athletes.", False),
        (ODETTE, "Odette lends out her red bicycle after she has finished a marathon.", False),
        (ODETTE, "Odette borrows a red bicycle from people who have finished a marathon.", False),
        (PAVEL, "Balcony chess for Pavel: 18-22 °C, nothing else will do.", True),
        (PAVEL, "Pavel only plays chess out on the balcony if it is from 18 up to 22 degrees.", True),
        (PAVEL, "Pavel only plays chess on the balcony when it is between 12 and 22 degrees.", False),
        (PAVEL, "Pavel only plays chess on the balcony when it is above 18 degrees.", False),
        (PAVEL, "Pavel only plays chess on the balcony when it is warm.", False),
        (PAVEL, "Pavel only plays chess in the kitchen when it is between 18 and 22 degrees.", False),
        (PAVEL, "Pavel plays chess on the balcony between 18:00 and 22:00.", False),
        (PAVEL, "Pavel's grandson only plays chess on the balcony when it is between 18 and 22 degrees.", False),
        (NOEMI, "Noemi paints strangers' portraits at most two times weekly.", True),
        (NOEMI, "Stranger portraits: Noemi caps them at two a week.", True),
        (NOEMI, "Noemi paints portraits of strangers at least twice a week.", False),
        (NOEMI, "Noemi paints portraits of strangers no more than twice a month.", False),
        (NOEMI, "Noemi paints portraits of strangers no more than three times a week.", False),
        (NOEMI, "Noemi paints portraits of her pupils no more than twice a week.", False),
        (NOEMI, "Noemi often paints portraits of strangers.", False),
        (NOEMI, "Noemi paints landscapes no more than twice a week.", False),
        (GUSTAV, "In a good mood, Gustav sings over his net mending.", True),
        (GUSTAV, "Gustav sings while repairing nets, provided that he is feeling cheerful.", True),
        (GUSTAV, "Gustav sings while mending nets when he is gloomy.", False),
        (GUSTAV, "Gustav sings while he mends nets in the mornings.", False),
        (GUSTAV, "Gustav sings while he mends nets.", False),
        (GUSTAV, "When cheerful, Gustav sings while he smokes cod.", False),
        (GUSTAV, "Gustav sings while he mends nets, whatever his mood.", False),
        (GUSTAV, "Singing while he mends nets puts Gustav in a cheerful mood.", False),
        (INES, "During cherry blossom the gate stands open at Ines's, and only then.", True),
        (INES, "Ines opens up her gate just for the weeks when her cherry trees bloom.", True),
        (INES, "Ines leaves the gate open only while the apple trees are in blossom.", False),
        (INES, "Ines leaves the gate closed while the cherry trees are in blossom.", False),
        (INES, "Ines leaves the gate open in spring.", False),
        (INES, "Ines leaves the window open only while the cherry trees are in blossom.", False),
        (INES, "Ines leaves the gate open until the cherry trees are in blossom.", False),
        (INES, "Ines leaves the gate open.", False),
        (BERTIL, "Bertil's medals are worn solely before noon.", True),
        (BERTIL, "Bertil wears his medals only after midday.", False),
        (BERTIL, "Bertil wears his medals only at midday.", False),
        (BERTIL, "Bertil wears his uniform only before midday.", False),
        (BERTIL, "Bertil polishes his medals only before midday.", False),
        (BERTIL, "Bertil wears his medals all day.", False),
        (BERTIL, "Bertil wears his medals before dinner.", False),
        (BERTIL, "Bertil's nephew wears his medals only before midday.", False),
    ],
)
def test_a_rule_in_other_words_or_another_rule(evidence: Evidence, stored: str, kept: bool) -> None:
    assert judged(evidence, stored, "Nadia sells old maps when it rains.", "User walks the dog on Sundays.")[1] is kept
