"""Read files of rows: CSV with JSON inside cells. Every fault has a file, a line, a field and an expectation."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError

from pytest_memfail.core import RowError, SuiteFault
from pytest_memfail.rows import Table, digest, read_table, row_faults, slug
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
    rows, lines, errors, _ = _read(path, model)
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


def row_faults_of(path: Path, model: type[Row]) -> tuple[list[RowError], list[RowError]]:
    """Return all faults of a file: those that stop a run, and those that do not."""
    _, _, errors, warnings = _read(path, model)
    return errors, warnings


def _read(path: Path, model: type[R]) -> tuple[list[R], list[int], list[RowError], list[RowError]]:
    rows: list[R] = []
    lines: list[int] = []
    table = read_table(path)
    if not (wrong := [*_missing_columns(table, model)] if table.header or not table.errors else []):
        for line, cells in table.rows:
            try:
                rows.append(model.model_validate(cells))
                lines.append(line)
            except ValidationError as error:
                table.errors += row_faults(table.file, line, error, NESTED)
    table.errors += wrong
    if not table.errors and not rows:
        table.errors.append(RowError(table.file, 1, "file", "has no rows"))
    return rows, lines, table.errors, table.warnings


def _missing_columns(table: Table, model: type[Row]) -> Iterable[RowError]:
    has = ", ".join(filter(None, table.header)) or "none"
    for name, info in model.model_fields.items():
        if info.is_required() and name not in table.header:
            yield RowError(table.file, 1, name, f"no such column; the file has: {has}")


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


def warn(rows: Rows[Any], line: int | None, field: str, message: str) -> SuiteFault:
    """Return a fault that does not stop a run."""
    return SuiteFault(str(rows.path), field, message, is_error=False, line=line)
