"""What is decided by rule: no model is asked, so none can contradict what stands in the store."""

from __future__ import annotations

from dataclasses import replace

import pytest
from model_judge_cases import CASES, listing, question, run, stored

from pytest_memfail.core import Memory, Reply
from pytest_memfail.judges.plain import opposite, stated_at

LINK = CASES["link"].evidence
STATED = [
    LINK.text,
    f"user: {LINK.text}",
    f"[2024-05-01T10:00:00Z] User: {LINK.text}",
    f"- {LINK.text.upper()}",
    f"It rained. {LINK.text} We ate them all.",
    f"A title\nuser: Good day! {LINK.text}",
    LINK.text.replace(" ", "\n"),
]
NOT_STATED = [
    f"Maria: {LINK.text}",
    f"Notes of a long afternoon.\nMaria: It rained. {LINK.text}",
    f"user: Why?\nassistant: {LINK.text}",
    f"It is not true that {LINK.text}",
    LINK.text.replace("rolls.", "rolls, but never on Sundays."),
    f'The game asks who says "{LINK.text}"',
    "Heavy fog makes Ruben sleep.",
]


@pytest.mark.parametrize("text", STATED)
@pytest.mark.parametrize("protocol", ["ours", "paper"])
def test_a_fact_that_stands_word_for_word_is_stored_whatever_the_model_says(text, protocol):
    store = listing(text, fillers=2)

    async def work(judge):
        return await judge.storage(LINK, store), await judge.summary(LINK, store)

    asked = run(work, lambda _: stored(False, False), protocol=protocol)
    assert [(result.outcome, result.entries) for result in asked.result] == [("passed", (2,))] * 2
    assert asked.requests == []


@pytest.mark.parametrize("text", NOT_STATED)
def test_a_text_that_only_contains_the_words_is_left_to_the_model(text):
    assert run(lambda judge: judge.storage(LINK, listing(text))).requests


def test_a_fact_shown_word_for_word_is_retrieved():
    shown = [Memory("Perpetua grows quinces."), Memory(f"user: {LINK.text}")]
    asked = run(lambda judge: judge.retrieval(LINK, question(), shown), lambda _: "not JSON")
    assert (asked.result.outcome, asked.result.entries, asked.requests) == ("passed", (1,), [])


def test_of_a_state_that_replaced_another_the_words_decide_nothing():
    case = CASES["fact"]
    store = listing(case.evidence.text, case.damaged)
    assert run(lambda judge: judge.summary(case.evidence, store)).requests
    ended = replace(LINK, taken_back=True)
    assert run(lambda judge: judge.summary(ended, store), lambda _: stored(False, False, outdated=False)).requests


def test_a_single_name_is_no_fact_that_words_decide():
    assert stated_at("Bergen", [Memory("Bergen")]) is None
    assert stated_at("艾琳娜三月搬到了卑尔根的河边。", [Memory("你好。艾琳娜三月搬到了卑尔根的河边。")]) == 0


@pytest.mark.parametrize(
    ("gold", "reply", "outcome"),
    [
        ("No, his stress is too low.", "Memories used: none\nAnswer: Yes, surely.", "failed"),
        ("Yes.", "No.", "failed"),
        ("Yes.", "Yes.", None),
        ("No milk: it gave her hives.", "Yes.", None),
        ("No, never.", "No one knows. Yes, perhaps.", None),
    ],
)
def test_an_answer_of_the_opposite_sign_is_wrong_whatever_the_model_says(gold, reply, outcome):
    right = {"reason": "because", "missing": [], "right": True}
    asked = run(
        lambda judge: judge.answer(question("yes_no", gold=(gold,)), [CASES["rule"].evidence], Reply(reply)),
        lambda _: right,
    )
    assert asked.result.outcome == (outcome or "passed")
    assert bool(asked.requests) is (outcome is None)


def test_a_sign_is_opposite_only_to_all_gold_answers():
    assert not opposite(["Yes.", "No."], "No.")
    assert not opposite([], "No.")


def test_an_empty_store_needs_no_model():
    async def work(judge):
        return [
            (await judge.storage(LINK, listing())).outcome,
            (await judge.summary(LINK, listing())).outcome,
            (await judge.retrieval(LINK, question(), [])).outcome,
        ]

    asked = run(work)
    assert (asked.result, asked.requests) == (["failed"] * 3, [])
