"""Control characters are escaped before they reach a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings, strategies as st

from pytest_memfail.core import (
    MemfailError,
    one_line,
)
from pytest_memfail.safety import (
    escape_controls,
)

FEW = settings(max_examples=60, deadline=None, database=None, derandomize=True)

ATTACKS = {
    "clipboard": ("\x1b]52;c;ZXZpbA==\x07", r"\x1b]52;c;ZXZpbA==\x07"),
    "title": ("\x1b]0;title\x1b\\", r"\x1b]0;title\x1b" + "\\"),
    "clear": ("\x1b[2J\x1b[H", r"\x1b[2J\x1b[H"),
    "link": ("\x1b]8;;http://e.example\x1b\\x", r"\x1b]8;;http://e.example\x1b" + "\\x"),
    "c1": ("\x9b2J\x9d0;t\x9c", r"\x9b2J\x9d0;t\x9c"),
    "bidi": ("\u202egpj.exe\u2066a\u2069\u200f", r"\u202egpj.exe\u2066a\u2069\u200f"),
    "lines": ("a\u2028b\rc\x7fd\x00", r"a\u2028b\x0dc\x7fd\x00"),
    "unseen": ("a\U000e0041b", r"a\U000e0041b"),
    "surrogate": ("a\ud83db", r"a\ud83db"),
}


@pytest.mark.parametrize(("text", "shown"), ATTACKS.values(), ids=ATTACKS)
def test_control_characters_are_escaped(text, shown):
    assert escape_controls(text) == shown


def test_newlines_tabs_and_emoji_stay():
    text = "a\tb\nc 👩\u200d🔧 ü 中"
    assert escape_controls(text) == text


def test_only_colours_are_kept_on_request():
    assert escape_controls("\x1b[1;31mred\x1b[0m \x1b[2J", keep_colour=True) == "\x1b[1;31mred\x1b[0m " + r"\x1b[2J"


@given(st.text())
@FEW
def test_no_terminal_control_is_left(text):
    left = {c for c in escape_controls(text) if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")}
    assert left <= {"\n", "\t"}
    assert escape_controls(escape_controls(text)) == escape_controls(text)


@given(st.text())
@FEW
def test_one_line_is_one_line_of_visible_text(text):
    shown = one_line(text, 40)
    assert len(shown) <= 40
    assert shown == " ".join(shown.split())
    assert escape_controls(shown) == shown


def test_an_error_of_ours_shows_no_control_characters():
    assert str(MemfailError("store \x1b[2J broke")) == r"store \x1b[2J broke"
