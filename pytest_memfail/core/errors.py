"""The exception hierarchy.

MemfailError
├── UsageError                 invalid user input: one line, exit code 4
│   ├── UnknownNameError       no system, task or judge has this name
│   └── RowError               an invalid row of a data set: file, line, field, what was expected
├── MemorySystemError          the system under test failed: the item is an error, never a verdict
│   ├── WrongTypeError         a method returned a value of the wrong type
│   ├── TruncatedListingError  get_all_memories() does not list everything stored
│   └── TimedOutError          a call did not return within its time limit
├── SnapshotError              a store cannot be kept or restored: never a verdict, never a silent refill
└── JudgeError                 the judge failed: the item is an error, never a verdict
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from typing import Any, Final

from pytest_memfail.safety import KNOWN, escape_controls, mask_text

MOST_NAMES: Final = 12
"""The number of known names that an error lists."""
UNKNOWN: Final = ("extra_forbidden", "unexpected_keyword_argument")
"""What pydantic calls an unknown field, of a model and of a dataclass."""


class MemfailError(Exception):
    """Base class of all errors of this package; removes secrets and control characters from its message."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(escape_controls(mask_text(arg)) if isinstance(arg, str) else arg for arg in args))


class UsageError(MemfailError):
    """Invalid user input. The message says what was got, what is expected and what to do."""


class UnknownNameError(UsageError):
    """An unknown name; the message suggests the closest known one."""

    def __init__(self, what: str, got: str, known: Iterable[str], hint: str = "") -> None:
        names = sorted(set(known))
        listed = ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
        close = get_close_matches(got, names, 1, cutoff=0.5)
        guess = f"; did you mean {close[0]!r}?" if close else "."
        more = f" ({hint})" if hint else ""
        super().__init__(f"unknown {what} {got!r}{guess} Known: {listed or 'none'}{more}")
        self.got = got
        self.known = tuple(names)


class RowError(UsageError):
    """An invalid row, found before anything is stored."""

    more: Sequence[RowError] = ()
    """Further faults that were found with it."""

    def __init__(self, file: str, line: int, field: str, problem: str) -> None:
        super().__init__(f"{file}:{line}: {field}: {problem}")
        self.file, self.line, self.field, self.problem = file, line, field, problem


class MemorySystemError(MemfailError):
    """The memory system under test failed."""


class WrongTypeError(MemorySystemError):
    """A method of the memory system returned a value of the wrong type."""


class TruncatedListingError(MemorySystemError):
    """`get_all_memories()` leaves out entries that the system holds."""


class TimedOutError(MemorySystemError):
    """A call of the memory system did not return within its time limit."""


class SnapshotError(MemfailError):
    """A store cannot be kept, or a kept store cannot be restored."""


class JudgeError(MemfailError):
    """The judge failed, so there is no verdict."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "question"), counted(2, "question"), counted(0, "entry")
    ('1 question', '2 questions', '0 entries')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def first_problem(error: Any, known: Iterable[str] = ()) -> tuple[str, str]:
    """Return the place and the problem of the first fault of pydantic's `ValidationError`, preferring unknown names.

    A value that is missing may have a misspelt name. `known` are the names of fields, to suggest one.
    """
    fault = min(error.errors(include_url=False), key=lambda fault: fault["type"] not in UNKNOWN)
    return ".".join(map(str, fault["loc"])), problem_of(fault, known)


def problem_of(fault: Mapping[str, Any], known: Iterable[str] = ()) -> str:
    """Return an error of pydantic in our words: what was got, and what is expected.

    >>> problem_of({"type": "string_type", "msg": "Input should be a valid string", "input": 3})
    'got 3, expected: a text in quotes, such as "3"'
    >>> problem_of({"type": "too_short", "msg": "List should have at least 1 item after validation, not 0", "input": []})
    'got [], expected: a list with at least 1 item'
    """
    if fault["type"] == "missing":
        return "got nothing, expected a value"
    if fault["type"] in UNKNOWN:
        close = get_close_matches(str(fault["loc"][-1]), known, 1)
        return "no such field" + (f"; did you mean {close[0]!r}?" if close else "")
    value = fault["input"]
    if fault["type"] == "string_type" and isinstance(value, (int, float, date)):  # YAML reads no as False
        example = ("no", "yes")[value] if isinstance(value, bool) else value
        return f'got {one_line(value, 60)}, expected: a text in quotes, such as "{one_line(example, 60)}"'
    said = re.sub("^Value error, |^Input should (be )?", "", fault["msg"])
    if fault["type"] == "json_invalid" or (fault["type"] == "value_error" and "got " in said):
        return f"{said[:1].lower()}{said[1:]}"
    said = re.sub(", (unable to|input is|got a number) .*$", "", said)
    said = re.sub(r"^a valid dictionary( or .*)?$", "a mapping", said)
    said = re.sub(r"^(\w+) should match pattern ", lambda m: f"a {m[1].lower()} that matches ", said)
    said = re.sub(r"^(\w+) should have (.+?)( after validation.*)?$", lambda m: f"a {m[1].lower()} with {m[2]}", said)
    return f"got {short(value)}, expected: {said[:1].lower()}{said[1:]}"


def short(value: object) -> str:
    """Return a value as an error message shows it."""
    try:
        text = one_line(repr(value), 1000)
    except RecursionError:
        return f"a {type(value).__name__} nested too deeply"
    return text if len(text) <= 60 else text[:57] + "..."


def one_line(text: object, limit: int = 300) -> str:
    """Return the text on one line, cut to the limit.

    Masks known secrets (in an exception, also texts that look like secrets) and escapes control characters.

    >>> one_line("a\\n  b")
    'a b'
    """
    # Mask before cutting: half a password would not be recognised.
    said = mask_text(_said(text)) if isinstance(text, BaseException) else KNOWN.mask(str(text))
    line = escape_controls(" ".join(said.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # a third-party exception may fail in `__str__`
        return f"{type(error).__name__} without a readable message"
