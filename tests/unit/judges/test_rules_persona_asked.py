"""What a question needs of two further people, lightly reworded: kept, or with the one thing lost that tells it."""

from __future__ import annotations

import pytest
from facts_judged import judged, persona

from pytest_memfail.core import Evidence

ROSA = (
    "Rosa Keller runs a small darkroom and teaches film photography on weekend mornings. She develops black-and-white rolls "
    "only in a homemade caffenol made from instant coffee, because commercial developer irritates her skin. Rosa never "
    "shoots with flash; she says it flattens faces. She is severely lactose intolerant and takes oat milk in her two daily "
    "cortados. Every Tuesday she swims forty laps at the municipal pool before opening the shop at 10 a.m. Rosa keeps her "
    "negatives in archival sleeves sorted by city, and she lends them to nobody. She prefers to be reached by text message "
    "and ignores voicemail. Her favourite camera is a battered Rolleiflex inherited from her aunt Ilse. She listens to "
    "Portuguese fado while printing and hums along off-key. Rosa is afraid of elevators and will take the stairs up to the "
    "ninth floor. She vacations in late October at the same lighthouse on the Baltic coast. She budgets strictly and "
    "refuses to spend more than 30 euros on a birthday gift."
)
MALIK = (
    "Malik Osei is a night-shift paramedic who restores vintage bicycles in his basement. He unwinds after work with a pot "
    "of rooibos and thirty minutes of crossword puzzles in ink. Malik refuses to wear cologne on duty because patients may "
    "react to scents. He is allergic to penicillin and wears a steel bracelet that says so. He builds wheels with 32 spokes "
    "and brass nipples, and insists on tubular tires for racing frames. On Sundays he cooks jollof rice for his sisters, "
    "always with smoked turkey instead of beef. He hates surprise parties and once walked out of his own. Malik saves for a "
    "trip to Kyoto and keeps the money in a blue biscuit tin. He takes notes in a waterproof notebook with a stubby pencil. "
    "He won't lend his truing stand, but he happily lends his torque wrench. He plays the bass clarinet in a community wind "
    "band that rehearses every second Wednesday. Malik sleeps with blackout curtains and a white-noise machine set to rain."
)
WHO = (
    "Rosa Keller teaches film photography and runs a darkroom.",
    "Malik Osei works nights as a paramedic and restores old bicycles.",
)


def rosa(asked: str, value: str) -> Evidence:
    return persona(ROSA, "Rosa Keller", asked, value)


def malik(asked: str, value: str) -> Evidence:
    return persona(MALIK, "Malik Osei", asked, value)


DEV = rosa(
    "What developer does Rosa Keller use for black-and-white film?", "A homemade caffenol made from instant coffee."
)
FLA = rosa("Should I bring a flash to a shoot with Rosa Keller?", "No, she never shoots with flash.")
MILK = rosa("What milk should I put in Rosa Keller's coffee?", "Oat milk; she is lactose intolerant.")
SWIM = rosa("When does Rosa Keller swim?", "Every Tuesday before opening the shop at 10 a.m.")
NEG = rosa("Could I borrow some of Rosa Keller's negatives?", "No, she lends them to nobody.")
SORT = rosa("How does Rosa Keller sort her negatives?", "By city, in archival sleeves.")
TXT = rosa("What's the best way to contact Rosa Keller?", "By text message; she ignores voicemail.")
CAM = rosa("Which camera does Rosa Keller like best?", "A battered Rolleiflex inherited from her aunt.")
MUS = rosa("What music should I play while Rosa Keller prints?", "Portuguese fado.")
LIFT = rosa(
    "We meet Rosa Keller on the eighth floor. Will she take the elevator?",
    "No, she is afraid of elevators and takes the stairs.",
)
VAC = rosa("Where does Rosa Keller go on vacation?", "To the same lighthouse on the Baltic coast, in late October.")
GIFT = rosa("How much would Rosa Keller spend on a birthday gift?", "At most 30 euros.")
ROO = malik("What could I serve Malik Osei after his shift?", "A pot of rooibos.")
CRO = malik("What does Malik Osei do to unwind?", "Thirty minutes of crossword puzzles in ink with rooibos.")
COL = malik(
    "Would cologne be a good present for Malik Osei to wear at work?",
    "No, he refuses to wear cologne on duty because patients may react to scents.",
)
PEN = malik("What should a doctor not give Malik Osei?", "Penicillin; he is allergic to it.")
SPO = malik("How many spokes do Malik Osei's wheels have?", "32 spokes, with brass nipples.")
TIR = malik("What tires does Malik Osei want on racing frames?", "Tubular tires.")
JOL = malik("What meat goes in Malik Osei's jollof rice?", "Smoked turkey instead of beef.")
SUR = malik(
    "Is a surprise party a good idea for Malik Osei?", "No, he hates surprise parties and once walked out of his own."
)
KYO = malik("What is Malik Osei saving for?", "A trip to Kyoto.")
TIN = malik("Where does Malik Osei keep his savings?", "In a blue biscuit tin.")
NOTE = malik("What should I give Malik Osei for taking notes?", "A waterproof notebook and a stubby pencil.")
LEND = malik("Which tool would Malik Osei lend me?", "His torque wrench, but not his truing stand.")
BAND = malik("When does Malik Osei's band rehearse?", "Every second Wednesday.")
INST = malik("What instrument does Malik Osei play?", "The bass clarinet.")
SLP = malik(
    "How should I prepare a bedroom for Malik Osei?", "With blackout curtains and a white-noise machine set to rain."
)


@pytest.mark.parametrize(
    ("evidence", "stored", "kept"),
    [
        (DEV, "Rosa Keller brews her own B&W film developer (caffenol) out of instant coffee.", True),
        (DEV, "Rosa Keller brews her own B&W film developer out of vitamin C powder.", False),
        (DEV, "Rosa Keller develops her B&W film in a commercial developer.", False),
        (DEV, "Rosa Keller develops black-and-white rolls in a homemade brew.", False),
        (FLA, "Rosa Keller - natural light only, no flash.", True),
        (FLA, "Flash photography is out for Rosa Keller; it makes faces look flat.", True),
        (FLA, "Rosa Keller rarely shoots without flash.", False),
        (FLA, "Rosa Keller has views on how faces look in photographs.", False),
        (FLA, "Rosa Keller uses flash for portraits only.", False),
        (MILK, "Rosa Keller can't have dairy: cortados with oat milk, two a day.", True),
        (MILK, "Rosa Keller can't have dairy: cortados with almond milk, two a day.", False),
        (MILK, "Rosa Keller drinks two cortados a day.", False),
        (MILK, "Rosa Keller drinks plant-based milk in her coffee.", False),
        (MILK, "Rosa Keller takes soy milk in her two daily cortados as she is lactose intolerant.", False),
        (SWIM, "On Tuesdays Rosa Keller does 40 laps in the public pool, then opens up at ten.", True),
        (SWIM, "On Thursdays Rosa Keller does 40 laps in the public pool, then opens up at ten.", False),
        (SWIM, "Rosa Keller does 40 laps at the pool before work most days.", False),
        (SWIM, "On Tuesdays Rosa Keller swims after closing the shop.", False),
        (NEG, "Rosa Keller lends her negatives to friends.", False),
        (NEG, "Rosa Keller keeps her negatives in archival sleeves.", False),
        (SORT, "Rosa Keller files negatives city by city in acid-free archive sleeves.", True),
        (SORT, "Rosa Keller files negatives year by year in archival sleeves.", False),
        (SORT, "Rosa Keller keeps her negatives neatly filed.", False),
        (TXT, "Text Rosa Keller; she doesn't listen to voicemail.", True),
        (TXT, "Rosa Keller prefers email and ignores voicemail.", False),
        (TXT, "Rosa Keller ignores voicemail.", False),
        (CAM, "Rosa Keller's go-to camera: an old Rolleiflex that was Aunt Ilse's.", True),
        (CAM, "Rosa Keller's go-to camera: an old Hasselblad that was Aunt Ilse's.", False),
        (CAM, "Rosa Keller's favourite camera came from her aunt.", False),
        (MUS, "In the darkroom Rosa Keller puts on fado from Portugal.", True),
        (MUS, "In the darkroom Rosa Keller puts on Spanish flamenco.", False),
        (MUS, "Rosa Keller hums along to music while printing.", False),
        (LIFT, "Rosa Keller has a phobia of lifts and walks up, even nine floors.", True),
        (LIFT, "Rosa Keller is afraid of escalators.", False),
        (LIFT, "Rosa Keller has a phobia.", False),
        (VAC, "End of October: Rosa Keller's yearly stay at her Baltic lighthouse.", True),
        (VAC, "End of October: Rosa Keller's yearly stay at her cabin in the Alps.", False),
        (VAC, "Rosa Keller goes on vacation in late October.", False),
        (VAC, "Rosa Keller spends late April at a lighthouse on the Baltic coast.", False),
        (GIFT, "Birthday presents: Rosa Keller's limit is €30.", True),
        (GIFT, "Birthday presents: Rosa Keller spends 30 euros or more.", False),
        (GIFT, "Rosa Keller is careful with money when buying birthday presents.", False),
        (GIFT, "Rosa Keller spends no more than 50 euros on a birthday gift.", False),
        (ROO, "After a shift Malik Osei brews rooibos and does the crossword.", True),
        (ROO, "After a shift Malik Osei brews chamomile and does the crossword.", False),
        (ROO, "After a shift Malik Osei does the crossword with a hot drink.", False),
        (CRO, "Malik Osei winds down with half an hour of crosswords (pen, not pencil) and rooibos tea.", True),
        (CRO, "Malik Osei winds down with half an hour of sudoku and rooibos tea.", False),
        (COL, "Malik Osei wears cologne on duty.", False),
        (COL, "Malik Osei refuses to wear a watch on duty.", False),
        (COL, "Malik Osei refuses to wear cologne at parties.", False),
        (PEN, "Medical alert: Malik Osei has a penicillin allergy (steel bracelet).", True),
        (PEN, "Malik Osei wears a steel medical bracelet.", False),
        (PEN, "Malik Osei is allergic to aspirin and wears a steel bracelet.", False),
        (PEN, "Malik Osei has a drug allergy, noted on a steel bracelet.", False),
        (SPO, "Malik Osei laces his wheels with 36 spokes and brass nipples.", False),
        (SPO, "Malik Osei builds his own wheels with brass nipples.", False),
        (TIR, "For race frames Malik Osei will only hear of tubulars.", True),
        (TIR, "For race frames Malik Osei insists on tubeless clinchers.", False),
        (TIR, "Malik Osei is picky about tires on racing frames.", False),
        (JOL, "Sunday jollof at Malik Osei's: smoked turkey, no beef.", True),
        (JOL, "Sunday jollof at Malik Osei's: beef, no turkey.", False),
        (JOL, "Sundays Malik Osei makes jollof rice with smoked fish for his sisters.", False),
        (JOL, "Sundays Malik Osei makes jollof rice with poultry for his sisters.", False),
        (JOL, "Sundays Malik Osei makes jollof rice for his sisters.", False),
        (SUR, "Malik Osei can't stand being surprised with a party; he left one thrown for him.", True),
        (SUR, "Malik Osei loves surprise parties.", False),
        (SUR, "Malik Osei hates dinner parties and once walked out of his own.", False),
        (KYO, "Malik Osei is putting money aside to visit Kyoto.", True),
        (KYO, "Malik Osei is putting money aside to visit Osaka.", False),
        (KYO, "Malik Osei is putting money aside for a trip abroad.", False),
        (KYO, "Malik Osei is putting money aside in a blue biscuit tin.", False),
        (TIN, "Malik Osei's Kyoto fund lives in a blue cookie tin.", True),
        (TIN, "Malik Osei's Kyoto fund lives in a savings account.", False),
        (TIN, "Malik Osei has a Kyoto fund.", False),
        (NOTE, "Malik Osei jots things down with a short pencil in a waterproof notebook.", True),
        (NOTE, "Malik Osei takes notes on his phone.", False),
        (NOTE, "Malik Osei takes notes with a stubby pencil.", False),
        (LEND, "You may borrow Malik Osei's truing stand; the torque wrench stays put.", False),
        (LEND, "Malik Osei lends tools.", False),
        (LEND, "Malik Osei won't lend his truing stand.", False),
        (BAND, "Malik Osei's wind band practises every other Wednesday.", True),
        (BAND, "Malik Osei's wind band practises every Wednesday.", False),
        (BAND, "Malik Osei's wind band practises every second Friday.", False),
        (INST, "Malik Osei: bass clarinet, community wind band.", True),
        (INST, "Malik Osei: bass guitar, community wind band.", False),
        (INST, "Malik Osei plays a woodwind in the community band.", False),
        (SLP, "For sleep Malik Osei needs blackout curtains plus rain white noise.", True),
        (SLP, "For sleep Malik Osei needs thin curtains and silence.", False),
        (SLP, "For sleep Malik Osei needs an eye mask and a white-noise machine set to ocean waves.", False),
    ],
)
def test_what_a_question_needs(evidence: Evidence, stored: str, kept: bool) -> None:
    others = ("Nadia sells old maps.", "Bruno Weiss shoots with flash and drinks soy lattes.")
    assert judged(evidence, *WHO, stored, *others)[1] is kept


HANNA = (
    "Hanna Virtanen builds kayaks from spruce and cedar in a boathouse on the lake. She paddles at dawn every morning from "
    "May to September, never with music. Hanna refuses to varnish indoors because the fumes give her headaches. She charges "
    "a deposit of 40 percent and delivers nine weeks later. Her lunch is always rye bread with smoked vendace, and she "
    "cannot eat strawberries without breaking out in hives. She reads the weather from a barograph that hangs above the "
    "bench. Hanna prefers hand planes to power tools and sharpens them on a Japanese waterstone. She trains for the "
    "90-kilometre lake race with two friends from the post office. She keeps her phone in a drawer until 4 p.m. Her sauna "
    "is heated on Wednesdays and Saturdays, and guests must bring their own towel. She collects enamel coffee pots, only "
    "green ones. She is saving for a bandsaw."
)


def hanna(asked: str, value: str | None, telling: str) -> Evidence:
    return persona(HANNA, "Hanna Virtanen", asked, value, (telling,))


MAT = hanna("What wood does Hanna Virtanen use for kayaks?", "Spruce and cedar.", "spruce and cedar")
PAD = hanna(
    "When does Hanna Virtanen paddle?",
    "At dawn every morning from May to September.",
    "at dawn every morning from May to September",
)
VAR = hanna(
    "Can I ask Hanna Virtanen to varnish my oar inside the boathouse?",
    "No, she refuses to varnish indoors because of the fumes.",
    "refuses to varnish indoors",
)
DEP = hanna("How much deposit does Hanna Virtanen want?", "40 percent.", "deposit of 40 percent")
WK = hanna("How long until Hanna Virtanen delivers?", "Nine weeks.", "nine weeks")
LUN = hanna("What does Hanna Virtanen have for lunch?", "Rye bread with smoked vendace.", "rye bread smoked vendace")
STRA = hanna(
    "May I serve Hanna Virtanen strawberry cake?", "No, strawberries give her hives.", "cannot eat strawberries"
)
BAR = hanna("How does Hanna Virtanen forecast the weather?", "From a barograph above the bench.", "barograph")
PLA = hanna(
    "What should I give Hanna Virtanen, a hand plane or a power tool?",
    "A hand plane; she prefers them to power tools.",
    "prefers hand planes to power tools",
)
STO = hanna("What does Hanna Virtanen sharpen her planes on?", "A Japanese waterstone.", "Japanese waterstone")
TR = hanna(
    "With whom does Hanna Virtanen train?", "Two friends from the post office.", "two friends from the post office"
)
PH = hanna(
    "When can I reach Hanna Virtanen by phone?",
    "After 4 p.m.; until then it is in a drawer.",
    "phone in a drawer until 4 p.m.",
)
SAU = hanna(
    "On which days is Hanna Virtanen's sauna heated?", "On Wednesdays and Saturdays.", "Wednesdays and Saturdays"
)
TOW = hanna("What must I bring to Hanna Virtanen's sauna?", "Your own towel.", "bring their own towel")
POT = hanna(
    "Which coffee pots does Hanna Virtanen collect?", "Enamel ones, only green.", "enamel coffee pots only green ones"
)
SAW = hanna("What is Hanna Virtanen saving for?", "A bandsaw.", "bandsaw")
M_VAR = hanna("Would Per Holm varnish my chair in the kitchen?", None, "refuses to varnish indoors")
M_STRA = hanna("Can I bring Per Holm a bowl of strawberries?", None, "cannot eat strawberries hives")
M_PH = hanna("Can I call Per Holm at noon?", None, "phone in a drawer until 4 p.m.")
M_POT = hanna("Would Per Holm like a blue enamel coffee pot?", None, "enamel coffee pots only green ones")
M_PAD = hanna("Would Per Holm go paddling with me in November?", None, "paddles at dawn from May to September")
M_TOOL = hanna("Should I get Per Holm a power sander?", None, "prefers hand planes to power tools")
M_SAU = hanna("Is Per Holm's sauna warm on Fridays?", None, "sauna heated on Wednesdays and Saturdays")


@pytest.mark.parametrize(
    ("evidence", "stored", "kept"),
    [
        (MAT, "Hanna Virtanen's kayaks are made of cedar and spruce.", True),
        (MAT, "Hanna Virtanen's kayaks are made of pine and oak.", False),
        (MAT, "Hanna Virtanen's kayaks are made of spruce and ash.", False),
        (PAD, "May-September: Hanna Virtanen is out in her boat each day at daybreak.", True),
        (PAD, "May-September: Hanna Virtanen is out in her boat each day at dusk.", False),
        (PAD, "Hanna Virtanen paddles every morning from March to September.", False),
        (PAD, "Hanna Virtanen paddles at dawn at weekends.", False),
        (PAD, "Hanna Virtanen paddles a lot in the warm months.", False),
        (VAR, "Varnishing inside is off the table for Hanna Virtanen: the fumes make her head ache.", True),
        (VAR, "Hanna Virtanen varnishes indoors in winter.", False),
        (VAR, "Hanna Virtanen refuses to varnish outdoors.", False),
        (VAR, "Hanna Virtanen gets headaches from fumes.", False),
        (DEP, "Hanna Virtanen asks for 14% up front.", False),
        (DEP, "Hanna Virtanen asks for a deposit.", False),
        (WK, "Orders placed with Hanna Virtanen arrive after 9 months.", False),
        (WK, "Orders placed with Hanna Virtanen arrive after a couple of weeks.", False),
        (LUN, "Every noon Hanna Virtanen eats smoked vendace on rye.", True),
        (LUN, "Every noon Hanna Virtanen eats smoked salmon on rye bread.", False),
        (LUN, "Every noon Hanna Virtanen eats an open sandwich.", False),
        (STRA, "Strawberries make Hanna Virtanen break out in hives.", True),
        (STRA, "Hanna Virtanen loves strawberries.", False),
        (BAR, "Hanna Virtanen goes by the barograph over her workbench for weather.", True),
        (BAR, "Hanna Virtanen goes by an app for weather.", False),
        (BAR, "Hanna Virtanen reads the weather from a thermometer that hangs above the bench.", False),
        (PLA, "Hanna Virtanen would rather use a hand plane than anything with a motor.", True),
        (PLA, "Hand planes over power tools is Hanna Virtanen's creed.", True),
        (PLA, "Hanna Virtanen prefers power tools to hand planes.", False),
        (STO, "Hanna Virtanen uses a waterstone from Japan for sharpening.", True),
        (STO, "Hanna Virtanen uses an oilstone from Arkansas for sharpening.", False),
        (STO, "Hanna Virtanen sharpens her planes on a stone.", False),
        (STO, "Hanna Virtanen sharpens her planes on a Japanese grinder.", False),
        (TR, "Two pals who work at the post office train with Hanna Virtanen.", True),
        (TR, "Two pals who work at the bank train with Hanna Virtanen.", False),
        (TR, "Three friends from the post office train with Hanna Virtanen.", False),
        (TR, "Hanna Virtanen trains alone for the 90-kilometre lake race.", False),
        (PH, "Hanna Virtanen's phone stays in the drawer till four in the afternoon.", True),
        (PH, "Hanna Virtanen's phone stays in the drawer after 4 p.m.", False),
        (PH, "Hanna Virtanen keeps her phone in a drawer until noon.", False),
        (PH, "Hanna Virtanen keeps her phone in a drawer most of the day.", False),
        (SAU, "Sauna days at Hanna Virtanen's: Wed and Sat.", True),
        (SAU, "Sauna days at Hanna Virtanen's: Tuesday and Saturday.", False),
        (SAU, "Hanna Virtanen heats her sauna on Saturdays.", False),
        (SAU, "Hanna Virtanen heats her sauna twice a week.", False),
        (TOW, "Whoever visits Hanna Virtanen's sauna has to come with a towel of their own.", True),
        (TOW, "Whoever visits Hanna Virtanen's sauna has to come with wood for the stove.", False),
        (POT, "Hanna Virtanen collects enamel coffee pots in all colours.", False),
        (POT, "Hanna Virtanen collects blue enamel coffee pots only.", False),
        (POT, "Hanna Virtanen collects coffee pots.", False),
        (SAW, "Hanna Virtanen puts money aside to buy a bandsaw.", True),
        (SAW, "Hanna Virtanen puts money aside to buy a lathe.", False),
        (SAW, "Hanna Virtanen puts money aside to buy a machine.", False),
        (M_VAR, "Hanna Virtanen does all varnishing outside, as indoors the fumes hurt her head.", True),
        (M_VAR, "Hanna Virtanen varnishes in the boathouse with the doors shut.", False),
        (M_VAR, "Hanna Virtanen varnishes kayaks.", False),
        (M_STRA, "Hanna Virtanen gets hives from strawberries.", True),
        (M_STRA, "Hanna Virtanen gets hives from bee stings.", False),
        (M_STRA, "Hanna Virtanen grows strawberries.", False),
        (M_PH, "Before 4 pm Hanna Virtanen cannot be reached; the phone is in a drawer.", True),
        (M_PH, "After 4 pm Hanna Virtanen cannot be reached; the phone is in a drawer.", False),
        (M_POT, "Hanna Virtanen only collects green enamel coffee pots.", True),
        (M_POT, "Hanna Virtanen collects enamel coffee pots.", False),
        (M_PAD, "Hanna Virtanen paddles at first light, but not outside the May to September season.", True),
        (M_PAD, "Hanna Virtanen paddles at first light all year round.", False),
        (M_TOOL, "Hanna Virtanen favours hand planes and leaves power tools to others.", True),
        (M_SAU, "The sauna of Hanna Virtanen is on every Wednesday and Saturday.", True),
        (M_SAU, "The sauna of Hanna Virtanen is on every Friday.", False),
        (M_SAU, "The sauna of Hanna Virtanen is on every day.", False),
    ],
)
def test_what_is_said_to_carry_the_answer(evidence: Evidence, stored: str, kept: bool) -> None:
    others = ("Nadia sells old maps.", "Per Holm likes strawberries and power tools.")
    assert judged(evidence, "Hanna Virtanen builds wooden kayaks in a boathouse.", stored, *others)[1] is kept
