"""Write and read the file of a record.

A record is JSON Lines: a header, one line per question and per store as they end, then a footer. The field `type` names
the kind of a line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from pytest_memfail.core import (
    ERROR,
    QuestionRecord,
    UsageError,
    check_place,
    first_problem,
    json_of,
    one_line,
    os_reason,
    replacing,
    write_all,
    write_whole,
)
from pytest_memfail.records.codec import KINDS, Record, from_json, to_text
from pytest_memfail.records.record import Line
from pytest_memfail.safety import public

DAMAGED: Final = "the record is damaged, or not of this version of memfail"

T = TypeVar("T")


# -- reading -----------------------------------------------------------------------------------------------------------


def read_record(path: Path) -> Iterator[Record]:
    """Yield the lines of a record; skip lines of unknown types and a last line cut short by a crash.

    Raises `UsageError` if the file is no record, or for the first line that cannot be read, naming its field.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as a record ({one_line(os_reason(error))})") from None
    if _header(path, "baseline") is not None:
        raise UsageError(f"{path}: is a baseline, not a record; give the record of the run (--memfail-record names it)")
    if _header(path) is None:
        raise UsageError(f"{path}: not a record of memfail: its first line is no header")
    lines = text.split("\n")
    for number, raw in enumerate(lines, 1):
        if not raw:
            continue
        try:
            line = line_of(raw)
        except ValueError:
            if number == len(lines):
                return
            raise UsageError(f"{path}:{number}: not JSON; the record is damaged") from None
        if not isinstance(line, dict):
            raise UsageError(f"{path}:{number}: got {type(line).__name__}, expected a JSON object")
        if (kind := KINDS.get(str(line.get("type")))) is not None:
            yield checked(kind, line, f"{path}:{number}")


def checked(kind: type[T], line: Line, where: str, advice: str = DAMAGED) -> T:
    """Return a line of a file as a value of this class.

    Raises `UsageError` naming the place and the field if the line is invalid.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        adapter = _ADAPTERS[kind]
    except KeyError:
        adapter = _ADAPTERS[kind] = TypeAdapter(kind)
    problem = ""
    try:
        # as JSON, because pydantic then takes a list for a tuple and guesses nothing else; a lone surrogate is no UTF-8
        adapter.validate_json(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace"), strict=True)
        if kind is QuestionRecord:
            problem = _lacks(line)
    except ValidationError as error:
        problem = ": ".join(filter(None, first_problem(error, [one.name for one in fields(cast("Any", kind))])))
    if problem:
        name = line.get("type", "verdict")
        raise UsageError(f"{where}: {one_line(f'{name}: {problem}')}; {advice}")
    return from_json(kind, line)


_ADAPTERS: Final[dict[Any, Any]] = {}
_JUDGED: Final = frozenset({"vacuous", "memory_held", "facts", "answer", "reply", "retrieved"})
"""The fields that a question with a verdict has."""


def _lacks(line: Line) -> str:
    """Return what a question's line lacks for its verdict; empty if it lacks nothing."""
    if line["verdict"] == ERROR:
        return "" if line.get("error") is not None else "an error without its field 'error'"
    absent = sorted(_JUDGED - line.keys()) or ["answer"] * (line["answer"] is None)
    return f"a verdict without {', '.join(map(repr, absent))}" if absent else ""


def line_of(raw: str) -> Any:
    """Return a line of a file without secrets that are known by now, and without numbers that JSON lacks.

    Raises `ValueError` if it is no JSON, or nested too deeply.
    """
    try:
        return public(json_of(raw))
    except RecursionError:  # it can be parsed, but not walked
        raise ValueError("nested too deeply") from None


def check_writable(path: Path, option: str = "--memfail-record", first: str = "header", what: str = "record") -> None:
    """Check that a record (or another file whose first line has the type `first`) can and may be written; write nothing.

    Raises `UsageError` if not.
    """
    check_place(path, option)
    if path.exists() and path.stat().st_size and _header(path, first) is None:
        raise UsageError(f"{option}: {path} exists and is not a {what} of memfail; it is left as it is")


def _header(path: Path, kind: str = "header") -> Line | None:
    try:
        with path.open(encoding="utf-8") as stream:
            first = json_of(stream.readline())
    except (ValueError, OSError):
        return None
    return first if isinstance(first, dict) and first.get("type") == kind and "schema_version" in first else None


# -- writing -----------------------------------------------------------------------------------------------------------


class RecordWriter:
    """Write a new record line by line, so that written lines survive the death of the process.

    A line that cannot be written (a full disk) is kept in memory and retried with the next one: the run goes on. `fault`
    holds the error until the lines are written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fault: OSError | None = None
        self._handle: int | None = None
        self._written = 0
        """Bytes of whole lines in the file."""
        self._waiting: list[bytes] = []

    def begin(self, records: Iterable[Record]) -> None:
        """Begin a record with these lines, all or none; an earlier file is replaced once they are on disk.

        So a resumed run never loses the results it takes over, however often it is killed.
        """
        self._begin([_bytes(record) for record in records])

    def _begin(self, content: list[bytes]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path) as handle:
                write_all(handle, b"".join(content))
            self._handle, self._written, self.fault = handle, sum(map(len, content)), None
        except OSError as error:
            self.fault, self._waiting = error, content

    def write(self, record: Record) -> None:
        """Write one line; the first begins the record."""
        if self._handle is None and not self._waiting:
            self.begin([record])
            return
        self._waiting.append(_bytes(record))
        self._catch_up()

    def content(self) -> bytes:
        """Return all lines of this record as they were written, even if its file has been removed or replaced since."""
        written = b"" if self._handle is None else _content(self._handle, self._written)
        return b"".join([written, *self._waiting])

    @property
    def is_removed(self) -> bool:
        """Whether the file that was begun is no longer there."""
        return self._handle is not None and not self.path.exists()

    @property
    def is_replaced(self) -> bool:
        """Whether another file has replaced the one that was begun."""
        if self._handle is None:
            return False
        try:
            return not os.path.samestat(os.fstat(self._handle), self.path.stat())
        except OSError:
            return False

    def restore(self) -> None:
        """Write the record anew if its file was removed or could not be written; `fault` holds the error if this fails."""
        if self.is_replaced or not (self.is_removed or self._waiting):
            return
        again = RecordWriter(self.path)
        again._begin([self.content()])
        self.fault = again.fault
        if again.fault is None:
            self.close()
            self._handle, self._written, self._waiting = again._handle, again._written, []

    def close(self) -> None:
        """Close the file, if anything was written."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _catch_up(self) -> None:
        if self._handle is None:
            return
        try:
            if self.fault is not None:
                os.ftruncate(self._handle, self._written)  # cut off the part of a line that did fit
                os.lseek(self._handle, self._written, os.SEEK_SET)
            while self._waiting:
                write_all(self._handle, self._waiting[0])
                self._written += len(self._waiting.pop(0))
            self.fault = None
        except OSError as error:
            self.fault = error


def write_record(path: Path, records: Iterable[Record]) -> None:
    """Write a whole record, or raise `OSError` with nothing changed."""
    write_whole(path, b"".join(map(_bytes, records)))


def _content(handle: int, size: int) -> bytes:
    """Return the first bytes of an open file without moving its position."""
    at = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        parts = []
        while size and (part := os.read(handle, min(size, 1 << 24))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
    finally:
        os.lseek(handle, at, os.SEEK_SET)


def _bytes(record: Record) -> bytes:
    return f"{to_text(record)}\n".encode("ascii")
