"""Read files of rows: CSV with JSON inside cells. Every fault has a file, a line, a field and an expectation."""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError

from pytest_memfail.core import RowError
from pytest_memfail.reading import digest, row_faults, slug
from pytest_memfail.suites.memfail.row_models import DatedMessage, DetailRow, Row

R = TypeVar("R", bound=Row)


@dataclass(frozen=True, slots=True)
class Rows(Generic[R]):
    """The rows of one file, each with its stable id and the 1-based line on which it starts."""

    path: Path
    sha256: str
    rows: tuple[R, ...]
    ids: tuple[str, ...]
    lines: tuple[int, ...]


def read_rows(path: Path, model: type[R], make_id: Callable[[R], str], make_key: Callable[[R], str]) -> Rows[R]:
    """Read and check a whole file.

    `make_id` returns the readable part of an id for rows without one. `make_key` returns the content that distinguishes
    rows with the same readable part. Ids never depend on positions. Raises `RowError` for the first fault, with the
    number of further faults.
    """
    rows, lines, errors = _read(path, model)
    if not errors:
        ids = row_ids(rows, make_id, make_key)
        for row_id, count in Counter(ids).items():
            if count > 1:
                again = [line for line, other in zip(lines, ids, strict=True) if other == row_id]
                errors.append(
                    RowError(
                        str(path),
                        again[1],
                        "id",
                        f"got {row_id!r} again (first at line {again[0]}), expected unique ids",
                    )
                )
    if errors:
        first, *more = sorted(errors, key=lambda error: error.line)
        if more:
            problem = f"{first.problem} (and {len(more)} more; `memfail validate {path.parent}` lists them)"
            raise RowError(first.file, first.line, first.field, problem)
        raise first
    sha = hashlib.sha256(path.read_bytes()).hexdigest()
    return Rows(path, sha, tuple(rows), tuple(ids), tuple(lines))


def single_row(path: Path, line: int, record: Mapping[str, Any], model: type[R]) -> Rows[R]:
    """Return a file with this record as its only row; the cells may be text or values.

    Raises `RowError` for its first fault.
    """
    cells = {name: "" if value is None else value for name, value in record.items()}
    try:
        row = model.model_validate(cells)
    except ValidationError as error:
        raise next(iter(row_faults(str(path), line, error, NESTED))) from None
    return Rows(path, digest(str(record), 64), (row,), (row.id or "row",), (line,))


def row_errors(path: Path, model: type[Row]) -> list[RowError]:
    """Return all faults of a file."""
    return _read(path, model)[2]


def _read(path: Path, model: type[R]) -> tuple[list[R], list[int], list[RowError]]:
    rows: list[R] = []
    lines: list[int] = []
    errors: list[RowError] = []
    file = str(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        return rows, lines, [RowError(file, line, "file", f"not UTF-8 ({error.reason} at byte {error.start})")]
    except OSError as error:
        return rows, lines, [RowError(file, 1, "file", f"cannot be read ({error.strerror})")]
    start = 1
    header: list[str] = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            if not header:
                header = cells
                errors += _missing_columns(file, header, model)
                if errors:
                    return rows, lines, errors
            elif cells:  # skip blank lines
                record = dict(zip(header, cells, strict=False))
                if len(cells) > len(header):
                    extra = len(cells) - len(header)
                    errors.append(RowError(file, start, "row", f"got {extra} more cells than the header has columns"))
                elif len(cells) < len(header):
                    missing = header[len(cells)]
                    errors.append(RowError(file, start, missing, "no cell: the row is shorter than the header"))
                else:
                    try:
                        rows.append(model.model_validate(record))
                        lines.append(start)
                    except ValidationError as error:
                        errors.extend(row_faults(file, start, error, NESTED))
            start = reader.line_num + 1
    except csv.Error as error:
        errors.append(RowError(file, start, "row", f"not CSV ({error})"))
    if not header:
        errors += _missing_columns(file, header, model)
    if not errors and not rows:
        errors.append(RowError(file, 1, "file", "has no rows"))
    return rows, lines, errors


def _missing_columns(file: str, header: Sequence[str], model: type[Row]) -> Iterable[RowError]:
    for name, info in model.model_fields.items():
        if info.is_required() and name not in header:
            yield RowError(file, 1, name, f"no such column; the file has: {', '.join(header) or 'none'}")


NESTED: Final = (*DetailRow.model_fields, *DatedMessage.model_fields)
"""The fields of values nested in a cell, which allow no other fields."""


def row_ids(rows: Sequence[R], make_id: Callable[[R], str], make_key: Callable[[R], str]) -> list[str]:
    """Return a stable id per row: its own, else a slug of its content (plus a digest if two slugs are equal)."""
    slugs = [row.id or slug(make_id(row)) for row in rows]
    counts = Counter(slugs)
    ids = []
    for row, name in zip(rows, slugs, strict=True):
        if row.id is None and counts[name] > 1:
            name = f"{name}-{digest(make_key(row), 6)}"
        ids.append(name)
    return ids
