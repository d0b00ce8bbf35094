"""Whatever a memory system returns, as `Memory` values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from pytest_memfail.core import Memory, MemorySystemError, WrongTypeError, one_line
from pytest_memfail.engine.calls import guarded, raised_as

TEXT_NAMES: Final = ("text", "memory", "content", "page_content")
TIME_NAMES: Final = ("timestamp", "created_at")
EXPECTED: Final = "expected a list of strings, of mappings with a 'text', or of objects with a .text"


def memories_from(value: object, method: str, about: str = "") -> tuple[Memory, ...]:
    """Normalise what `method` returned; `about` names the question for the message.

    Raises `WrongTypeError` naming the method, the type got and the type expected, and `MemorySystemError` for entries that
    raise while they are read.
    """
    with raised_as(MemorySystemError, f"reading what {method}() returned", about):
        return guarded(_memories, value, method, about)


def _memories(value: object, method: str, about: str) -> tuple[Memory, ...]:
    if value is None or isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise WrongTypeError(f"{method}() returned {_kind(value)}; {EXPECTED}{about}")
    return tuple(_memory(entry, i, method, about) for i, entry in enumerate(value))


def _memory(entry: object, i: int, method: str, about: str) -> Memory:
    if isinstance(entry, str):
        return Memory(entry)

    def get(name: str) -> Any:
        return entry.get(name) if isinstance(entry, Mapping) else getattr(entry, name, None)

    text = next((found for name in TEXT_NAMES if (found := get(name)) is not None), None)
    if not isinstance(text, str):
        what = _kind(entry) if text is None else f"an entry whose text is {_kind(text)}"
        raise WrongTypeError(f"{method}() returned {what} at index {i}; {EXPECTED}{about}")
    identity, score, metadata = get("id"), get("score"), get("metadata")
    when = next((found for name in TIME_NAMES if (found := get(name)) is not None), None)
    return Memory(
        text,
        None if identity is None else str(identity),
        _score(score, i, method, about),
        when.isoformat() if isinstance(when, datetime) else None if when is None else str(when),
        {str(k): str(v) for k, v in metadata.items()} if isinstance(metadata, Mapping) else {},
    )


def _score(score: Any, i: int, method: str, about: str) -> float | None:
    if score is None:
        return None
    try:
        number = float(score)  # numpy's scalars too
    except (TypeError, ValueError, OverflowError):
        raise WrongTypeError(
            f"{method}() returned the score {one_line(repr(score), 40)} at index {i}; expected a number (higher is better) "
            f"or None{about}"
        ) from None
    return (
        number if math.isfinite(number) else None
    )  # as if the system gave none: it ranks nothing, and JSON has no such number


def _kind(value: object) -> str:
    name = type(value).__qualname__
    return name if value is None or name == "coroutine" else f"{name} {one_line(repr(value), 60)}"
