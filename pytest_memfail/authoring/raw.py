"""The raw file: every accepted item, one JSON object per line, from which an interrupted run continues."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_memfail.core import UsageError, check_regular, first_problem, json_of, one_line

FORMAT: Final = 1
M = TypeVar("M", bound=BaseModel)


class Raw:
    """The accepted items of each stage by key, written to a file as they come."""

    def __init__(self, path: Path, settings: Mapping[str, Any], *, replace: bool = False) -> None:
        """Read the existing file; writes nothing before the first item.

        Args:
            path: the file.
            settings: the settings that the items depend on; a file with other settings is refused.
            replace: start over if the settings differ.

        Raises `UsageError` for a file with other settings, or a damaged one.
        """
        self.path = path
        self._settings = {"memfail_generate": FORMAT, **settings}
        self._items: dict[str, dict[str, dict[str, Any]]] = {}
        self._file: IO[str] | None = None
        self._sound_bytes = 0
        check_regular(path, "--out")
        if path.is_file():
            self._read(replace)

    def __enter__(self) -> Raw:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def count(self, stage: str) -> int:
        """Return the number of items of a stage."""
        return len(self._items.get(stage, {}))

    def has(self, stage: str, key: str) -> bool:
        """Return whether the file has the item."""
        return key in self._items.get(stage, {})

    def get(self, stage: str, key: str, model: type[M]) -> M | None:
        """Return the item, or None.

        Raises `UsageError` if it does not fit the stage.
        """
        found = self._items.get(stage, {}).get(key)
        if found is None:
            return None
        try:
            return model.model_validate(found)
        except ValidationError as error:
            where, problem = first_problem(error, model.model_fields)
            raise UsageError(
                f"{self.path}: {stage} {key}: {where}: {problem}; correct the line, or remove it to request it again"
            ) from None

    def add(self, stage: str, key: str, item: BaseModel) -> None:
        """Write an accepted item at once."""
        content = item.model_dump(mode="json")
        self._items.setdefault(stage, {})[key] = content
        self._write({"stage": stage, "key": key, "item": content})

    def give_up(self, stage: str, key: str, reason: str) -> None:
        """Record an item that used up its tries; the next run requests it again."""
        self._write({"stage": stage, "key": key, "given_up": one_line(reason)})

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is None:
            self._file = self._opened()
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()  # items that were paid for must survive the process

    def _opened(self) -> IO[str]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._sound_bytes:
            with self.path.open("r+b") as damaged:  # an incomplete line of a killed run
                damaged.truncate(self._sound_bytes)
            return self.path.open("a", encoding="utf-8", newline="\n")
        file = self.path.open("w", encoding="utf-8", newline="\n")
        file.write(json.dumps(self._settings) + "\n")
        return file

    def _read(self, replace: bool) -> None:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be read ({error.strerror})") from None
        whole, _, _ = content.rpartition(b"\n")
        if not whole:
            return
        lines = whole.split(b"\n")
        settings = self._parsed(1, lines[0])
        if settings != self._settings:
            if replace:
                return
            differing = {key: value for key, value in settings.items() if self._settings.get(key) != value}
            raise UsageError(
                f"{self.path} belongs to a run with other settings: got {_shown(differing)}, expected "
                f"{_shown({key: self._settings.get(key) for key in differing})}; give another --out, or --force to start over"
            )
        for number, line in enumerate(lines[1:], 2):
            entry = self._parsed(number, line)
            if "item" in entry:
                self._items.setdefault(str(entry.get("stage")), {})[str(entry.get("key"))] = entry["item"]
        self._sound_bytes = len(whole) + 1

    def _parsed(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            entry = json_of(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict):
            raise UsageError(
                f"{self.path}:{number}: got {one_line(line[:60])}, expected a JSON object; remove the line"
            )
        return entry


def _shown(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value!r}" for key, value in settings.items()) or "none"
