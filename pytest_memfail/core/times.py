"""When memories are from: read their timestamps, and put them before their texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Final

from pytest_memfail.core.errors import one_line
from pytest_memfail.core.model import Memory, StorePlan

FORMS: Final = ("%Y-%m-%d", "%Y/%m/%d", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y")
"""How a text may write its date."""
_DATE: Final = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2} [a-z]{3,9} \d{4}|[a-z]{3,9} \d{1,2}, \d{4})"
_LABEL: Final = r"(?:session|conversation|chat|date|time)(?: (?:date|time|on|of|from|at))?\s*:?\s*(?:\w+day,? )?"
STAMP: Final = re.compile(rf"\s*(?:\[[^\n\]]{{0,24}}?|\(|{_LABEL}){_DATE}", re.IGNORECASE)
"""The start of a text that says when it is from: a date in brackets, or after a word such as "Date:"."""
LEAST_SECONDS: Final = 1e8
"""Smaller numbers are not times since the epoch."""
MILLISECONDS: Final = 1e11
"""Larger numbers are milliseconds since the epoch, not seconds."""
_COMPACT: Final = re.compile(r"(19|20)\d{6}(\d{4}|\d{6})?")
"""ISO 8601 without hyphens; Python before 3.11 does not read it, and with a time it looks like milliseconds."""
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_DAYS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){_YEAR}[-/.](?P<month>\d\d?)[-/.](?P<day>\d\d?)(?!\d)",
        rf"\b(?P<day>\d\d?)(?:st|nd|rd|th)? (?:of )?(?P<month>[a-z]{{3,9}})\.?,? {_YEAR}\b",
        rf"\b(?P<month>[a-z]{{3,9}})\.? (?P<day>\d\d?)(?:st|nd|rd|th)?,? {_YEAR}\b",
    )
)
"""A day whose month is plain: 05/06/2024 may be of May or of June."""
NO_TIMES: Final = frozenset({"", "none", "null", "nan", "nat"})
"""Timestamps that say, in small letters, that there is none."""


def read_time(timestamp: str) -> datetime | None:
    """Return the time of a timestamp in ISO 8601 (of its short form the day) or since the epoch; None for any other.

    It is in UTC if the timestamp has no zone.
    """
    text = timestamp.strip()
    if _COMPACT.fullmatch(text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:8]}"
    try:
        if (number := float(text)) >= LEAST_SECONDS:
            return datetime.fromtimestamp(number / 1000 if number > MILLISECONDS else number, timezone.utc)
    except (ValueError, OverflowError, OSError):
        pass
    try:
        # Python 3.10 reads neither a Z nor other fractions than of three or six digits
        when = datetime.fromisoformat(re.sub(r"\.\d+", "", re.sub("[zZ]$", "+00:00", text)))
    except ValueError:
        return None
    return _in_zone(when)


def _in_zone(when: datetime) -> datetime:
    return when if when.tzinfo is not None else when.replace(tzinfo=timezone.utc)


def moment_of(text: str | None) -> datetime | None:
    """Return the moment that a timestamp names, for comparing days; None if it cannot be read.

    Also reads what `read_time` leaves to a reader: a year or a month, which is its beginning, any number of seconds since
    1970, the dates of mails, and a day beside anything else, such as `2024/05/18 (Sat) 14:00` and `18 May 2024`.
    """
    text = (text or "").strip()
    if re.fullmatch(r"(19|20)\d\d(-\d\d)?", text):
        text = f"{text}-01-01"[:10]
    if (when := read_time(text)) is not None:
        return when
    with suppress(ValueError, TypeError, OverflowError, OSError, IndexError):
        if re.fullmatch(r"-?\d+(\.\d+)?", text):
            return datetime.fromtimestamp(float(text), timezone.utc)
        return _in_zone(parsedate_to_datetime(text))
    with suppress(ValueError, TypeError):
        found = {_day(match) for pattern in _DAYS for match in pattern.finditer(text)}
        return found.pop() if len(found) == 1 else None
    return None


def _day(match: re.Match[str]) -> datetime:
    year, month, day = match["year"], match["month"], match["day"]
    if month.isdecimal():
        return datetime(int(year), int(month), int(day), tzinfo=timezone.utc)
    return _in_zone(parsedate_to_datetime(f"{day} {month} {year} 00:00 +0000"))


def unread_times(timestamps: Iterable[str | None]) -> list[str]:
    """Return the different timestamps that name no moment."""
    return [
        one for one in dict.fromkeys(timestamps) if one and one.strip().lower() not in NO_TIMES and not moment_of(one)
    ]


def without_later(shown: Sequence[Memory], last: datetime | None) -> list[Memory]:
    """Drop the timestamps of memories that are later than the last time of the rows; all of them if the rows have no times.

    Such a time is that of the machine that ran the benchmark, and would mislead a reader.
    """
    if last is None:
        return [replace(memory, timestamp=None) for memory in shown]
    end = _in_zone(last) + timedelta(days=1)  # zones differ
    times = [read_time(memory.timestamp or "") for memory in shown]
    return [
        replace(memory, timestamp=None) if when is not None and when > end else memory
        for memory, when in zip(shown, times, strict=True)
    ]


class RowTimes:
    """The times in the rows of a store."""

    def __init__(self, plan: StorePlan) -> None:
        """`plan` is read when the first time is needed."""
        self._plan = plan

    @cached_property
    def _last(self) -> datetime | None:
        conversations = self._plan.read_conversations()
        times = (message.timestamp or each.timestamp for each in conversations for message in each.messages)
        return max(filter(None, times), default=None)

    def only(self, shown: Sequence[Memory]) -> Sequence[Memory]:
        """Return the memories without timestamps that are not of the rows."""
        return without_later(shown, self._last) if any(memory.timestamp for memory in shown) else shown


def dated_texts(shown: Sequence[Memory]) -> list[str]:
    """Return the texts of memories, each after its date: `[2025-03-01] text`.

    A text that says when it is from gets no second date. Memories of one day get the time too if their times differ.
    """
    times = [read_time(memory.timestamp or "") for memory in shown]
    by_day: dict[str, set[datetime]] = {}
    for when in filter(None, times):
        by_day.setdefault(f"{when:%Y-%m-%d}", set()).add(when)
    return [
        _dated(memory, when, is_alone=when is None or len(by_day[f"{when:%Y-%m-%d}"]) == 1)
        for memory, when in zip(shown, times, strict=True)
    ]


def _dated(memory: Memory, when: datetime | None, *, is_alone: bool) -> str:
    if not memory.timestamp or STAMP.match(memory.text):
        return memory.text
    if when is None:
        return f"[{one_line(memory.timestamp, 40)}] {memory.text}"
    if is_alone and any(_written(when, form) in memory.text for form in FORMS):
        return memory.text
    return f"[{when:{'%Y-%m-%d' if is_alone else '%Y-%m-%d %H:%M'}}] {memory.text}"


def _written(when: datetime, form: str) -> str:
    """Return the date in a form, with the day as people write it."""
    return re.sub(r"\b0(\d)\b(?= [A-Z]|, )", r"\1", f"{when:{form}}")
