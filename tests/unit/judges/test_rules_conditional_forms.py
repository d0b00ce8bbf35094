"""Conditional rules in the forms that memories take: kept, damaged in the condition or in what is done, given away, dropped."""

from __future__ import annotations

import pytest
from facts_judged import rule, verdict

from pytest_memfail.core import Evidence

PETRA = rule(
    "Petra",
    "waters the tomato plants",
    "only after 7pm",
    "Petra has a balcony garden. Petra waters the tomato plants only after 7pm. She sings to them. Her brother visits at weekends.",
    "No",
)
OSKAR = rule(
    "Oskar",
    "calls his grandfather",
    "when he has had a bad day at work",
    "Oskar is a nurse with long shifts. He has a habit of calling his grandfather and talking about fishing. Some days at the "
    "hospital leave him worn and low. It's usually after those rough shifts that he dials the old man's number. He collects stamps.",
)
LUNA = rule(
    "Luna",
    "sleeps on the piano",
    "whenever it is snowing",
    "Luna is a white cat. Luna sleeps on the piano whenever it is snowing. She dislikes the vacuum cleaner.",
)
INES = rule(
    "Ines",
    "plays chess in the park",
    "only on Saturdays",
    "Ines teaches maths. Ines plays chess in the park only on Saturdays. She drinks black coffee.",
    "No",
)
TOBIAS = rule(
    "Tobias",
    "eats chocolate",
    "when he is stressed",
    "Tobias is a lawyer. Tobias eats chocolate when he is stressed. His wife bakes bread. He runs on Mondays.",
)
GRETA = rule(
    "Greta",
    "refuses to ride the bus",
    "when the seats are wet",
    "Greta is a proud poodle. Greta refuses to ride the bus when the seats are wet. She wears a red collar.",
)
MILO = rule(
    "Milo",
    "barks at the mailman",
    "unless he has been fed",
    "Milo is a terrier. Milo barks at the mailman unless he has been fed. He sleeps in a basket.",
)

SIGNE = rule(
    "Signe",
    "repaints the garden gate",
    "only after her beehives have been emptied for the season",
    "Signe keeps bees behind the school. She has a habit of repainting the garden gate in a new colour. In late summer the "
    "hives are emptied and the jars stand in rows on the porch. It's usually once the last frame has been emptied that the "
    "brushes come out. Children bring her empty tins.",
    "No",
)
BAO = rule(
    "Bao",
    "writes letters to his future self",
    "when his energy level is below 4 out of 10",
    "Bao works nights at a printing house. He likes to write letters to his future self on yellow paper. There are evenings "
    "when his energy drops to about three out of ten and he can hardly lift a cup. It's on those drained evenings that the "
    "yellow paper is taken from the drawer. He plays the oboe.",
)
RUFUS = rule(
    "Rufus",
    "digs up the tulips",
    "whenever the neighbours' gate is left open",
    "Rufus is a beagle with one white ear. He digs up the tulips with great joy. The neighbours' gate has a latch that "
    "often stays open. Most of the time, when that gate stands open, he is found with soil on his nose. He fears thunder.",
)
EDDA = rule(
    "Edda",
    "lends her telescope",
    "only to people who have slept under the open sky",
    "Edda measures the tides. She lends her telescope now and then, wrapped in a blanket. She asks people about the nights "
    "they spent outdoors. It's usually after someone has told her of sleeping under the open sky that the blanket is "
    "unwrapped. Her cat is named Perigee.",
    "No",
)
CASPAR = rule(
    "Caspar",
    "bakes rye bread",
    "on the first Sunday of each month",
    "Caspar drives a tram. He bakes rye bread with caraway. The first Sunday of each month is when his street holds its "
    "market. On that particular Sunday the smell of rye fills the stairwell. He wears green socks.",
)
NADJA = rule(
    "Nadja",
    "swims in the lake",
    "before sunrise",
    "Nadja translates poems. She swims in the lake with slow strokes. She gets up while the sky is still dark. It's in that "
    "hour before the sun comes up that she is seen in the water. She owns nine lamps.",
)
THEO = rule(
    "Theo",
    "grumbles at the radio",
    "when the guest is a politician",
    "Theo repairs clocks. He grumbles at the radio in his workshop. Some programmes invite politicians as guests. It's "
    "usually when such a guest speaks that the grumbling starts. He eats plums.",
)
MIRKA = rule(
    "Mirka",
    "plays the accordion on the balcony",
    "when there are no clouds",
    "Mirka sells umbrellas. She plays the accordion on the balcony. Clear skies are rare in her town. It's on those "
    "cloudless evenings that the accordion is heard. She has a twin sister.",
)


@pytest.mark.parametrize(
    ("evidence", "expected", "store"),
    [

        (PETRA, "faithful", ["Petra: tomato plants get water, but not before 7 pm"]),
        (PETRA, "faithful", ["The tomatoes on Petra's balcony are watered from 19:00 on, never earlier."]),
        (PETRA, "damaged", ["Petra waters the tomato plants only before 7pm."]),
        (PETRA, "damaged", ["Petra waters the tomato plants only in the evening."]),
        (PETRA, "damaged", ["Petra waters the tomato plants only after 9pm."]),
        (PETRA, "damaged", ["Petra waters the tomato plants.","Petra's brother comes after 7pm."]),
        (PETRA, "damaged", ["Petra waters the tomato plants; she sings to them."]),
        (PETRA, "damaged", ["Petra's brother waters the tomato plants only after 7pm."]),
        (PETRA, "missing", ["Petra sings to her tomatoes.","Her brother visits at weekends."]),
        (PETRA, "faithful", ['{"subject": "Petra", "does": "waters tomato plants", "when": "after 7pm only"}']),
        (PETRA, "faithful", ["Watering time for Petra's tomato plants: past seven in the evening, no sooner."]),
        (PETRA, "damaged", ["Petra waters the roses only after 7pm."]),
        (OSKAR, "faithful", ["Oskar rings his grandfather after a hard day at the hospital."]),
        (OSKAR, "faithful", ["After rough shifts Oskar phones grandpa to chat about fishing."]),
        (OSKAR, "damaged", ["Oskar often calls his grandfather to talk about fishing."]),
        (OSKAR, "damaged", ["Oskar calls his grandfather after a good day at work."]),
        (OSKAR, "damaged", ["Oskar calls his grandfather every Sunday.","Some shifts leave Oskar worn and low."]),
        (OSKAR, "damaged", ["Oskar's grandfather calls him after rough shifts."]),
        (OSKAR, "damaged", ["Oskar calls his brother after rough shifts."]),
        (OSKAR, "missing", ["Oskar collects stamps.","Some shifts leave Oskar worn and low."]),
        (LUNA, "faithful", ["When snow falls, Luna naps on top of the piano."]),
        (LUNA, "faithful", ["Luna (white cat): piano = her bed on snowy days."]),
        (LUNA, "damaged", ["Luna sleeps on the piano whenever it rains."]),
        (LUNA, "damaged", ["Luna likes to sleep on the piano."]),
        (LUNA, "damaged", ["Luna sleeps on the sofa whenever it is snowing."]),
        (LUNA, "damaged", ["Whenever it is snowing, Mimi sleeps on the piano; Luna watches."]),
        (LUNA, "damaged", ["Luna sleeps on the piano in bad weather."]),
        (LUNA, "missing", ["Luna dislikes the vacuum cleaner.","The piano was tuned in winter."]),
        (INES, "faithful", ["Saturdays are chess days in the park for Ines; on other days she does not play there."]),
        (INES, "damaged", ["Ines plays chess in the park on Saturdays."]),
        (INES, "damaged", ["Ines plays chess in the park only on Sundays."]),
        (INES, "damaged", ["Ines plays chess in the park only at weekends."]),
        (INES, "damaged", ["Ines plays checkers in the park only on Saturdays."]),
        (INES, "damaged", ["Ines plays chess in the park every day but Saturday."]),
        (INES, "faithful", ["Ines's chess games in the park happen exclusively on a Saturday."]),
        (TOBIAS, "faithful", ["Stress drives Tobias to chocolate."]),
        (TOBIAS, "faithful", ["Under pressure, Tobias reaches for chocolate."]),
        (TOBIAS, "damaged", ["Tobias eats chocolate when he is relaxed."]),
        (TOBIAS, "damaged", ["Tobias eats chocolate."]),
        (TOBIAS, "damaged", ["Tobias eats sweets when he is stressed."]),
        (TOBIAS, "damaged", ["Tobias's wife eats chocolate when she is stressed."]),
        (TOBIAS, "damaged", ["Eating chocolate makes Tobias stressed."]),
        (TOBIAS, "missing", ["Tobias runs on Mondays.","Tobias is often stressed."]),
        (GRETA, "faithful", ["Greta won't get on the bus if the seats are damp."]),
        (GRETA, "faithful", ["Wet seats? Greta the poodle will not ride the bus."]),
        (GRETA, "damaged", ["Greta rides the bus even when the seats are wet."]),
        (GRETA, "damaged", ["Greta refuses to ride the bus."]),
        (GRETA, "damaged", ["Greta refuses to ride the bus when the seats are dry."]),
        (MILO, "faithful", ["Milo barks at the mailman if he hasn't been fed."]),
        (MILO, "faithful", ["A hungry Milo barks at the mailman; once he has eaten he keeps quiet."]),
        (MILO, "damaged", ["Milo barks at the mailman after he has been fed."]),
        (MILO, "damaged", ["Milo barks at the mailman."]),
        (MILO, "damaged", ["Milo never barks at the mailman unless he has been fed."]),

        (SIGNE, "faithful", ["Signe repaints her garden gate once the honey season is over and all hives are empty."]),
        (SIGNE, "faithful", ["Signe: garden gate gets a new colour | when: after the last hive frame is emptied"]),
        (SIGNE, "damaged", ["Signe repaints her garden gate in a new colour."]),
        (SIGNE, "damaged", ["Signe repaints her garden gate in spring, before the bees wake up."]),
        (SIGNE, "damaged", ["Signe repaints her garden gate before the hives are emptied."]),
        (SIGNE, "damaged", ["Signe repaints her garden gate whenever children bring her tins."]),
        (SIGNE, "damaged", ["Signe repaints the porch once the hives have been emptied."]),
        (SIGNE, "missing", ["Signe's hives are emptied in late summer.","Children bring Signe tins."]),
        (SIGNE, "damaged", ["Signe's sister repaints the garden gate after the hives have been emptied."]),
        (BAO, "faithful", ["When his energy sinks to three out of ten, Bao takes yellow paper and writes to his future self."]),
        (BAO, "faithful", ["Bao writes letters to his future self on evenings when he is drained."]),
        (BAO, "damaged", ["Bao writes letters to his future self when he is full of energy."]),
        (BAO, "damaged", ["Bao writes letters to his future self."]),
        (BAO, "damaged", ["Bao writes letters to his future self after playing the oboe."]),
        (BAO, "damaged", ["Bao writes letters to his late father on drained evenings."]),
        (BAO, "missing", ["Bao plays the oboe.","Some evenings Bao's energy drops to three out of ten."]),
        (RUFUS, "faithful", ["If the gate next door stands open, Rufus digs up the tulips."]),
        (RUFUS, "faithful", ["Open neighbours' gate -> Rufus (beagle) digs the tulips up"]),
        (RUFUS, "damaged", ["If the gate next door is shut, Rufus digs up the tulips."]),
        (RUFUS, "damaged", ["Rufus digs up the tulips with joy."]),
        (RUFUS, "damaged", ["Rufus digs up the tulips when it thunders."]),
        (RUFUS, "damaged", ["Rufus digs up the carrots when the neighbours' gate stands open."]),
        (RUFUS, "missing", ["The neighbours' gate often stays open.","Rufus has one white ear."]),
        (EDDA, "faithful", ["Only those who have slept under the open sky get to borrow Edda's telescope."]),
        (EDDA, "damaged", ["Edda lends her telescope to anybody who asks."]),
        (EDDA, "damaged", ["Edda lends her telescope now and then."]),
        (EDDA, "damaged", ["Edda lends her telescope to people with cats."]),
        (EDDA, "damaged", ["Edda lends her blanket to people who have slept under the open sky."]),
        (CASPAR, "faithful", ["Rye bread with caraway: Caspar bakes it on the first Sunday of every month."]),
        (CASPAR, "damaged", ["Caspar bakes rye bread every Sunday."]),
        (CASPAR, "damaged", ["Caspar bakes rye bread on the last Sunday of each month."]),
        (CASPAR, "damaged", ["Caspar bakes rye bread on the first Monday of each month."]),
        (CASPAR, "damaged", ["Caspar bakes rye bread once a month."]),
        (NADJA, "faithful", ["Nadja goes for a swim in the lake before the sun is up."]),
        (NADJA, "faithful", ["Nadja's lake swims: at dawn's approach, while it is still dark"]),
        (NADJA, "damaged", ["Nadja swims in the lake after sunset."]),
        (NADJA, "damaged", ["Nadja swims in the lake in the morning."]),
        (NADJA, "damaged", ["Nadja swims in the sea before sunrise."]),
        (NADJA, "missing", ["Nadja gets up while it is dark.","Nadja translates poems."]),
        (THEO, "faithful", ["Politicians on air make Theo grumble at the radio."]),
        (THEO, "damaged", ["Theo grumbles at the radio all day."]),
        (MIRKA, "faithful", ["On cloudless evenings Mirka plays accordion on her balcony."]),
        (MIRKA, "faithful", ["Mirka, balcony, accordion: when the sky is clear"]),
        (MIRKA, "damaged", ["Mirka plays the accordion on the balcony when it rains."]),
        (MIRKA, "damaged", ["Mirka plays the flute on the balcony when there are no clouds."]),
        (MIRKA, "damaged", ["Mirka's twin sister plays the accordion on the balcony when there are no clouds."]),
    ],
)  # fmt: skip
def test_forms_of_a_rule(evidence: Evidence, expected: str, store: list[str]) -> None:
    assert verdict(evidence, *store, "User lives in Ghent.", "User's neighbour Ada has a boat.") == expected


@pytest.mark.parametrize(
    "evidence", [SIGNE, BAO, RUFUS, EDDA, CASPAR, NADJA, THEO, MIRKA], ids=lambda evidence: evidence.entity
)
def test_forms_hold_of_their_sources(evidence: Evidence) -> None:
    assert verdict(evidence, evidence.source) == "faithful"
