"""Claims prepared for comparison: their parts and their sentences; only stated information can be lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_judged import TOLD, Told, claimed, link, point, rule

from pytest_memfail.core import Claim, Fact, Part
from pytest_memfail.judges.offline.reading import Reading, keys_of, owner_relation, read_claim

KETTLE = rule(
    "Quillon",
    "polishes the copper kettle",
    "only after 9 pm",
    "Quillon hums all day. Quillon polishes the copper kettle only after 9 pm. He never whistles.",
)
every_fact = pytest.mark.parametrize("told", TOLD, ids=lambda told: told.name)


def reading(evidence: Fact, **changes: bool) -> Reading:
    return read_claim(replace(evidence.claim, **changes))  # type: ignore[arg-type]


def said(evidence: Fact) -> list[str]:
    return [statement.text for statement in reading(evidence).said]


# -- parts of a claim --------------------------------------------------------------------------------------------------


def test_a_fact_without_a_claim_is_its_text() -> None:
    claim = Fact(
        "e", "point", "Pavel is allergic to walnuts.", "Pavel is allergic to walnuts, so no baklava.", "c"
    ).claim
    assert claim.parts == (Part("Pavel is allergic to walnuts.", "core"),)
    assert claim.source == "Pavel is allergic to walnuts, so no baklava."


def test_listed_wordings_are_parts_beside_the_others() -> None:
    listed = (
        Part("cold baths", "cause", ("cold baths",)),
        Part("focus", wordings=("focus", "a clear head"), vaguer=("well-being",)),
    )
    claim = link("Cold baths give me focus.", "cold baths", "focus", listed).claim
    assert claim.listed == listed
    assert (claim.texts("core"), claim.texts("cause")) == (("focus",), ("cold baths",))


# -- what is looked for --------------------------------------------------------------------------------------------------


@every_fact
def test_only_what_was_said_is_looked_for(told: Told) -> None:
    ready = reading(told.evidence)
    source = set(keys_of(told.evidence.source, frozenset(), ready.names))
    if not ready.claim.texts("topic"):
        assert set(ready.core) <= source
        assert set(ready.context) <= source
    assert set(ready.said_keys) <= source
    assert ready.core


def test_only_what_was_said_can_be_lost() -> None:
    vague = claimed(KETTLE, source="Quillon hums. Quillon polishes the copper kettle late in the evening.")
    assert not {"9"} & set(reading(vague).wanted)
    assert reading(vague).context_numbers == ()
    assert [q.text for q in reading(KETTLE).context_numbers] == ["9 pm"]


def test_the_published_reading_requires_what_was_not_said_too() -> None:
    vague = claimed(KETTLE, source="Quillon hums. Quillon polishes the copper kettle late in the evening.")
    assert [q.text for q in reading(vague, holds_unsaid=True).context_numbers] == ["9 pm"]


def test_a_behaviour_that_was_said_in_other_words_is_still_looked_for() -> None:
    other = claimed(KETTLE, source="Quillon hums. Quillon shines up a teapot after nine in the evening.")
    assert reading(other).core


@every_fact
def test_the_owners_name_is_not_part_of_what_is_looked_for(told: Told) -> None:
    ready = reading(told.evidence)
    assert not ready.owner & set(ready.wanted)


@every_fact
def test_no_word_is_in_core_and_context(told: Told) -> None:
    ready = reading(told.evidence)
    assert not set(ready.core) & set(ready.context)
    assert set(ready.core) | set(ready.context) <= set(ready.wanted)


@every_fact
def test_the_same_claim_is_read_once(told: Told) -> None:
    assert reading(told.evidence) is reading(replace(told.evidence, id="another"))


# -- the sentences that say it -------------------------------------------------------------------------------------------


def test_the_sentence_that_carries_the_parts_is_found() -> None:
    assert said(KETTLE) == ["Quillon polishes the copper kettle only after 9 pm."]


def test_parts_in_two_sentences_take_both_in_order() -> None:
    apart = claimed(
        KETTLE, source="Quillon hums. It is only after 9 pm that he starts. He polishes the copper kettle then."
    )
    assert said(apart) == ["It is only after 9 pm that he starts.", "He polishes the copper kettle then."]


@every_fact
def test_the_sentences_that_say_it_are_of_the_source(told: Told) -> None:
    for sentence in said(told.evidence):
        assert sentence in told.evidence.source
    assert said(told.evidence)


def test_the_place_of_the_sentence_does_not_matter() -> None:
    middle = "Quillon polishes the copper kettle only after 9 pm."
    for source in (f"{middle} Ottoline sings. Geese hiss.", f"Ottoline sings. Geese hiss. {middle}"):
        assert said(claimed(KETTLE, source=source)) == [middle]


# -- owners --------------------------------------------------------------------------------------------------------------

OF_USER = reading(point("The user lives in Porto.", "I live in Porto."))
OF_NAMED_USER = read_claim(
    claimed(point("Ulla Brandt's sister Kit lives in Porto.", "My sister Kit moved."), user="Ulla Brandt").claim
)
OF_QUILLON = reading(point("Quillon Marwood rows.", "Quillon Marwood rows.", "Quillon Marwood"))


@pytest.mark.parametrize(
    ("ready", "owner", "relation"),
    [
        (OF_USER, ("user",), 1),
        (OF_USER, (), 0.5),
        (OF_USER, ("quillon",), 0),
        (OF_USER, ("~sister",), 0),
        (OF_NAMED_USER, ("user",), 1),
        (OF_NAMED_USER, ("ulla", "brandt"), 1),
        (OF_NAMED_USER, ("brandt",), 1),
        (OF_NAMED_USER, ("ulla", "vesterby"), 0.25),
        (OF_NAMED_USER, ("agnes",), 0),
        (OF_NAMED_USER, ("kit", "~sister"), 1),
        (OF_NAMED_USER, ("~sister",), 1),
        (OF_NAMED_USER, ("~brother",), 0),
        (OF_QUILLON, ("quillon", "marwood"), 1),
        (OF_QUILLON, ("quillon",), 1),
        (OF_QUILLON, (), 0.5),
        (OF_QUILLON, ("user",), 0),
        (OF_QUILLON, ("ottoline",), 0),
        (OF_QUILLON, ("keziah", "~sister"), 0),
    ],
)
def test_whose_a_statement_is(ready: Reading, owner: tuple[str, ...], relation: float) -> None:
    assert owner_relation(ready, owner) == relation


def test_a_namesake_is_neither_the_owner_nor_a_stranger() -> None:
    assert 0 < owner_relation(OF_QUILLON, ("quillon", "brackenhurst")) < 0.5


def test_the_name_of_the_user_is_no_word_to_find() -> None:
    assert "ulla" not in OF_NAMED_USER.wanted
    assert "brandt" not in OF_NAMED_USER.wanted


def test_a_fact_about_the_user_by_name_is_also_what_is_said_of_the_user() -> None:
    ready = reading(claimed(point("Ulla rows.", "I row.", "Ulla"), user="Ulla Brandt"))
    assert owner_relation(ready, ("user",)) == 1
    assert owner_relation(OF_QUILLON, ("user",)) == 0


def test_a_claim_without_parts_is_read_by_its_source() -> None:
    assert read_claim(Claim((), "Quillon polishes the kettle.")).core


@pytest.mark.parametrize("text", ["", " ", "\ud800", "…", "x" * 5000, "the of and"])
def test_any_text_makes_a_claim(text: str) -> None:
    evidence = Fact("e", "point", text, text, "c")
    assert isinstance(reading(evidence), Reading)
