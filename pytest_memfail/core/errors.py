"""What can go wrong, as one tree.

MemfailError
├── UsageError                 bad input of the user: one line, exit code 4
│   ├── UnknownNameError       a system, task or judge nobody knows
│   └── RowError               a row of a data set: file, line, field, what was expected
├── MemorySystemError          the system under test failed: the item is an error, never a verdict
│   ├── WrongTypeError         a method returned something else than it should
│   ├── TruncatedListingError  get_all_memories() does not list what is stored
│   └── TimedOutError          a call did not return within its limit
├── SnapshotError              a kept store cannot be kept or restored: never a verdict, never a silent refill
└── JudgeError                 the judge failed: the item is an error, never a verdict
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from pytest_memfail.core.escape import escape_controls
from pytest_memfail.core.secrets import KNOWN, mask_text

MOST_NAMES: Final = 12
"""How many known names an error lists."""


class MemfailError(Exception):
    """The base of all errors raised here; its message is one line, without secrets and control characters."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(escape_controls(mask_text(arg)) if isinstance(arg, str) else arg for arg in args))


class UsageError(MemfailError):
    """Input that cannot be used: says what was got, what is expected, what to do."""


class UnknownNameError(UsageError):
    """A name that is not known, with the closest one that is."""

    def __init__(self, what: str, got: str, known: Iterable[str], hint: str = "") -> None:
        names = sorted(known)
        listed = ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
        close = get_close_matches(got, names, 1, cutoff=0.5)
        guess = f"; did you mean {close[0]!r}?" if close else "."
        more = f" ({hint})" if hint else ""
        super().__init__(f"unknown {what} {got!r}{guess} Known: {listed or 'none'}{more}")
        self.got = got
        self.known = tuple(names)


class RowError(UsageError):
    """A fault of a row, before anything is stored."""

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
    """A call of the memory system did not return within its limit."""


class SnapshotError(MemfailError):
    """A store that an earlier run has kept cannot be restored, or this one cannot be kept."""


class JudgeError(MemfailError):
    """The judge failed; no verdict may be made of it."""


def one_line(text: object, limit: int = 300) -> str:
    """The text on one line, cut to the limit; known secrets are masked (of an exception all), control characters escaped.

    >>> one_line("a\\n  b")
    'a b'
    """
    # masked before it is cut: half a password would not be known again
    said = mask_text(_said(text)) if isinstance(text, BaseException) else KNOWN.mask(str(text))
    line = escape_controls(" ".join(said.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception of others may not even say what it is
        return f"{type(error).__name__} without a readable message"
