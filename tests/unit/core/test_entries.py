"""Times of entries: what they name, and whether they order an earlier and a current state rightly."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pytest_memfail.core import Claim, Fact, Listing, Memory, Part, abbreviated, is_listed, moment_of, wrong_times
from pytest_memfail.suites.memfail.plan import TASKS

DAY = datetime(2024, 3, 11, tzinfo=timezone.utc)
ROWS = Path(__file__).parents[3] / "datasets" / "updated_facts.csv"

OLD, NEW = "My canoe hangs in the shed at Belford.", "The canoe now hangs in the barn at Corwick."
MOVED = Fact(
    "e",
    "fact",
    NEW,
    NEW,
    "c-1",
    Claim((Part("barn at Corwick"),), replaced=("shed at Belford",), earlier=OLD, is_dated=True),
)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-11",
        "2024-03-11T00:00:00Z",
        "2024-03-11T02:00:00+02:00",
        "2024-03-11 00:00:00.1234567z",
        "1710115200",
        "1710115200.0",
        "1710115200000",
        "20240311",
        "202403110930",
        "Mon, 11 Mar 2024 00:00:00 +0000",
    ],
)
def test_a_timestamp_in_a_usual_form_is_read(text):
    assert moment_of(text) == DAY


@pytest.mark.parametrize(("text", "month"), [("2024", 1), ("2024-03", 3)])
def test_a_year_or_a_month_is_its_beginning(text, month):
    assert moment_of(text) == datetime(2024, month, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize("text", [None, "", "noon", "last spring", "9" * 400, "2024-99-99", "1e5"])
def test_what_is_no_time_is_none(text):
    assert moment_of(text) is None


def listing(*entries):
    return Listing("s", tuple(Memory(text, timestamp=when) for text, when in entries))


@pytest.mark.parametrize(
    ("old", "new", "is_wrong"),
    [
        ("2024-03-11", "2024-06-02", False),
        ("2023", "2024", False),
        ("2024", "2024", True),
        ("1970-01-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00", True),
        ("2024-06-02", "2024-03-11", True),
        (None, None, False),
        ("2024-03-11", None, False),
        ("noon", "noon", False),
    ],
)
@pytest.mark.parametrize(
    "texts", [(OLD, NEW), ("User's canoe: shed at Belford", "User keeps canoe in barn at Corwick")]
)
def test_times_that_put_the_earlier_state_last_are_wrong(old, new, is_wrong, texts):
    held = listing((texts[0], old), ("Something else entirely was said here.", "1970"), (texts[1], new))
    assert (wrong_times(MOVED, held) is not None) == is_wrong


@pytest.mark.parametrize(
    "entries",
    [
        [(NEW, "1970")],  # the old state is gone
        [(f"{OLD} {NEW}", "1970"), (NEW, "1970")],  # it is told together with the new one
        [("The shed at Belford has a new roof.", "2025"), (OLD, "2023"), (NEW, "2024")],  # about something else
    ],
)
def test_entries_that_are_not_of_two_states_are_not_compared(entries):
    assert wrong_times(MOVED, listing(*entries)) is None


def test_states_told_on_the_same_day_are_not_compared():
    held = listing((OLD, "2024"), (NEW, "2024"))
    assert wrong_times(replace(MOVED, claim=replace(MOVED.claim, is_dated=False)), held) is None


@pytest.mark.parametrize(
    ("cut", "least", "most"),
    [
        (lambda when: when.isoformat(), 0, 0),
        (lambda when: f"{when:%Y-%m-%d}", 0, 0),
        (lambda when: None, 0, 0),
        (lambda when: f"{when:%Y}", 32, 32),
        (lambda when: f"{when:%Y}-01-01T00:00:00", 32, 32),
        (lambda when: datetime.fromtimestamp(0, timezone.utc).isoformat(), 80, 80),
        (lambda when: datetime(2100, 1, 1).replace(year=4000 - when.year, month=13 - when.month).isoformat(), 70, 80),
    ],
)
def test_of_the_shipped_rows_all_that_change_are_compared(cut, least, most):
    task = TASKS["updated_facts"].build("updated_facts", TASKS["updated_facts"].read(ROWS), "ours", 1)
    (store,) = task.stores
    held = listing(*((c.text, cut(c.timestamp)) for c in store.read_conversations()))
    wrong = [name for name, fact in task.evidence.items() if wrong_times(fact, held)]
    assert least <= len(wrong) <= most


def test_an_entry_is_listed_by_its_parts():
    held = listing((OLD, None), (NEW, None))
    assert is_listed(Memory(f"[2024-03-11 09:00] user: {OLD}"), held)
    assert is_listed(Memory(f"{OLD}\n{NEW}"), held)
    assert not is_listed(Memory("My tent hangs in the attic of the mill."), held)


LONG = "My canoe hangs in the shed at Belford, behind the two blue kayaks and the old oars."


@pytest.mark.parametrize(
    ("listed", "shown", "shorter"),
    [
        ("My canoe hangs in the she", LONG, "listed"),  # within a word
        ("My canoe hangs in the shed at Belford, behind the two blue…", LONG, "listed"),
        ("My canoe hangs in the shed at Belford, behind [...]", LONG, "listed"),
        ("The canoe", LONG, "listed"),  # a title
        ("", LONG, "listed"),
        (LONG, LONG, ""),
        (LONG, f"[2024-03-11 09:30] user: {LONG}", ""),
        (LONG, f"{LONG} (2024-03-11)", ""),
        ("Likes tea.", "[2024-03-11 09:30] user: Likes tea.", ""),
        ("I wonder...", "I wonder...", ""),
        ("I wonder...", "I wonder", ""),
        ("I wonder...", "I wonder... (2024-03-11)", ""),
        (LONG, "My canoe hangs in the shed.", ""),
        (LONG, "My canoe hangs in the shed", ""),
        (LONG, "My canoe hangs in the she", "shown"),
        (LONG, "My canoe hangs in the shed at …", "shown"),
        (LONG, "the she", ""),
        (LONG, "", ""),
    ],
)
def test_whether_a_listing_or_a_search_abbreviates_an_entry(listed, shown, shorter):
    listing = Listing("s", (Memory(listed, "a"), Memory("other", "b")))
    assert [*abbreviated([Memory(shown, "a"), Memory(shown), Memory(shown, "new")], listing)] == [shorter]


def test_an_entry_that_is_listed_whole_is_not_abbreviated_whatever_its_id():
    listing = Listing("s", (Memory("Short.", "0"), Memory(LONG, "1")))
    assert [*abbreviated([Memory(LONG, "0")], listing)] == [""]  # ids by rank


def test_of_entries_with_one_id_the_longest_counts():
    listing = Listing("s", (Memory(LONG, "file"), Memory("My", "file")))
    assert [*abbreviated([Memory(LONG, "file")], listing)] == [""]
