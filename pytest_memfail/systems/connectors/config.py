"""What a memory's YAML file may say, one model a kind; the JSON schema for editors follows from them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, TypeAdapter, ValidationError

from pytest_memfail.core import UnknownNameError, UsageError, one_line, os_reason
from pytest_memfail.systems.connectors.templates import PLACES, check, with_environment

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


def _words(value: object) -> object:
    return value.split() if isinstance(value, str) else value


Command = Annotated[
    list[Annotated[str, Field(min_length=1)]],
    BeforeValidator(_words, json_schema_input_type=str | list[str]),
    Field(min_length=1),
]
"""A program and its arguments: a list, or a text that is split at blanks."""


class Part(BaseModel):
    """A mapping of the file, which has these keys and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Memory(Part):
    """What every kind has."""

    variables: ClassVar[dict[str, frozenset[str]]] = {}
    """The variables that the templates in each key may use."""
    secrets: ClassVar[tuple[str, ...]] = ()
    """Keys whose variables of the environment are secrets, whatever their names."""

    timeout: Annotated[Seconds, Field(description="Seconds that a call may take")] = 60.0
    calls_model: Annotated[
        bool,
        Field(description="false if storing costs nothing: a run with --memfail-limit then stores all conversations"),
    ] = True
    _file: Path = PrivateAttr()
    _digest: str = PrivateAttr()

    @property
    def file(self) -> Path:
        """The YAML file. Programs run in its folder."""
        return self._file

    def described(self, **more: str) -> dict[str, str]:
        """Return the description for the record: a digest of the file's content as it was read, and more."""
        return {"system": self._file.name, "config": self._digest, **more}


class FilesMemory(Memory):
    """A folder of text or Markdown."""

    variables = {"write": PLACES}

    kind: Literal["files"]
    write: Annotated[
        Command | None,
        Field(
            description="A program that gets each conversation as JSON on stdin and keeps the files of {folder}; "
            "without it each conversation becomes a Markdown file"
        ),
    ] = None
    glob: Annotated[str, Field(min_length=1, pattern="^[^/]", description="Which files are the memory")] = "**/*.md"
    entry: Annotated[Literal["file", "paragraph", "line"], Field(description="What one memory is")] = "paragraph"
    retrieve: Annotated[
        Literal["search", "first"],
        Field(description="search: the best entries for the words of the question (BM25); first: the first lines"),
    ] = "search"
    lines: Annotated[int, Field(ge=1, description="How many lines `retrieve: first` loads")] = 200


class CommandMemory(Memory):
    """A program that answers requests, one JSON object a line."""

    variables = {"command": PLACES, "env": PLACES}
    secrets = ("env",)

    kind: Literal["command"]
    command: Annotated[Command, Field(description="The program; it runs in the folder of this file")]
    env: Annotated[dict[str, str], Field(description="Variables of its environment")] = {}
    start_timeout: Annotated[Seconds, Field(description="Seconds until it answers `open`")] = 60.0
    concurrent_reads: Annotated[int, Field(ge=1, le=64, description="How many questions at once are safe")] = 1


KINDS: Final[dict[str, type[Memory]]] = {"files": FilesMemory, "command": CommandMemory}
AnyMemory = Annotated[FilesMemory | CommandMemory, Field(discriminator="kind")]


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of the files, for editors."""
    schema = TypeAdapter(AnyMemory).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A memory for pytest-memfail", **schema}


def read(path: Path) -> Memory:
    """Return what a YAML file says, with the environment's variables filled in.

    Raises `UsageError` with the file, the key, what was got and what is expected.
    """
    try:
        content = path.read_bytes()
        data = yaml.safe_load(content)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({os_reason(error)}); expected a YAML file that describes a memory"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not YAML: {one_line(error, 200)}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{path}: got {type(data).__name__}, expected a mapping with the key 'kind'")
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        if isinstance(kind, str):
            raise UnknownNameError(f"kind in {path}", kind, KINDS)
        raise UsageError(f"{path}: kind: got {kind!r}, expected one of {', '.join(KINDS)}")
    model = KINDS[kind]
    for key, known in model.variables.items():
        check(data.get(key), known, f"{path}: {key}")
    data = {key: with_environment(value, f"{path}: {key}", secret=key in model.secrets) for key, value in data.items()}
    try:
        memory = model.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"{path}: {_fault(error, model)}") from None
    memory._file, memory._digest = path.resolve(), hashlib.sha256(content).hexdigest()[:12]
    return memory


def _fault(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the first fault: its place, what was got, what is expected."""
    fault = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return _unknown(place, str(fault["loc"][-1]), sorted(_keys(model, fault["loc"][:-1])))
    if fault["type"] == "missing":
        return f"{place}: got nothing, expected a value"
    message = fault["msg"].removeprefix("Value error, ")
    expected = message.removeprefix("Input should be ").removeprefix("a valid ")
    return f"{place}: got {one_line(repr(fault['input']), 60)}, expected {expected[:1].lower()}{expected[1:]}"


def _unknown(place: str, got: str, known: Sequence[str]) -> str:
    close = get_close_matches(got, known, 1, cutoff=0.5)
    guess = f"; did you mean {close[0]!r}?" if close else "."
    return f"{place}: unknown key{guess} Known: {', '.join(known)}"


def _keys(model: type[BaseModel], path: Sequence[int | str]) -> set[str]:
    """Return the keys of the mapping at a path below a model."""
    for part in path:
        field = model.model_fields.get(str(part))
        inner = [] if field is None else [kind for kind in _kinds(field.annotation) if issubclass(kind, BaseModel)]
        if inner:
            model = inner[0]
    return set(model.model_fields)


def _kinds(annotation: Any) -> list[type]:
    """Return the classes within a type, such as those of a union."""
    if isinstance(annotation, type):
        return [annotation]
    return [kind for part in getattr(annotation, "__args__", ()) for kind in _kinds(part)]
