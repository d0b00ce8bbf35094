"""What a question needs of an essay about a person: kept in other words, turned around, replaced, given to another."""

from __future__ import annotations

import pytest
from facts_judged import persona

from pytest_memfail.core import Listing, Memory, Question
from pytest_memfail.judges import RulesJudge
from pytest_memfail.judges.rules.quantities import quantities
from pytest_memfail.judges.rules.text import sentences_of

ESSAY = (
    "Ilse Varga mends accordions in a cellar behind the fish market. She refuses to repair plastic keyboards after a "
    "bad winter. On Tuesdays she oils the bellows with walnut oil. She is allergic to wool and always wears a linen "
    "scarf. She opens the cellar after 9 a.m. and takes no more than three customers a day. Her favourite reward is a "
    "red pear from the harbour stall. Waltzes are welcome at the door; polkas are banned. She refuses to rent out a "
    "concertina or a silver harmonica, saying you never get them back in tune. Pupils come only as pairs of siblings. "
    "She polishes keys with cotton because leather leaves scratches. A new reed rests for eighteen months."
)


def judged(asked: str, value: str | None, *stored: str, telling: tuple[str, ...] = ()) -> str:
    evidence = persona(ESSAY, "Ilse Varga", asked, value, telling)
    judge, listing = RulesJudge(), Listing("s", tuple(Memory(text) for text in stored))
    if judge.storage(evidence, listing).outcome != "passed":
        return "not_stored"
    if judge.summary(evidence, listing).outcome != "passed":
        return "summary_error"
    question = Question("q", "t", asked, value or "?", (), ("e",), "open")
    return "ok" if judge.retrieval(evidence, question, listing.memories).outcome == "passed" else "not_retrieved"


WHO = "Ilse Varga mends accordions in a cellar behind the fish market."
KEYBOARDS = ("Which keyboards does Ilse Varga not repair?", "She refuses to repair plastic keyboards.")
BELLOWS = ("What does Ilse Varga oil the bellows with, and when?", "With walnut oil, on Tuesdays.")
SCARF = ("What should a scarf for Ilse Varga be made of?", "Linen; she is allergic to wool.")
OPENING = ("When does Ilse Varga open?", "She opens the cellar after 9 a.m.")
CUSTOMERS = ("How many customers does Ilse Varga take a day?", "No more than three customers a day.")
TUNES = ("What may one play at Ilse Varga's door, and what not?", "Waltzes; no polkas, which she bans.")
RENT = ("Can I rent a silver harmonica from Ilse Varga?", "No; she refuses to rent out a silver harmonica.")
PUPILS = ("My friend and I want lessons. Would Ilse Varga teach us?", "No; pupils come only as pairs of siblings.")
POLISH = ("What does Ilse Varga polish keys with?", "Cotton, because leather leaves scratches.")
OIL = ("What oil does Ilse Varga put on the bellows?", "Walnut oil.")
REWARD = ("What is Ilse Varga's favourite reward?", "A red pear from the harbour stall.")
OILING = ("When does Ilse Varga oil the bellows?", "On Tuesdays, with walnut oil.")
REEDS = ("How long does Ilse Varga rest a new reed?", "For eighteen months.")


@pytest.mark.parametrize(
    ("case", "stored", "wanted"),
    [
        (KEYBOARDS, "Ilse Varga won't take plastic keyboards in for repair.", "ok"),
        (KEYBOARDS, "Ilse Varga likes to repair plastic keyboards, and has no dog.", "summary_error"),
        (BELLOWS, "Every Tuesday Ilse Varga puts walnut oil on the bellows.", "ok"),
        (BELLOWS, "Ilse Varga oils the bellows with walnut oil on Fridays.", "summary_error"),
        (BELLOWS, "Ilse Varga oils the bellows with linseed oil on Tuesdays.", "summary_error"),
        (SCARF, "Ilse Varga wears a linen scarf, as she is allergic to wool.", "ok"),
        (SCARF, "Ilse Varga is allergic to linen and therefore always wears a wool scarf.", "summary_error"),
        (SCARF, "One of Ilse Varga's customers is allergic to wool and wears a linen scarf.", "summary_error"),
        (OPENING, "Ilse Varga opens the cellar from 9:00 on, never earlier.", "ok"),
        (OPENING, "Ilse Varga opens the cellar before 9 a.m.", "summary_error"),
        (CUSTOMERS, "Ilse Varga takes three customers a day at most.", "ok"),
        (CUSTOMERS, "Ilse Varga takes never fewer than three customers a day.", "summary_error"),
        (TUNES, "Ilse Varga welcomes polkas at the door; no waltzes, please.", "summary_error"),
        (TUNES, "At Ilse Varga's door waltzes are welcome. Polkas: no.", "ok"),
        (RENT, "Ilse Varga rents out her silver harmonica.", "summary_error"),
        (RENT, "A silver harmonica is too dear to Ilse Varga to rent it out.", "ok"),
        (RENT, "Ilse Varga sells a silver harmonica rather than rent it out.", "ok"),
        (PUPILS, "Ilse Varga takes pupils two at a time, never alone.", "summary_error"),
        (PUPILS, "Ilse Varga takes pairs of siblings as pupils, nobody else.", "ok"),
        (POLISH, "Ilse Varga polishes keys with leather because cotton leaves scratches.", "summary_error"),
        (POLISH, "Ilse Varga cares for the polish of her keys.", "summary_error"),
        (OIL, "Ilse Varga keeps the bellows supple with walnut oil.", "ok"),
        (OIL, "Ilse Varga oils the bellows with linseed oil.", "summary_error"),
        (OIL, "Ilse Varga puts oil on the bellows.", "summary_error"),
        (REWARD, "As a reward Ilse Varga likes a red pear best.", "ok"),
        (REWARD, "Ilse Varga's favourite reward is a red apple.", "summary_error"),
        (OILING, "Each Tuesday Ilse Varga oils the bellows with oil of walnuts.", "ok"),
        (OILING, "Ilse Varga oils the bellows with walnut oil.", "summary_error"),
        (REEDS, "Ilse Varga lets each new reed rest for a year and a half.", "ok"),
        (REEDS, "Ilse Varga lets each new reed rest for half a year.", "summary_error"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_the_question_needs(case: tuple[str, str], stored: str, wanted: str) -> None:
    assert judged(*case, WHO, stored) == wanted


def test_a_yes_or_no_needs_what_it_is_about() -> None:
    question = "Can I bring Ilse Varga a plastic keyboard?"
    answer = "No; she refuses to repair plastic keyboards and loves a red pear from the harbour stall."
    assert judged(question, answer, WHO, "Ilse Varga does not repair plastic keyboards.") == "ok"


def test_a_misleading_question_may_mean_any_of_several_sentences() -> None:
    question = "Does Bence Toth have a scarf, or an allergy?"
    assert judged(question, None, WHO, "Ilse Varga is allergic to wool and wears a scarf of linen.") == "ok"


def test_who_asks_when_is_answered_by_a_time() -> None:
    asked, value = "When does Ilse Varga open?", "After 9:00 a.m.; she polishes keys with cotton."
    assert judged(asked, value, WHO, "Ilse Varga opens the cellar after nine in the morning.") == "ok"
    assert judged(asked, value, WHO, "Ilse Varga polishes keys with cotton.") == "summary_error"


@pytest.mark.parametrize("label", ["Work", "Kit", "Bellows", "Habits"])
def test_what_heads_a_line_of_a_profile_is_nobodys_name(label: str) -> None:
    profile = (
        f"- Name: Ilse Varga\n- {label}: mends accordions behind the fish market\n- Oils the bellows with walnut oil"
    )
    assert judged(*OIL, profile) == "ok"


def test_the_source_itself_is_never_turned_around() -> None:
    for question, answer in (KEYBOARDS, BELLOWS, SCARF, OPENING, CUSTOMERS):
        assert judged(question, answer, ESSAY) == "ok"


@pytest.mark.parametrize(
    ("stored", "wanted"),
    [
        ("Ilse Varga never goes without a scarf of linen.", "ok"),
        ("Ilse Varga is never seen without a linen scarf.", "ok"),
        ("Ilse Varga is never seen without a silk scarf.", "summary_error"),
    ],
)
def test_what_kind_a_misleading_question_asks_for(stored: str, wanted: str) -> None:
    assert judged("What kind of scarf does Bence Toth wear?", None, WHO, stored) == wanted


@pytest.mark.parametrize(
    ("stored", "wanted"),
    [
        ("Ilse Varga shines her keys with a cotton cloth.", "ok"),
        ("Ilse Varga cleans keys with a cotton rag.", "ok"),
        ("Ilse Varga polishes keys with suede.", "summary_error"),
        ("Ilse Varga has her own way of looking after keys.", "summary_error"),
        ("Ilse Varga lets each new reed rest for half a year.", "summary_error"),
        ("Bence Toth polishes keys with cotton.", "summary_error"),
    ],
)
def test_where_the_row_tells_what_a_misleading_question_borrows(stored: str, wanted: str) -> None:
    question = "How should Bence Toth look after his instrument?"
    assert judged(question, None, WHO, stored, telling=("cotton",)) == wanted


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("a year and a half", 18.0, "month"),
        ("two and a half hours", 150.0, "time"),
        ("half a dozen", 6.0, ""),
        ("20 cl", 0.2, "litre"),
    ],
)
def test_measures(text: str, value: float, unit: str) -> None:
    (sentence,) = sentences_of(text)
    (quantity,) = quantities(sentence.text, sentence.words)
    assert (quantity.value, quantity.unit) == (value, unit)


@pytest.mark.parametrize(
    ("text", "side"), [("no larger than six", -1), ("never fewer than six", 1), ("larger than six", 1)]
)
def test_a_comparison_that_is_denied_means_the_other_side(text: str, side: int) -> None:
    (sentence,) = sentences_of(text)
    assert quantities(sentence.text, sentence.words)[0].direction == side


@pytest.mark.parametrize(
    ("asked", "stored", "wanted"),
    [
        ("Which sweets may I bring Pia Moll?", ("Ilse Varga breaks out in a rash from wool, being allergic.",), "ok"),
        ("Which sweets may I bring Pia Moll?", ("Ilse Varga is allergic to lobster, so no lobster.",), "summary_error"),
        (
            "Does Pia Moll polish the keys with leather?",
            ("Ilse Varga takes cotton for her keys.", "Leather would scratch Ilse Varga's keys."),
            "ok",
        ),
    ],
)
def test_what_a_question_about_somebody_else_may_borrow(asked: str, stored: tuple[str, ...], wanted: str) -> None:
    assert judged(asked, None, WHO, *stored) == wanted


@pytest.mark.parametrize(
    ("asked", "stored", "wanted"),
    [
        ("Can you tell me Pia Moll's working hours?", "Ilse Varga wears a scarf of linen.", "summary_error"),
        ("Can you tell me Pia Moll's working hours?", "Ilse Varga opens the cellar after nine in the morning.", "ok"),
        ("May Pia Moll hear a Waltz?", "Ilse Varga welcomes waltzes at her door.", "ok"),
        ("May Pia Moll hear a Waltz?", "Ilse Varga bans waltzes at her door.", "summary_error"),
    ],
)
def test_the_sort_of_trait_and_its_name_tell_what_is_meant(asked: str, stored: str, wanted: str) -> None:
    assert judged(asked, None, WHO, stored) == wanted


@pytest.mark.parametrize(
    ("asked", "stored", "wanted"),
    [
        (
            "When does Pia Moll open her cellar?",
            "Ilse Varga opens the cellar after nine in the evening, three customers a day.",
            "summary_error",
        ),
        (
            "How does Pia Moll care for her bellows?",
            "Ilse Varga now and then oils the bellows, on Fridays.",
            "summary_error",
        ),
        ("How does Pia Moll care for her bellows?", "Every Tuesday the bellows get walnut oil from Ilse Varga.", "ok"),
    ],
)
def test_a_borrowed_trait_is_compared_with_what_was_made_of_it(asked: str, stored: str, wanted: str) -> None:
    assert judged(asked, None, WHO, stored) == wanted


@pytest.mark.parametrize(
    ("asked", "stored", "wanted"),
    [
        ("What scarf does Pia Moll wear?", "Ilse Varga is particular about her scarf.", "summary_error"),
        ("What scarf does Pia Moll wear?", "Ilse Varga is particular: the scarf has to be linen, not wool.", "ok"),
        ("May Pia Moll hear polkas at her door?", "Ilse Varga has opinions on polkas and waltzes.", "summary_error"),
        ("May Pia Moll hear polkas at her door?", "Ilse Varga has opinions: waltzes at the door, polkas banned.", "ok"),
        ("Which reward would Pia Moll like?", "Ilse Varga has something she likes as a reward.", "summary_error"),
        ("Which reward would Pia Moll like?", "Some reward for Ilse Varga? A red pear from the harbour stall.", "ok"),
    ],
)
def test_a_borrowed_trait_of_which_only_the_topic_is_left_is_lost(asked: str, stored: str, wanted: str) -> None:
    assert judged(asked, None, WHO, stored) == wanted


def test_who_somebody_is_is_not_what_a_question_borrows_where_a_later_trait_is_named() -> None:
    question = "Which scarf suits Pia Moll, who mends accordions?"
    assert judged(question, None, WHO, "Ilse Varga opens the cellar after 9 a.m.") == "summary_error"
