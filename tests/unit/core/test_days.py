"""core/days.py: which days a text names, and whether memories give the day on which something was said."""

from __future__ import annotations

from datetime import date, timedelta, timezone

import pytest

from pytest_memfail.core import Memory, has_moment, moment_needed, moment_said

MONDAY = date(2023, 5, 8)


def kept(said: str, *memories: Memory | str, day: date = MONDAY) -> bool:
    """Return whether these memories keep when something was."""
    return has_moment(moment_said(said, day), [Memory(m) if isinstance(m, str) else m for m in memories])


@pytest.mark.parametrize(
    "text",
    [
        "2023-05-08: bought a kayak",
        "[2023/05/08 (Mon)] I bought a kayak",
        "bought a kayak on 8 May",
        "bought a kayak on May 8th",
        "bought a kayak on the 8th of May, 2023",
        "bought a kayak on Monday of the week of May 10",
        "bought a kayak on Monday in week 19",
        "05/08/2023 bought a kayak",
        "08.05.2023 bought a kayak",
    ],
)
def test_an_entry_can_write_the_day_in_many_forms(text):
    assert kept("I bought a kayak.", text)


@pytest.mark.parametrize(
    "text",
    [
        "bought a kayak",
        "bought a kayak on Monday",
        "bought a kayak today",
        "bought a kayak on May 9",
        "bought a kayak on 8 May 2022",
        "bought a kayak in May",
        "bought a kayak in 2023",
        "bought a kayak on Tuesday of the week of May 10",
        "may 80 people kayak there",
    ],
)
def test_no_day_and_another_day_are_lost(text):
    assert not kept("I bought a kayak.", text)


@pytest.mark.parametrize(
    ("stamp", "is_kept"),
    [
        ("2023-05-08T23:40:00+00:00", True),
        ("2023-05-08", True),
        ("2023-05-09T01:40:00+02:00", True),  # the same moment in another zone
        ("2023-05-07T23:59:00+00:00", False),
        ("2023-05-09T23:40:00+00:00", False),
        ("1683560000", True),
        ("2026-11-29T12:00:00+00:00", False),
        ("some day", False),
    ],
)
def test_a_timestamp_gives_the_day(stamp, is_kept):
    assert kept("I bought a kayak.", Memory("bought a kayak", timestamp=stamp)) is is_kept


@pytest.mark.parametrize(
    ("said", "right", "wrong"),
    [
        ("I sold it yesterday.", "sold it on 7 May 2023", "sold it yesterday"),
        ("I sold it last night.", "sold it on May 7", "sold it last night"),
        ("We leave tomorrow.", "leaves on 2023-05-09", "leaves tomorrow"),
        ("I sold it three days ago.", "sold it on May 5th", "sold it on May 6th"),
        ("I sold it 3 days ago.", "sold it on May 5th", "sold it on May 6th"),
        ("We met 12 weeks ago.", "met in the week of February 13", "met in March"),
        ("I sold it two weeks ago.", "sold it in the week of April 24", "sold it in March"),
        ("I moved last month.", "moved in April 2023", "moved in May 2023"),
        ("I moved last year.", "moved in 2022", "moved in 2023"),
        ("I moved three years ago.", "moved in May 2020", "moved in 2019"),
        ("I met her last Friday.", "met her on 5 May", "met her on 6 May"),
        ("I met her last Friday.", "met her on April 28", "met her last Friday"),
        ("I see her on Thursday.", "sees her on 11 May", "sees her on Thursday"),
        ("We race next weekend.", "race on May 13", "race on May 11"),
        ("It was on 3/15.", "it was on March 15", "it was in spring"),
        ("It began on April 2nd.", "began on 2 April", "began in spring"),
        ("In March I met Ole, and yesterday Ria.", "met Ole in March, Ria on May 7", "met Ole in March, Ria later"),
    ],
)
def test_an_absolute_form_of_what_was_said_replaces_the_day(said, right, wrong):
    assert kept(said, right)
    assert not kept(said, wrong)
    assert kept(said, f"{wrong} (said on 2023-05-08)")


def test_days_out_of_the_calendar_break_nothing():
    assert kept("It was 9000 years ago and 9999 weeks ago.", "2023-05-08 said so")
    assert not kept("I saw it 40 days ago.", "seen on 31 February", day=date(1, 1, 1))
    assert not kept("I sold it.", "sold it on 99/99/2023, or 2023-13-45")


@pytest.mark.parametrize(
    ("fact", "told", "is_needed"),
    [
        ("The user sold it on 7 May 2023.", "I sold it yesterday.", True),
        ("The user sold it on May 7.", "I sold it yesterday.", True),
        ("It is due on 2023-05-22.", "It is due in two weeks.", True),
        ("The race is on 19 May.", "The race is on Friday week.", True),
        ("The user moved in April 2023.", "I moved last month.", True),
        ("The user moved in 2022.", "I moved last year.", True),
        ("The visit is on 16 May.", "The visit is next Tuesday, at 16 o'clock.", True),
        ("The user sold it yesterday.", "I sold it yesterday.", False),
        ("The user sold it on 7 May 2023.", "I sold it on May 7th.", False),
        ("The user sold it on 7 May 2023.", "Verkauft habe ich es am 7. Mai.", False),
        ("The user sold it on 7 May 2023.", "I sold it on the seventh of May.", False),
        ("The user moved in April 2023.", "Im April zog ich um.", False),
        ("The user moved in May 2023.", "I moved on 7 May, a week ago tomorrow.", False),
        ("The user has sold it.", "I sold it yesterday.", False),
    ],
)
def test_a_day_that_is_not_told_needs_the_day_on_which_it_was_told(fact, told, is_needed):
    moment = moment_needed(fact, told, MONDAY)
    assert (moment is not None) == is_needed
    if moment is not None:
        assert has_moment(moment, [Memory(fact)])
        assert has_moment(moment, [Memory(told, timestamp="2023-05-08T10:00:00+00:00")])
        for stamp in (None, "2023-05-15T10:00:00+00:00", "2026-11-29"):
            assert not has_moment(moment, [Memory(told, timestamp=stamp)])


def test_a_day_without_a_year_may_be_of_the_next():
    moment = moment_needed("The user leaves on 3 March.", "I leave in twelve weeks.", date(2025, 12, 9))
    assert has_moment(moment, [Memory("leaves on 3 March 2026")])
    assert not has_moment(moment, [Memory("leaves on 4 March 2026")])


def test_the_day_is_that_of_the_zone_in_which_it_was_told():
    moment = moment_needed("Sold on 7 May.", "I sold it yesterday.", MONDAY, timezone(timedelta(hours=-5)))
    for stamp, is_kept in (("2023-05-09T04:30:00+00:00", True), ("2023-05-09T05:30:00+00:00", False)):
        assert has_moment(moment, [Memory("sold it", timestamp=stamp)]) is is_kept
