"""One fault of a folder of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pytest_memfail.tasks.rows import Rows


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: an error stops a run, a warning makes its numbers mean less."""

    severity: Literal["error", "warning"]
    file: str
    line: int | None
    field: str
    message: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.severity}: {self.field}: {self.message}"


def warn(rows: Rows[Any], line: int | None, field: str, message: str) -> Finding:
    """A fault that stops no run."""
    return Finding("warning", str(rows.path), line, field, message)
