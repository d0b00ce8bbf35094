"""The tools with which a model edits a list of notes; they cannot access anything else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_memfail.core import one_line
from pytest_memfail.systems.tool_loop import ToolFailedError, tool
from pytest_memfail.texts import word_set

WORDS: Final = {"type": "string", "description": "words of the lines to find; upper and lower case are the same"}
NUMBER: Final = {"type": "integer", "description": "the number of the line as read_memory shows it"}
TEXT: Final = {"type": "string", "description": "the note, on one line"}


SCHEMAS: Final = [
    tool("read_memory", "Show every line of the file with its number.", {}),
    tool("append_line", "Add a note at the end of the file.", {"text": TEXT}),
    tool("replace_line", "Put another note in the place of a line.", {"number": NUMBER, "text": TEXT}),
    tool("delete_line", "Remove a line; the others keep their numbers.", {"number": NUMBER}),
    tool("keep_nothing", "Say that nothing in this conversation is worth keeping.", {}),
]
"""The tools that edit, in the format of chat completions."""
READING: Final = [
    SCHEMAS[0],
    tool("read_lines", "Show the lines from one number to another.", {"first": NUMBER, "last": NUMBER}),
    tool("find_lines", "Show the lines that have any of these words.", {"words": WORDS}),
]
"""The tools that only read."""
PARAMETERS: Final = {
    tool["function"]["name"]: tool["function"]["parameters"]["properties"] for tool in (*SCHEMAS, *READING)
}
KINDS: Final[Mapping[str, type]] = {"string": str, "integer": int}


class Draft:
    """The notes during one conversation; line numbers stay the same until it ends."""

    def __init__(self, lines: list[str]) -> None:
        self._lines: list[str | None] = list(lines)
        self._tools: dict[str, Callable[..., str]] = {
            "read_memory": self._read,
            "append_line": self._append,
            "replace_line": self._replace,
            "delete_line": self._delete,
            "keep_nothing": lambda: "ok",
        }

    def lines(self) -> list[str]:
        """Return the remaining notes."""
        return [line for line in self._lines if line is not None]

    def call(self, name: str, arguments: str) -> str:
        """Execute a tool call and return the reply for the model.

        Raises `ToolFailedError` for an unknown tool, invalid arguments or a line that does not exist.
        """
        if name not in self._tools:
            raise ToolFailedError(f"no tool {one_line(name, 60)!r}; expected {', '.join(self._tools)}")
        return self._tools[name](**_checked(name, arguments))

    def _read(self) -> str:
        shown = [f"{number} {line}" for number, line in enumerate(self._lines, 1) if line is not None]
        return "\n".join(shown) or "the file is empty"

    def _append(self, text: str) -> str:
        self._lines.append(_note(text))
        return f"ok, line {len(self._lines)}"

    def _replace(self, number: int, text: str) -> str:
        self._lines[self._place(number)] = _note(text)
        return "ok"

    def _delete(self, number: int) -> str:
        self._lines[self._place(number)] = None
        return "ok"

    def _place(self, number: int) -> int:
        if not 1 <= number <= len(self._lines) or self._lines[number - 1] is None:
            raise ToolFailedError(f"no line {number}; read_memory shows the existing lines")
        return number - 1


class Reader:
    """The notes as the toolbox of a model that looks something up (`connectors.agent.Toolbox`)."""

    tools = READING

    def __init__(self, read: Callable[[], list[str]]) -> None:
        """`read` returns the notes that there are now."""
        self._read = read

    async def use(self, name: str, arguments: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        """Execute a call; return the numbered lines for the model, and the same as memories.

        Raises `ToolFailedError` for an unknown tool or invalid arguments.
        """
        if name not in [tool["function"]["name"] for tool in READING]:
            raise ToolFailedError(f"no tool {one_line(name, 60)!r}; expected one of those offered")
        lines = list(enumerate(self._read(), 1))
        given = _checked(name, json.dumps(arguments))
        if name == "read_lines":
            lines = lines[max(0, given["first"] - 1) : max(0, given["last"])]
        elif name == "find_lines":
            wanted = word_set(given["words"])
            lines = [(number, line) for number, line in lines if wanted & word_set(line)]
        shown = "\n".join(f"{number} {line}" for number, line in lines) or "no such line"
        return shown, [{"text": line, "id": str(number)} for number, line in lines]

    async def get_all_memories(self) -> list[dict[str, Any]]:
        """Return every line."""
        return [{"text": line, "id": str(number)} for number, line in enumerate(self._read(), 1)]

    async def close(self) -> None:
        """Do nothing: the file is not open."""

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return {"system": "md-file", "retrieve": "tools"}


def _note(text: str) -> str:
    """Return the text on one line, because each line is a note."""
    note = " ".join(text.split())
    if not note:
        raise ToolFailedError("the text is empty; to remove a line, call delete_line")
    return note


def _checked(name: str, arguments: str) -> dict[str, Any]:
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:  # RecursionError: brackets without end
        raise ToolFailedError(f"the arguments of {name} are not JSON: {error}") from None
    expected = PARAMETERS[name]
    if not isinstance(given, dict) or set(given) != set(expected):
        got = one_line(", ".join(given), 120) if isinstance(given, dict) else type(given).__name__
        raise ToolFailedError(f"{name} got {got or 'nothing'}; expected {', '.join(expected) or 'nothing'}")
    for key, value in given.items():
        kind = expected[key]["type"]
        if type(value) is not KINDS[kind]:  # a bool is an int, but not a line number
            raise ToolFailedError(
                f"{key} of {name} is {one_line(repr(value), 60)}; expected {'a whole number' if kind == 'integer' else 'a text'}"
            )
    return given
