"""Details that a case lists: another acceptable wording keeps the fact, and one of which the store has no word is lost."""

from __future__ import annotations

import pytest
from facts_judged import listing

from pytest_memfail.core import Claim, Fact, Part
from pytest_memfail.judges import OfflineJudge


def fact(text: str, source: str, *details: tuple[str, ...], owner: str | None = None) -> Fact:
    parts = (Part(text), *(Part(d[0], wordings=d) for d in details))
    return Fact("e", "fact", text, source, "c", Claim(parts, owner=owner))


CAMPER = fact("The user drives a camper van.", "I drive a camper van.", ("camper van", "motorhome"))
OSLO = fact(
    "The user cancelled the trip to Oslo.", "I cancelled the trip to Oslo in August.", ("cancelled", "called off")
)


@pytest.mark.parametrize(
    ("wanted", "memory"),
    [
        (CAMPER, "User drives a motorhome."),
        (fact("The user is vegan.", "I'm vegan since May.", ("vegan", "plant-based")), "User is plant-based."),
        (fact("The user pays by credit card.", "I pay by credit card.", ("credit card", r"Vi\sa")), r"Pays by Vi\sa."),
    ],
)
def test_another_acceptable_wording_keeps_the_fact(wanted: Fact, memory: str) -> None:
    assert OfflineJudge().summary(wanted, listing(memory, "The user plays golf.")).outcome == "passed"


def test_the_wording_alone_does_not() -> None:
    store = listing("User does not drive a motorhome.", "The user plays golf.")
    assert OfflineJudge().summary(CAMPER, store).outcome == "failed"


def test_a_detail_of_which_the_store_has_no_word_is_lost() -> None:
    source = "My colleague Jana sits by the door. She drinks only black coffee."
    jana = fact("Jana drinks only black coffee.", source, ("Jana",), ("black coffee",), owner="Jana")
    store = listing("She drinks only green tea.", "She drinks only black coffee.")
    result = OfflineJudge().summary(jana, store)
    assert (result.outcome, result.confidence) == ("failed", 0.95)
    assert result.reason == "'Jana' missing in 'She drinks only black coffee.'"
    assert OfflineJudge().storage(jana, store).outcome == "passed"
    assert OfflineJudge().summary(jana, listing(source)).confidence == 0.995
