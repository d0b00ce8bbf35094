"""Conditional rules that look kept at first sight: by another's words, by a number elsewhere, by a word for something else."""

from __future__ import annotations

import pytest
from facts_judged import rule, verdict

from pytest_memfail.core import Evidence

MERLE = rule(
    "Merle",
    "sends her brother a long parcel of jam",
    "only if more than 72 hours have passed since his last letter",
    "Merle runs a ferry on a lake. Mostly after a stretch of three silent days she sends her brother a long parcel "
    "of jam. She has a blue bicycle. Merle knows every heron by name.",
)
ODILE = rule(
    "Odile",
    "corrects the maps of the club",
    "only when someone asks her to check a route",
    "Odile is a retired surveyor. Odile corrects the maps of the club only when someone asks her to check a route. "
    "She eats pears with a knife.",
)
TORVALD = rule(
    "Torvald",
    "rings the harbour bell",
    "no more than three times per hour",
    "Torvald keeps the harbour office. Torvald rings the harbour bell no more than three times per hour. He likes rye bread.",
)
YRSA = rule(
    "Yrsa",
    "repaints the hull of her boat",
    "when the water level in the log is 4 metres or higher",
    "Yrsa rents out boats. When a hull looks dull she will scrape it and repaint the boat in one go. She keeps a log of the "
    "level of the water. Her friends sing in a choir. Around those high marks in the log she seems to reach for her brush and "
    "freshen up the paint.",
)
BEPPE = rule(
    "Beppe",
    "hides coded notes in his hat",
    "only after someone tells him a secret",
    "Beppe is a quiet clown. He carries a hat full of drawings and coded notes. Beppe hides coded notes in his hat only after "
    "someone tells him a secret. He likes riddles.",
)
RUFUS = rule(
    "Rufus",
    "drops his squeaky duck at visitors' shoes",
    "when at least two strangers are in the room",
    "Rufus is a merry spaniel with a basket of toys. He adores a certain squeaky duck. Rufus has a habit of dropping that duck "
    "at the nearest shoes. It's with at least a couple of strangers in the room that the yellow toy makes its rounds. He snores.",
)
NERYS = rule(
    "Nerys",
    "whistles old tunes",
    "only when at the beach",
    "Nerys repairs clocks. Nerys whistles old tunes only when she is at the beach, with an ear for the ocean and the gulls. "
    "She spends her free hours at the beach. She bakes on Fridays.",
)


@pytest.mark.parametrize(
    ("told", "texts", "wanted"),
    [
        pytest.param(
            MERLE,
            (
                "After two silent days Merle sends her brother a long parcel of jam.",
                "Merle gets an answer to each parcel within 72 hours.",
            ),
            "damaged",
            id="the right number elsewhere",
        ),
        pytest.param(
            MERLE,
            (
                "After three silent days Merle sends her brother a long parcel of jam.",
                "Merle gets an answer to each parcel within 72 hours.",
            ),
            "faithful",
            id="the right number here",
        ),
        pytest.param(
            ODILE,
            ("Odile asks her guests to correct the maps of the club and check a route.",),
            "damaged",
            id="she asks",
        ),
        pytest.param(
            ODILE, ("When guests ask her to check a route, Odile corrects the club's maps.",), "faithful", id="they ask"
        ),
        pytest.param(
            TORVALD,
            ("Torvald rings the harbour bell three times at most in any ten minutes.",),
            "damaged",
            id="by ten minutes",
        ),
        pytest.param(
            TORVALD,
            ("Torvald rings the harbour bell three times at most in any 60 minutes.",),
            "faithful",
            id="by the hour",
        ),
        pytest.param(
            YRSA,
            (
                "When a hull looks dull, Yrsa scrapes it and repaints the boat in one go.",
                "Yrsa logs the water level; it is around the low marks in the log that she reaches for her brush and paint.",
            ),
            "damaged",
            id="the opposite in an entry of its own",
        ),
        pytest.param(
            YRSA,
            (
                "When a hull looks dull, Yrsa scrapes it and repaints the boat in one go.",
                "Yrsa logs the water level; it is around the high marks in the log that she reaches for her brush and paint.",
            ),
            "faithful",
            id="the same in an entry of its own",
        ),
        pytest.param(
            BEPPE,
            ("Beppe's acquaintance Loretta once wrote a coded telegram.", "Beppe likes riddles."),
            "missing",
            id="an acquaintance does it",
        ),
        pytest.param(
            RUFUS,
            ("Rufus: owns many toys; a squeaky duck is the dearest.", "Rufus snores."),
            "missing",
            id="what it is done with",
        ),
        pytest.param(
            NERYS,
            ("Nerys whistles old tunes, with an ear for sea and gulls.", "Nerys spends her free hours at the beach."),
            "damaged",
            id="a word for another of the sentence's",
        ),
        pytest.param(
            NERYS,
            ("At the seaside, and only there, Nerys whistles old tunes.",),
            "faithful",
            id="a word for the condition",
        ),
    ],
)
def test_damage(told: Evidence, texts: tuple[str, ...], wanted: str) -> None:
    assert verdict(told, *texts) == wanted


def test_somebody_introduced_by_the_name_does_it_themselves() -> None:
    store = "Lena, a friend at Torvald's rowing club, rings the harbour bell no more than three times per hour."
    assert verdict(TORVALD, "Torvald keeps the harbour office.", store) == "damaged"
    own = "Torvald, a friend of Lena's, rings the harbour bell no more than three times per hour."
    assert verdict(TORVALD, "Torvald keeps the harbour office.", own) == "faithful"
