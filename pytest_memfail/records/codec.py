"""Turn dataclasses into JSON and back: each becomes an object with the same fields, converted by their types."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, ClassVar, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Line: TypeAlias = Mapping[str, Any]
"""A JSON object."""
T = TypeVar("T")
_FromJson: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A JSON object whose unknown fields are kept: another version of memfail may have written them."""

    __pydantic_config__: ClassVar[Any] = {"strict": True, "extra": "ignore"}
    sparse: ClassVar[bool] = False
    """Whether fields with their default value are left out of the JSON."""
    optional: ClassVar[frozenset[str]] = frozenset()
    """Fields that are left out if they have their default value, whatever `sparse` says."""

    extra: Line = field(default_factory=dict, repr=False)
    """Fields that this version does not know."""


@cache
def fields_of(kind: Any) -> dict[str, _FromJson | None]:
    """Return, for each field of a class, the function that converts its JSON value; None if no conversion is needed."""
    hints = get_type_hints(kind)
    found = {one.name: _reader(hints[one.name]) for one in fields(kind) if one.name != "extra"}
    return found | dict.fromkeys(getattr(kind, "interned", ()), _interned)


def _interned(text: Any) -> Any:
    return sys.intern(text) if type(text) is str else text


def _reader(hint: Any) -> _FromJson | None:
    if is_dataclass(hint):
        return partial(read, cast("type[Any]", hint))
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


def read(kind: type[T], value: Line) -> T:
    """Return a value of this class from its JSON.

    Raises `TypeError` if a field is missing.
    """
    readers = fields_of(cast("Any", kind))
    given = {
        name: item if (convert := readers[name]) is None else convert(item)
        for name, item in value.items()
        if name in readers
    }
    if issubclass(kind, Part) and len(given) < len(value):
        given["extra"] = {name: item for name, item in value.items() if name not in readers}
    return kind(**given)


@cache
def defaults_of(kind: Any) -> dict[str, Any]:
    """Return the JSON of each field's default value."""
    return {
        one.name: plain(one.default if one.default_factory is MISSING else one.default_factory())
        for one in fields(kind)
    }


def write(part: Any) -> dict[str, Any]:
    """Return a value as a JSON object, its unknown fields last."""
    kind: Any = type(part)
    found = {name: plain(getattr(part, name)) for name in (*getattr(kind, "derived", ()), *fields_of(kind))}
    if not isinstance(part, Part):
        return found
    if part.sparse or part.optional:
        defaults = defaults_of(kind)
        found = {
            name: value
            for name, value in found.items()
            if not (part.sparse or name in part.optional) or value != defaults[name]
        }
    return {**found, **part.extra}


def plain(value: Any) -> Any:
    """Return any value as plain JSON data."""
    if isinstance(value, (str, int, float, NoneType)):
        return value
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return write(value) if is_dataclass(value) else value
