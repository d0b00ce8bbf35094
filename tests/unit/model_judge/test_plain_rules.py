"""What is decided by rule: no model is asked, so none can contradict what stands in the store."""

from __future__ import annotations

from dataclasses import replace

import pytest
from model_judge_cases import CASES, listing, question, run, stored

from pytest_memfail.core import AnswerKind, Claim, Memory, Reply
from pytest_memfail.judges.plain import is_said, opposite, stated_at

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


LABELLED = "Ines: It rained. I moved to Bergen."


@pytest.mark.parametrize(
    ("fact", "entry", "is_stated"),
    [
        (LABELLED, LABELLED, True),
        (LABELLED, f"[2024-05-01] user: {LABELLED}", True),
        (LABELLED, f"Tomas: Hi!\n{LABELLED}\nTomas: Oh.", True),
        (LABELLED, f"Tomas: {LABELLED}", False),
        (LABELLED, LABELLED.replace("Ines", "Tomas"), False),
        ("I moved to Bergen with Tomas.", "Ines: I moved to Bergen with Tomas.", False),
        ("2,300 crowns for the sauna!", "user: 2,300 crowns for the sauna!", True),
        ("2,300 crowns for the sauna!", "3,300 crowns for the sauna!", False),
        ("My plan:\n1. Sell the boat.\n2. Row.", "My plan:\n1. Sell the boat.\n2. Row.", True),
        ("My plan:\n1. Sell the boat.\n2. Row.", "My plan:\n1. Sell the boat.\n3. Row.", False),
        ("My plan.\n\n1. Boat: sell it.", "My plan.\n\n1. Boat: sell it.", True),
    ],
)
def test_a_fact_may_begin_with_a_label_or_a_number_itself(fact, entry, is_stated):
    assert stated_at(fact, [Memory("Hello."), Memory(entry)]) == (1 if is_stated else None)


def test_a_fact_shown_word_for_word_is_retrieved():
    shown = [Memory("Perpetua grows quinces."), Memory(f"user: {LINK.text}")]
    asked = run(lambda judge: judge.retrieval(LINK, question(), shown), lambda _: "not JSON")
    assert (asked.result.outcome, asked.result.entries, asked.requests) == ("passed", (1,), [])


def test_of_a_state_that_replaced_another_the_words_decide_nothing():
    case = CASES["fact"]
    store = listing(case.evidence.text, case.damaged)
    assert run(lambda judge: judge.summary(case.evidence, store)).requests
    ended = replace(LINK, claim=Claim(has_ended=True))
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


RULE = CASES["rule"].evidence
assert RULE.text != RULE.source


@pytest.mark.parametrize("protocol", ["ours", "paper"])
def test_a_source_that_stands_whole_in_an_entry_keeps_every_fact_of_it(protocol):
    rule = replace(RULE, text="To Quillon the kettle is a matter of stress.")
    store = listing(f"[2024-05-01] user: {rule.source}", fillers=1)

    async def work(judge):
        return await judge.storage(rule, store), await judge.summary(rule, store)

    asked = run(work, lambda _: stored(False, False), protocol=protocol)
    assert [(result.outcome, result.entries) for result in asked.result] == [("passed", (1,))] * 2
    assert asked.requests == []
    part = listing(rule.source.partition(". ")[0])
    assert run(lambda judge: judge.storage(rule, part)).requests


def test_a_distractor_is_not_held_because_its_dialogue_is():
    distractor = replace(RULE, text="Quillon owns two kettles.", is_distractor=True)
    assert run(lambda judge: judge.storage(distractor, listing(RULE.source))).requests


DIALOGUE = "[2024-05-01 09:00] user: Hi. I picked twelve balls of wool.\n[2024-05-01 09:01] assistant: You live in Bergen then."


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("Hi. I picked twelve balls of wool.", True),
        ("user: I picked twelve balls of wool.", True),
        ("I picked thirteen balls of wool.", False),
        ("You live in Bergen then.", False),
        ("I picked twelve balls of wool.\nI sold them all again.", False),
        ("", False),
    ],
)
def test_a_memory_that_the_user_said_word_for_word_is_supported_whatever_the_model_says(text, supported):
    assert is_said(text, DIALOGUE) is supported
    nothing = {"reason": "because", "memories": [{"entry": 1, "support": 0, "target": True}]}
    asked = run(
        lambda judge: judge.added(question("added", keys={"dialogue": DIALOGUE, "points": ("a",)}), [Memory(text)]),
        lambda _: nothing,
        answers={"added": AnswerKind(right="support")},
    )
    assert asked.result.metrics == {
        "added": 1.0,
        "added_support": 2.0 * supported,
        "target": 1.0,
        "target_support": 2.0 * supported,
    }


NEEDS = "if the condition is gone or vaguer than told"


@pytest.mark.parametrize("missing", [NEEDS, f"“{NEEDS.upper()}”", "Nothing of it is said."])
def test_a_lost_detail_that_repeats_the_criteria_or_the_reason_is_refused(missing):
    criteria = run(lambda judge: judge.storage(RULE, listing("Quillon polishes a kettle."))).requests[0]
    assert NEEDS.partition(" ")[2] in criteria["messages"][-1]["content"]
    reply = stored(False, False, reason="Nothing of it is said.", missing=[missing])
    asked = run(lambda judge: judge.storage(RULE, listing("Quillon polishes a kettle.")), lambda _: reply)
    assert "impossible reply" in str(asked.result)
    detail = stored(False, False, reason="Nothing of it is said.", missing=["8 out of 10"])
    assert run(lambda judge: judge.storage(RULE, listing("Quillon.")), lambda _: detail).result.outcome == "failed"
