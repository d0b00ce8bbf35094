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
