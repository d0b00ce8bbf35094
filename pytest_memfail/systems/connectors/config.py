"""What the models of all kinds share: types of values, and the keys of every memory."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr

from pytest_memfail.core import SystemContext, one_line

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


def _address(value: str) -> str:
    try:
        urlsplit(value).port  # noqa: B018 - raises if it is none
    except ValueError as error:
        raise ValueError(f"an address ({one_line(error, 80)})") from None
    return value


Address = Annotated[str, Field(pattern=ADDRESS), AfterValidator(_address)]
JmesPath = Annotated[str, Field(min_length=1), AfterValidator(_path)]


class Part(BaseModel):
    """A mapping of the file; it allows no other keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class MemoryFile(Part):
    """The keys of every kind. A kind is a subclass in a file of its own, which opens the systems that it describes."""

    settings: ClassVar[tuple[str, ...]] = ()
    """The options that `--memfail-system-option` may set."""
    programs: ClassVar[tuple[str, ...]] = ()
    """The keys that name a program of this machine."""

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

    @classmethod
    def completed(cls, data: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return the content of a file with the keys that it leaves to others. Raise `UsageError` if they are unknown."""
        return data

    def of_file(self, given: Path, digest: str) -> None:
        """Record the YAML file, as the user named it, and the digest of its content."""
        self._given, self._file, self._digest = given, given.resolve(), digest

    @property
    def file(self) -> Path:
        """The YAML file. Programs run in its folder."""
        return self._file

    @property
    def given(self) -> Path:
        """The YAML file as the user named it, for errors."""
        return self._given

    @property
    def may_call_model(self) -> bool:
        """Whether storing may cost money."""
        return self.calls_model

    async def opened(self, context: SystemContext) -> Any:
        """Return an empty, open system."""
        raise NotImplementedError

    def needs(self) -> Iterator[str]:
        """Yield what the memory needs and this machine lacks."""
        for key in self.programs:
            command: list[str] | None = getattr(self, key)
            # a program with a slash is relative to the file's folder
            if command and shutil.which(self._file.parent / command[0] if "/" in command[0] else command[0]) is None:
                yield f"{key}: got {command[0]!r}, expected an executable program; install it, or give its path"

    def described(self, **more: str) -> dict[str, str]:
        """Return the description for the record, including a digest of the file's content."""
        return {"system": self._file.name, "config": self._digest, "mode": "direct", **more}
