"""Find the files of a user's own cases. Most runs have none, and do not load what reads them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

CUSTOM: Final = "custom"
"""The task of all cases."""
SUFFIX: Final = ".memfail.yaml"
SKIPPED: Final = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")
"""Folders that pytest does not search for tests by default."""


def is_case_file(path: Path) -> bool:
    """Return whether the path is a file of cases, by its name."""
    return path.name.endswith(SUFFIX) and path.is_file()


def find_custom(starts: Iterable[Path], skipped: Sequence[str] = SKIPPED) -> list[Path]:
    """Return the case files among these paths and below these folders.

    Does not enter the skipped folders or virtual environments.
    """
    found: set[Path] = set()
    for start in starts:
        if is_case_file(start):
            found.add(start)
        for folder, folders, names in os.walk(start):
            here = Path(folder)
            folders[:] = [
                name
                for name in folders
                if not any(fnmatch(name, pattern) for pattern in skipped) and not (here / name / "pyvenv.cfg").is_file()
            ]
            found.update(here / name for name in names if name.endswith(SUFFIX))
    # a file and a link to it count once
    return list({path.resolve(): path for path in sorted(found, reverse=True)}.values())[::-1]


def needed_files(selection: Iterable[Sequence[str]], patterns: Sequence[str]) -> list[Path] | None:
    """Return the files of cases that must be sound, because the selection names them; None if all are, because all cases run."""
    runs_all = not patterns or any(fnmatch(CUSTOM, pattern) for pattern in patterns)
    if runs_all and any(tuple(chosen) in ((), (CUSTOM,)) for chosen in selection):
        return None
    return [Path(chosen[0]) for chosen in selection if chosen and Path(chosen[0]).is_absolute()]
