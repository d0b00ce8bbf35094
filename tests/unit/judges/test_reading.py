"""Claims prepared for comparison: their parts and their sentences; only stated information can be lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_judged import TOLD, Told, link, persona, point, preference, rule, state

from pytest_memfail.core import Detail, Fact
from pytest_memfail.core.claim import Claim, claim_of
from pytest_memfail.judges.offline.reading import Reading, keys_of, owner_relation, read_claim

KETTLE = rule(
    "Quillon",
    "polishes the copper kettle",
    "only after 9 pm",
    "Quillon hums all day. Quillon polishes the copper kettle only after 9 pm. He never whistles.",
)
every_fact = pytest.mark.parametrize("told", TOLD, ids=lambda told: told.name)


def reading(evidence: Fact, protocol: str = "ours") -> Reading:
    return read_claim(claim_of(evidence, protocol))


def said(evidence: Fact) -> list[str]:
    return [statement.text for statement in reading(evidence).said]


# -- parts of a claim --------------------------------------------------------------------------------------------------


def test_a_rule_has_its_behaviour_and_its_condition() -> None:
    claim = claim_of(KETTLE)
    assert claim.texts("core") == ("polishes the copper kettle",)
    assert claim.texts("condition") == ("only after 9 pm",)
    assert claim.owner == "Quillon"


def test_a_preference_has_its_topic_which_is_not_required() -> None:
    claim = claim_of(preference("rye bread", "I adore rye bread.", "kinds of bread", ("I like a baguette.",)))
    assert claim.texts("core") == ("rye bread",)
    (topic,) = [part for part in claim.parts if part.role == "topic"]
    assert (topic.text, topic.required) == ("kinds of bread", False)
    assert claim.siblings == ("I like a baguette.",)
    assert claim.owner is None


def test_a_link_has_a_cause_and_what_it_leads_to() -> None:
    claim = claim_of(link("Cold baths give me focus.", "cold baths", "focus"))
    assert (claim.texts("cause"), claim.texts("core")) == (("cold baths",), ("focus",))


def test_a_persona_needs_the_answer_to_what_is_asked() -> None:
    essay = "Quillon rows. He fears geese."
    told = persona("Quillon", essay, "What does Quillon fear?", "Geese.", ("He fears geese.",))
    assert claim_of(told).texts("core") == ("He fears geese.",)
    assert claim_of(replace(told, telling=())).texts("core") == ("Geese.",)
    assert claim_of(replace(told, telling=(), value=None, asked=None)).texts("core") == (essay,)


def test_a_state_knows_what_it_replaced() -> None:
    claim = claim_of(state("I live in Porto.", "Porto", "where the user lives", ("Lisbon",)))
    assert claim.texts("core") == ("Porto",)
    assert claim.replaced == ("Lisbon",)


def test_a_point_is_its_text() -> None:
    claim = claim_of(point("Pavel is allergic to walnuts.", "Pavel is allergic to walnuts, so no baklava."))
    assert [part.text for part in claim.parts] == ["Pavel is allergic to walnuts."]
    assert claim.source == "Pavel is allergic to walnuts, so no baklava."


def test_listed_wordings_are_parts_beside_the_others() -> None:
    detail = Detail(("focus", "a clear head"), "anchor", ("well-being",))
    claim = claim_of(
        link("Cold baths give me focus.", "cold baths", "focus", (Detail(("cold baths",), "anchor"), detail))
    )
    assert [part.wordings for part in claim.listed] == [("cold baths",), ("focus", "a clear head")]
    assert claim.listed[1].vaguer == ("well-being",)
    assert claim.texts("core") == ("focus",)


@every_fact
def test_a_claim_depends_on_no_task(told: Told) -> None:
    assert claim_of(told.evidence) == claim_of(replace(told.evidence, task="another", id="x", conversation_id="y"))


@every_fact
def test_no_part_of_a_claim_is_empty(told: Told) -> None:
    claim = claim_of(told.evidence)
    assert claim.texts("core")
    assert all(part.text for part in claim.parts)


@pytest.mark.parametrize(("is_composed", "needed"), [(False, True), (True, False)])
def test_only_the_published_reading_of_easy_rules_needs_the_condition(is_composed: bool, needed: bool) -> None:
    rule = replace(KETTLE, is_composed=is_composed)
    assert claim_of(rule, "paper").needs_condition is needed
    assert not claim_of(rule, "ours").needs_condition


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
    vague = replace(KETTLE, source="Quillon hums. Quillon polishes the copper kettle late in the evening.")
    assert not {"9"} & set(reading(vague).wanted)
    assert reading(vague).context_numbers == ()
    assert [q.text for q in reading(KETTLE).context_numbers] == ["9 pm"]


def test_the_published_reading_requires_what_was_not_said_too() -> None:
    vague = replace(KETTLE, source="Quillon hums. Quillon polishes the copper kettle late in the evening.")
    assert [q.text for q in reading(vague, "paper").context_numbers] == ["9 pm"]


def test_a_behaviour_that_was_said_in_other_words_is_still_looked_for() -> None:
    other = replace(KETTLE, source="Quillon hums. Quillon shines up a teapot after nine in the evening.")
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
    apart = replace(
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
        assert said(replace(KETTLE, source=source)) == [middle]


# -- owners --------------------------------------------------------------------------------------------------------------

OF_USER = read_claim(claim_of(point("The user lives in Porto.", "I live in Porto.")))
OF_NAMED_USER = read_claim(
    claim_of(replace(point("Ulla Brandt's sister Kit lives in Porto.", "My sister Kit moved."), user="Ulla Brandt"))
)
OF_QUILLON = read_claim(claim_of(point("Quillon Marwood rows.", "Quillon Marwood rows.", "Quillon Marwood")))


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
    ready = reading(replace(point("Ulla rows.", "I row.", "Ulla"), user="Ulla Brandt"))
    assert owner_relation(ready, ("user",)) == 1
    assert owner_relation(OF_QUILLON, ("user",)) == 0


def test_a_claim_without_parts_is_read_by_its_source() -> None:
    assert read_claim(Claim((), "Quillon polishes the kettle.")).core


@pytest.mark.parametrize("text", ["", " ", "\ud800", "…", "x" * 5000, "the of and"])
def test_any_text_makes_a_claim(text: str) -> None:
    evidence = Fact("e", "point", "t", text, text, "c")
    assert isinstance(reading(evidence), Reading)
