"""tools/count_lines.py counts code, and nothing that is written about it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("count_lines", Path(__file__).parents[2] / "tools" / "count_lines.py")
assert SPEC is not None
assert SPEC.loader is not None
count_lines = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(count_lines)

DOCUMENTED = '''\
"""A module."""

# a comment
import os  # and why


class A:
    """A class.

    With more to say.
    """

    name = "x"
    """An attribute."""

    def f(self):
        """A function."""
        # nothing else
        return """a text

        of three lines"""
'''


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("", 0),
        ("\n\n", 0),
        ("# only a comment\n", 0),
        ('"""Only a docstring."""\n', 0),
        ("x = 1\n", 1),
        ("x = (\n    1,  # one\n    # two\n\n    2,\n)\n", 4),
        ('x = """\n# text\n"""\n', 3),
        ("x = 1; y = 2\n", 1),
        ("x = 1 + \\\n    2\n", 2),
        ("def f(): 'a docstring'\n", 1),
        ("'''a docstring'''; x = 1\n", 1),
        (DOCUMENTED, 7),
    ],
)
def test_lines_of_code(source, lines):
    assert count_lines.count_lines(source) == lines


@pytest.fixture
def found(tmp_path):
    for name, lines in {"a/__init__.py": 3, "a/b/c.py": 4, "d.py": 5}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n" * lines)
    (tmp_path / "a" / "page.css").write_text("no Python\n")
    return count_lines.counts(tmp_path)


def test_files_are_counted_with_those_of_inner_folders(found):
    assert {path.as_posix(): lines for path, lines in found.items()} == {"a/__init__.py": 3, "a/b/c.py": 4, "d.py": 5}
    assert count_lines.of_folder(found, "a") == (7, 2)
    assert count_lines.of_folder(found, "a/b") == (4, 1)


@pytest.mark.parametrize(
    ("limits", "faults"),
    [
        ({"a": 7}, []),
        ({"a": 6}, ["a: got 7 lines, expected 6 at most"]),
        ({"a/b": 3}, ["a/b: got 4 lines, expected 3 at most"]),
        ({"e": 1}, ["e: no such folder, expected one of at most 1 lines"]),
    ],
)
def test_limits(found, limits, faults):
    assert count_lines.beyond(found, limits) == faults


def test_the_package_is_within_its_limits():
    package = count_lines.counts(count_lines.PACKAGE)
    assert all(count_lines.of_folder(package, folder) > (100, 1) for folder in count_lines.LIMITS)
    assert count_lines.beyond(package) == []


def test_the_command_says_which_limit_is_exceeded(found, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(count_lines, "PACKAGE", tmp_path)
    monkeypatch.setattr(count_lines, "LIMITS", {"a": 6})
    monkeypatch.setattr(count_lines.beyond, "__defaults__", ({"a": 6},))
    assert count_lines.main(["--files"]) == 0
    assert "a/b/c.py" in capsys.readouterr().out
    assert count_lines.main(["--limits"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "a: got 7 lines, expected 6 at most"
