"""Turn records into JSON and back, by the fields of their dataclasses. JSON is made only here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Final, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pytest_memfail.core import FactVerdict, Kept, Memory, QuestionRecord, Score, Session, StageResult, Told
from pytest_memfail.records.record import Footer, Gate, Header, Line, StoreRecord, SuiteRecord, TaskRecord
from pytest_memfail.safety import may_hold_secrets, public

T = TypeVar("T")
_FromJson: TypeAlias = Callable[[Any], Any]
Record: TypeAlias = Header | QuestionRecord | StoreRecord | Footer
KINDS: Final[dict[str, type[Record]]] = {
    "header": Header,
    "question": QuestionRecord,
    "store": StoreRecord,
    "footer": Footer,
}
R = TypeVar("R", Header, QuestionRecord, StoreRecord, Footer)
_TYPES: Final[dict[Any, str]] = {kind: name for name, kind in KINDS.items()}
_ALL: Final = frozenset[str]()
_SPARSE: Final[Mapping[Any, frozenset[str]]] = {
    Memory: _ALL,
    StageResult: _ALL,
    Told: _ALL,
    Score: _ALL,
    Session: _ALL,
    Kept: _ALL,
    FactVerdict: frozenset({"conversation", "kept", "is_distractor"}),
    QuestionRecord: frozenset(
        {"part", "cluster", "listing", "score", "weight", "must_not_use", "error", "repeats", "places"}
    ),
    StoreRecord: frozenset(
        {"history", "late", "model_calls", "doubts", "extracted", "sessions", "origins", "likely", "told"}
    ),
    TaskRecord: frozenset({"suite", "variant", "parts", "stands_alone"}),
    SuiteRecord: frozenset({"proxies"}),
    Header: frozenset({"suite", "suite_options", "sources", "extra"}),
    Footer: frozenset({"suites", "doubts", "reference", "clues"}),
}
"""Fields that are left out of the JSON if they have their default value; an empty set stands for all fields."""
_DERIVED: Final[Mapping[Any, tuple[str, ...]]] = {FactVerdict: ("decided_by", "missing"), Gate: ("outcome",)}
"""Properties that the JSON has too, for its readers."""
_IN_FOOTER: Final = ("reference_held", "reference_verdict")
"""Fields of questions that are not written with them: the footer has the reference."""
_WRITTEN: Final = object()


@dataclass(frozen=True, slots=True)
class _Shape:
    """How values of a class become a JSON object."""

    names: tuple[str, ...]
    values: Callable[[Any], tuple[Any, ...]]
    defaults: tuple[Any, ...]
    """The value with which a field is left out; `_WRITTEN` for a field that is always written."""


@cache
def _shape(kind: Any, *, sparse: bool) -> _Shape:
    """Return the shape of a class; with `sparse`, any field is left out if it has its default value."""
    left_out = _ALL if sparse else _SPARSE.get(kind)
    own, derived = {one.name: one for one in fields(kind) if one.name not in _IN_FOOTER}, _DERIVED.get(kind, ())
    # what a class adds to its base comes first: a line of the record begins with the id of the question
    inherited = [one.name for base in kind.__bases__ if is_dataclass(base) for one in fields(base)]
    names = (*derived, *(name for name in own if name not in inherited), *inherited)
    return _Shape(names, attrgetter(*names), tuple(_default(own.get(name), left_out) for name in names))


def _default(field: Any, left_out: frozenset[str] | None) -> Any:
    """Return the default value with which a field is left out."""
    if field is None or left_out is None or (left_out and field.name not in left_out):
        return _WRITTEN
    made = field.default if field.default_factory is MISSING else field.default_factory()
    return _WRITTEN if made is MISSING else made


def _object(value: Any) -> Any:
    """Return what `json` cannot write as something that it can: a dataclass as the values of its fields."""
    if is_dataclass(value):
        kind: Any = type(value)
        shape = _shape(kind, sparse=getattr(value, "error", None) is not None)
        pairs = zip(shape.names, shape.values(value), shape.defaults, strict=True)
        return {name: item for name, item, default in pairs if default is _WRITTEN or item != default}
    return dict(value) if isinstance(value, Mapping) else str(value)


_STRICT: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_object)
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), default=_object)
# both write ASCII: a lone surrogate of a model's reply is no UTF-8
_last: tuple[Any, str] = None, ""
"""The last record and its text: a record is looked through when it is made, and written soon after."""


def to_text(record: Record) -> str:
    """Return a record as one line of JSON, without known secrets and numbers that JSON lacks."""
    text, is_public = _encoded(record)
    return text if is_public else _STRICT.encode(public(json.loads(text)))


def without_secrets(record: R) -> R:
    """Return a record without known secrets and numbers that JSON lacks, such as a score that is not finite."""
    return record if _encoded(record)[1] else from_text(type(record), to_text(record))


def _encoded(record: Record) -> tuple[str, bool]:
    """Return a record as a line of JSON, and whether it may be written as it is."""
    global _last
    last, text = _last
    if record is not last:
        line = {"type": _TYPES[type(record)], **_object(record)}
        if isinstance(record, Header):
            line |= line.pop("extra", {})
        try:
            text = _STRICT.encode(line)
        except ValueError:  # a number that JSON lacks
            return _ENCODER.encode(line), False
        _last = record, text
    # most records hold none: to search one text is much faster than to mask each of its values
    return text, not may_hold_secrets(text)


def to_json(record: Record) -> dict[str, Any]:
    """Return a record as a JSON object."""
    return cast("dict[str, Any]", json.loads(to_text(record)))


def from_json(kind: type[T], line: Line) -> T:
    """Return a value of this class from a JSON object that was checked or that another process of this run wrote.

    Raises `TypeError` if a field is missing.
    """
    readers = _readers(cast("Any", kind))
    given = {
        name: item if (convert := readers[name]) is None else convert(item)
        for name, item in line.items()
        if name in readers
    }
    if kind is Header:
        given["extra"] = {name: item for name, item in line.items() if name not in readers and name != "type"}
    return kind(**given)


def from_text(kind: type[T], text: str) -> T:
    """Return a record from the text of another process of this run."""
    return from_json(kind, json.loads(text))


@cache
def _readers(kind: Any) -> dict[str, _FromJson | None]:
    """Return, for each field of a class, the function that converts its JSON value; None if no conversion is needed."""
    hints = get_type_hints(kind)
    found = {one.name: _reader(hints[one.name]) for one in fields(kind) if one.name != "extra"}
    # many questions show the same entry, and a run keeps all its questions in memory: keep each text once
    return found | ({"text": sys.intern} if kind is Memory else {})


def _reader(hint: Any) -> _FromJson | None:
    if is_dataclass(hint):
        return partial(from_json, cast("type[Any]", hint))
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return next((_optional(convert) for arg in args if arg is not NoneType and (convert := _reader(arg))), None)
    if origin is tuple:
        return _each(convert) if (convert := _reader(args[0])) else tuple
    if origin is Mapping and (convert := _reader(args[1])):
        return _each_value(convert)
    return None


def _optional(convert: _FromJson) -> _FromJson:
    return lambda value: None if value is None else convert(value)


def _each(convert: _FromJson) -> _FromJson:
    return lambda values: tuple(map(convert, values))


def _each_value(convert: _FromJson) -> _FromJson:
    return lambda values: {name: convert(value) for name, value in values.items()}
