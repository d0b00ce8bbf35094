"""The offline judge on a suite's own kinds of evidence and of questions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from suite_kinds import ANSWERS, COLOUR, DELETED, KINDS, REPAINTED, asked

from pytest_memfail.core import Listing, Memory, Reply, StageResult
from pytest_memfail.judges import OfflineJudge


def listing(*texts):
    return Listing("s", tuple(map(Memory, texts)))


@pytest.fixture
def judge():
    return OfflineJudge(kinds=KINDS, answers=ANSWERS)


def test_what_the_finder_finds_passes_every_stage(judge):
    store = listing("Something else.", "The door is teal.")
    expected = StageResult("passed", "the value is there", (1,), confidence=1.0)
    assert judge.storage(COLOUR, store) == judge.summary(COLOUR, store) == expected
    assert judge.retrieval(COLOUR, asked("colour"), store.memories) == expected


def test_what_is_present_and_not_faithful_fails_summary_and_retrieval(judge):
    store = listing("The old door was teal.")
    assert judge.storage(COLOUR, store) == StageResult("passed", "some version of it is stored", (0,), confidence=1.0)
    failed = StageResult("failed", "the value is there", (0,), missing=("current",))
    assert judge.summary(COLOUR, store) == judge.retrieval(COLOUR, asked("colour"), store.memories) == failed


def test_what_is_not_found_fails_with_the_label_of_the_finder(judge):
    for store, label in ((listing("The door is ochre."), "stale_value"), (listing("A door."), None), (listing(), None)):
        result = judge.storage(REPAINTED, store)
        assert (result.outcome, result.label, result.missing) == ("failed", label, ("The door is teal.",))
        assert result.confidence == (1.0 if label else None)
        assert judge.retrieval(REPAINTED, asked("colour"), store.memories).label == label


def test_what_left_no_trace_passes_vacuously(judge):
    for store in (listing("A door."), listing()):
        results = (judge.storage(DELETED, store), judge.retrieval(DELETED, asked("colour"), store.memories))
        assert [(result.outcome, result.vacuous) for result in results] == [("passed", True)] * 2
    leaked = judge.storage(DELETED, listing("The door is ochre."))
    assert (leaked.outcome, leaked.label, leaked.vacuous) == ("failed", "leaked", False)


def test_a_listing_is_searched_once_for_each_fact():
    searched = []

    def find(evidence, texts):
        searched.append(evidence.id)
        return KINDS["value"].find(evidence, texts)

    judge = OfflineJudge(kinds={"value": replace(KINDS["value"], find=find)})
    store = listing("The door is teal.")
    for fact in (COLOUR, replace(COLOUR, id="e-2"), COLOUR):
        judge.storage(fact, store)
        judge.summary(fact, store)
    judge.storage(COLOUR, listing("The door is teal."))
    assert searched == ["e", "e-2", "e"]


def test_a_kind_without_a_finder_is_checked_as_a_claim_like_a_point(judge):
    point = replace(COLOUR, kind="point")
    for kind in ("plain", "unheard_of"):
        for store in (listing("I painted the door teal."), listing("I painted the fence."), listing()):
            fact = replace(COLOUR, kind=kind)
            assert judge.storage(fact, store) == OfflineJudge().storage(point, store)
            assert judge.summary(fact, store) == OfflineJudge().summary(point, store)


@pytest.mark.parametrize(
    ("reply", "outcome", "label"),
    [("It is teal.", "passed", None), ("It is ochre.", "failed", "stale_value"), ("Greenish blue.", "ungraded", None)],
)
def test_an_answer_is_graded_by_the_suite_where_that_can_tell(judge, reply, outcome, label):
    result = judge.answer(asked("colour"), [REPAINTED], Reply(reply))
    assert (result.outcome, result.label) == (outcome, label)
    if outcome == "ungraded":
        assert result.reason == "the offline judge cannot judge this answer: give --memfail-judge a model"


def test_a_kind_of_answer_without_a_grader_needs_a_model(judge):
    result = judge.answer(asked("shade"), [COLOUR], Reply("teal"))
    assert result == StageResult("ungraded", "the offline judge cannot judge free text: give --memfail-judge a model")
    assert judge.answer(asked("colour"), [COLOUR], None).outcome == "ungraded"


def test_the_judge_settles_letters_and_what_an_exact_grader_decides(judge):
    assert [kind for kind in (*ANSWERS, "open") if judge.settles(asked(kind))] == ["exact"]
    assert judge.settles(asked("multiple_choice", letter="A"))
    assert judge.settles(asked("colour", letter="A"))
