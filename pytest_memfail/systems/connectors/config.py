"""Models of a memory's YAML file, one per kind; the JSON schema for editors is derived from them."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from pytest_memfail.core import (
    UnknownNameError,
    UsageError,
    one_line,
    os_reason,
)
from pytest_memfail.rows import HALF, YamlError, half_character, place_of, read_yaml
from pytest_memfail.safety import (
    learn_options,
)
from pytest_memfail.systems.connectors.templates import ASKED, LISTED, PLACES, STORED, check, with_environment

ADDRESS: Final = r"^https?://[^/\x00-\x20\x7f][^\x00-\x20\x7f]*$"
PATH: Final = r"^(/[^\x00-\x1f\x7f]*)?$"
WORD: Final = r"^[^\x00]*$"
VARIABLE: Final = r"^[^=\x00]+$"
HEADER: Final = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
HEADER_VALUE: Final = r"^[\t\x20-\x7e]*$"
Rewrites = Annotated[
    bool, Field(description="true if `search` gives other texts than `list`, such as summaries: they are not compared")
]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


def _words(value: object) -> object:
    if not isinstance(value, str):
        return value
    words = shlex.shlex(value, posix=True)
    words.whitespace_split, words.commenters, words.escape = True, "", ""  # a backslash separates folders on Windows
    try:
        return list(words)
    except ValueError:
        raise ValueError("a text whose quotes are closed, or a list") from None


Variables = dict[Annotated[str, Field(pattern=VARIABLE)], Annotated[str, Field(pattern=WORD)]]
"""Of the environment of a program."""
Headers = dict[Annotated[str, Field(pattern=HEADER)], Annotated[str, Field(pattern=HEADER_VALUE)]]
Command = Annotated[
    list[Annotated[str, Field(min_length=1, pattern=WORD)]],
    BeforeValidator(_words, json_schema_input_type=str | list[str]),
    Field(min_length=1),
]
"""A program and its arguments: a list, or a text to split at blanks outside quotes."""


def _path(value: str) -> str:
    import jmespath

    try:
        jmespath.compile(value)
    except jmespath.exceptions.JMESPathError as error:
        raise ValueError(f"a JMESPath ({one_line(error, 80)})") from None
    return value


def _expression(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"a regular expression ({error})") from None
    return value


def _glob(value: str) -> str:
    try:
        next(Path(__file__).glob(value), None)  # a file has no files: only the pattern is read
    except (ValueError, IndexError, NotImplementedError) as error:
        raise ValueError(f"a pattern of files, such as **/*.md ({one_line(error, 80)})") from None
    return value


def _address(value: str) -> str:
    try:
        urlsplit(value).port  # noqa: B018 - raises if it is none
    except ValueError as error:
        raise ValueError(f"an address ({one_line(error, 80)})") from None
    return value


def _plain(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError("what JSON can hold; put quotes around a date") from None
    return value


Address = Annotated[str, Field(pattern=ADDRESS), AfterValidator(_address)]
Path_ = Annotated[str, Field(min_length=1), AfterValidator(_path)]


class Part(BaseModel):
    """A mapping of the file; it allows no other keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Memory(Part):
    """The keys of every kind."""

    variables: ClassVar[dict[str, frozenset[str]]] = {}
    """The variables that the templates in each key may use."""
    secrets: ClassVar[tuple[str, ...]] = ()
    """Keys whose environment variables are secrets, whatever their names."""

    timeout: Annotated[Seconds, Field(description="Seconds that a call may take")] = 60.0
    calls_model: Annotated[
        bool,
        Field(description="false if storing costs nothing: a run with --memfail-limit then stores all conversations"),
    ] = True
    replay_ignore: Annotated[
        list[Annotated[str, Field(min_length=1)]],
        Field(description="What differs in its prompts from run to run, as for --memfail-replay-ignore"),
    ] = []
    _file: Path = PrivateAttr()
    _given: Path = PrivateAttr()
    _digest: str = PrivateAttr()

    @property
    def file(self) -> Path:
        """The YAML file. Programs run in its folder."""
        return self._file

    @property
    def given(self) -> Path:
        """The YAML file as the user named it, for errors."""
        return self._given

    def described(self, **more: str) -> dict[str, str]:
        """Return the description for the record, including a digest of the file's content."""
        return {"system": self._file.name, "config": self._digest, "mode": "direct", **more}


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
    glob: Annotated[
        str,
        Field(min_length=1, pattern=r"^[^/\x00][^\x00]*$", description="Which files are the memory"),
        AfterValidator(_glob),
    ] = "**/*.md"
    entry: Annotated[Literal["file", "paragraph", "line"], Field(description="What one memory is")] = "paragraph"
    retrieve: Annotated[
        Literal["search", "first"],
        Field(description="search: the best entries for the words of the question (BM25); first: the first lines"),
    ] = "search"
    lines: Annotated[int, Field(ge=1, description="How many lines `retrieve: first` loads")] = 200


class Settle(Part):
    """When a memory that stores in the background has settled: by a status or its listing, and then its search."""

    unchanged: Annotated[Seconds | None, Field(description="Seconds that the listing must stay the same")] = None
    done: Annotated[
        Path_ | None, Field(description="With a status call: true in its reply when everything is stored")
    ] = None
    timeout: Annotated[Seconds, Field(description="Seconds until waiting is an error")] = 120.0

    @model_validator(mode="after")
    def _one_way(self) -> Settle:
        if (self.unchanged is None) == (self.done is None) or (self.done is None) != (
            getattr(self, "call", None) is None
        ):
            raise ValueError("either `unchanged`, or `call` with `done`")
        return self


class CommandMemory(Memory):
    """A program that answers requests, one JSON object per line."""

    variables = {"command": PLACES, "env": PLACES}
    secrets = ("env",)

    kind: Literal["command"]
    command: Annotated[Command, Field(description="The program; it runs in the folder of this file")]
    env: Annotated[Variables, Field(description="Variables of its environment")] = {}
    start_timeout: Annotated[Seconds, Field(description="Seconds until it answers `open`")] = 60.0
    concurrent_reads: Annotated[int, Field(ge=1, le=64, description="How many questions at once are safe")] = 1
    search_rewrites: Rewrites = False
    settle: Settle | None = None


class Pick(Part):
    """Where a reply has the memories."""

    entries: Annotated[Path_, Field(description="The list of memories")] = "@"
    split: Annotated[
        Annotated[str, AfterValidator(_expression)] | None,
        Field(description="A regular expression that separates memories, where `entries` is a text"),
    ] = None
    text: Annotated[Path_, Field(description="The text, in an entry")] = "not_null(text, memory, content)"
    id: Path_ | None = "id"
    score: Annotated[Path_ | None, Field(description="Higher is better; null where lower is")] = "score"
    time: Path_ | None = "not_null(timestamp, created_at)"


class Pages(Part):
    """How to get the next page of a listing: by `cursor`, or until a page has fewer than `size` entries."""

    cursor: Annotated[Path_ | None, Field(description="Where a reply has the {cursor} of the next page")] = None
    size: Annotated[int | None, Field(ge=1, description="Entries of a full page; use {page} or {offset}")] = None
    first: Annotated[int, Field(ge=0, description="The number of the first {page}")] = 1

    @model_validator(mode="after")
    def _one_way(self) -> Pages:
        if (self.cursor is None) == (self.size is None):
            raise ValueError("one of `cursor` and `size`")
        return self


def _pick(value: object) -> object:
    return {"entries": value} if isinstance(value, str) else value


class Call(Part):
    """A call, and where its reply has the memories."""

    ok: Annotated[
        Path_ | None,
        Field(description="True in the reply of a call that worked, where a server reports errors as text"),
    ] = None
    pick: Annotated[Pick, BeforeValidator(_pick, json_schema_input_type=str | Pick)] = Pick()
    pages: Annotated[Pages | None, Field(description="For `list`: how to get the rest")] = None


class HttpCall(Call):
    """A request; its answer is JSON."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    path: Annotated[str, Field(pattern=PATH, description="After the address")] = ""
    query: dict[str, str | int | float | bool] = {}
    headers: Headers = {}
    body: Annotated[Any, Field(description="Sent as JSON"), AfterValidator(_plain)] = None


class McpCall(Call):
    """A call of a tool."""

    tool: Annotated[str, Field(min_length=1)]
    arguments: Annotated[dict[str, Any], AfterValidator(_plain)] = {}


CALLS: Final = ("open", "write", "search", "list", "close")


class HttpSettle(Settle):
    """Settling with a request for the status."""

    call: HttpCall | None = None


class McpSettle(Settle):
    """Settling with a tool for the status."""

    call: McpCall | None = None


class RemoteMemory(Memory):
    """The keys of a memory that is reached by calls."""

    variables = {
        "command": PLACES,
        "env": PLACES,
        "headers": PLACES,
        "url": PLACES,
        "open": PLACES,
        "settle": PLACES,
        "close": PLACES,
        "write": STORED,
        "search": ASKED,
        "list": LISTED,
    }
    secrets = ("env", "headers")

    each: Annotated[
        Literal["conversation", "message"],
        Field(description="Whether `write` is called for each conversation or message"),
    ] = "conversation"
    headers: Annotated[Headers, Field(description="Of every request")] = {}
    concurrent_reads: Annotated[int, Field(ge=1, le=64, description="How many questions at once are safe")] = 4
    search_rewrites: Rewrites = False

    @property
    def calls(self) -> dict[str, Any]:
        """The calls by their keys; those that the file leaves out are missing."""
        given = {key: getattr(self, "list_" if key == "list" else key) for key in CALLS}
        given["settle"] = getattr(self.__dict__.get("settle"), "call", None)
        return {key: call for key, call in given.items() if call is not None}

    @model_validator(mode="after")
    def _has_calls(self) -> RemoteMemory:
        if missing := [key for key in ("write", "search", "list") if key not in self.calls]:
            raise ValueError(f"the keys `write`, `search` and `list`; {missing[0]!r} is missing")
        return self


class HttpMemory(RemoteMemory):
    """A REST service."""

    kind: Literal["http"]
    url: Annotated[Address, Field(description="The service's address, before the paths")]
    open: Annotated[HttpCall | None, Field(description="Makes a store")] = None
    write: HttpCall
    search: HttpCall
    list_: Annotated[HttpCall, Field(alias="list")]
    close: Annotated[HttpCall | None, Field(description="Removes a store")] = None
    settle: HttpSettle | None = None


PRESETS: Final = Path(__file__).with_name("presets")


class McpMemory(RemoteMemory):
    """An MCP server: a command line (stdio) or an address (streamable HTTP)."""

    kind: Literal["mcp"]
    preset: Annotated[
        str | None,
        Field(
            description="A known server; other keys go before the preset's",
            json_schema_extra={"enum": [*sorted(path.stem for path in PRESETS.glob("*.yaml")), None]},
        ),
    ] = None
    command: Annotated[Command | None, Field(description="Starts the server, in the folder of this file")] = None
    url: Annotated[Address | None, Field(description="Where the server is")] = None
    env: Annotated[Variables, Field(description="Variables of the server's environment")] = {}
    start_timeout: Annotated[Seconds, Field(description="Seconds for the server to start and list its tools")] = 60.0
    open: McpCall | None = None
    write: McpCall | None = None
    search: McpCall | None = None
    list_: Annotated[McpCall | None, Field(alias="list")] = None
    close: McpCall | None = None
    settle: McpSettle | None = None

    @model_validator(mode="after")
    def _one_server(self) -> McpMemory:
        if (self.command is None) == (self.url is None):
            raise ValueError("one of `command` and `url`")
        return self


KINDS: Final[dict[str, type[Memory]]] = {
    "files": FilesMemory,
    "command": CommandMemory,
    "http": HttpMemory,
    "mcp": McpMemory,
}
AnyMemory = Annotated[FilesMemory | CommandMemory | HttpMemory | McpMemory, Field(discriminator="kind")]


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of the files, for editors."""
    schema = TypeAdapter(AnyMemory).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A memory for pytest-memfail", **schema}


def read(path: Path) -> Memory:
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
        documents = read_yaml(content)
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
    if isinstance(name := data.get("preset"), str) and model is McpMemory:
        data = {**_preset(name, path), **data}
    for key, known in model.variables.items():
        check(data.get(key), known, f"{path}: {key}")
    data = {key: with_environment(value, f"{path}: {key}", secret=key in model.secrets) for key, value in data.items()}
    learn_options(data)  # keys written into the file itself: headers, queries, fields of bodies
    try:
        memory = model.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"{path}: {_fault(error, model)}") from None
    memory._given, memory._file, memory._digest = path, path.resolve(), hashlib.sha256(content).hexdigest()[:12]
    return memory


def plain_folder(name: str) -> FilesMemory:
    """Return a memory of kind `files` without a YAML file."""
    memory = FilesMemory(kind="files")
    memory._given, memory._file, memory._digest = Path(name), Path(name), "built-in"
    return memory


def _preset(name: str, path: Path) -> dict[str, Any]:
    file = PRESETS / f"{name}.yaml"
    names = [known.stem for known in PRESETS.glob("*.yaml")]
    if name not in names:
        raise UnknownNameError(f"preset in {path}", name, names)
    found: Any = read_yaml(file.read_bytes())[0][1]
    return dict(found)


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
