"""Days that a text names: written out ("8 May 2023"), or counted from the day on which it was said ("last Friday")."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final

from pytest_memfail.core.model import Memory
from pytest_memfail.core.times import moment_of
from pytest_memfail.texts import NUMBER_WORDS, word_set

MORNING: Final = time(9, tzinfo=timezone.utc)
"""The time of day of what has only a day."""
MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
"""The first three letters of each month, in order."""
WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY: Final = r"(?<![\d.:])(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_WRITTEN: Final = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"(?<!\d){_YEAR}[-/.](?P<number>[01]?\d)[-/.](?P<day>[0-3]?\d)(?!\d)",
        rf"{_DAY} (?:day )?(?:of )?{_MONTH}(?:,? (?:of )?{_YEAR}\b)?",
        rf"\b{_MONTH} (?:the )?{_DAY}(?![\d:])(?:,? {_YEAR}\b)?",
        rf"(?<![\d/])(?P<number>[01]?\d)/(?P<day>[0-3]?\d)/{_YEAR}(?![\d/])",
        r"\b(?:on|by|since|until|from|of|before|after) (?P<number>[01]?\d)/(?P<day>[0-3]?\d)(?![\d/])",
        rf"(?<![\d/.])(?P<day>[0-3]?\d)[/.](?P<number>[01]?\d)[/.]{_YEAR}(?!\d)",
    )
)
"""A day, with its year or without."""
_MONTH_NAME: Final = re.compile(rf"\b{_MONTH}", re.I)
_OF_MONTH: Final = re.compile(
    rf"\b(?:in|of|since|during|until|till|mid|early|late|last|this)[ -]{_MONTH}(?! ?\d\d?\b)(?:,? {_YEAR}\b)?", re.I
)
_MONTH_AND_YEAR: Final = re.compile(rf"\b{_MONTH},? (?:of )?{_YEAR}\b", re.I)
_NUMBERED_MONTH: Final = re.compile(rf"(?<!\d){_YEAR}-(?P<number>[01]\d)(?![-\d])")
_YEAR_ALONE: Final = re.compile(rf"(?<![\d/.-]){_YEAR}(?![\d/-])")
_WEEK: Final = re.compile(r"\bweek (?:of|beginning|starting|ending)\b", re.I)
_WEEK_NUMBER: Final = re.compile(r"\b(?:(?P<year>\d{4})-)?w(?:eek )?(?P<week>\d\d?)\b", re.I)
_COUNT: Final = rf"(?P<count>\d{{1,4}}|an?|a couple of|{'|'.join(list(NUMBER_WORDS)[1:21])})"
_AGO: Final = re.compile(rf"\b{_COUNT} (?P<unit>day|week|month|year)s? (?P<way>ago|from now|from today)\b", re.I)
_NEXT: Final = re.compile(
    rf"\b(?P<which>last|past|this past|previous|this|next|coming|on)\s+"
    rf"(?P<unit>week(?:end)?|month|year|{'|'.join(WEEKDAYS)})\b",
    re.I,
)
_NEAR: Final = re.compile(
    r"\b(?P<before>day before yesterday)|(?P<after>day after tomorrow)|(?P<yesterday>yesterday|last night)|"
    r"(?P<tomorrow>tomorrow)|(?P<today>today|tonight|this (?:morning|afternoon|evening)|earlier today)\b",
    re.I,
)
_STEPS: Final = {"before": -2, "after": 2, "yesterday": -1, "tomorrow": 1, "today": 0}


@dataclass(frozen=True, slots=True)
class Days:
    """The days from the first to the last, such as a day, a week or a month."""

    first: date
    last: date

    @classmethod
    def around(cls, day: date, unit: str) -> Days:
        """Return the week (from Monday), weekend, month or year of a day, or the day alone."""
        if unit == "year":
            return cls(date(day.year, 1, 1), date(day.year, 12, 31))
        if unit == "month":
            return cls(day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1]))
        if unit in ("week", "weekend"):
            monday = day - timedelta(day.weekday())
            return cls(monday + timedelta(5 if unit == "weekend" else 0), monday + timedelta(6))
        return cls(day, day)


@dataclass(frozen=True, slots=True)
class Moment:
    """What a text says of when something was: several readings of "last Friday" are alternatives."""

    day: date
    """The day on which it was said."""
    named: tuple[tuple[Days, ...], ...] = ()
    """What was said of the time, in absolute form: an entry needs each, in any of its readings, unless it has the day."""
    zone: tzinfo = timezone.utc
    """The zone of the day: a timestamp in another zone may name the day before or after."""


def moment_said(text: str, day: date) -> Moment:
    """Return when something was that a text tells of, which was said on a day."""
    written = ((Days(*found),) for found in _written(text, day.year))
    try:
        return Moment(day, tuple(dict.fromkeys((*_relative(text, day), *written))))
    except OverflowError:  # before the year 1, or after 9999
        return Moment(day)


def moment_needed(text: str, told: str, day: date, zone: tzinfo | None = None) -> Moment | None:
    """Return when something was, if a text gives a time that what was told of it leaves to the day on which it was told.

    A day counts if its number is not told; a month or a year only if it is told as one counted from the day ("last month").
    """
    written, counted = _by_name(told, day.year), {days for found in moment_said(told, day).named for days in found}
    words, months = word_set(told), {_month(match) for match in _MONTH_NAME.finditer(told)}
    needed = tuple(
        tuple(readings)
        for (first, last), readings in _by_name(text, day.year).items()
        if (first, last) not in written
        and (
            not counted.isdisjoint(readings)
            or (first == last and str(first[1]) not in words and first[0] not in months)
        )
    )
    return Moment(day, needed, zone or timezone.utc) if needed else None


def _by_name(text: str, year: int) -> dict[tuple[tuple[int, int], tuple[int, int]], dict[Days, None]]:
    """Return the times that a text writes out, by month and day; those without a year with that before and after, too."""
    found: dict[tuple[tuple[int, int], tuple[int, int]], dict[Days, None]] = {}
    for first, last in (days for near in (year, year - 1, year + 1) for days in _written(text, near)):
        found.setdefault(((first.month, first.day), (last.month, last.day)), {})[Days(first, last)] = None
    return found


def has_moment(moment: Moment, memories: Iterable[Memory]) -> bool:
    """Return whether a memory's timestamp or text gives the day, or the memories give all that was said of the time.

    A weekday counts with its week, and a date without a year counts as one of the right year.
    """
    held = list(memories)
    if any(_is_of(moment, memory) or _gives(Days(moment.day, moment.day), memory.text) for memory in held):
        return True
    return bool(moment.named) and all(
        any(_gives(days, memory.text) for days in readings for memory in held) for readings in moment.named
    )


def _is_of(moment: Moment, memory: Memory) -> bool:
    # a zone other than the rows' moves midnight: the day as it is written counts too
    when = moment_of(memory.timestamp)
    return when is not None and moment.day in (when.date(), when.astimezone(moment.zone).date())


@lru_cache(maxsize=8192)
def _gives(days: Days, text: str) -> bool:
    """Return whether a text names a day or time within these days, and no longer a time than they are."""
    found = list(_written(text, days.first.year))
    if any(days.first <= first and last <= days.last for first, last in found):
        return True
    if days.last - days.first >= timedelta(6):
        return False
    # a weekday with its week
    weekday = re.search(rf"\b{WEEKDAYS[days.first.weekday()]}\b", text, re.I)
    weeks = {days.first.isocalendar()[:2]}
    by_number = (
        (int(m["year"] or days.first.year), int(m["week"])) in weeks for m in _WEEK_NUMBER.finditer(text) if weekday
    )
    by_day = weekday and _WEEK.search(text) and any(abs(first - days.first) < timedelta(7) for first, _ in found)
    return bool(by_day) or any(by_number)


def _written(text: str, year: int) -> Iterator[tuple[date, date]]:
    """Yield the first and last day of each time that a text writes out; without a year it is of the given one."""
    for pattern in _WRITTEN:
        for match in pattern.finditer(text):
            if day := _date(match, year, int(match["day"])):
                yield day, day
    for pattern in (_MONTH_AND_YEAR, _NUMBERED_MONTH, _OF_MONTH):
        for match in pattern.finditer(text):
            if day := _date(match, year, 1):
                month = Days.around(day, "month")
                yield month.first, month.last
    for match in _YEAR_ALONE.finditer(text):
        yield date(int(match["year"]), 1, 1), date(int(match["year"]), 12, 31)


def _date(match: re.Match[str], year: int, day: int) -> date | None:
    found = match.groupdict()
    month = int(found["number"]) if found.get("number") else _month(match)
    try:
        return date(int(found.get("year") or year), month, day)
    except ValueError:
        return None


def _month(match: re.Match[str]) -> int:
    return MONTHS.index(match["month"][:3].lower()) + 1


def _relative(text: str, day: date) -> Iterator[tuple[Days, ...]]:
    """Yield the readings of each time that a text counts from the day."""
    for match in _NEAR.finditer(text):
        at = day + timedelta(_STEPS[str(match.lastgroup)])
        yield (Days(at, at),)
    for match in _AGO.finditer(text):
        count = _number(match["count"])
        yield (_moved(day, match["unit"].lower(), -count if match["way"].lower() == "ago" else count),)
    for match in _NEXT.finditer(text):
        which, unit = match["which"].lower(), match["unit"].lower()
        back = which in ("last", "past", "this past", "previous")
        step = 0 if which == "this" else -1 if back else 1
        if unit in WEEKDAYS:
            ahead = (WEEKDAYS.index(unit) - day.weekday()) % 7
            before, after = day + timedelta(ahead - 7 if ahead else -7), day + timedelta(ahead or 7)
            # "last Friday" may be that of the week before, "on Friday" the last or the next
            other = before - timedelta(7) if back else after + timedelta(7) if which in ("next", "coming") else after
            nearest = before if back or which in ("this", "on") else after
            yield tuple(Days(at, at) for at in dict.fromkeys((nearest, other)))
        elif unit == "weekend" or which != "on":
            # "next weekend" may be that of this week
            readings = (step, 0) if unit == "weekend" and step > 0 else (step,)
            yield tuple(_moved(day, unit, count, whole=True) for count in readings)


def _number(word: str) -> int:
    word = word.lower()
    return int(word) if word.isdecimal() else {"a couple of": 2}.get(word, NUMBER_WORDS.get(word, 1))


def _moved(day: date, unit: str, count: int, *, whole: bool = False) -> Days:
    """Return the time some units before or after a day: a day or, of `whole` units or long ones, all of the unit."""
    if unit == "day":
        return Days.around(day + timedelta(count), unit)
    if unit in ("week", "weekend"):
        return Days.around(day + timedelta(7 * count), unit)
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
    moved = date(min(max(months // 12, 1), 9999), months % 12 + 1, 1)
    return Days.around(moved, "year" if whole and unit == "year" else "month")
