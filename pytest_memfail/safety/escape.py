"""Escape control characters, so that foreign text cannot control a terminal or reorder a line."""

from __future__ import annotations

import re
from typing import Final

_CONTROLS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 except newline and tab, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # text direction
    "\u2028\u2029\ufff9-\ufffb"  # line and paragraph separators, interlinear annotations
    "\ud800-\udfff"  # lone surrogates, which cannot be encoded
    "\U000e0000-\U000e007f"  # tags: invisible text
)
_UNSAFE: Final = re.compile(f"[{_CONTROLS}]")
_UNSAFE_BUT_COLOUR: Final = re.compile(f"(\x1b\\[[0-9;]*m)|[{_CONTROLS}]")


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
