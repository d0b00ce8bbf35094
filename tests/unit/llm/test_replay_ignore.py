"""What is left out of a request's key, and what becomes of it in a kept reply."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from pytest_memfail.core import UsageError
from pytest_memfail.llm.replay_ignore import DEFAULTS, FORMATS, Ignored, check_patterns

ONE, TWO = "0f0e8a52-6a55-4b0e-9d8e-4d2f1c3b5a61", "7d9f7f25-f830-4dc1-a427-25a606cb4e92"


def on(day: str, *patterns: str) -> Ignored:
    when = datetime.fromisoformat(f"{day}T12:00:00+00:00")
    return Ignored(patterns or DEFAULTS, lambda: when)


def key(text: str, day: str, *patterns: str) -> object:
    return on(day, *patterns).read(text)[0]


@pytest.mark.parametrize("how", FORMATS)
def test_a_day_of_the_run_is_another_one_in_another_run_however_it_is_written(how: str) -> None:
    def prompt(moment: datetime) -> str:
        return f"Today is {moment.strftime(how.replace('{d}', str(moment.day)))}, the user said on 2024-05-01: hi"

    first, later = datetime(2026, 11, 28, tzinfo=timezone.utc), datetime(2027, 3, 4, tzinfo=timezone.utc)
    assert key(prompt(first), "2026-11-28") == key(prompt(later), "2027-03-04")
    assert "2024-05-01" in str(key(prompt(first), "2026-11-28"))  # a day of the conversations is not of the run


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-11-28T14:15:38.120001+00:00", "2027-03-04T04:05:06.000120+00:00"),
        ("2026-11-28 14:15", "2027-03-04 04:05"),
        ("Saturday, November 28, 2026 at 2:15 PM", "Thursday, March 4, 2027 at 4:05 AM"),
    ],
)
def test_the_time_after_a_day_of_the_run_is_left_out_with_it(one: str, other: str) -> None:
    assert key(f"now {one}.", "2026-11-28") == key(f"now {other}.", "2027-03-04")


def test_which_ids_are_the_same_stays_a_part_of_the_key() -> None:
    assert key(f"{ONE} {TWO} {ONE}", "2026-11-28") == key(f"{TWO} {ONE} {TWO}", "2026-11-28")
    assert key(f"{ONE} {TWO} {ONE}", "2026-11-28") != key(f"{ONE} {TWO} {TWO}", "2026-11-28")
    assert key(f"<session_{ONE}>", "2026-11-28") == key(f"<session_{TWO}>", "2026-11-28")
    bare = f"<instance id={ONE.replace('-', '')}>"
    assert key(bare, "2026-11-28") == key(bare.replace(ONE.replace("-", ""), TWO.replace("-", "")), "2026-11-28")
    store = "a1b2c3d4-main-1 and a1b2c3d4-main-1-0a1b2c3d"
    assert key(store, "2026-11-28") == key(store.replace("main-1", "gw1-7"), "2026-11-28")


@pytest.mark.parametrize(
    ("name", "text", "left"),
    [
        ("date", "on 1 May 2024, 05/01/2024 and 2024-05-01 09:30", "on ⟦date⟧, ⟦date⟧ and ⟦date⟧"),
        ("time", "at 9:30 pm or 09:30:01.5Z", "at ⟦time⟧ or ⟦time⟧"),
        ("hash", "key d41d8cd98f00b204e9800998ecf8427e", "key ⟦hash0⟧"),
        ("epoch", "since 1764339338.25 or 1764339338251", "since ⟦epoch⟧ or ⟦epoch⟧"),
        (r"job \d+", "job 17 of 3", "⟦own0⟧ of 3"),
    ],
)
def test_named_patterns_and_expressions(name: str, text: str, left: str) -> None:
    assert key(text, "2026-11-28", *check_patterns(["none", name])) == left


def test_a_kept_reply_speaks_of_the_parts_of_the_request_that_it_answers_later() -> None:
    first, later = on("2026-11-28"), on("2027-03-04")
    request = "Today is {day}. Entries: {a}: tea; {b}: rye bread"
    _, seen = first.read(request.format(day="2026-11-28", a=ONE, b=TWO))
    reply = {"n": 5, "text": f"delete {TWO}; add: baked on Nov 28, 2026 (not 2024-05-01)", "own": ONE[::-1]}
    kept = first.kept(reply, seen)
    assert TWO not in str(kept)
    assert "2026" not in str(kept)
    new = "11111111-2222-4333-8444-555555555555"
    _, seen = later.read(request.format(day="2027-03-04", a=TWO, b=new))
    restored = later.restored(kept, seen)
    assert restored == {"n": 5, "text": f"delete {new}; add: baked on Mar 4, 2027 (not 2024-05-01)", "own": ONE[::-1]}


def test_a_run_over_midnight_has_two_days() -> None:
    times = iter(
        [datetime(2026, 11, 28, 23, 59, tzinfo=timezone.utc), *[datetime(2026, 11, 29, 0, 1, tzinfo=timezone.utc)] * 9]
    )
    ignored = Ignored(now=lambda: next(times))
    assert ignored.read("from 2026-11-28 to 2026-11-29, not 2026-11-30")[0] == "from ⟦today⟧ to ⟦today⟧, not 2026-11-30"


def test_patterns_are_added_to_the_defaults() -> None:
    assert check_patterns([]) == DEFAULTS
    assert check_patterns(["time, hash", r"\d+ ms"]) == (*DEFAULTS, "time", "hash", r"\d+ ms")
    assert check_patterns(["none"]) == ()


@pytest.mark.parametrize("wrong", ["(", "a*", r"(a)\1", "(?P<x>a)(?P=x)"])
def test_a_wrong_pattern_is_an_error(wrong: str) -> None:
    with pytest.raises(UsageError, match=r"replay-ignore: got .*, expected today, uuid, .* or a regular expression"):
        check_patterns([wrong])
