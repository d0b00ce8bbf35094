"""Escape what foreign text must not contain where it is shown, sent or put into a prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

_CONTROLS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 except newline and tab, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # text direction
    "\u2028\u2029\ufff9-\ufffb"  # line and paragraph separators, interlinear annotations
    "\ud800-\udfff"  # lone surrogates, which cannot be encoded
    "\U000e0000-\U000e007f"  # tags: invisible text
)
_UNSAFE: Final = re.compile(f"[{_CONTROLS}]")
_UNSAFE_BUT_COLOUR: Final = re.compile(f"(\x1b\\[[0-9;]*m)|[{_CONTROLS}]")
_ENDS_A_LINE_OR_BLOCK: Final = re.compile("[<\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def escape_controls(text: str, *, keep_colour: bool = False) -> str:
    """Return the text with every control character escaped, except newlines and tabs.

    With `keep_colour`, colour sequences stay too, because programs colour their output.

    >>> escape_controls("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    if keep_colour:
        return _UNSAFE_BUT_COLOUR.sub(lambda found: found[1] or _written(found[0]), text)
    return _UNSAFE.sub(lambda found: _written(found[0]), text)


def _written(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def encodable(value: Any) -> Any:
    """Return plain data without lone surrogates, which no request, file or database accepts."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {name: encodable(inner) for name, inner in value.items()}
    return [encodable(inner) for inner in value] if isinstance(value, list) else value


def json_line(value: object) -> str:
    """Return the value as one line of JSON that cannot end the line or a `block`, nor break a request's encoding."""
    return _ENDS_A_LINE_OR_BLOCK.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(value, ensure_ascii=False))


def block(name: str, lines: Iterable[str]) -> str:
    """Return a marked block of a prompt; its lines are those of `json_line`."""
    return "\n".join((f"<{name}>", *lines, f"</{name}>"))
