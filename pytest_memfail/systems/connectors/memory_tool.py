"""The memory tool: six commands over a folder of text files, which a model calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_memfail.systems.tool_loop import ToolFailedError, tool

ROOT: Final = "/memories"
TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "integer"}
COMMANDS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "view": ("Show a file with line numbers, or the files of a folder.", {"path": TEXT}),
    "create": ("Create a file, or replace all of it.", {"path": TEXT, "file_text": TEXT}),
    "str_replace": ("Replace a text that occurs once in a file.", {"path": TEXT, "old_str": TEXT, "new_str": TEXT}),
    "insert": (
        "Insert a text after a line; 0 is before the first.",
        {"path": TEXT, "insert_line": NUMBER, "insert_text": TEXT},
    ),
    "delete": ("Delete a file or folder.", {"path": TEXT}),
    "rename": ("Move a file or folder.", {"old_path": TEXT, "new_path": TEXT}),
}


def schemas() -> list[dict[str, Any]]:
    """Return the tools in the format of chat completions."""
    return [tool(name, f"{about} Paths begin with {ROOT}.", given) for name, (about, given) in COMMANDS.items()]


class MemoryFolder:
    """Executes the commands in one folder, and accesses nothing else."""

    def __init__(self, folder: Path) -> None:
        """Use an existing folder as the root of all paths."""
        self._folder = folder.resolve()

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Execute a command and return the reply for the model.

        Raises `ToolFailedError` for an unknown command, wrong arguments, and paths that do not exist or lead outside.
        """
        if name not in COMMANDS:
            raise ToolFailedError(f"no command {name!r}; expected {', '.join(COMMANDS)}")
        expected = COMMANDS[name][1]
        kinds = {"string": str, "integer": int}
        if set(arguments) != set(expected) or any(
            type(value) is not kinds[expected[key]["type"]] for key, value in arguments.items()
        ):
            wanted = ", ".join(f"{key} ({spec['type']})" for key, spec in expected.items())
            raise ToolFailedError(f"{name} got {', '.join(map(str, arguments)) or 'nothing'}; expected {wanted}")
        work: Callable[..., str] = getattr(self, f"_{name}")
        try:
            return work(**arguments)
        except (OSError, ValueError) as error:
            raise ToolFailedError(f"{name} failed: {type(error).__name__}") from None

    def _place(self, path: str) -> Path:
        if path != ROOT and not path.startswith(f"{ROOT}/"):
            raise ToolFailedError(f"got the path {path!r}; expected one that begins with {ROOT}/")
        place = (self._folder / path[len(ROOT) :].lstrip("/")).resolve()
        if not place.is_relative_to(self._folder):
            raise ToolFailedError(f"got the path {path!r}, which leads out of {ROOT}")
        return place

    def _file(self, path: str) -> tuple[Path, str]:
        place = self._place(path)
        if not place.is_file():
            raise ToolFailedError(f"there is no file {path!r}; view {ROOT} lists the existing files")
        return place, place.read_text(encoding="utf-8")

    def _view(self, path: str) -> str:
        place = self._place(path)
        if place.is_dir():
            names = sorted(file.relative_to(self._folder).as_posix() for file in place.rglob("*") if file.is_file())
            return "\n".join(f"{ROOT}/{name}" for name in names) or "the folder is empty"
        _, text = self._file(path)
        return "\n".join(f"{i}\t{line}" for i, line in enumerate(text.splitlines(), 1)) or "the file is empty"

    def _create(self, path: str, file_text: str) -> str:
        place = self._place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file_text.encode("utf-8", "replace"))
        return "ok"

    def _str_replace(self, path: str, old_str: str, new_str: str) -> str:
        place, text = self._file(path)
        if (times := text.count(old_str) if old_str else 0) != 1:
            raise ToolFailedError(f"old_str occurs {times} times in {path!r}; expected once")
        place.write_bytes(text.replace(old_str, new_str).encode("utf-8", "replace"))
        return "ok"

    def _insert(self, path: str, insert_line: int, insert_text: str) -> str:
        place, text = self._file(path)
        lines = text.splitlines()
        if not 0 <= insert_line <= len(lines):
            raise ToolFailedError(f"got line {insert_line}; expected 0 to {len(lines)}")
        lines[insert_line:insert_line] = insert_text.splitlines()
        place.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        return "ok"

    def _delete(self, path: str) -> str:
        place = self._place(path)
        if place == self._folder or not place.exists():
            raise ToolFailedError(f"there is nothing to delete at {path!r}")
        for inner in sorted(place.rglob("*"), reverse=True) if place.is_dir() else ():
            inner.rmdir() if inner.is_dir() else inner.unlink()
        place.rmdir() if place.is_dir() else place.unlink()
        return "ok"

    def _rename(self, old_path: str, new_path: str) -> str:
        old, new = self._place(old_path), self._place(new_path)
        if old == self._folder or not old.exists() or new.exists():
            raise ToolFailedError(
                f"cannot rename {old_path!r} to {new_path!r}; expected a path that exists and one that does not"
            )
        new.parent.mkdir(parents=True, exist_ok=True)
        old.rename(new)
        return "ok"
