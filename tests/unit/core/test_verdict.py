"""From stage results to verdicts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_memfail.core import (
    CORRECT,
    NOT_RETRIEVED,
    NOT_STORED,
    REASONING_ERROR,
    SUMMARY_ERROR,
    UNGRADED,
    UNREACHED,
    Fact,
    StageResult,
    Verdict,
    distractor_verdict,
    fact_verdict,
    question_verdict,
)

PASSED = StageResult("passed")
FAILED = StageResult("failed", "lost")
OPEN = StageResult("ungraded", "no judge")

HELD = fact_verdict("held", PASSED, PASSED, PASSED)
GONE = fact_verdict("gone", FAILED)
BLURRED = fact_verdict("blurred", PASSED, FAILED)
HIDDEN = fact_verdict("hidden", PASSED, PASSED, FAILED)
UNKNOWN = fact_verdict("unknown", PASSED, OPEN)


@pytest.mark.parametrize(
    ("stages", "name", "decided_by"),
    [
        ((PASSED, PASSED, PASSED), CORRECT, "retrieval"),
        ((FAILED,), NOT_STORED, "storage"),
        ((PASSED, FAILED), SUMMARY_ERROR, "summary"),
        ((PASSED, PASSED, FAILED), NOT_RETRIEVED, "retrieval"),
        ((FAILED, FAILED, FAILED), NOT_STORED, "storage"),
        ((PASSED, FAILED, FAILED), SUMMARY_ERROR, "summary"),
        ((OPEN,), UNGRADED, "storage"),
        ((PASSED, OPEN, FAILED), UNGRADED, "summary"),
        ((PASSED, PASSED, OPEN), UNGRADED, "retrieval"),
        ((PASSED, PASSED), UNGRADED, "retrieval"),
    ],
)
def test_the_first_stage_that_did_not_pass_decides_a_fact(stages, name, decided_by):
    fact = fact_verdict("f", *stages)
    assert fact.name == name
    assert fact.decided_by == decided_by
    assert fact.deciding is getattr(fact, decided_by)


def test_a_fact_keeps_its_id_and_its_stages():
    fact = fact_verdict("f-1", PASSED, FAILED)
    assert (fact.id, fact.storage, fact.summary, fact.retrieval) == ("f-1", PASSED, FAILED, UNREACHED)


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        ((HELD, HELD), CORRECT),
        ((HIDDEN, BLURRED, GONE), NOT_STORED),
        ((HIDDEN, BLURRED), SUMMARY_ERROR),
        ((HELD, HIDDEN), NOT_RETRIEVED),
        ((UNKNOWN, HIDDEN), NOT_RETRIEVED),
        ((UNKNOWN, HELD), UNGRADED),
    ],
)
def test_a_question_takes_the_worst_of_its_facts(facts, name):
    assert question_verdict(facts, PASSED).name == name


@pytest.mark.parametrize(
    ("answer", "name"), [(PASSED, CORRECT), (FAILED, REASONING_ERROR), (OPEN, UNGRADED), (UNREACHED, UNGRADED)]
)
def test_the_answer_decides_if_the_memory_held(answer, name):
    verdict = question_verdict([HELD], answer)
    assert verdict.name == name
    assert verdict.answer is answer


def test_the_answer_does_not_count_if_a_fact_failed():
    verdict = question_verdict([GONE], FAILED)
    assert verdict.name == NOT_STORED
    assert verdict.answer is UNREACHED


@pytest.mark.parametrize("fact", [GONE, HIDDEN])
def test_a_misleading_question_passes_vacuously_where_the_essay_was_not_stored_or_not_retrieved(fact):
    verdict = question_verdict([fact], UNREACHED, must_not_use=True)
    assert (verdict.name, verdict.vacuous) == (CORRECT, True)
    assert verdict.facts == (fact,)


def test_a_misleading_question_keeps_a_summary_error():
    verdict = question_verdict([BLURRED], UNREACHED, must_not_use=True)
    assert (verdict.name, verdict.vacuous) == (SUMMARY_ERROR, False)


def test_a_misleading_question_whose_essay_was_shown_passes_by_its_answer_and_not_vacuously():
    assert question_verdict([HELD], PASSED, must_not_use=True) == Verdict(CORRECT, (HELD,), PASSED, memory_held=True)
    assert question_verdict([HELD], FAILED, must_not_use=True).name == REASONING_ERROR


def test_a_misleading_question_with_an_ungraded_fact_is_ungraded():
    verdict = question_verdict([UNKNOWN], UNREACHED, must_not_use=True)
    assert (verdict.name, verdict.vacuous) == (UNGRADED, False)


@pytest.mark.parametrize("fact", [GONE, HIDDEN])
def test_a_question_that_does_not_mislead_never_passes_vacuously(fact):
    verdict = question_verdict([fact], UNREACHED)
    assert verdict.name != CORRECT
    assert not verdict.vacuous


@pytest.mark.parametrize("credited", [True, False, None])
def test_the_raw_letter_is_kept_whatever_the_facts_say(credited):
    assert question_verdict([GONE], PASSED, credited=credited).credited is credited
    assert question_verdict([HELD], PASSED, credited=credited).credited is credited
    assert question_verdict([GONE], PASSED, credited=credited, must_not_use=True).credited is credited


def test_a_credited_letter_does_not_make_a_lost_fact_correct():
    assert question_verdict([GONE], PASSED, credited=True).name == NOT_STORED


def test_the_label_of_the_stage_that_has_one_is_the_questions():
    stale = fact_verdict("f", StageResult("failed", label="stale_value"))
    assert question_verdict([HELD, stale], UNREACHED).label == "stale_value"


def test_the_label_of_the_answer_is_used_if_no_fact_has_one():
    assert question_verdict([HELD], StageResult("failed", label="omission")).label == "omission"


@pytest.mark.parametrize(
    ("facts", "held"),
    [
        ((HELD,), True),
        ((HELD, HELD), True),
        ((HELD, HIDDEN), False),
        ((GONE,), False),
        ((UNKNOWN,), None),
        ((UNKNOWN, HELD), None),
        ((UNKNOWN, GONE), False),
        ((), None),
    ],
)
def test_memory_held_means_that_all_facts_passed_the_memory_stages(facts, held):
    assert question_verdict(facts, OPEN).memory_held is held


@pytest.mark.parametrize("answer", [PASSED, FAILED, OPEN])
def test_memory_held_does_not_depend_on_the_answer(answer):
    assert question_verdict([HELD], answer).memory_held is True


def test_a_vacuous_pass_did_not_test_the_memory():
    assert question_verdict([GONE], UNREACHED, must_not_use=True).memory_held is None


NOTHING = StageResult("passed", "nothing of it is there", vacuous=True)


@pytest.mark.parametrize(
    ("stages", "name", "vacuous"),
    [
        ((NOTHING, NOTHING, NOTHING), CORRECT, True),
        ((NOTHING, NOTHING, PASSED), CORRECT, False),  # the memories shown say that it ended, whatever is listed
        ((NOTHING, NOTHING, FAILED), NOT_RETRIEVED, False),  # the memories shown state it as current
        ((PASSED, PASSED, PASSED), CORRECT, False),
        ((PASSED, PASSED, NOTHING), NOT_RETRIEVED, False),  # the store says that it ended, the memories shown do not
        ((FAILED,), NOT_STORED, False),
    ],
)
def test_a_state_that_was_taken_back_may_be_gone_but_not_hidden(stages, name, vacuous):
    fact = fact_verdict("f", *stages)
    assert (fact.name, fact.vacuous) == (name, vacuous)
    if name == NOT_RETRIEVED:
        assert fact.decided_by == "retrieval"


def test_a_question_only_about_deleted_states_passes_vacuously():
    gone = fact_verdict("f", NOTHING, NOTHING, NOTHING)
    verdict = question_verdict([gone], UNREACHED)
    assert (verdict.name, verdict.vacuous, verdict.memory_held) == (CORRECT, True, None)
    beside_another = question_verdict([gone, HELD], PASSED)
    assert (beside_another.vacuous, beside_another.memory_held) == (False, True)


UNWANTED = Fact("e", "unwanted", "Pin 4711.", "Pin 4711.", "c", is_distractor=True)


@pytest.mark.parametrize(
    ("part", "stages", "name", "stage"),
    [
        (False, (FAILED, UNREACHED), CORRECT, "retrieval"),
        (False, (PASSED, FAILED), "wrongly_held", "storage"),
        (True, (PASSED, FAILED), CORRECT, "retrieval"),
        (True, (PASSED, PASSED), "wrongly_held", "storage"),
        (True, (FAILED, UNREACHED, PASSED), "wrongly_held", "retrieval"),
        (True, (FAILED, UNREACHED, FAILED), CORRECT, "retrieval"),
        (True, (PASSED, OPEN), UNGRADED, "summary"),
        (True, (OPEN, UNREACHED), UNGRADED, "storage"),
        (True, (FAILED, UNREACHED, OPEN), UNGRADED, "retrieval"),
    ],
)
def test_a_fact_that_memory_must_not_hold(part, stages, name, stage):
    verdict = distractor_verdict(replace(UNWANTED, may_hold_part=part), *stages)
    assert (verdict.name, verdict.decided_by, verdict.is_distractor) == (name, stage, True)
    assert not verdict.vacuous
    asked = question_verdict([verdict], UNREACHED)
    assert asked.memory_held is None
    assert asked.name == (UNGRADED if name == CORRECT else name)


def test_an_empty_store_resists_nothing():
    assert distractor_verdict(UNWANTED, FAILED, UNREACHED, proves_nothing=True).vacuous
