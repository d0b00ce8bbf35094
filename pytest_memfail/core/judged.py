"""Check what a judge returned: user code may put any value into a field of a `StageResult`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from pytest_memfail.core.errors import JudgeError, counted, one_line
from pytest_memfail.core.verdict import StageResult

OUTCOMES: Final = ("passed", "failed", "ungraded")


def checked_result(stage: str, result: Any, memories: int | None) -> StageResult:
    """Return a judge's result of a stage, with values of plain types: numbers of numpy become Python's.

    `memories` is the number of memories that the entries may name; None if they name none.

    Raises `JudgeError` if it is no `StageResult`, or a field has a wrong value.
    """
    if not isinstance(result, StageResult):
        said = f"{type(result).__name__} {one_line(repr(result), 60)}"
        raise JudgeError(f"the judge's {stage}() returned {said}; expected a StageResult")
    changed: dict[str, Any] = {}
    for name, default, read, expected in _FIELDS:
        if (value := getattr(result, name)) is default:
            continue
        try:
            plain = read(value)
        except Exception:
            raise _wrong(stage, name, value, expected) from None
        if plain is not value:
            changed[name] = plain
    entries = changed.get("entries", result.entries)
    if entries and memories is not None and not 0 <= min(entries) <= max(entries) < memories:
        raise _wrong(stage, "entries", entries, f"indices of {counted(memories, 'memory')}, from 0")
    return replace(result, **changed) if changed else result


def _wrong(stage: str, name: str, value: Any, expected: str) -> JudgeError:
    return JudgeError(f"the judge's {stage}() returned {name} {one_line(repr(value), 60)}; expected {expected}")


def _outcome(value: Any) -> str:
    return OUTCOMES[OUTCOMES.index(value)]


def _text(value: Any) -> str:
    return value if type(value) is str else str.__str__(value)


def _each(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def read_all(values: Any) -> tuple[Any, ...]:
        if isinstance(values, (str, bytes, Mapping)):
            raise TypeError
        found = tuple(map(read, values))
        return values if type(values) is tuple and all(map(operator.is_, values, found)) else found

    return read_all


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)) or not math.isfinite(number := float(value)):
        raise ValueError
    return value if type(value) in (float, int) else number


def _share(value: Any) -> float:
    if not 0 <= (number := _number(value)) <= 1:
        raise ValueError
    return number


def _flag(value: Any) -> bool:
    if type(value) is bool:
        return value
    return bool((0, 1).index(_number(value)))


def _numbers(values: Any) -> Mapping[str, float]:
    found = {_text(name): _number(value) for name, value in values.items()}
    return values if type(values) is dict and all(map(operator.is_, values.values(), found.values())) else found


_READERS: Final[Mapping[str, tuple[Callable[[Any], Any], str]]] = {
    "outcome": (_outcome, "passed, failed or ungraded"),
    "reason": (_text, "a text"),
    "entries": (_each(operator.index), "a tuple of indices"),
    "found": (_each(_text), "a tuple of texts"),
    "missing": (_each(_text), "a tuple of texts"),
    "reported": (_each(_text), "a tuple of texts"),
    "confidence": (_share, "a number between 0 and 1, or None"),
    "label": (_text, "a text or None"),
    "vacuous": (_flag, "True or False"),
    "score": (_share, "a number between 0 and 1, or None"),
    "estimated": (_flag, "True or False"),
    "metrics": (_numbers, "a mapping of names to numbers"),
}
_FIELDS: Final = [(one.name, one.default, *_READERS[one.name]) for one in fields(StageResult)]
"""Name, default, reader and what is expected of each field; a value that is the default is not read."""
