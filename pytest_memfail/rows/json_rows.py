"""Read a JSON array, or a file with one JSON value per line, and check each row with a model."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_memfail.core import RowError, short
from pytest_memfail.rows.decoding import HALF, decoded, half_character, may_be_cut, read_bytes
from pytest_memfail.rows.faults import place_of, row_faults

M = TypeVar("M", bound=BaseModel)
BLOCK: Final = 1 << 20
"""Bytes that are read at once of a file whose rows are read one by one."""
LONGEST_ESCAPE: Final = 16
"""More characters than a number, word or escape of JSON that may be cut."""


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
            found = _checked(file, model, name, number, line, value, text[start:end], at, at + size)
            if isinstance(found, JsonRow):
                rows.append(found)
            else:
                faults += found
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


class RowStream(Generic[M]):
    """The rows of a file that holds a JSON array of objects, or one object: one in memory at a time."""

    def __init__(self, path: Path, model: type[M], name: str = "row") -> None:
        """Errors call a row `name`."""
        self.path, self.sha = path, ""
        """The SHA-256 of the file, once all rows are read."""
        self._model, self._name = model, name

    def __iter__(self) -> Iterator[JsonRow[M] | RowError]:
        """Yield each row, or its faults; a fault of the file ends the iteration."""
        file, number = str(self.path), 0
        try:
            with self.path.open("rb") as opened:
                window = _Window(opened)
                for number, (line, value, text, start, end) in enumerate(window.values(), 1):
                    found = _checked(file, self._model, self._name, number - 1, line, value, text, start, end)
                    yield from [found] if isinstance(found, JsonRow) else found
                self.sha = window.sha.hexdigest()
        except OSError as error:
            yield RowError(file, 1, "file", f"cannot be read ({error.strerror})")
        except UnicodeDecodeError as error:
            yield RowError(file, window.line, "file", f"not UTF-8 ({error.reason})")
        except RecursionError:
            yield RowError(file, window.line, "file", "not JSON (nested too deeply)")
        except json.JSONDecodeError as error:
            line, byte = window.where(error)
            yield RowError(file, line, "file", f"not JSON ({error.msg} at byte {byte})")
        except ValueError as error:
            yield RowError(file, 1, "file", str(error))
        else:
            if not number:
                yield RowError(file, 1, "file", f"has no {self._name}s")


class _Window:
    """The part of a file around the value that is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.sha, self.line = file, hashlib.sha256(), 1
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text, self._place, self._at, self._ended = "", 0, 0, False

    def values(self) -> Iterator[tuple[int, Any, str, int, int]]:
        """Yield each value with its line, its text and its place in bytes; raises `ValueError` for other content."""
        decoder = json.JSONDecoder()
        if self._next() == "{":
            yield self._value(decoder)
        elif self._next() != "[":
            raise ValueError("expected an array of objects, or one object")
        else:
            self._skip(1)
            while self._next() != "]":
                yield self._value(decoder)
                if self._next() == ",":
                    self._skip(1)
                elif self._next() != "]":
                    raise json.JSONDecodeError("Expecting ',' or ']'", self._text, self._place)
            self._skip(1)
        if self._next():
            raise json.JSONDecodeError("Extra data", self._text, self._place)

    def where(self, error: json.JSONDecodeError) -> tuple[int, int]:
        """Return the line and the byte of the file at which it is no JSON."""
        read = error.doc[self._place : error.pos]
        return self.line + read.count("\n"), self._at + len(read.encode())

    def _value(self, decoder: json.JSONDecoder) -> tuple[int, Any, str, int, int]:
        while True:
            try:
                value, end = decoder.raw_decode(self._text, self._place)
                break
            except json.JSONDecodeError as error:
                # a value that is cut by the end of the window may be whole in a larger one
                is_cut = error.msg.startswith("Unterminated") or error.pos > len(self._text) - LONGEST_ESCAPE
                if not is_cut or not self._read(max(BLOCK, len(self._text) - self._place)):
                    raise
        text, line, start = self._text[self._place : end], self.line, self._at
        self._skip(len(text))
        return line, value, text, start, self._at

    def _next(self) -> str:
        """Return the next character that is no blank; empty at the end of the file."""
        while True:
            place = _skip(self._text, self._place)
            self._skip(place - self._place)
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._read(BLOCK):
                return ""

    def _skip(self, number: int) -> None:
        text = self._text[self._place : self._place + number]
        self.line, self._at, self._place = (
            self.line + text.count("\n"),
            self._at + len(text.encode()),
            self._place + number,
        )

    def _read(self, size: int) -> bool:
        """Append more of the file, and drop what is behind; return whether there was more."""
        if self._ended:
            return False
        block = self._file.read(size)
        if not self._at and not self._text and block.startswith(codecs.BOM_UTF8):
            self._at = len(codecs.BOM_UTF8)
        self.sha.update(block)
        self._ended = not block
        self._text, self._place = self._text[self._place :] + self._decode(block, self._ended), 0
        return True


def _checked(
    file: str, model: type[M], name: str, number: int, line: int, value: Any, text: str, start: int, end: int
) -> JsonRow[M] | list[RowError]:
    """Return a value as a row, or its faults."""
    found: list[RowError] = []
    try:
        row = model.model_validate(value)
        if not (may_be_cut(text) and (cut := half_character(row.model_dump())) is not None):
            return JsonRow(row, line, start, end)
        found.append(RowError(file, line, place_of(cut), HALF))
    except ValidationError as error:
        found += row_faults(file, line, error)
    except RecursionError:
        found.append(RowError(file, line, "", "nested too deeply"))
    place = f"{name} {number}"
    return [RowError(file, line, f"{place}: {one.field}" if one.field else place, one.problem) for one in found]


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
