"""The verdicts and their order."""

from __future__ import annotations

from itertools import permutations

import pytest

from pytest_memfail.core import (
    CORRECT,
    ERROR,
    FAILURES,
    GRADED,
    LEFT_OPEN,
    LETTERS,
    MEANINGS,
    MEMORY_FAILURES,
    NOT_RETRIEVED,
    NOT_STORED,
    REASONING_ERROR,
    STAGE_FAILURE,
    STAGES,
    SUMMARY_ERROR,
    VACUOUS,
    VERDICTS,
    WRONGLY_HELD,
    worst,
)

PRIORITY = ["wrongly_held", "not_stored", "summary_error", "not_retrieved", "reasoning_error", "ungraded", "correct"]


@pytest.mark.parametrize(("first", "second"), list(permutations(range(len(PRIORITY)), 2)))
def test_worst_takes_the_verdict_of_higher_priority_in_any_order(first, second):
    assert worst([PRIORITY[first], PRIORITY[second]]) == PRIORITY[min(first, second)]


def test_worst_of_nothing_is_correct():
    assert worst([]) == CORRECT


def test_worst_of_many_is_the_worst():
    assert worst(iter(["correct", "reasoning_error", "correct", "summary_error", "not_retrieved"])) == SUMMARY_ERROR


def test_failures_are_ours_and_the_papers_worst_first():
    assert FAILURES == ("wrongly_held", "not_stored", "summary_error", "not_retrieved", "reasoning_error")


def test_every_stage_has_its_own_failure_in_the_order_of_the_stages():
    assert STAGES == ("storage", "summary", "retrieval", "answer")
    assert tuple(STAGE_FAILURE[stage] for stage in STAGES) == FAILURES[1:]


def test_a_reasoning_error_is_no_failure_of_the_memory():
    assert set(FAILURES) - set(MEMORY_FAILURES) == {REASONING_ERROR}
    assert MEMORY_FAILURES == (WRONGLY_HELD, NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED)


def test_verdicts_that_are_not_graded_were_left_open_or_broke():
    assert set(VERDICTS) - set(GRADED) == {*LEFT_OPEN, ERROR}
    assert set(GRADED) == {CORRECT, *FAILURES}


def test_no_verdict_is_named_twice():
    assert len(set(VERDICTS)) == len(VERDICTS)


def test_every_verdict_has_a_meaning_of_one_line():
    assert set(MEANINGS) == {*VERDICTS, VACUOUS}
    assert all(meaning and "\n" not in meaning for meaning in MEANINGS.values())


def test_every_outcome_except_error_has_its_own_letter():
    assert set(LETTERS) == {*VERDICTS, VACUOUS} - {ERROR}
    assert len(set(LETTERS.values())) == len(LETTERS)
    assert all(len(letter) == 1 for letter in LETTERS.values())


def test_letters_do_not_clash_with_those_of_pytest():
    assert not {LETTERS[name] for name in (*FAILURES, VACUOUS)} & set(".FEsxXpP")


@pytest.mark.parametrize("table", [STAGE_FAILURE, MEANINGS, LETTERS])
def test_the_tables_cannot_be_changed(table):
    with pytest.raises(TypeError):
        table["correct"] = "?"
