"""Ignore parts of a request that differ between runs, such as the date, so that a cached reply still matches.

The parts are left out of the request's key. If a reply repeats one, the kept reply has a placeholder, which is replaced by the
corresponding part of the later request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from typing import Any, Final

from pytest_memfail.core import UsageError, one_line

TIME: Final = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\b\.?)?(?:\s?(?:Z|UTC|GMT)\b|[+-]\d\d:?\d\d\b)?"
DATE_TIME: Final = rf"(?:(?:[T ]|,\s|\sat\s|\s-\s){TIME})?"
_DAY: Final = "(?:Mon|Tue|Tues|Wed|Wednes|Thu|Thurs|Fri|Sat|Satur|Sun)(?:day)?"
_MONTH: Final = "(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*"
NAMED: Final[Mapping[str, str]] = {
    "today": "",  # made from the day of the request
    "uuid": r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}|[0-9a-f]{32})(?![0-9A-Za-z])",
    "hash": r"(?<![0-9A-Za-z])(?=[a-f]*\d)[0-9a-f]{32,128}(?![0-9A-Za-z])",
    "date": rf"(?:\b{_DAY},?\s)?(?:(?<!\d)\d{{4}}[-/.]\d\d[-/.]\d\d|(?<!\d)\d\d?[/.]\d\d?[/.]\d{{4}}"
    rf"|\b{_MONTH}\.?\s\d\d?(?:st|nd|rd|th)?,?\s\d{{4}}|\b\d\d?(?:st|nd|rd|th)?\s{_MONTH}\.?,?\s\d{{4}}){DATE_TIME}",
    "time": rf"\b{TIME}",
    "epoch": r"(?<![0-9A-Za-z.])1[5-9]\d{8}(?:\d{3}(?:\d{3})?|\.\d+)?(?![0-9A-Za-z])",
}
"""The named patterns."""
DEFAULTS: Final = ("today", "uuid")
NONE: Final = "none"
"""Removes the defaults."""
IDENTITIES: Final = ("uuid", "hash", "store", "address")
"""Kinds that identify something: equal values must stay equal."""
STORE: Final = r"(?<![0-9A-Za-z])[0-9a-f]{8}-(?:main|gw\d+)-\d+(?:-[0-9a-f]{8}|-\d+)?(?![0-9A-Za-z])"
"""The id of a store, which contains the name of the process."""
FORMATS: Final = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y",
    "%B {d}, %Y", "%B %d, %Y", "%b {d}, %Y", "%b %d, %Y", "%d %B %Y", "{d} %B %Y", "%d %b %Y", "{d} %b %Y", "%B {d} %Y",
)  # fmt: skip
"""Notations of the day of a run in prompts; `{d}` is the day without a zero."""
WEEKDAYS: Final = (r"%A", r"%a")
ADDRESS: Final = r"http://127\.0\.0\.1:\d+/memfail-[0-9A-Za-z_-]{32}(?![0-9A-Za-z_-])"
"""The proxy's own address, which differs from run to run."""
_OPEN: Final = "⟦memfail:"
_OPEN_KEPT: Final = "⟦memfail:mark:⟧"
"""What stands in a kept reply for the begin of a mark that the endpoint itself wrote."""
_MARK: Final = re.compile(r"⟦memfail:(\w+):([^⟧]*)⟧")


def check_patterns(given: Sequence[str]) -> tuple[str, ...]:
    """Return the names and regular expressions to ignore: the defaults, unless `none` is given, and the given ones.

    A text of names may separate them by commas. Raises `UsageError` for an invalid one.
    """
    found: list[str] = []
    for text in given:
        names = [part.strip() for part in text.split(",")]
        if all(name in NAMED or name == NONE for name in names):
            found += names
            continue
        try:
            whole = re.compile(f"(?P<memfail>{text})")  # as it is used
            is_wrong = whole.search("") is not None or re.search(r"\\[1-9]|\(\?(P=|\()", text) is not None
        except re.error:
            is_wrong = True
        if is_wrong:
            raise UsageError(
                f"replay-ignore: got {one_line(text, 60)!r}, expected {', '.join(NAMED)}, {NONE}, or a regular expression that "
                "matches no empty text and refers to no group"
            )
        found.append(text)
    defaults = () if NONE in found else DEFAULTS
    return tuple(dict.fromkeys([*defaults, *(text for text in found if text != NONE)]))


def _now() -> datetime:
    return datetime.now().astimezone()


@dataclass
class Seen:
    """The ignored parts of a request."""

    day: date
    """The day that the request states as today."""
    values: dict[str, list[str]] = field(default_factory=dict)
    """The texts by kind, in the order of the request."""


class Ignored:
    """The patterns of a run."""

    def __init__(self, patterns: Sequence[str] = DEFAULTS, now: Callable[[], datetime] = _now) -> None:
        """Use the result of `check_patterns`; `now` returns the local time."""
        self._now = now
        self._started = now()
        own = [text for text in patterns if text not in NAMED]
        self._kinds = [(f"own{i}", text) for i, text in enumerate(own)]
        self._kinds += [("store", STORE), ("address", ADDRESS)]
        self._kinds += [(name, NAMED[name]) for name in NAMED if name in patterns]
        self._compiled: tuple[tuple[date, ...], re.Pattern[str]] | None = None

    def read(self, value: Any) -> tuple[Any, Seen]:
        """Return plain data with each ignored part replaced by its kind, and the ignored parts."""
        days, pattern = self._pattern()
        seen = Seen(self._now().date())
        dated: list[date] = []

        def replaced(match: re.Match[str]) -> str:
            kind, text = _kind(match), match[0]
            if kind == "today":
                dated.append(_day(match["memfail_day"], days)[0])
            values = seen.values.setdefault(kind, [])
            if kind not in IDENTITIES or text not in values:
                values.append(text)
            return f"⟦{kind}{values.index(text) if kind in IDENTITIES else ''}⟧"

        # in the order of the names, which a program may change
        plain = _mapped(value, lambda text: _replaced(text, pattern, replaced, "⟦", "⟦⟧"), by_name=True)
        if dated:
            seen.day = dated[0]
        return plain, seen

    def kept(self, value: Any, seen: Seen) -> Any:
        """Return a reply with a placeholder for each ignored part of its request that it repeats."""
        days, pattern = self._pattern()

        def replaced(match: re.Match[str]) -> str:
            kind, text = _kind(match), match[0]
            if text in (values := seen.values.get(kind, [])):
                return f"⟦memfail:{kind}:{values.index(text)}⟧"
            if kind == "today":  # in another format than the request's, or at another time
                written = match["memfail_day"]
                day, how = _day(written, days)
                text = text.replace(written, f"⟦memfail:day:{how}⟧", 1)
                for how in WEEKDAYS:
                    text = re.sub(rf"\b{_written(day, how)}\b", f"⟦memfail:day:{how}⟧", text)
            return text

        return _mapped(value, lambda text: _replaced(text, pattern, replaced, _OPEN, _OPEN_KEPT))

    def restored(self, value: Any, seen: Seen) -> Any:
        """Return a kept reply with the parts of this request in place of the placeholders."""

        def replaced(match: re.Match[str]) -> str:
            kind, which = match[1], match[2]
            if kind == "day":
                return _written(seen.day, which)
            if kind == "mark":
                return _OPEN
            values = seen.values.get(kind, [])
            return values[int(which)] if which.isdecimal() and int(which) < len(values) else match[0]

        return _mapped(value, lambda text: _MARK.sub(replaced, text))

    def _pattern(self) -> tuple[tuple[date, ...], re.Pattern[str]]:
        """Return the days of the run so far, in local time and UTC, and the pattern of all ignored parts."""
        ends = [
            moment.astimezone(zone).date() for moment in (self._started, self._now()) for zone in (None, timezone.utc)
        ]
        days = tuple(
            dict.fromkeys(date.fromordinal(n) for n in range(min(ends).toordinal(), max(ends).toordinal() + 1))
        )
        if self._compiled is None or self._compiled[0] != days:
            parts = [f"(?P<memfail_{kind}>{_of_days(days) if kind == 'today' else text})" for kind, text in self._kinds]
            self._compiled = days, re.compile("|".join(parts))
        return self._compiled


def _replaced(
    text: str, pattern: re.Pattern[str], replaced: Callable[[re.Match[str]], str], own: str, escaped: str
) -> str:
    """Return the text with marks for the matches; where it has a mark `own` itself, that is escaped."""
    return escaped.join(pattern.sub(replaced, part) for part in text.split(own))


def _kind(match: re.Match[str]) -> str:
    """Return the kind whose alternative matched."""
    groups = match.groupdict()
    return next(
        name.removeprefix("memfail_")
        for name, text in groups.items()
        if text is not None and name.startswith("memfail_") and name != "memfail_day"
    )


def _written(day: date, how: str) -> str:
    return day.strftime(how.replace("{d}", str(day.day)))


def _day(text: str, days: Sequence[date]) -> tuple[date, str]:
    """Return the day in a text, and its format."""
    return next((day, how) for day in reversed(days) for how in FORMATS if _written(day, how) == text)


def _of_days(days: Sequence[date]) -> str:
    """Return the pattern of these days in all formats, perhaps with the day of the week before and a time after."""
    texts = sorted({_written(day, how) for day in days for how in FORMATS}, key=len, reverse=True)
    names = "|".join(sorted({_written(day, how) for day in days for how in WEEKDAYS}, key=len, reverse=True))
    return rf"(?:\b(?:{names}),?\s)?(?<!\d)(?P<memfail_day>{'|'.join(map(re.escape, texts))})(?!\d){DATE_TIME}"


def _mapped(value: Any, change: Callable[[str], str], *, by_name: bool = False) -> Any:
    """Return plain data with each text changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _mapped(value[name], change, by_name=by_name) for name in (sorted(value) if by_name else value)}
    return [_mapped(item, change, by_name=by_name) for item in value] if isinstance(value, list) else value
