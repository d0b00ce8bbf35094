"""suites/answers.py: right answers although the memories shown lack a fact."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_memfail.core import FactVerdict, QuestionRecord, StageResult
from pytest_memfail.suites import answers

PASSED, FAILED = StageResult("passed"), StageResult("failed")
LOST = FactVerdict("f", "not_stored", FAILED)
HIDDEN = FactVerdict("f", "not_retrieved", PASSED, PASSED, FAILED)
DAMAGED = FactVerdict("f", "summary_error", StageResult("passed", entries=(4,)), StageResult("failed", entries=(4, 7)))
UNDATED = replace(DAMAGED, summary=StageResult("failed", label="date_lost"))
HELD = FactVerdict("f", "correct", PASSED, PASSED, PASSED)
RIGHT = QuestionRecord(
    verdict="not_stored",
    facts=(LOST,),
    credited=True,
    memory_held=False,
    id="id",
    task="t",
    store="s",
    question="q",
    k=2,
    kind="open",
    stratum="",
    text="?",
    gold=("yes",),
    row=None,
    places=(7, 2),
)


@pytest.mark.parametrize(
    ("facts", "places", "is_lacking"),
    [
        ((LOST,), (7, 2), True),
        ((HIDDEN,), (7, 2), True),
        ((HELD, HIDDEN), (7, 2), True),
        # the store damaged it, or has an older value beside it: the memories shown may hold it all the same
        ((DAMAGED,), (7, 2), False),
        ((DAMAGED,), (0, 2), True),
        ((replace(DAMAGED, storage=PASSED, summary=FAILED),), (0, 2), False),  # nobody says where it is
        # the memories shown were looked through although the store lost the date
        ((replace(UNDATED, retrieval=PASSED),), (0, 2), False),
        ((replace(UNDATED, retrieval=FAILED),), (4, 2), True),
        ((replace(HIDDEN, is_distractor=True), DAMAGED), (7, 2), False),
    ],
)
def test_an_answer_is_known_anyway_if_the_memories_shown_lack_a_fact(facts, places, is_lacking):
    asked = replace(RIGHT, facts=facts, places=places)
    found = answers.known_anyway([asked, replace(asked, credited=False), replace(asked, verdict="error")])
    assert (found.value, found.n) == (float(is_lacking), 2)


def test_a_vacuous_pass_is_not_known_anyway():
    assert answers.known_anyway([replace(RIGHT, verdict="correct", vacuous=True, memory_held=None)]).value == 0
