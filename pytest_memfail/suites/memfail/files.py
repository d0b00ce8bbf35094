"""Find the file of each task in a user's folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pytest_memfail.core import UsageError
from pytest_memfail.rows import read_table
from pytest_memfail.suites.memfail.row_models import MODELS

PUBLISHED: Final = "datasets"
"""The folder of the rows in a clone of the published repository."""
DEPTH: Final = 3
"""How many folders below that of the rows a file may be."""
MOST: Final = 0.5
"""A file with a larger share of the columns of a task is taken for its rows."""


def files_of_memfail(folder: Path) -> dict[str, Path]:
    """Return the file of each task that a user's folder has, in the order of the tasks.

    The files have the names of the tasks, or else those of the published repository, and then their columns tell them
    apart. They are in the folder, its subfolder `memfail`, or the subfolder `datasets` of either. Raises `UsageError` if
    two files may be the rows of a task.
    """
    homes = (folder, folder / "memfail")
    for place in (*homes, *(home / PUBLISHED for home in homes)):
        if named := files_by_name(place):
            return named
    for place in (*(home / PUBLISHED for home in homes), *reversed(homes)):
        if found := _files_by_columns(place):
            return found
    return {}


def files_by_name(folder: Path) -> dict[str, Path]:
    """Return the files in a folder that have the name of a task."""
    return {name: path for name in MODELS if (path := folder / f"{name}.csv").is_file()}


def _files_by_columns(folder: Path) -> dict[str, Path]:
    """Return the file of each task by its columns; ignore files of raw rows, which the published repository has too."""
    found: dict[str, Path] = {}
    paths = [path for depth in range(DEPTH + 1) for path in sorted(folder.glob("*/" * depth + "*.csv"))]
    for path in paths:
        inside = path.relative_to(folder).parts
        if "raw" in _words(path.stem) or any(part.startswith(".") for part in inside) or not path.is_file():
            continue
        header = set(read_table(path).header)
        shares = {name: len(needed & header) / len(needed) for name, needed in _NEEDED.items()}
        # a file that lacks a column is taken too, so that its reader reports the column
        fitting = [name for name, share in shares.items() if share == max(shares.values()) > MOST]
        names = fitting if len(fitting) < 2 else _by_words(fitting, (path.stem, *inside[-2::-1], folder.name))
        if len(names) > 1:
            words = " or ".join(repr(name.rpartition("_")[2]) for name in names)
            raise UsageError(f"{path} has the columns of {' and '.join(names)}, expected {words} in its name or folder")
        for name in names:
            if name in found:
                raise UsageError(f"got two files for {name}, {found[name]} and {path}; name the right one {name}.csv")
            found[name] = path
    return {name: found[name] for name in MODELS if name in found}


_NEEDED: Final = {
    name: {field for field, info in model.model_fields.items() if info.is_required()} for name, model in MODELS.items()
}


def _by_words(names: list[str], texts: tuple[str, ...]) -> list[str]:
    """Return the names whose last word, such as `easy`, is in the first text that has such a word; all if none has."""
    for text in texts:
        if named := [name for name in names if name.rpartition("_")[2] in _words(text)]:
            return named
    return names


def _words(text: str) -> set[str]:
    return set(re.split(r"[^a-z]+", text.casefold()))
