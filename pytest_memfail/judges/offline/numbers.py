"""Quantities in a text: 10 p.m. is 22:00, two days are 48 hours, "at least" and "under" are sides of a number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.offline.english import NUMBERS, Token

CLOCK: Final = "clock"
HALF_CLOCK: Final = "clock?"
"""An hour of either half of the day."""
_MEASURES: Final[dict[str, dict[str, float]]] = {
    "time": {"second": 1 / 60, "minute": 1, "hour": 60, "h": 60, "day": 1440, "week": 10080, "fortnight": 20160, "month": 43830,
             "year": 525960, "night": 1440},
    "metre": {"metre": 1, "meter": 1, "m": 1, "kilometre": 1000, "kilometer": 1000, "km": 1000, "mile": 1609.34, "k": 1000,
              "centimetre": 0.01, "centimeter": 0.01, "cm": 0.01, "millimetre": 0.001, "mm": 0.001, "foot": 0.3048, "inch": 0.0254},
    "gram": {"gram": 1, "g": 1, "kilogram": 1000, "pound": 453.6, "ounce": 28.35, "milligram": 0.001, "mg": 0.001},
    "litre": {"litre": 1, "liter": 1, "l": 1, "millilitre": 0.001, "ml": 0.001, "cup": 0.24, "pint": 0.568},
    "money": {"pound": 1, "euro": 1, "dollar": 1, "£": 1, "€": 1, "$": 1, "quid": 1, "franc": 1, "krone": 1},
    "%": {"%": 1, "percent": 1},
    "degree": {"degree": 1, "°": 1, "c": 1, "f": 1},
}  # fmt: skip
UNITS: Final = {word: (factor, unit) for unit, words in _MEASURES.items() for word, factor in words.items()}
CURRENCY: Final = frozenset("£€$")


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.split(","))


AT_LEAST: Final = _phrases(
    "at least, more than, over, above, no fewer than, no less than, exceed, exceeds, minimum of, min, from, past, after, beyond, "
    "upwards of, longer than, higher than, greater than, since, not before, not until, not below, not under, no earlier than, >, ≥"
)
AT_MOST: Final = _phrases(
    "at most, less than, fewer than, under, below, up to, no more than, not more than, maximum of, max, within, before, until, by, "
    "no later than, shorter than, lower than, beneath, till, not after, not above, not over, <, ≤"
)
BEHIND_LEAST: Final = _phrases(
    "or more, or above, or higher, or over, or longer, or later, or warmer, upwards, plus, onwards"
)
BEHIND_MOST: Final = _phrases(
    "or less, or fewer, or below, or under, or lower, or earlier, or colder, or shorter, max, maximum"
)
SIDES: Final = {**dict.fromkeys(AT_LEAST, 1), **dict.fromkeys(AT_MOST, -1)}
FROM_HOUR: Final = {"half past": 30, "quarter past": 15, "quarter to": -15}
HALVES: Final = {"am": "am", "pm": "pm", "a m": "am", "p m": "pm", "o'clock": "o'clock"}
TIME: Final = re.compile(r"(\d{1,2})[:.](\d\d)")
AND_HALF: Final = "and a half"
TOLERANCE: Final = 0.02


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit."""

    value: float
    unit: str
    """Empty, a kind of measure, `clock` (minutes after midnight), or the base form of the thing counted."""
    side: int
    """1: at least or above, -1: at most or below, 0: not stated."""
    at: int
    """Index of its first token."""
    text: str

    def same(self, other: Quantity) -> bool:
        """Return whether both are the same number, with the same unit if both have a measure."""
        clocks = (CLOCK, HALF_CLOCK)
        if self.unit in clocks or other.unit in clocks:
            if self.unit in clocks and other.unit in clocks:
                apart = abs(self.value - other.value)
                return apart < 1 or (HALF_CLOCK in (self.unit, other.unit) and abs(apart - 720) < 1)
            clock, bare = (self, other) if self.unit in clocks else (other, self)
            return not bare.unit and abs(clock.value % 720 - bare.value * 60 % 720) < 1
        if self.unit == other.unit or not self.is_measure or not other.is_measure:
            return abs(self.value - other.value) <= TOLERANCE * max(abs(self.value), abs(other.value))
        return False

    @property
    def is_measure(self) -> bool:
        """Return whether its unit is a measure rather than a thing that is counted."""
        return self.unit in _MEASURES or self.unit in (CLOCK, HALF_CLOCK)

    def comparable(self, other: Quantity) -> bool:
        """Return whether different values of the two would contradict each other: same measure, or same counted
        thing.
        """
        clocks = (CLOCK, HALF_CLOCK)
        return self.unit == other.unit or (self.unit in clocks and other.unit in clocks)


@lru_cache(maxsize=16384)
def quantities(text: str, tokens: tuple[Token, ...]) -> tuple[Quantity, ...]:
    """Return the quantities of a text, in order."""
    found = []
    at = 0
    while at < len(tokens):
        read = _read(tokens, at)
        if read is None:
            at += 1
            continue
        value, unit, end = read
        if _phrase(tokens, at - 1) == "minus" or text[max(0, tokens[at].start - 2) : tokens[at].start] in (" -", "-"):
            value = -value
        surface = text[tokens[at].start : tokens[end - 1].end]
        found.append(Quantity(value, unit, _side(tokens, at, end, text), at, surface))
        at = end
    return tuple(found)


def _read(tokens: Sequence[Token], at: int) -> tuple[float, str, int] | None:
    """Return the value and unit of the quantity that starts here, and where it ends; None if none starts here."""
    lower, two = tokens[at].lower, _phrase(tokens, at, 2)
    if lower in ("noon", "midday", "midnight"):
        return 0.0 if lower == "midnight" else 720.0, CLOCK, at + 1
    if two in FROM_HOUR and (hour := _number(tokens, at + 2)) is not None:
        return hour * 60 + float(FROM_HOUR[two]), HALF_CLOCK, at + 3
    if two in ("half an", "half a") and (unit := UNITS.get(_phrase(tokens, at + 2))):
        return unit[0] / 2, unit[1], at + 3
    if lower in ("fortnight", "fortnightly"):
        return 20160.0, "time", at + 1
    if tokens[at].is_name or (value := _number(tokens, at)) is None:
        return None
    end = at + 1
    is_tens = value in range(20, 100, 10) and lower.isalpha()
    if is_tens and (ones := _number(tokens, end)) and ones < 10 and tokens[end].lower.isalpha():
        value, end = value + ones, end + 1
    while _phrase(tokens, end) in ("hundred", "thousand", "million"):
        value, end = value * NUMBERS[tokens[end].lower], end + 1
        if _phrase(tokens, end) == "and" and (rest := _number(tokens, end + 1)) and rest < value:
            value, end = value + rest, end + 2
    if (time := TIME.fullmatch(lower)) and (":" in lower or _phrase(tokens, end) in ("am", "pm")):
        is_sure = int(time[1]) > 12 or time[1][0] == "0"
        return _clock(int(time[1]) * 60 + int(time[2]), _phrase(tokens, end), end, is_sure)
    for words in (1, 2):
        if half := HALVES.get(_phrase(tokens, end, words)):
            return _clock(value * 60, half, end + words - 1, False)
    if at and tokens[at - 1].surface in CURRENCY:
        return value, "money", end
    if _phrase(tokens, end, 3) == AND_HALF:
        value, end = value + 0.5, end + 3
    if end == len(tokens):
        return value, "", end
    following = tokens[end]
    unit = UNITS.get(following.lower) or UNITS.get(following.key)
    is_apart = following.start > tokens[end - 1].end + 1
    if unit is None or (following.lower in ("c", "f", "k", "m", "h", "l") and is_apart):
        return value, following.key if following.key.isalpha() else "", end
    if unit[1] == "time" and _phrase(tokens, end + 1, 3) == AND_HALF:
        return (value + 0.5) * unit[0], unit[1], end + 4
    return value * unit[0], unit[1], end + 1


def _clock(minutes: float, half: str, end: int, is_sure: bool) -> tuple[float, str, int]:
    if half == "pm" and minutes < 720:
        minutes += 720
    elif half == "am" and minutes >= 720:
        minutes -= 720
    known = half in ("am", "pm")
    return (
        float(minutes),
        CLOCK if known or is_sure or minutes >= 780 else HALF_CLOCK,
        end + (known or half == "o'clock"),
    )


def _phrase(tokens: Sequence[Token], at: int, length: int = 1) -> str:
    """Return the lower-case words from a place on; empty outside the text."""
    return " ".join(token.lower for token in tokens[at : at + length]) if at >= 0 else ""


def _number(tokens: Sequence[Token], at: int) -> float | None:
    if at >= len(tokens):
        return None
    lower = tokens[at].lower
    if lower in NUMBERS:
        if lower == "second" and _phrase(tokens, at - 1) not in ("the", "every", "each", "her", "his", "their", "my"):
            return None
        return float(NUMBERS[lower])
    key = tokens[at].key
    if not key[:1].isdigit():
        return None
    try:
        return float(key.replace(":", "."))
    except ValueError:
        return None


def _side(tokens: Sequence[Token], at: int, end: int, text: str) -> int:
    behind = " ".join(token.lower for token in tokens[end : end + 2])
    if behind.startswith(BEHIND_LEAST):
        return 1
    if behind.startswith(BEHIND_MOST):
        return -1
    if text[tokens[end - 1].end : tokens[end - 1].end + 1] == "+":
        return 1
    before = [token.lower for token in tokens[max(0, at - 4) : at] if token.surface not in CURRENCY]
    for length in (3, 2, 1):
        for back in range(3):
            stop = len(before) - back
            if stop - length >= 0 and (side := SIDES.get(" ".join(before[stop - length : stop]))):
                return side
    marks = text[max(0, tokens[at].start - 3) : tokens[at].start]
    return next((SIDES[mark] for mark in marks if mark in SIDES), 0)
