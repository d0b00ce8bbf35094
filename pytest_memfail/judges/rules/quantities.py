"""The quantities a text states: 8/10 is 8 out of 10 is eight of ten, 10 p.m. is 22:00, two days are 48 hours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.measures import (
    CENTURY,
    CLOSE,
    DEGREE,
    DEGREES,
    MEASURES,
    METRIC,
    MINUTES,
    ORDINALS,
    SCALES,
)
from pytest_memfail.judges.rules.text import Word
from pytest_memfail.judges.rules.words import DOWN, UP

ROUNDED: Final = 1.0
"""So many degrees Fahrenheit off, a temperature was only rounded."""
BEGINS: Final = frozenset("noon midday midnight half a an".split())
"""Words that a quantity may begin with, besides numbers."""
AND_A_HALF: Final = ("and", "a", "half")
FILLERS: Final = frozenset("full whole entire consecutive straight solid".split())
"""What may stand between a number and its unit of time."""
OR_SO: Final = frozenset("more less fewer over under above below longer so higher lower".split())
"""What may stand behind an "or" between a number and its unit."""
TIME: Final = re.compile(r"(\d\d?):(\d\d?)(?::\d\d)?")
"""A time of day, perhaps with seconds; other numbers with colons (a mix of 1:2:3) are none."""
HOURS: Final = 24.0
CLOCK: Final = "clock"
HALF_OPEN: Final = "clock?"
DURATION: Final = "time"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit and, where one is stated, the side of it that is meant."""

    value: float
    unit: str
    direction: int
    """1: above or at least, -1: below or at most, 0: not stated."""
    text: str
    at: int
    """Index of its word in the sentence."""

    def same(self, other: Quantity) -> bool:
        """Whether both state the same number, of the same unit where both have one."""
        if CLOCK in (self.unit, other.unit) and self.unit != other.unit:
            clock, bare = (self, other) if self.unit == CLOCK else (other, self)
            # "between 7 and 7:30" leaves open which half of the day is meant.
            minutes = bare.value * 60 if not bare.unit else bare.value
            if not bare.unit and bare.value > HOURS:
                return False
            return bare.unit in ("", HALF_OPEN) and abs((clock.value - minutes) % 720) < 1e-6
        if self.unit == other.unit == DEGREE:
            return _as_hot(self, other)
        if self.unit == other.unit or not self.unit or not other.unit:
            return abs(self.value - other.value) < 1e-6
        (mine, base), (theirs, same_base) = (METRIC.get(unit, (1.0, unit)) for unit in (self.unit, other.unit))
        # Nobody converts to the inch: 30 miles are 48 kilometres.
        return base == same_base and abs(self.value * mine - other.value * theirs) <= CLOSE * self.value * mine


def _as_hot(one: Quantity, other: Quantity) -> bool:
    """Whether both are the same temperature, on whichever scales they are told.

    >>> warm, hot = (Quantity(value, DEGREE, 0, text, 0) for value, text in ((10.0, "10 C"), (50.0, "50 degrees F")))
    >>> warm.same(hot), warm.same(Quantity(10.0, DEGREE, 0, "10 °F", 0))
    (True, False)
    """
    scales = [SCALES.get(re.split(r"[\W\d]+", q.text.casefold())[-1]) for q in (one, other)]
    if None in scales or scales[0] == scales[1]:
        return abs(one.value - other.value) < 1e-6
    celsius, fahrenheit = (one, other) if scales[0] == "c" else (other, one)
    return abs(celsius.value * 1.8 + 32 - fahrenheit.value) <= ROUNDED


@lru_cache(maxsize=16384)
def quantities(text: str, words: tuple[Word, ...]) -> tuple[Quantity, ...]:
    """All quantities of a sentence, but not the top of a scale (the 10 of 8/10)."""
    found = []
    at = 0
    while at < len(words):
        word = words[at]
        may_begin = word.key[:1].isdigit() or word.lower[0].isdigit() or word.lower in BEGINS
        read = _century(text, words, at) or (_read(text, words, at) if may_begin else None)
        if read is None:
            at += 1
            continue
        value, unit, end = read
        if not _is_scale(text, words, at, end):
            surface = text[words[at].start : words[end - 1].end]
            found.append(Quantity(value, unit, _direction(words, at, end), surface, at))
        at = end
    return tuple(found)


def _read(text: str, words: tuple[Word, ...], at: int) -> tuple[float, str, int] | None:
    word = words[at]
    lower = word.lower
    if lower in ("noon", "midday"):
        return 720.0, CLOCK, at + 1
    if lower == "midnight":
        return 1440.0, CLOCK, at + 1
    following = words[at + 1].lower if at + 1 < len(words) else ""
    if lower == "half" and any(w.lower == "hour" for w in words[at + 1 : at + 3]):
        return 30.0, DURATION, at + 2 + (following != "hour")
    if lower in ("a", "an") and following in MEASURES and _half_more(words, at + 2):
        factor, unit = MEASURES[following]
        return 1.5 * factor, unit, at + 5
    if lower in ("a", "an") and following == "hour" and not _is_rate(words, at):
        return 60.0, DURATION, at + 2
    if lower == "half" and following in ("a", "dozen") and "dozen" in (w.lower for w in words[at + 1 : at + 3]):
        return 6.0, "", at + 2 + (following == "a")
    if time := TIME.fullmatch(lower):
        half = following if following in ("am", "pm") else _half_of_day(words, at + 1)
        clock, unit, _ = _clock(int(time[1]) + int(time[2]) / 60, half, at)
        return clock, unit, at + 1 + (following in ("am", "pm", "o'clock"))
    value = _number(word.key)
    if value is None:
        return None
    end = at + 1
    if value in range(20, 100, 10) and not lower[0].isdigit() and end < len(words):
        ones = _number(words[end].key)
        if ones is not None and 0 < ones < 10 and not words[end].lower[0].isdigit():
            value, end = value + ones, end + 1
    following = words[end].lower if end < len(words) else ""
    if following in ("hundred", "thousand") and value < 100:
        value, end = value * (100 if following == "hundred" else 1000), end + 1
        following = words[end].lower if end < len(words) else ""
    if following in ("am", "pm", "o'clock"):
        return _clock(value, following, end - 1)
    if text[words[end - 1].end : words[end - 1].end + 2].lstrip().startswith("%"):
        return value, "%", end
    if following == "per" and words[end + 1 : end + 2] and words[end + 1].lower == "cent":
        return value, "%", end + 2
    if _half_more(words, end):
        value, end = value + 0.5, end + 3
        following = words[end].lower if end < len(words) else ""
    if end + 1 < len(words) and words[end + 1].lower in MINUTES and (following in FILLERS or _describes(words, end)):
        following, end = words[end + 1].lower, end + 1
    measured = words[end + 2].lower if following == "or" and end + 2 < len(words) else ""
    if measured in MEASURES and words[end + 1].lower in OR_SO:  # "fifty or more kilometres"
        factor, unit = MEASURES[measured]
        return round(value * factor, 9), unit, end
    if following in DEGREES and end + 1 < len(words) and words[end + 1].lower in SCALES:
        return value, DEGREE, end + 2
    if following in MEASURES:
        factor, unit = MEASURES[following]
        if unit == "metre" and (hourly := _hourly(words, end + 1)):
            return round(value * factor / 1000, 9), "km/h", end + 1 + hourly
        more = _half_more(words, end + 1)
        return round((value + more / 2) * factor, 9), unit, end + 1 + 3 * more
    if lower == "one" and following in ("of", "who", "another", "else", "that", ""):
        return None
    if (
        lower == "one"
        and at
        and words[at - 1].lower in ("no", "any", "this", "that", "the", "every", "each", "last", "some")
    ):
        return None
    return value, "", end


def _century(text: str, words: tuple[Word, ...], at: int) -> tuple[float, str, int] | None:
    """The 18th century, the eighteenth century, and the 1700s."""
    named = ORDINALS.get(words[at].lower)
    behind = [w.lower for w in words[at + 1 : at + 3]]
    if named and behind[:1] == [CENTURY]:
        return float(named), CENTURY, at + 2
    value = _number(words[at].key)
    if value and behind[:1] in (["th"], ["st"]) and behind[1:] == [CENTURY]:
        return value, CENTURY, at + 3
    years = value and value % 100 == 0 and 1000 <= value < 2000 and text[words[at].end : words[at].end + 1] == "s"
    return (value / 100 + 1, CENTURY, at + 2) if value and years and behind[:1] == ["s"] else None


def _describes(words: tuple[Word, ...], at: int) -> bool:
    """Whether the word may describe the stretch of time right after it: three quiet days."""
    key = words[at].key
    return bool(key) and key.isalpha() and words[at].lower not in MEASURES and words[at + 1].lower.endswith("s")


def _hourly(words: tuple[Word, ...], at: int) -> int:
    """How many words say "an hour" behind a measure."""
    behind = [w.lower for w in words[at : at + 2]]
    if behind[:1] == ["h"]:
        return 1
    return 2 if behind[:1] in (["an"], ["per"]) and behind[1:] in (["hour"], ["h"]) else 0


def _is_rate(words: tuple[Word, ...], at: int) -> bool:
    """Whether "an hour" says how often: three times an hour."""
    return at > 0 and words[at - 1].lower in ("times", "once", "twice")


def _half_more(words: tuple[Word, ...], at: int) -> bool:
    """Whether "and a half" stands there."""
    return tuple(w.lower for w in words[at : at + 3]) == AND_A_HALF


def _clock(hours: float, half: str, at: int) -> tuple[float, str, int]:
    if half not in ("am", "pm") and hours < 13:
        return round(hours * 60) % 720 + 0.0, HALF_OPEN, at + 1 + (half == "o'clock")
    if half == "pm" and hours < 12:
        hours += 12
    elif half == "am" and hours >= 12:
        hours -= 12
    minutes = round(hours * 60)
    return float(minutes or 1440), CLOCK, at + 1 + (half in ("am", "pm", "o'clock"))


def _half_of_day(words: tuple[Word, ...], at: int) -> str:
    """The half of the day that "in the morning", "at night" behind a time tell; empty where nothing does."""
    behind = tuple(w.lower for w in words[at : at + 3])
    if behind == ("in", "the", "morning"):
        return "am"
    return (
        "pm"
        if behind in (("in", "the", "evening"), ("in", "the", "afternoon")) or behind[:2] == ("at", "night")
        else ""
    )


def _number(key: str) -> float | None:
    if key and key[0].isdigit():
        try:
            return float(key)
        except ValueError:
            return None
    return None


def _is_scale(text: str, words: tuple[Word, ...], at: int, end: int) -> bool:
    """Whether the number is the top (or foot) of a scale and not a value on it."""
    before = text[max(0, words[at].start - 14) : words[at].start].casefold()
    if before.endswith(
        ("/", "out of ", "scale of ", "scale from ", "scale (", "scale of 1 to ", "scale from 1 to ", "1-")
    ):
        return True
    if "scale" in before and before.endswith(("to ", "-")):
        return True
    after = text[words[end - 1].end : words[end - 1].end + 16].casefold()
    if _FOOT.match(after) or before.endswith("one-to-"):
        return True
    if after.startswith(("-point", " point scale")):
        return True
    return before.endswith(" of ") and at >= 2 and _number(words[at - 2].key) is not None


def _direction(words: tuple[Word, ...], at: int, end: int) -> int:
    before = [w.lower for w in words[max(0, at - 4) : at]]
    after = [w.lower for w in words[end : end + 7]]
    joined = " ".join(before)
    if before[-1:] == ["than"] and (before[-2:-1] and (before[-2] in ("more", "less") or before[-2].endswith("er"))):
        side = -1 if before[-2] in _LESSER else 1
        ahead = [w.lower for w in words[max(0, at - 7) : at - 2]]
        if ahead[-1:] == ["for"] and not _PERFECT.isdisjoint(ahead):
            return side  # what has not been done for longer than three weeks is not done for so long at least
        denied = next((i for i, w in enumerate(ahead) if w in _NOTHING or w.endswith("n't")), None)
        # Not when it is colder than five: that is when not, and no limit.
        return side if denied is None or not _WHEN.isdisjoint(ahead[denied:]) else -side
    tail = " ".join(after)
    for phrase, direction in _TAILS:
        if tail.startswith(phrase):
            return direction  # not until three or more have passed
    for phrase, direction in _PHRASES:
        if joined.endswith(phrase):
            return direction
    if before[-1:] == ["before"] or before[-1:] == ["until"]:
        return 1 if _is_denied(words, at) else -1
    if after[:1] == ["or"] and len(after) > 1 and after[1] in UP | DOWN:
        return 1 if after[1] in UP else -1
    for phrase, direction in _TAILS:
        if f" {phrase}" in f" {tail[:40]}":
            return direction
    for word in reversed(before):
        if word in UP:
            return 1
        if word in DOWN:
            return -1
    return 0


def _is_denied(words: tuple[Word, ...], at: int) -> bool:
    """Whether what holds before the number is that nothing happens: not before ten, won't eat until ten."""
    return any(w.lower in _NOTHING or w.lower.endswith("n't") for w in words[max(0, at - 7) : at - 1])


_LESSER: Final = frozenset(
    "less fewer lower smaller shorter younger earlier lighter colder cooler quieter closer dimmer darker"
    " softer slower lesser nearer calmer weaker".split()
)
_PERFECT: Final = frozenset("has have had hasn't haven't hadn't without".split())
_NOTHING: Final = frozenset("never not no nothing nobody none".split())
_WHEN: Final = frozenset("when if while whenever once".split())
_FOOT: Final = re.compile(r" ?(?:-|to|-to-) ?\w+[- ](?:point )?scale")
"""What follows the foot of a scale: a 1-10 scale, a one-to-ten scale."""
_PHRASES: Final = (
    ("no more than", -1), ("not more than", -1), ("never more than", -1), ("more than twice", 0), ("at most", -1),
    ("up to", -1), ("maximum of", -1), ("no fewer than", 1), ("no less than", 1), ("fewer than", -1), ("less than", -1),
    ("at least", 1), ("minimum of", 1), ("minimum", 1), ("more than", 1), ("drops to", -1), ("within", -1),
    ("upwards of", 1), ("upward of", 1), ("in excess of", 1), ("north of", 1), ("south of", -1),
    ("short of", -1), ("shy of", -1),
    ("not exceeding", -1), ("never exceeding", -1), ("without exceeding", -1),
    ("not above", -1), ("not over", -1), ("never above", -1),
    ("never over", -1), ("not below", 1), ("not under", 1), ("never below", 1), ("never under", 1), ("at the most", -1),
    ("at the least", 1), ("at the very least", 1), ("a floor of", 1), ("a ceiling of", -1), ("capped at", -1),
    ("no earlier than", 1), ("not earlier than", 1), ("no sooner than", 1), ("not sooner than", 1), ("no later than", -1),
    ("not later than", -1), ("after", 1), ("past", 1), ("since", 1),
)  # fmt: skip
_TAILS: Final = (
    ("or more", 1), ("or higher", 1), ("or above", 1), ("or greater", 1), ("or longer", 1), ("or over", 1), ("plus", 1),
    ("and above", 1), ("and up", 1), ("or worse", 1), ("or anything worse", 1), ("or anything above", 1), ("or anything higher", 1),
    ("upward", 1), ("upwards", 1), ("or better", 1), ("or less", -1), ("or fewer", -1), ("or lower", -1),
    ("or beyond", 1), ("or later", 1), ("or warmer", 1), ("or hotter", 1), ("or louder", 1), ("and over", 1), ("and higher", 1),
    ("and more", 1), ("and beyond", 1), ("or under", -1), ("or earlier", -1), ("or colder", -1), ("or cooler", -1),
    ("or quieter", -1),
    ("or shorter", -1), ("and under", -1), ("and lower", -1), ("and less", -1), ("and fewer", -1), ("tops", -1),
    ("or below", -1), ("and below", -1), ("minimum", 1), ("maximum", -1),
)  # fmt: skip
