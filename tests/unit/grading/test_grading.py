"""grading/: texts, answers and values found in memories."""

from __future__ import annotations

import pytest

from pytest_memfail.grading import (
    Entries,
    contains,
    entries_of,
    hedged,
    is_doubtful,
    is_hypothetical,
    longest_run,
    marks_condition,
    marks_removal,
    ordered,
    share,
    verbatim,
)
from pytest_memfail.texts import content, sentences, words


def test_a_title_ends_no_sentence():
    assert sentences("See Dr. Sorrelby. She lives\nat St. Wendrith!  Yes") == [
        "See Dr. Sorrelby.",
        "She lives",
        "at St. Wendrith!",
        "Yes",
    ]


def test_words_that_carry_meaning():
    assert content("under the cracked watering can") == {"cracked", "watering"}
    assert content("of the") == {"of", "the"}


@pytest.mark.parametrize(
    ("gold", "answer", "is_there"),
    [
        ("QX-7741/lm_09-Fen", "It is qx-7741/LM_09-fen.", True),
        ("QX-7741/lm_09-Fen", "It is QX-7741/lm_09_Fen.", False),
        ("Salt the pot twice.", "\u201cSalt the\n  pot twice\u201d", True),
        ("Salt the pot twice.", "Salt the pot two times.", False),
        ("", "anything", False),
    ],
)
def test_to_the_letter(gold, answer, is_there):
    assert verbatim(gold, answer) is is_there


@pytest.mark.parametrize(
    ("value", "answer", "is_there"),
    [
        ("Ormulet", "Your Ormulets whistle", True),
        ("the Lissom automatic", "a Lissom automatic", True),
        ("#pier-night", "It is #pier-night.", True),
        ("34 minutes", "134 minutes", False),
        ("Brask turkey", "turkey by Brask", False),
    ],
)
def test_the_words_of_a_value(value, answer, is_there):
    assert contains(value, answer) is is_there


def test_the_share_of_a_value():
    assert share("Mrs. Vandersloop upstairs", "Vandersloop") == pytest.approx(1 / 3)
    assert share("Feldpay", "nobody") == 0


def test_order():
    steps = ["Finlou whitefish", "Brask turkey", "Old Maudlin rabbit"]
    assert ordered(steps, "First Finlou whitefish, then Brask turkey; Old Maudlin rabbit today.")
    # the present one may be named first, too
    assert ordered(steps, "Old Maudlin rabbit. Before: Finlou whitefish, Brask turkey, then Old Maudlin rabbit.")
    assert not ordered(steps, "Brask turkey, Finlou whitefish, Old Maudlin rabbit")
    assert longest_run(steps, "Brask turkey, Finlou whitefish, Old Maudlin rabbit") == 2
    assert longest_run(steps, "Brask turkey, Old Maudlin rabbit") == 2
    assert longest_run(steps, "no idea") == 0


@pytest.mark.parametrize("text", ["It might be Halvoorde", "I don't know", "unclear now", "Halvoorde, if you moved"])
def test_hedges(text):
    assert hedged(text)
    assert is_doubtful(text)


def test_what_is_no_hedge():
    assert not hedged("You deploy with Halvoorde.")
    assert not hedged("In May it was Halvoorde.")
    assert is_doubtful("It was Tugrope.")


def test_marks():
    assert is_hypothetical("if we ever move off Brevanta")
    assert not is_hypothetical("when he did the app over in Kestrune")
    assert marks_condition("only as long as she leads")
    assert not marks_condition("we deploy with Tugrope")
    assert marks_removal("please wipe the name")
    assert not marks_removal("he can never remember where we keep the spare")


def test_a_value_is_found_where_its_words_stand_together():
    entries = Entries(["the can is cracked. much later, in another long sentence altogether, somebody is watering"])
    assert entries.hits("under the cracked watering can") == []
    assert [hit.share for hit in entries.hits("under the cracked watering can", 0.5)] == [0.5, 0.5]
    (hit,) = Entries(["nothing", "it's under the cracked watering can"]).hits("under the cracked watering can")
    assert hit.entry == 1


def test_a_value_does_not_reach_across_entries():
    assert Entries(["Odile", "Farrant"]).hits("Odile Farrant") == []


def test_clause_sentence_and_nearness():
    entries = Entries(
        ["Hm. sorry if i'm slow, we're an Ostrelle house now, servers and all. " + "word " * 80 + "Brevanta"]
    )
    (hit,) = entries.hits("Ostrelle")
    assert not is_hypothetical(entries.clause(hit))
    assert is_hypothetical(entries.sentence(hit))
    assert "server" in entries.near(hit)
    assert "brevanta" not in entries.near(hit)


def test_nothing_in_nothing():
    assert Entries([]).hits("Feldpay") == []
    assert Entries(["", " "]).hits("Feldpay") == []
    assert Entries([]).verbatim("x") == []


def test_the_same_memories_are_indexed_once():
    assert entries_of(["a", "b"]) is entries_of(("a", "b"))


def test_scripts_without_spaces_have_a_word_per_character():
    assert words("我住Rome 3楼") == ["我", "住", "rome", "3", "楼"]
    assert contains("周四", "用户每周四晚上打球。")
    assert not contains("周五", "用户每周四晚上打球。")
    assert [hit.entry for hit in Entries(["他喜欢茶。", "ผู้ใช้ชอบชา"]).hits("ชอบชา")] == [1]
    assert sentences("我住在罗马。他不在！") == ["我住在罗马。", "他不在！"]


def test_one_word_may_be_coded_in_two_ways():
    assert contains("Zo\u00eb", "We met Zoe\u0308 there.")
    assert verbatim("\uff21\uff22\uff13", "It is ab3.")
    assert words("कि") != words("की")
