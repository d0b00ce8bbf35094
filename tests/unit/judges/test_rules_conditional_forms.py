"""Conditional rules in the forms that memories take: kept, damaged in the condition or in what is done, given away, dropped."""

from __future__ import annotations

import pytest

from pytest_memfail.core import Evidence, Listing, Memory
from pytest_memfail.judges import RulesJudge


def rule(entity: str, behavior: str, condition: str, source: str, value: str = "Yes") -> Evidence:
    text = f"{entity} {behavior} {condition}."
    return Evidence("e", "rule", "t", text, source, "c", entity, behavior=behavior, condition=condition, value=value)


def verdict(evidence: Evidence, *texts: str) -> str:
    judge, store = RulesJudge(), Listing("s", tuple(Memory(text) for text in texts))
    if judge.storage(evidence, store).outcome != "passed":
        return "missing"
    return "faithful" if judge.summary(evidence, store).outcome == "passed" else "damaged"


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
    "Oskar is a nurse with long shifts. He has a habit of calling his grandfather and talking about fishing. Some days at the hospital leave him worn and low. It's usually after those rough shifts that he dials the old man's number. He collects stamps.",
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
    ],
)  # fmt: skip
def test_forms_of_a_rule(evidence: Evidence, expected: str, store: list[str]) -> None:
    assert verdict(evidence, *store, "User lives in Ghent.", "User's neighbour Ada has a boat.") == expected
