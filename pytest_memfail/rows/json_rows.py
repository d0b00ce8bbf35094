"""Read a JSON array, or a file with one JSON value per line, and check each row with a model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_memfail.core import RowError
from pytest_memfail.rows.decoding import HALF, decoded, half_character, may_be_cut, read_bytes
from pytest_memfail.rows.faults import place_of, row_faults, short

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class JsonRow(Generic[M]):
    """One row of a file, checked."""

    value: M
    line: int
    """The 1-based line on which it starts."""
    start: int = 0
    """The byte offset at which it starts; 0 in a file that is not JSON."""
    end: int = 0


def read_json_rows(path: Path, model: type[M], name: str = "row") -> tuple[list[JsonRow[M]], list[RowError], str]:
    """Return the rows, all faults, and the SHA-256 of the file; errors call a row `name`.

    A file that ends in `.jsonl` has one value per line; any other holds one array.
    """
    file, sha = str(path), ""
    try:
        content = read_bytes(path)
        sha = hashlib.sha256(content).hexdigest()
        text = decoded(file, content)
    except RowError as error:
        return [], [error], sha
    rows: list[JsonRow[M]] = []
    faults: list[RowError] = []
    try:
        at, place = len(content) - len(text.encode()), 0  # of a byte order mark
        for number, (line, value, start, end) in enumerate(_lines(text) if path.suffix == ".jsonl" else _array(text)):
            at += len(text[place:start].encode())
            size, place = len(text[start:end].encode()), end
            found: list[RowError] = []
            try:
                row = model.model_validate(value)
                if may_be_cut(text[start:end]) and (cut := half_character(row.model_dump())) is not None:
                    found.append(RowError(file, line, place_of(cut), HALF))
                else:
                    rows.append(JsonRow(row, line, at, at + size))
            except ValidationError as error:
                found += row_faults(file, line, error)
            except RecursionError:
                found.append(RowError(file, line, "", "nested too deeply"))
            for fault in found:
                field = f"{name} {number}: {fault.field}" if fault.field else f"{name} {number}"
                faults.append(RowError(file, line, field, fault.problem))
            at += size
    except json.JSONDecodeError as error:
        faults.append(RowError(file, error.lineno, "file", f"not JSON ({error.msg} at column {error.colno})"))
    except RecursionError:
        faults.append(RowError(file, 1, "file", "not JSON (nested too deeply)"))
    except ValueError as error:
        faults.append(RowError(file, 1, "file", str(error)))
    if not rows and not faults:
        faults.append(RowError(file, 1, "file", f"has no {name}s"))
    return rows, faults, sha


def read_row_again(path: Path, row: JsonRow[M]) -> Any:
    """Return the JSON value of a row, without reading the rest of its file.

    Raises `RowError` if the file has changed.
    """
    try:
        with path.open("rb") as file:
            file.seek(row.start)
            return json.loads(file.read(row.end - row.start))
    except (OSError, ValueError):
        raise RowError(str(path), row.line, "file", "has changed since it was read; start the run again") from None


def _lines(text: str) -> Iterator[tuple[int, Any, int, int]]:
    end = -1
    for number, line in enumerate(text.split("\n"), 1):
        start, end = end + 1, end + 1 + len(line)
        if line.strip():
            try:
                yield number, json.loads(line), start, end
            except json.JSONDecodeError as error:  # the error counts lines from the start of this value
                place = sum(len(other) + 1 for other in text.split("\n")[: number - 1]) + error.pos
                raise json.JSONDecodeError(error.msg, text, place) from None


def _array(text: str) -> Iterator[tuple[int, Any, int, int]]:
    """Yield the values of an array with their lines, starts and ends; raises `ValueError` for another value."""
    decoder = json.JSONDecoder()
    place = _skip(text, 0)
    if place >= len(text) or text[place] != "[":
        raise ValueError(f"got {short(json.loads(text))}, expected an array")
    place, line, counted = _skip(text, place + 1), 1, 0
    while place < len(text) and text[place] != "]":
        line, counted = line + text.count("\n", counted, place), place
        start = place
        value, place = decoder.raw_decode(text, place)
        yield line, value, start, place
        place = _skip(text, place)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
            if text[place : place + 1] != "]":
                continue
        elif text[place : place + 1] == "]":
            break
        raise json.JSONDecodeError("Expecting ',' or ']'", text, place)
    if place >= len(text):
        raise json.JSONDecodeError("Expecting ']'", text, len(text))
    if _skip(text, place + 1) < len(text):
        raise json.JSONDecodeError("Extra data", text, place + 1)


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n":
        place += 1
    return place
