"""When memories are from: timestamps of any form, and the date before a text."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from pytest_memfail.core import Memory, dated_texts
from pytest_memfail.core.times import moment_of, read_time, unread_times, without_later

NOON = datetime(2025, 3, 1, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("timestamp", "when"),
    [
        ("2025-03-01", NOON - timedelta(hours=12)),
        ("2025-03-01T12:00:00+00:00", NOON),
        ("2025-03-01 12:00:00Z", NOON),
        ("2025-03-01T12:00:00.1234567Z", NOON),
        ("2025-03-01T14:00+02:00", NOON),
        (str(NOON.timestamp()), NOON),
        (str(int(NOON.timestamp()) * 1000), NOON),
        ("20250301", NOON - timedelta(hours=12)),
        ("202503011200", NOON - timedelta(hours=12)),
        ("20250301120000", NOON - timedelta(hours=12)),
        ("2025", None),
        ("17", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        ("last spring", None),
    ],
)
def test_a_timestamp_is_read(timestamp, when):
    assert read_time(timestamp) == when


@pytest.mark.parametrize(
    "timestamp",
    [
        "2025/03/01 (Sat) 12:00",
        "2025-03-01 12:00 UTC",
        "1 March 2025",
        "1st of Mar. 2025",
        "12:00 pm on 1 March, 2025",
        "Saturday, March 1, 2025 at 12:00 PM",
        "Sat, 01 Mar 2025 12:00:00 GMT",
        "1 March 2025, 12:00",
    ],
)
def test_the_day_of_a_timestamp_is_read_beside_anything_else(timestamp):
    assert f"{moment_of(timestamp):%Y-%m-%d}" == "2025-03-01"


def test_timestamps_that_cannot_be_read():
    wrong = ["03/01/2025 02:00 PM", "13.01.2025", "2025-02-30", "2025-03-01 to 2025-03-04", "1 tea 2025", "last spring"]
    assert unread_times([*wrong, wrong[0], None, "", "None", "NaT", "2025", "1.5", "2025-03-01"]) == wrong


@given(st.text(max_size=30) | st.integers().map(str) | st.floats().map(str))
def test_any_timestamp_is_read_or_none(timestamp):
    when = read_time(timestamp)
    assert when is None or when.tzinfo is not None
    assert (moment := moment_of(timestamp)) is None or moment.tzinfo is not None
    (text,) = dated_texts([Memory("tea", timestamp=timestamp)])
    assert text.endswith("tea")
    assert "\n" not in text


def dated(text, timestamp="2025-03-01T12:00:00+00:00"):
    return dated_texts([Memory(text, timestamp=timestamp)])[0]


def test_a_memory_gets_its_date():
    assert dated("Ada moved to Bergen.") == "[2025-03-01] Ada moved to Bergen."
    assert dated("Ada moved to Bergen.", None) == "Ada moved to Bergen."
    assert dated("Ada moved to Bergen.", "week 9") == "[week 9] Ada moved to Bergen."


@pytest.mark.parametrize(
    "text",
    [
        "[2025-03-01] Ada moved.",
        "[2025-03-01 12:00] user: Ada moved.",
        "[Saturday 1 March 2025] Ada moved.",
        "[Session 4, 2025/03/01] user: Ada moved.",
        "(2025-02-28) Ada moved.",
        "Date: 2025-03-01\nuser: Ada moved.",
        "Session date: March 1, 2025\nAda moved.",
        "Chat Time: 2025/03/01 (Sat) 12:00\nuser: Ada moved.",
        "Ada moved on 1 March 2025.",
        "Ada moved on Mar 1, 2025.",
    ],
)
def test_a_text_that_says_when_it_is_from_gets_no_second_date(text):
    assert dated(text) == text


@pytest.mark.parametrize(
    "text", ["Ada moves on 2025-04-05.", "2025-04-05: dentist", "Date night on 2025-04-05", "(Ada, born 1990-01-01)"]
)
def test_a_date_of_something_else_is_not_when_the_text_is_from(text):
    assert dated(text) == f"[2025-03-01] {text}"


def test_memories_of_one_day_get_their_times_where_these_differ():
    times = [NOON, NOON + timedelta(hours=3), NOON + timedelta(days=1)]
    shown = [Memory(f"The tram costs {i}.", timestamp=when.isoformat()) for i, when in enumerate(times)]
    assert dated_texts(shown) == [
        "[2025-03-01 12:00] The tram costs 0.",
        "[2025-03-01 15:00] The tram costs 1.",
        "[2025-03-02] The tram costs 2.",
    ]
    assert dated_texts([shown[0], shown[0]]) == ["[2025-03-01] The tram costs 0."] * 2


def test_a_time_after_the_rows_is_that_of_the_machine_and_dropped():
    shown = [
        Memory("a", timestamp="2025-02-01"),
        Memory("b", timestamp="2026-11-29T08:00:00Z"),
        Memory("c"),
        Memory("d", timestamp="May"),
    ]
    assert [memory.timestamp for memory in without_later(shown, NOON)] == ["2025-02-01", None, None, "May"]
    assert [memory.timestamp for memory in without_later(shown, None)] == [None] * 4
    east = Memory("e", timestamp="2025-03-02T02:00:00+13:00")
    assert without_later([east], NOON) == [east]
