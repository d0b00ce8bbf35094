"""Read CSV files, as programs and Excel save them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytest_memfail.core import RowError, counted
from pytest_memfail.rows.decoding import decoded, read_bytes

SEPARATORS: Final = (",", ";", "\t")
"""Excel saves semicolons where the comma is the decimal sign."""
SHOWN: Final = 5


@dataclass(slots=True)
class Table:
    """The rows of a file by column, and all faults that do not depend on what the columns mean."""

    file: str
    header: list[str] = field(default_factory=list)
    rows: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """The cells of each row by column, with the 1-based line on which the row starts."""
    errors: list[RowError] = field(default_factory=list)
    warnings: list[RowError] = field(default_factory=list)


def read_table(path: Path) -> Table:
    """Read a file with a header, separated by commas, semicolons or tabs; a line such as `sep=;` may come first.

    Rows and columns without any text are left out, with a warning for rows. Raises nothing: faults are in the table.
    """
    table = Table(str(path))
    try:
        text = decoded(table.file, read_bytes(path))
    except RowError as error:
        table.errors.append(error)
        return table
    first, line = text.partition("\n")[0].strip().strip('"'), 1
    if is_told := first.casefold().startswith("sep=") and len(first) == 5:
        text, line = text.partition("\n")[2], 2
    empty: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=first[4] if is_told else _separator(text), strict=True)
    start = line
    try:
        for cells in reader:
            if not table.header:
                table.header = _header(table, start, cells)
            elif any(map(str.strip, cells)):
                _add(table, start, cells)
            elif cells:  # a blank line has none
                empty.append(start)
            start = line + reader.line_num
    except csv.Error as error:
        table.errors.append(RowError(table.file, start, "row", f"not CSV ({error})"))
    if empty:
        shown = ", ".join(map(str, empty[:SHOWN])) + (", …" if len(empty) > SHOWN else "")
        problem = f"{counted(len(empty), 'row')} without any value left out (lines {shown})"
        table.warnings.append(RowError(table.file, empty[0], "row", problem))
    return table


def _separator(text: str) -> str:
    """Return the separator that gives the header most cells; the comma if none gives several."""
    header = text.lstrip("\r\n").partition("\n")[0][:10_000]
    return max(SEPARATORS, key=lambda one: len(next(csv.reader([header], delimiter=one), [])))


def _header(table: Table, line: int, cells: Sequence[str]) -> list[str]:
    """Return the names of the columns, without nameless columns at the end."""
    header = [name.strip() for name in cells]
    while header and not header[-1]:
        header.pop()
    for name in dict.fromkeys(header):
        if name and header.count(name) > 1:
            table.errors.append(RowError(table.file, line, name, "got this column twice, expected it once"))
    return header


def _add(table: Table, line: int, cells: Sequence[str]) -> None:
    width = len(table.header)
    if any(map(str.strip, cells[width:])):
        extra = len(cells) - width
        table.errors.append(RowError(table.file, line, "row", f"got {extra} more cells than the header has columns"))
    elif len(cells) < width:
        table.errors.append(
            RowError(table.file, line, table.header[len(cells)], "no cell: the row is shorter than the header")
        )
    else:
        table.rows.append((line, dict(zip(table.header, cells, strict=False))))
