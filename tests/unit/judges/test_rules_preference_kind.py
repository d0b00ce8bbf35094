"""The rules on preferences told by their kind alone, by far words, or as what the user has done with."""

from __future__ import annotations

import facts_judged
import pytest
from facts_judged import judged

OK, DAMAGED, ABSENT = (True, True), (True, False), (False, False)
ICELAND = ("Iceland", "Iceland's glaciers and quiet villages are high on my list.", "travel destinations")
VIOLIN = ("violin", "The violin moves me with its expressive tone.", "musical instruments")
MINT = ("peppermint tea", "Peppermint tea settles my stomach after dinner.", "tea varieties")
PILATES = ("pilates", "Pilates strengthens my core, I enjoy it.", "exercises")
READING = ("reading", "Reading before bed relaxes me.", "evening habits")


@pytest.mark.parametrize(
    ("preference", "entry", "expected"),
    [
        # The kind, with what goes with the thing, is what is left of it; with what does not, it is another's.
        (ICELAND, "User wants to visit a Nordic country one day.", DAMAGED),
        (ICELAND, "User wants to visit an African country one day.", ABSENT),
        (VIOLIN, "User loves string instruments.", DAMAGED),
        (VIOLIN, "User loves percussion instruments.", ABSENT),
        (MINT, "User has some herbal infusion after dinner.", DAMAGED),
        (MINT, "User's pot for hot drinks broke.", ABSENT),
        # What is tried and given up is past; what else is given up is not.
        (PILATES, "User tried pilates but soon gave up.", DAMAGED),
        (PILATES, "User started pilates and then quit because of the cost.", DAMAGED),
        (PILATES, "User likes pilates and quit smoking.", OK),
        # A word that has only to do with the thing does not tell it.
        (
            ("green tea", "Green tea calms me and is full of antioxidants.", "drinks"),
            "User calms down with white tea, full of antioxidants.",
            DAMAGED,
        ),
        (
            ("dancing", "Dancing at parties lifts the mood.", "party activities"),
            "User likes music at parties, it lifts the mood.",
            DAMAGED,
        ),
        # A day of the week is nobody.
        (READING, "[Wed 20:15] reads before bed to relax", OK),
        (READING, "[Thu 20:15] reads before bed to relax", OK),
    ],
)
def test_what_is_left(preference: tuple[str, str, str], entry: str, expected: tuple[bool, bool]) -> None:
    entries = (entry, "User lives in Ghent.", "User owns a kettle.", "User's train leaves at eight.")
    assert judged(facts_judged.preference(*preference), *entries) == expected
