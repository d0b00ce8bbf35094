"""Read the YAML file of a memory, and say what is wrong with it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from pytest_memfail.core import UnknownNameError, UsageError, one_line, os_reason
from pytest_memfail.rows import HALF, YamlError, half_character, place_of, read_yaml
from pytest_memfail.safety import learn_options
from pytest_memfail.systems.connectors.command import CommandMemory
from pytest_memfail.systems.connectors.config import ADDRESS, HEADER, HEADER_VALUE, PATH, VARIABLE, WORD, MemoryFile
from pytest_memfail.systems.connectors.files import FilesMemory
from pytest_memfail.systems.connectors.http_service import HttpMemory
from pytest_memfail.systems.connectors.mcp_server import McpMemory
from pytest_memfail.systems.connectors.templates import check, with_environment

KINDS: Final[dict[str, type[MemoryFile]]] = {
    "files": FilesMemory,
    "command": CommandMemory,
    "http": HttpMemory,
    "mcp": McpMemory,
}


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of the files, for editors."""
    kinds: Any = Annotated[reduce(or_, KINDS.values()), Field(discriminator="kind")]
    schema = TypeAdapter(kinds).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A memory for pytest-memfail", **schema}


def read(path: Path) -> MemoryFile:
    """Return the content of a YAML file, with environment variables filled in.

    Raises `UsageError` with the file, the key, what was got and what is expected.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({os_reason(error)}); expected a YAML file that describes a memory"
        ) from None
    try:
        documents = list(read_yaml(content))
    except YamlError as error:
        raise UsageError(f"{path}:{error.line}: {error.problem}") from None
    if len(documents) > 1:
        raise UsageError(f"{path}: got {len(documents)} documents (---), expected one mapping with the key 'kind'")
    data: Any = documents[0][1] if documents else None
    if not isinstance(data, dict):
        got = "nothing" if data is None else type(data).__name__
        raise UsageError(f"{path}: got {got}, expected a mapping with the key 'kind'")
    if (cut := half_character(data)) is not None:
        raise UsageError(f"{path}: {place_of(cut)}: {HALF}")
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        if isinstance(kind, str):
            raise UnknownNameError(f"kind in {path}", kind, KINDS)
        raise UsageError(
            f"{path}: kind: got {'nothing' if kind is None else repr(kind)}, expected one of {', '.join(KINDS)}"
        )
    model = KINDS[kind]
    data = model.completed(data, path)
    for key, known in model.variables.items():
        check(data.get(key), known, f"{path}: {key}")
    data = {key: with_environment(value, f"{path}: {key}", secret=key in model.secrets) for key, value in data.items()}
    learn_options(data)  # keys written into the file itself: headers, queries, fields of bodies
    try:
        memory = model.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"{path}: {_fault(error, model)}") from None
    memory.of_file(path, hashlib.sha256(content).hexdigest()[:12])
    return memory


SECRET_KEYS: Final = {key for kind in KINDS.values() for key in kind.secrets}
SHOULD: Final = "Input should be "
"""How pydantic's messages start when they say what is expected."""
SHAPES: Final = {
    ADDRESS: "an address that begins with http:// or https://",
    PATH: "a path that begins with /",
    r"^[^/\x00][^\x00]*$": "a pattern that does not begin with /",
    WORD: "a text without NUL",
    VARIABLE: "the name of a variable, without =",
    HEADER: "the name of a header",
    HEADER_VALUE: "a header's value on one line, of ASCII characters only",
}
"""What the patterns of texts mean."""


def _fault(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the first fault, preferring unknown keys: its place, what was got, what is expected."""
    faults = error.errors(include_url=False)
    # a missing key is often a misspelt one
    fault = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")
    place = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return _unknown(place, str(fault["loc"][-1]), sorted(_keys(model, fault["loc"][:-1])))
    if fault["type"] == "missing":
        return f"{place}: got nothing, expected a value"
    message = fault["msg"].removeprefix("Value error, ")
    message = SHAPES.get(fault.get("ctx", {}).get("pattern", ""), message)
    expected = re.sub(r"^a valid ([aeiou]?)", lambda m: f"an {m[1]}" if m[1] else "a ", message.removeprefix(SHOULD))
    expected = re.sub(r"^a dictionary( or instance of \w+)?", "a mapping", expected)
    if not place:  # a rule that concerns several keys
        return f"expected {message}"
    if SECRET_KEYS & set(fault["loc"][:-1]):  # the value may be a key
        return f"{place}: expected {expected}"
    return f"{place}: got {one_line(repr(fault['input']), 60)}, expected {expected[:1].lower()}{expected[1:]}"


def _unknown(place: str, got: str, known: Sequence[str]) -> str:
    close = get_close_matches(got, known, 1, cutoff=0.5)
    guess = f"; did you mean {close[0]!r}?" if close else "."
    return f"{place}: unknown key{guess} Known: {', '.join(known)}"


def _keys(model: type[BaseModel], path: Sequence[int | str]) -> set[str]:
    """Return the keys of the mapping at a path below a model."""
    for part in path:
        field = next((field for name, field in model.model_fields.items() if part in (name, field.alias)), None)
        inner = [] if field is None else [kind for kind in _kinds(field.annotation) if issubclass(kind, BaseModel)]
        if inner:
            model = inner[0]
    return {field.alias or name for name, field in model.model_fields.items()}


def _kinds(annotation: Any) -> list[type]:
    """Return the classes within a type, such as those of a union."""
    if isinstance(annotation, type):
        return [annotation]
    return [kind for part in getattr(annotation, "__args__", ()) for kind in _kinds(part)]
