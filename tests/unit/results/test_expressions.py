"""The small language of --memfail-fail-on: what it takes, what it means, and where it says a fault is."""

from __future__ import annotations

import pytest

from pytest_memfail.core import UnknownNameError, UsageError
from pytest_memfail.results import ANCHOR_DEFAULT, DEFAULT, check_tasks, parse_expressions


def parsed(text):
    (found,) = parse_expressions(text)
    return found.task, found.measure, found.significance, found.compare, found.number


VALID = [
    ("correct<0.80", (None, "correct", False, "<", 0.8)),
    ("correct<=0.8", (None, "correct", False, "<=", 0.8)),
    ("summary_error>0.10", (None, "summary_error", False, ">", 0.1)),
    ("not_stored>=.5", (None, "not_stored", False, ">=", 0.5)),
    ("not_retrieved>1e-2", (None, "not_retrieved", False, ">", 0.01)),
    ("reasoning_error>0", (None, "reasoning_error", False, ">", 0.0)),
    ("memory_held<1", (None, "memory_held", False, "<", 1.0)),
    ("memory_held<=0", (None, "memory_held", False, "<=", 0.0)),
    ("memory_held>=1", (None, "memory_held", False, ">=", 1.0)),
    ("memory_held<1.", (None, "memory_held", False, "<", 1.0)),
    ("facts_held<0.5", (None, "facts_held", False, "<", 0.5)),
    ("shown_tokens>2000", (None, "shown_tokens", False, ">", 2000.0)),
    ("long_hop.shown_tokens<500", ("long_hop", "shown_tokens", False, "<", 500.0)),
    ("long_hop.correct<0.3", ("long_hop", "correct", False, "<", 0.3)),
    ("my.own.task.correct<0.3", ("my.own.task", "correct", False, "<", 0.3)),
    ("*.correct<0.3", ("*", "correct", False, "<", 0.3)),
    ("regressions>0", (None, "regressions", False, ">", 0.0)),
    ("regressions>=12", (None, "regressions", False, ">=", 12.0)),
    ("long_hop.regressions>3", ("long_hop", "regressions", False, ">", 3.0)),
    ("regressions:p<0.05", (None, "regressions", True, "<", 0.05)),
    ("*.regressions:p<=0.01", ("*", "regressions", True, "<=", 0.01)),
    ("  long_hop . correct  <  0.3  ", ("long_hop", "correct", False, "<", 0.3)),
    ("regressions : p < 0.05", (None, "regressions", True, "<", 0.05)),
]


@pytest.mark.parametrize(("text", "expected"), VALID, ids=[text for text, _ in VALID])
def test_an_expression(text, expected):
    assert parsed(text) == expected


def test_a_list_is_separated_by_commas_and_each_knows_its_text_and_column():
    found = parse_expressions("correct<0.8, long_hop.summary_error>0.1 ,regressions:p<0.05")
    assert [(e.text, e.column) for e in found] == [
        ("correct<0.8", 1),
        ("long_hop.summary_error>0.1", 14),
        ("regressions:p<0.05", 42),
    ]


@pytest.mark.parametrize("default", [DEFAULT, ANCHOR_DEFAULT])
def test_a_default_asks_of_all_and_of_each_task_and_its_levels_add_up_to_one_in_twenty(default):
    overall, each = parse_expressions(default)
    assert (overall.task, each.task) == (None, "*")
    assert all(e.needs_baseline and e.significance for e in (overall, each))
    assert overall.number + each.number <= 0.05


def test_a_rate_needs_no_baseline():
    assert not parse_expressions("correct<0.8")[0].needs_baseline


# the whole message after the option, so that each says what was got, where, and what was expected
WRONG = [
    ("", "column 1: got nothing, expected an expression such as correct<0.80"),
    ("   ", "column 4: got nothing, expected an expression such as correct<0.80"),
    ("correct<0.8,", "column 13: got nothing, expected an expression such as correct<0.80"),
    ("correct<0.8,,regressions>0", "column 13: got nothing, expected an expression such as correct<0.80"),
    (".correct<0.8", "column 1: got no name before the dot, expected a task, or * for each"),
    ("<0.8", "column 1: got '<0.8', expected a measure: correct, "),
    ("long_hop.<0.8", "column 10: got '<0.8', expected a measure: correct, "),
    ("correct", "column 8: got the end, expected < or <= or > or >="),
    ("correct=0.8", "column 8: got '=0.8', expected < or <= or > or >="),
    ("correct!=0.8", "column 8: got '!=0.8', expected < or <= or > or >="),
    ("correct 0.8", "column 9: got '0.8', expected < or <= or > or >="),
    ("long hop.correct<0.8", "unknown measure 'long'"),
    ("correct<", "column 9: got the end, expected a number such as 0.80"),
    ("correct<abc", "column 9: got 'abc', expected a number such as 0.80"),
    ("correct<0.8 0.9", "column 9: got '0.8 0.9', expected a number such as 0.80"),
    ("correct<<0.8", "column 9: got '<0.8', expected a number such as 0.80"),
    ("correct<-0.8", "column 9: got '-0.8', expected a number such as 0.80"),
    ("correct<nan", "column 9: got 'nan', expected a number such as 0.80"),
    ("correct<inf", "column 9: got 'inf', expected a number such as 0.80"),
    ("correct<0x1", "column 9: got '0x1', expected a number such as 0.80"),
    ("correct<1_0", "column 9: got '1_0', expected a number such as 0.80"),
    ("correct<80", "column 9: got 80, expected a share between 0 and 1"),
    ("correct<80%", "column 9: got '80%', expected a number such as 0.80"),
    ("correct<1e999", "column 9: got 1e999, expected a share between 0 and 1"),
    ("correct:p<0.05", "column 8: got ':p<0.05', expected < or > and a number; only regressions have a p"),
    ("regressions:q<0.05", "column 13: got 'q<0.05', expected p"),
    ("regressions:<0.05", "column 13: got '<0.05', expected p"),
    ("regressions:pp<0.05", "column 13: got 'pp<0.05', expected p"),
    ("regressions:p>0.05", "column 14: got '>0.05', expected < or <="),
    ("regressions:p<0", "column 15: got 0, expected a p-value between 0 and 1"),
    ("regressions:p<1", "column 15: got 1, expected a p-value between 0 and 1"),
    ("regressions>0.5", "column 13: got 0.5, expected a whole number of questions"),
    ("regressions>1e999", "column 13: got 1e999, expected a whole number of questions"),
    (
        "regressions<0",
        "column 12: got '<0', met by no number from 0 up, expected a condition that can be met and missed",
    ),
    ("regressions>=0", "column 12: got '>=0', met by every number from 0 up, expected a condition that can be"),
    ("long_hop.shown_tokens<0", "column 22: got '<0', met by no number from 0 up, expected"),
    ("*.correct<0", "column 10: got '<0', met by no number between 0 and 1, expected"),
    ("memory_held>1", "column 12: got '>1', met by no number between 0 and 1, expected"),
    ("not_stored>=0.0, correct<0.8", "column 11: got '>=0.0', met by every number between 0 and 1, expected"),
    ("facts_held<=1", "column 11: got '<=1', met by every number between 0 and 1, expected"),
    ("correct<0.8, regressions>x", "column 26: got 'x', expected a number such as 0.80"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[text or "nothing" for text, _ in WRONG])
def test_a_fault_names_its_column(text, message):
    with pytest.raises(UsageError) as caught:
        parse_expressions(text)
    said = str(caught.value)
    assert message in said
    assert said.count("\n") == 0
    assert "--memfail-fail-on" in said


@pytest.mark.parametrize(
    ("text", "column", "close"),
    [
        ("corect<0.8", 1, "correct"),
        ("long_hop.sumary_error>0.1", 10, "summary_error"),
        ("correct<0.8, regression>0", 14, "regressions"),
        ("  memory_hold<0.8", 3, "memory_held"),
    ],
)
def test_an_unknown_measure_is_named_with_the_closest_one(text, column, close):
    with pytest.raises(UnknownNameError) as caught:
        parse_expressions(text)
    assert f"did you mean {close!r}?" in str(caught.value)
    assert f"column {column}" in str(caught.value)


@pytest.mark.parametrize("measure", ["error", "ungraded"])
def test_what_is_no_result_cannot_be_gated_on(measure):
    with pytest.raises(UnknownNameError):
        parse_expressions(f"{measure}>0.1")


@pytest.mark.parametrize("left", ["score", "mem.score", "meme.cascade.score"])
def test_a_measure_of_a_suite_comes_after_the_name_of_the_suite(left):
    with pytest.raises(UsageError, match=rf"got '{left}', expected 'meme\.score'"):
        parse_expressions(f"{left}<0.3", {"meme": ("score",)})


def test_a_measure_of_a_suite_may_be_of_any_size():
    assert len(parse_expressions("mine.moved<0, mine.moved>1", {"mine": ("moved",)})) == 2


def test_hostile_text_is_told_in_one_line():
    with pytest.raises(UsageError) as caught:
        parse_expressions("correct<\n\x1b[31m0.8")
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_tasks_are_checked_against_those_of_the_run():
    tasks = ["long_hop", "coexisting_facts"]
    check_tasks(parse_expressions("correct<0.8, *.correct<0.8, long_hop.correct<0.8"), tasks)
    with pytest.raises(UnknownNameError, match="did you mean 'long_hop'"):
        check_tasks(parse_expressions("long_hops.correct<0.8"), tasks)


@pytest.mark.parametrize(
    ("text", "below", "at", "above"),
    [
        ("correct<0.5", True, False, False),
        ("correct<=0.5", True, True, False),
        ("correct>0.5", False, False, True),
        ("correct>=0.5", False, True, True),
    ],
)
def test_the_comparison_is_the_one_written(text, below, at, above):
    (expression,) = parse_expressions(text)
    assert [expression.holds(value) for value in (0.4, 0.5, 0.6)] == [below, at, above]
