"""What a run lost beyond the reference, and what it held better."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_memfail.core import CORRECT, NOT_RETRIEVED, SUMMARY_ERROR, UNGRADED, WRONGLY_HELD, QuestionRecord
from pytest_memfail.records import Reference
from pytest_memfail.results import joined, summarize, with_reference

ASKED = QuestionRecord(
    UNGRADED, id="", task="hats", store="hats", question="", k=5, kind="", stratum="", text="", gold=(), row=None
)
HERE = {"a": True, "b": False, "c": False, "d": True, "e": None, "f": False}
THERE = {"a": CORRECT, "b": CORRECT, "c": NOT_RETRIEVED, "d": NOT_RETRIEVED, "e": NOT_RETRIEVED}


def asked(name: str, held: bool | None, verdict: str = NOT_RETRIEVED) -> QuestionRecord:
    return replace(
        ASKED, id=name, question=name, memory_held=held, verdict=UNGRADED if held in (True, None) else verdict
    )


@pytest.fixture
def questions() -> tuple[QuestionRecord, ...]:
    found = [asked(name, held) for name, held in HERE.items()]
    return with_reference(found, Reference(system="bm25", judge="offline", outcomes=THERE))


def test_each_question_knows_whether_the_reference_held_it(questions: tuple[QuestionRecord, ...]) -> None:
    assert {q.id: q.reference_held for q in questions} == {
        **{name: outcome == CORRECT for name, outcome in THERE.items()},
        "f": None,
    }
    assert [q.id for q in questions if q.beyond_verbatim] == ["b"]
    assert [q.id for q in questions if q.better_than_verbatim] == ["d"]
    assert [q.id for q in questions if q.at_ceiling] == ["c"]


def test_only_questions_that_both_judged_are_compared(questions: tuple[QuestionRecord, ...]) -> None:
    total = summarize(questions, ()).total
    assert (total.compared, total.beyond, total.better) == (4, 1, 1)


def test_questions_that_memory_held_leaves_out_are_not_compared(questions: tuple[QuestionRecord, ...]) -> None:
    misleading = tuple(replace(q, id=f"{q.id}-2", question=f"{q.id}-2", must_not_use=True) for q in questions)
    total = summarize((*questions, *misleading), ()).total
    assert (total.n, total.tested) == (12, 5)
    assert (total.compared, total.beyond, total.better) == (4, 1, 1)


def test_the_ceiling_is_what_the_reference_loses_no_later() -> None:
    """A store that garbles what a verbatim store keeps is at fault, even if the search of both would miss it."""
    reference = Reference(system="bm25", judge="offline", outcomes=THERE)
    garbled, missed = with_reference([asked("c", False, SUMMARY_ERROR), asked("c", False)], reference)
    assert [garbled.beyond_verbatim, missed.beyond_verbatim] == [False, False]
    assert (garbled.at_ceiling, missed.at_ceiling) == (False, True)


def test_what_is_wrongly_held_is_never_the_limit_of_the_benchmark() -> None:
    reference = Reference(system="bm25", judge="offline", outcomes=THERE)
    (found,) = with_reference([asked("c", False, WRONGLY_HELD)], reference)
    assert not found.at_ceiling


def test_the_references_of_shards_are_joined() -> None:
    one, other = (Reference(system="bm25", judge="offline", outcomes={name: CORRECT}) for name in "ab")
    found = joined([one, None, other])
    assert found is not None
    assert found.outcomes == {"a": CORRECT, "b": CORRECT}
    assert joined([one, replace(other, system="dense")]) is None
    assert joined([None]) is None
