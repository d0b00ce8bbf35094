"""Read the text of a file, and find what in a value is no text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import RowError

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED: Final = re.compile(r"\\u[dD][89a-fA-F]")


def read_bytes(path: Path) -> bytes:
    """Return the content of a file. Raises `RowError` if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise RowError(str(path), 1, "file", f"cannot be read ({error.strerror})") from None


def decoded(file: str, content: bytes) -> str:
    """Return the text of a file, without a byte order mark. Raises `RowError` with the line that is no UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # the codec of this name counts from behind the mark
        line = error.object[: error.start].count(b"\n") + 1
        raise RowError(file, line, "file", f"not UTF-8 ({error.reason} at byte {error.start})") from None


def may_be_cut(text: str) -> bool:
    """Return whether the JSON or YAML in a text may hold half a character: a cheap test before `half_character`."""
    return _ESCAPED.search(text) is not None


def half_character(value: Any) -> tuple[int | str, ...] | None:
    """Return the path to the first text of a value with half a character (a lone surrogate); None if there is none.

    Programs that cut texts between the two halves of an emoji write them, and no file, database or request accepts them.
    """
    rest: list[tuple[tuple[int | str, ...], Any]] = [((), value)]
    seen: set[int] = set()
    while rest:
        place, one = rest.pop()
        if isinstance(one, str):
            if _SURROGATE.search(one):
                return place
        elif id(one) in seen:  # YAML can name one value in many places
            continue
        elif isinstance(one, dict):
            seen.add(id(one))
            for name, held in reversed(one.items()):
                if isinstance(name, str) and _SURROGATE.search(name):
                    return (*place, name)
                rest.append(((*place, name), held))
        elif isinstance(one, list | tuple):
            seen.add(id(one))
            rest.extend(((*place, at), held) for at, held in reversed(list(enumerate(one))))
    return None


HALF: Final = "got half a character (a lone surrogate, as of a cut emoji), expected whole characters"


def whole(text: str) -> str:
    """Return a text with a replacement character for each half of a character."""
    return _SURROGATE.sub("\ufffd", text)
