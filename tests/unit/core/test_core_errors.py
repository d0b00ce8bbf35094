"""Errors state in one line what was got and what is expected."""

from __future__ import annotations

import pytest

from pytest_memfail.core import (
    JudgeError,
    MemfailError,
    MemorySystemError,
    RowError,
    SnapshotError,
    TimedOutError,
    TruncatedListingError,
    UnknownNameError,
    UsageError,
    WrongTypeError,
    one_line,
)


@pytest.mark.parametrize(
    ("kind", "parent"),
    [
        (UsageError, MemfailError),
        (UnknownNameError, UsageError),
        (RowError, UsageError),
        (MemorySystemError, MemfailError),
        (WrongTypeError, MemorySystemError),
        (TruncatedListingError, MemorySystemError),
        (TimedOutError, MemorySystemError),
        (SnapshotError, MemfailError),
        (JudgeError, MemfailError),
    ],
)
def test_each_error_derives_from_its_parent(kind, parent):
    assert issubclass(kind, parent)


@pytest.mark.parametrize("kind", [MemorySystemError, JudgeError])
def test_system_and_judge_failures_are_not_usage_errors(kind):
    assert not issubclass(kind, UsageError)


def test_an_unknown_name_is_answered_with_the_closest_known_one():
    error = UnknownNameError("system", "bm52", ["no-memory", "bm25"])
    assert "unknown system 'bm52'" in str(error)
    assert "did you mean 'bm25'?" in str(error)


def test_an_unknown_name_lists_the_known_ones_sorted():
    error = UnknownNameError("system", "x", ["b", "c", "a", "b"])
    assert "a, b, c" in str(error)
    assert error.known == ("a", "b", "c")
    assert error.got == "x"


def test_a_name_unlike_all_known_ones_gets_no_suggestion():
    assert "did you mean" not in str(UnknownNameError("system", "zzzz", ["bm25"]))


def test_a_message_without_a_guess_still_separates_its_parts():
    assert "'zzzz' Known" not in str(UnknownNameError("system", "zzzz", ["bm25"]))


def test_the_message_says_when_no_names_are_known():
    assert "none" in str(UnknownNameError("task", "x", []))


def test_the_hint_is_part_of_the_message():
    assert str(UnknownNameError("task", "x", ["y"], "or module:attr")).endswith("(or module:attr)")


def test_a_hostile_name_does_not_break_the_line():
    assert "\n" not in str(UnknownNameError("system", "a\nb", ["bm25"]))


def test_a_row_error_begins_with_file_and_line_as_editors_read_them():
    error = RowError("rows.csv", 7, "condition_met", "got 'maybe', expected 'yes' or 'no'")
    assert str(error) == "rows.csv:7: condition_met: got 'maybe', expected 'yes' or 'no'"
    assert (error.file, error.line, error.field) == ("rows.csv", 7, "condition_met")
    assert error.problem == "got 'maybe', expected 'yes' or 'no'"


def test_one_line_joins_lines_and_spaces():
    assert one_line("a\r\n\tb \u2028 c") == "a b c"


@pytest.mark.parametrize("length", [9, 10, 11, 1000])
def test_one_line_never_exceeds_the_limit(length):
    short = one_line("x" * length, 10)
    assert len(short) == min(length, 10)
    assert short.endswith("…") == (length > 10)


def test_one_line_takes_any_object():
    assert one_line(ValueError("a\nb")) == "a b"
