"""A finding about a folder of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pytest_memfail.suites.memfail.rows import Rows


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: an error stops a run, a warning makes its numbers less meaningful."""

    severity: Literal["error", "warning"]
    file: str
    line: int | None
    field: str
    message: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.severity}: {self.field}: {self.message}"


def warn(rows: Rows[Any], line: int | None, field: str, message: str) -> Finding:
    """Return a finding that does not stop a run."""
    return Finding("warning", str(rows.path), line, field, message)
