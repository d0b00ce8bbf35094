"""What a run lost beyond the reference, and what it held better."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_memfail.core import NOT_RETRIEVED, SUMMARY_ERROR, UNGRADED, QuestionRecord
from pytest_memfail.records import Reference
from pytest_memfail.results import joined, summarize, with_reference

ASKED = QuestionRecord(
    UNGRADED, id="", task="hats", store="hats", question="", k=5, kind="", stratum="", text="", gold=(), row=None
)
HERE = {"a": True, "b": False, "c": False, "d": True, "e": None, "f": False}
THERE = {"a": True, "b": True, "c": False, "d": False, "e": False}


def asked(name: str, held: bool | None, verdict: str = NOT_RETRIEVED) -> QuestionRecord:
    return replace(
        ASKED, id=name, question=name, memory_held=held, verdict=UNGRADED if held in (True, None) else verdict
    )


@pytest.fixture
def questions() -> tuple[QuestionRecord, ...]:
    found = [asked(name, held) for name, held in HERE.items()]
    return with_reference(found, Reference(system="bm25", judge="offline", held=THERE))


def test_each_question_knows_whether_the_reference_held_it(questions: tuple[QuestionRecord, ...]) -> None:
    assert {q.id: q.reference_held for q in questions} == {**THERE, "f": None}
    assert [q.id for q in questions if q.beyond_verbatim] == ["b"]
    assert [q.id for q in questions if q.better_than_verbatim] == ["d"]
    assert [q.id for q in questions if q.at_ceiling] == ["c"]


def test_only_questions_that_both_judged_are_compared(questions: tuple[QuestionRecord, ...]) -> None:
    total = summarize(questions, ()).total
    assert (total.compared, total.beyond, total.better) == (4, 1, 1)
    # what the reference was not judged on may be the system's fault
    assert total.own[NOT_RETRIEVED] == 2


def test_a_fact_that_is_garbled_here_and_not_retrieved_there_is_no_loss_beyond_it() -> None:
    (found,) = with_reference([asked("c", False, SUMMARY_ERROR)], Reference(system="bm25", judge="offline", held=THERE))
    assert not found.beyond_verbatim
    assert found.at_ceiling


def test_the_references_of_shards_are_joined() -> None:
    one, other = (Reference(system="bm25", judge="offline", held={name: True}) for name in "ab")
    found = joined([one, None, other])
    assert found is not None
    assert found.held == {"a": True, "b": True}
    assert joined([one, replace(other, system="dense")]) is None
    assert joined([None]) is None
