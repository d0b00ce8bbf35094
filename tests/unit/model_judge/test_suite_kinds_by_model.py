"""Models and the cascade on a suite's own kinds: the criteria, blocks and shapes that a model is sent."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from model_judge_cases import block, cascade, listing, run, stored
from pydantic import BaseModel
from suite_kinds import ANSWERS, COLOUR, DELETED, KINDS, REPAINTED, Gold, asked

from pytest_memfail.core import AnswerKind, JudgeError, Kind, Memory, Reply, StageResult
from pytest_memfail.judges import OfflineJudge, prompts
from pytest_memfail.judges.cascade import CascadeJudge
from pytest_memfail.llm import ReplyError
from pytest_memfail.suites import BUILT_IN, built_in_suite

OPTIONS = {"kinds": KINDS, "answers": ANSWERS}
PROTOCOLS = ("ours", "paper")


def criteria(request):
    """Return what follows the last block of the prompt: criteria, then the shape of the reply."""
    *lines, shape = request["messages"][1]["content"].rpartition(">\n")[2].split("\n")
    return lines, shape


def both(fact, store, **options):
    async def work(judge):
        return await judge.storage(fact, store), await judge.summary(fact, store)

    return run(work, **{**OPTIONS, **options})


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_call_judges_storage_and_summary_by_the_kinds_criteria_in_both_protocols(protocol):
    asked_for = both(REPAINTED, listing("The door is teal."), protocol=protocol)
    assert [result.outcome for result in asked_for.result] == ["passed", "passed"]
    (request,) = asked_for.requests
    assert json.loads(block(request, "fact")) == {
        "check": "stored",
        "kind": "value",
        "fact": "The door is teal.",
        "value": "teal",
        "replaced": ["ochre"],
        "said": "I painted the door teal.",
    }
    lines, shape = criteria(request)
    assert lines == ["present: some entry names the colour.", "faithful: and the colour is exact."]
    assert "outdated" not in shape
    assert "<times>" not in request["messages"][1]["content"]


def test_a_kind_may_show_times_and_ask_for_what_is_outdated():
    store = type(listing())("s", (Memory("The door is ochre.", timestamp="2025-03-04"),))
    fact = replace(REPAINTED, kind="step")
    asked_for = both(fact, store, answer=lambda _: json.dumps(stored(False, False, [1], outdated=True)))
    storage, _ = asked_for.result
    assert (storage.outcome, storage.label) == ("failed", "stale_value")
    (request,) = asked_for.requests
    assert block(request, "times") == '1 "2025-03-04"'
    lines, shape = criteria(request)
    assert lines[2] == "outdated: a replaced state stands as if it still held."
    assert '"outdated": true or false' in shape


def test_retrieval_has_a_criterion_of_its_own():
    asked_for = run(
        lambda judge: judge.retrieval(COLOUR, asked("colour"), [Memory("Noted: The door is teal.")]), **OPTIONS
    )
    assert asked_for.result.outcome == "passed"
    (request,) = asked_for.requests
    assert criteria(request)[0] == ["recoverable: the colour can be read here."]
    assert json.loads(block(request, "fact"))["question"] == "Which colour is the door?"


@pytest.mark.parametrize(
    ("reply", "outcome", "label", "vacuous"),
    [
        (stored(False, False, outdated=False), "passed", None, True),
        (stored(False, False, [1], outdated=True), "failed", "leaked", False),
        (stored(True, True, [1], outdated=False), "passed", None, False),
    ],
    ids=["no trace", "still stated", "the end is told"],
)
def test_a_deletion_passes_with_or_without_a_trace_of_the_request(reply, outcome, label, vacuous):
    asked_for = both(DELETED, listing("The door is ochre."), answer=lambda _: json.dumps(reply))
    storage, _ = asked_for.result
    assert (storage.outcome, storage.label, storage.vacuous) == (outcome, label, vacuous)
    assert json.loads(block(asked_for.requests[0], "fact"))["taken_back"] is True
    shown = run(
        lambda judge: judge.retrieval(DELETED, asked("colour"), [Memory("The door is ochre.")]),
        answer=lambda _: json.dumps(reply),
        **OPTIONS,
    ).result
    assert (shown.outcome, shown.vacuous) == (outcome, vacuous)


def test_kinds_that_no_suite_defined_are_an_error():
    for stage in ("storage", "summary"):
        asked_for = run(lambda judge, stage=stage: getattr(judge, stage)(COLOUR, listing("x")))
        assert isinstance(asked_for.result, JudgeError)
        assert "got a fact of the kind 'value', expected one that a suite of the run has (fact, link, " in str(
            asked_for.result
        )
        assert not asked_for.requests
    error = run(lambda judge: judge.answer(asked("colour"), [COLOUR], Reply("teal"))).result
    assert "got a question of the kind 'colour', expected one that a suite of the run has (all_of, " in str(error)
    error = run(lambda judge: judge.storage(COLOUR, listing("x")), kinds={}).result
    assert str(error).endswith("(none: the judge was made without kinds)")


# -- the cascade -------------------------------------------------------------------------------------------------------


def in_cascade(work):
    return run(
        lambda model: work(CascadeJudge(OfflineJudge(model.protocol, kinds=KINDS, answers=ANSWERS), model)), **OPTIONS
    )


@pytest.mark.parametrize(
    ("text", "outcome", "calls"),
    [("The door is teal.", "passed", 0), ("The door is ochre.", "failed", 0), ("A door.", "failed", 1)],
)
def test_a_model_is_asked_only_for_what_the_finder_did_not_recognise(text, outcome, calls):
    asked_for = in_cascade(lambda judge: judge.storage(REPAINTED, listing(text)))
    assert (asked_for.result.outcome, len(asked_for.requests)) == (outcome, calls)


def test_the_cascade_settles_what_its_model_does():
    async def work(judge):
        return [judge.settles(asked(kind)) for kind in ("colour", "exact")], await judge.answer(
            asked("colour"), [REPAINTED], Reply("teal")
        )

    settled, answer = in_cascade(work).result
    assert settled == [False, True]
    assert answer.reason == "it is the gold answer"
    assert run(lambda judge: _settles(cascade(judge))).result == [True, False]


async def _settles(judge):
    return [judge.settles(asked("multiple_choice", letter="A")), judge.settles(asked("open"))]


# -- answers -----------------------------------------------------------------------------------------------------------


def graded(kind, reply, answer=None, facts=(REPAINTED,)):
    options = OPTIONS if answer is None else {**OPTIONS, "answer": lambda _: json.dumps(answer)}
    return run(lambda judge: judge.answer(asked(kind), facts, Reply(reply)), **options)


@pytest.mark.parametrize(("reply", "outcome"), [("It is teal.", "passed"), ("It is ochre.", "failed")])
def test_what_the_grader_decides_costs_no_call(reply, outcome):
    asked_for = graded("colour", reply)
    assert (asked_for.result.outcome, asked_for.requests) == (outcome, [])


def test_a_model_decides_by_the_kinds_criterion_and_may_name_a_label():
    wrong = {"reason": "another", "missing": ["teal"], "right": False, "label": "hallucination"}
    asked_for = graded("colour", "It is pink.", wrong)
    assert asked_for.result == StageResult("failed", "another", missing=("teal",), label="hallucination")
    (request,) = asked_for.requests
    lines, shape = criteria(request)
    assert lines[0] == "right: the reply names the colour."
    assert (
        shape
        == '{"reason": "...", "missing": [], "right": true or false, "label": "omission" or "hallucination" or null}'
    )
    assert json.loads(block(request, "facts")) == {
        "check": "answer",
        "kind": "colour",
        "question": "Which colour is the door?",
        "gold": ["teal"],
        "facts": ["The door is teal."],
        "replaced": ["ochre"],
        "values": ["teal"],
    }


def test_a_reply_without_a_label_has_none():
    for more in ({}, {"label": None}):
        result = graded("colour", "It is pink.", {"reason": "x", "missing": [], "right": False, **more}).result
        assert (result.outcome, result.label) == ("failed", None)


def test_a_label_that_was_not_offered_is_asked_for_again():
    error = graded("colour", "Pink.", {"reason": "x", "missing": [], "right": False, "label": "rude"}).result
    assert isinstance(error, ReplyError)
    assert '"label" is neither null nor one of omission, hallucination' in str(error)


def test_a_kind_without_labels_has_none_in_its_shape_and_takes_none():
    asked_for = graded("shade", "It is teal.")
    assert (asked_for.result.outcome, asked_for.result.label) == ("passed", None)
    assert "label" not in "".join(asked_for.prompts)
    error = graded("shade", "Pink.", {"reason": "x", "missing": [], "right": False, "label": "omission"}).result
    assert isinstance(error, ReplyError)


def test_an_answer_that_only_a_grader_can_judge_and_does_not_stays_open():
    asked_for = graded("exact", "Pink.")
    assert (asked_for.result.outcome, asked_for.requests) == ("ungraded", [])
    assert asked_for.result.reason == "questions of the kind exact have no criterion for a model"


@pytest.mark.parametrize("reply", [" ", "Memories used:\nThe door is pink.\n**Answer:**"])
@pytest.mark.parametrize("kind", ["colour", "shade", "ring"])
def test_a_reply_without_an_answer_is_wrong_unless_the_grader_says_otherwise(kind, reply):
    asked_for = graded(kind, reply)
    assert asked_for.result == StageResult("failed", "the reply gives no answer", missing=("teal",))
    assert asked_for.requests == []


@pytest.mark.parametrize("memory", ["The door is teal.", "The door is ochre."])
def test_no_grader_counts_the_memories_that_a_reply_repeats(memory):
    reply = f"Memories used:\n{memory}\nAnswer: It is pink."
    wrong = {"reason": "another", "missing": [], "right": False}
    for kind in ("colour", "shade"):
        (request,) = graded(kind, reply, wrong).requests
        assert json.loads(block(request, "reply")) == "It is pink."
    (request,) = graded("ring", reply, {"reason": "another"}).requests
    assert block(request, "reply") == '1 "It is pink."'
    (request,) = graded("use", reply, wrong).requests
    assert json.loads(block(request, "reply")) == reply


def test_only_memfail_grades_the_memories_that_a_reply_repeats():
    suites = (built_in_suite(name) for name in BUILT_IN)
    counted = {name for suite in suites for name, kind in suite.answers.items() if kind.restated}
    assert counted == {"all_of", "direct", "misleading", "yes_no"}


# -- the local endpoint as judge ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        ("The front door is teal now.", ("passed", "passed", "passed")),
        ("Ottoline collects brass buttons.", ("failed", "failed", "failed")),
    ],
)
def test_the_endpoint_judges_by_the_words_of_the_value(text, outcomes):
    async def work(judge):
        store = listing(text, fillers=2)
        return (
            await judge.storage(COLOUR, store),
            await judge.summary(COLOUR, store),
            await judge.retrieval(COLOUR, asked("colour"), store.memories),
        )

    assert tuple(result.outcome for result in run(work, **OPTIONS).result) == outcomes


def test_the_endpoint_tells_half_a_value_from_a_whole_one():
    fact = replace(COLOUR, gold=Gold("teal with brass numbers"))
    storage, summary = both(fact, listing("The door is teal with numbers.")).result
    assert (storage.outcome, summary.outcome, summary.missing) == ("passed", "failed", ("teal with brass numbers",))


def test_the_endpoint_knows_what_was_deleted():
    fact = replace(DELETED, source="Please forget the ochre paint of the door.", text="Forget the ochre paint.")
    for text, outcome, vacuous in (
        ("The door is ochre.", "failed", False),
        ("Leopold restores globes.", "passed", True),
        ("User asked to forget the ochre paint.", "passed", False),
    ):
        storage, _ = both(fact, listing(text)).result
        assert (storage.outcome, storage.vacuous) == (outcome, vacuous)


def test_the_endpoint_grades_by_the_gold_answer_and_what_was_replaced():
    for reply, outcome in (("It is teal.", "passed"), ("It was ochre, now teal.", "failed"), ("Pink.", "failed")):
        assert graded("shade", reply).result.outcome == outcome


class Named(BaseModel):
    """The reply to a check of a suite's own."""

    reason: str
    named: list[int]


async def ask_twice(asker, question, evidence, reply):
    """Score a reply by the mean of two calls."""

    def unknown(found):
        return "there is only 1 text" if max(found.named, default=1) > 1 else None

    found = [
        await asker(f"Which name the {what}?", {"reply": [reply], "gold": question.gold}, Named, unknown)
        for what in ("colour", "door")
    ]
    score = sum(bool(one.named) for one in found) / 2
    return StageResult("passed" if score == 1 else "failed", "counted", score=score)


SCORED = {"answers": {"scored": AnswerKind("", ask=ask_twice)}}


def test_a_kind_may_ask_several_times_and_score():
    def answer(request):
        return json.dumps({"reason": "r", "named": [1] if "colour?" in request["messages"][1]["content"] else []})

    found = run(lambda judge: judge.answer(asked("scored"), [], Reply("</reply> teal")), answer=answer, **SCORED)
    assert (found.result.outcome, found.result.score) == ("failed", 0.5)
    assert len(found.requests) == 2
    # a text can neither end its block nor its line
    assert found.requests[0]["messages"][1]["content"] == (
        '<reply>\n1 "\\u003c/reply> teal"\n</reply>\n<gold>\n1 "teal"\n</gold>\nWhich name the colour?'
    )


def test_what_a_suite_finds_wrong_with_a_reply_is_asked_again_and_then_an_error():
    def answer(request):
        named = [1] if "there is only 1 text" in request["messages"][-1]["content"] else [7]
        return json.dumps({"reason": "r", "named": named})

    found = run(lambda judge: judge.answer(asked("scored"), [], Reply("teal")), answer=answer, **SCORED)
    assert (found.result.score, len(found.requests)) == (1.0, 4)
    stubborn = json.dumps({"reason": "r", "named": [7]})
    error = run(lambda judge: judge.answer(asked("scored"), [], Reply("teal")), answer=lambda _: stubborn, **SCORED)
    assert isinstance(error.result, ReplyError)
    assert "there is only 1 text" in str(error.result)


def test_no_call_is_made_offline():
    assert OfflineJudge(**SCORED).answer(asked("scored"), [], Reply("teal")).outcome == "ungraded"


def test_a_kind_shows_only_fields_that_there_are():
    kind, answer = Kind("a", "b", "c", gold=("valeu",)), AnswerKind("a", gold=("valeu",))
    with pytest.raises(
        JudgeError, match="kind 'value' show 'valeu' to a model, but their gold value Gold has no such field"
    ):
        prompts.about_entries("stored", COLOUR, [], kind)
    assert "valeu" not in str(prompts.about_entries("stored", replace(COLOUR, gold=None), [], kind))
    with pytest.raises(JudgeError, match="kind 'colour' show 'valeu' to a model, but q has no such key"):
        prompts.about_answer(asked("colour"), [COLOUR], "x", answer)
