"""Two runs question by question: what is worse, what is better, and what cannot be compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_memfail.core import (
    CORRECT,
    ERROR,
    FAILURES,
    NO_ANSWER,
    NOT_RETRIEVED,
    NOT_STORED,
    REASONING_ERROR,
    UNGRADED,
)
from pytest_memfail.records import Entry
from pytest_memfail.results import change_of, compare

HELD = (NO_ANSWER, True)
OPEN = (UNGRADED, None)
VACUOUS = (CORRECT, None, True)


def entry(verdict, held=None, vacuous=False, *, task="t", name="q-1", k=5):
    held = verdict == CORRECT if held is None and verdict in (CORRECT, *FAILURES) and not vacuous else held
    return Entry(f"memfail/{task}::{name}", task, task, name, k, verdict, held, vacuous)


def change(old, new, protocol="ours"):
    return change_of(entry(*old), entry(*new), protocol)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_where_there_was_none_is_worse_and_the_reverse_better(failure):
    assert change((CORRECT,), (failure,)) == "worse"
    assert change((failure,), (CORRECT,)) == "better"


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("other", FAILURES)
def test_another_failure_is_the_same(failure, other):
    assert change((failure,), (other,)) == "same"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # without a judged answer, that memory held is what is compared
        (HELD, HELD, "same"),
        (HELD, (NOT_STORED,), "worse"),
        ((NOT_STORED,), HELD, "better"),
        (HELD, (CORRECT,), "same"),
        ((CORRECT,), HELD, "same"),
        # an answer that one run did not judge says nothing about one that is wrong in the other
        (HELD, (REASONING_ERROR,), None),
        ((REASONING_ERROR,), HELD, None),
        (OPEN, (NOT_STORED,), None),
        ((NOT_STORED,), OPEN, None),
        ((ERROR,), (NOT_STORED,), None),
        ((CORRECT,), (ERROR,), None),
        ((ERROR,), (ERROR,), None),
    ],
)
def test_what_is_left_open_and_what_is_an_error(old, new, expected):
    assert change(old, new) == expected


@pytest.mark.parametrize("other", [(CORRECT,), (NOT_STORED,), VACUOUS])
def test_a_vacuous_pass_is_no_result(other):
    assert change(VACUOUS, other) is None
    assert change(other, VACUOUS) is None


def test_except_in_the_published_reading():
    assert change(VACUOUS, (NOT_STORED,), "paper") == "worse"
    assert change((NOT_STORED,), VACUOUS, "paper") == "better"


def test_as_a_reader_of_flips_sees_it():
    assert [entry(*e).state for e in (VACUOUS, HELD, OPEN, (NOT_STORED,))] == [
        "vacuous",
        "no_answer",
        "ungraded",
        "not_stored",
    ]


def run(**tasks):
    """Entries by key: `a=["correct", "not_stored"]`."""
    found = {}
    for task, verdicts in tasks.items():
        for i, verdict in enumerate(verdicts):
            given = (verdict,) if isinstance(verdict, str) else verdict
            if given[0] != "absent":
                each = entry(*given, task=task, name=f"q-{i}")
                found[each.key] = each
    return found


def compared(before, now, tasks=("a", "b"), protocol="ours"):
    return compare(before, now, tasks, protocol)


def test_flips_are_counted_for_each_task_and_for_all():
    before = run(a=[CORRECT] * 6 + [NOT_STORED], b=[CORRECT, NOT_STORED, NOT_STORED])
    now = run(a=[NOT_STORED] * 5 + [CORRECT] * 2, b=[NOT_RETRIEVED, CORRECT, NOT_RETRIEVED])
    found = compared(before, now)
    assert [(p.name, p.n, p.worse, p.better) for p in found.tasks] == [("a", 7, 5, 1), ("b", 3, 1, 1)]
    assert (found.total.n, found.total.worse, found.total.better) == (10, 6, 2)
    assert found.of(None) is found.total
    assert found.of("b") is found.tasks[1]
    assert found.of("c") is None
    assert found.total.p == pytest.approx(37 / 256)  # 6 or more of 8 fair coins
    assert found.total.corrected is None
    assert [p.p for p in found.tasks] == pytest.approx([7 / 64, 0.75])
    assert [p.corrected for p in found.tasks] == pytest.approx([14 / 64, 0.75])


def test_every_flip_is_listed_with_what_it_was_and_is():
    before = run(a=[CORRECT, NOT_STORED, NOT_STORED, CORRECT, (ERROR,), VACUOUS, CORRECT])
    now = run(a=[NOT_STORED, CORRECT, NOT_RETRIEVED, HELD, CORRECT, NOT_STORED, CORRECT])
    found = compared(before, now)
    assert [(f.id, f.old, f.new, f.change) for f in found.flips] == [
        ("memfail/a::q-0", "correct", "not_stored", "worse"),
        ("memfail/a::q-1", "not_stored", "correct", "better"),
        ("memfail/a::q-2", "not_stored", "not_retrieved", "other"),
        ("memfail/a::q-3", "correct", "no_answer", "other"),
        ("memfail/a::q-4", "error", "correct", "other"),
        ("memfail/a::q-5", "vacuous", "not_stored", "other"),
    ]
    assert [f.id for f in found.worse] == ["memfail/a::q-0"]
    assert [f.id for f in found.better] == ["memfail/a::q-1"]
    assert (found.uncounted, found.undecided) == (2, 0)
    assert found.total.n == 5


def test_what_no_judge_decided_in_one_of_the_runs_is_counted_apart():
    held_with_an_open_answer = (UNGRADED, True)
    before = run(a=[CORRECT, OPEN, OPEN, CORRECT, (ERROR,)])
    now = run(a=[OPEN, NOT_STORED, OPEN, held_with_an_open_answer, CORRECT])
    found = compared(before, now)
    assert (found.total.n, found.uncounted, found.undecided) == (1, 4, 3)


def test_flips_come_by_task_and_question_whatever_ended_first():
    before = run(b=[CORRECT] * 3, a=[CORRECT] * 2)
    now = run(b=[NOT_STORED] * 3, a=[NOT_STORED] * 2)
    backwards = dict(reversed(now.items()))
    found = compared(before, backwards, ["b", "a"])
    assert [flip.id for flip in found.flips] == [
        *(f"memfail/b::q-{i}" for i in range(3)),
        "memfail/a::q-0",
        "memfail/a::q-1",
    ]
    assert found == compared(before, now, ["b", "a"])


def test_a_pass_that_stays_vacuous_is_not_worth_a_word():
    found = compared(run(a=[VACUOUS, CORRECT]), run(a=[VACUOUS, CORRECT]))
    assert (found.total.n, found.uncounted, found.flips) == (1, 0, ())


def test_questions_of_one_run_only():
    found = compared(run(a=[CORRECT, "absent", CORRECT]), run(a=["absent", NOT_STORED, CORRECT], b=[CORRECT]))
    assert (found.added, found.added_failing, found.missing) == (2, 1, 1)
    assert found.total.n == 1
    assert [p.name for p in found.tasks] == ["a"]


def test_each_k_is_a_question_of_its_own():
    before = {e.key: e for e in (entry(CORRECT, k=5), entry(NOT_RETRIEVED, k=1))}
    now = {e.key: e for e in (entry(CORRECT, k=5), entry(CORRECT, k=1))}
    found = compared(before, now, ["t"])
    assert (found.total.n, found.total.better) == (2, 1)


def rows_of(size, *verdicts, task="a", row="data.csv:{}"):
    """Entries of rows with so many questions each."""
    found = [
        replace(entry(verdict, task=task, name=f"q-{i}"), row=row.format(2 + i // size))
        for i, verdict in enumerate(verdicts)
    ]
    return {each.key: each for each in found}


def test_a_row_is_one_flip_however_many_questions_it_has():
    before = rows_of(3, *[CORRECT] * 9)
    now = rows_of(3, *[NOT_STORED] * 6, *[CORRECT] * 3)
    found = compared(before, now)
    assert (found.total.n, found.total.worse, found.total.better) == (9, 6, 0)
    assert (found.rows, found.rows_worse, found.rows_better) == (3, 2, 0)
    assert found.total.p == 0.25
    assert found.tasks[0].p == 0.25


def test_a_row_flips_the_way_most_of_its_questions_do():
    before = rows_of(3, CORRECT, CORRECT, NOT_STORED, CORRECT, NOT_STORED, CORRECT)
    now = rows_of(3, NOT_STORED, NOT_STORED, CORRECT, NOT_STORED, CORRECT, CORRECT)
    found = compared(before, now)
    assert (found.total.worse, found.total.better) == (3, 2)
    assert (found.rows, found.rows_worse, found.rows_better) == (2, 1, 0)


def test_a_question_at_several_k_is_one_row():
    before = {e.key: e for k in (5, 10, 15) for e in [entry(CORRECT, k=k)]}
    now = {e.key: e for k in (5, 10, 15) for e in [entry(NOT_STORED, k=k)]}
    found = compared(before, now, ["t"])
    assert (found.total.worse, found.rows, found.rows_worse, found.total.p) == (3, 1, 1, 0.5)


@pytest.mark.parametrize("row", [None, "own.py:1"])
def test_questions_whose_row_is_not_known_stand_for_themselves(row):
    before = {k: replace(e, row=row) for k, e in run(a=[CORRECT] * 5).items()}
    now = {k: replace(e, row=row) for k, e in run(a=[NOT_STORED] * 5).items()}
    found = compared(before, now)
    assert (found.rows, found.rows_worse, found.total.p) == (5, 5, 1 / 32)


def test_the_same_line_of_two_tasks_is_two_rows():
    before = rows_of(1, CORRECT) | rows_of(1, CORRECT, task="b")
    assert compared(before, before).rows == 2


def test_verdicts_gained_and_lost():
    before = run(a=[CORRECT, CORRECT, NOT_STORED, NOT_STORED])
    now = run(a=[NOT_STORED, NOT_RETRIEVED, NOT_RETRIEVED, NOT_STORED])
    (_, stored, retrieved) = compared(before, now).verdicts["a"]
    assert (stored.name, stored.worse, stored.better) == (NOT_STORED, 1, 1)
    assert (retrieved.name, retrieved.worse, retrieved.better, retrieved.p) == (NOT_RETRIEVED, 2, 0, 0.5)


def test_nothing_in_common():
    found = compared(run(a=[CORRECT]), run(b=[CORRECT]))
    assert (found.total.n, found.total.p, found.tasks) == (0, 1.0, ())


def test_a_run_beside_itself():
    same = run(a=[CORRECT, NOT_STORED, HELD, OPEN, VACUOUS, (ERROR,)], b=[CORRECT])
    found = compared(same, same)
    assert (found.total.worse, found.total.better, found.total.p, found.flips) == (0, 0, 1.0, ())


def test_what_failed_before_is_counted_by_task_and_in_all():
    before = run(a=[CORRECT, NOT_STORED, NOT_STORED, VACUOUS], b=[NOT_STORED, CORRECT])
    now = run(a=[NOT_STORED, CORRECT, NOT_RETRIEVED, NOT_STORED], b=[NOT_STORED, CORRECT])
    found = compared(before, now)
    assert found.failed_before == {"all": 3, "a": 2, "b": 1}  # what passed vacuously is not compared
