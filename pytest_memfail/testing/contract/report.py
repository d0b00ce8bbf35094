"""The results of the checks, and their table."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

WIDTH: Final = 100
INDENT: Final = 4


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    name: str
    about: str
    """The property that is checked."""
    outcome: Literal["passed", "failed", "skipped"]
    reason: str = ""
    """One line: why it failed, or does not apply."""


@dataclass(frozen=True, slots=True)
class ContractReport:
    """The results of all checks; as a string, a table."""

    results: tuple[CheckResult, ...]

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """Return the failed checks."""
        return tuple(result for result in self.results if result.outcome == "failed")

    def outcome(self, name: str) -> str:
        """Return the outcome of the check with this name."""
        return next(result.outcome for result in self.results if result.name == name)

    def __str__(self) -> str:
        """Return the table: a row per check, reasons below those that did not pass, and the counts.

        Checks in a row that are skipped for one reason share a row.
        """
        lines = []
        for (outcome, reason), same in groupby(self.results, key=lambda result: (result.outcome, result.reason)):
            group = list(same)
            if outcome == "skipped" and len(group) > 1:
                lines += _wrapped(f"{outcome:<8} {', '.join(result.name for result in group)}", " " * 9)
                lines += _wrapped(reason, " " * INDENT, " " * INDENT)
                continue
            for result in group:
                lines.append(f"{outcome:<8} {result.name:<18} {result.about}")
                lines += _wrapped(reason, " " * INDENT, " " * INDENT)
        counts = {name: sum(r.outcome == name for r in self.results) for name in ("passed", "failed", "skipped")}
        return "\n".join([*lines, ", ".join(f"{count} {name}" for name, count in counts.items())])


def _wrapped(text: str, indent: str, first: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)


class ContractError(AssertionError):
    """A memory system violates the contract; the message is the table."""

    def __init__(self, report: ContractReport) -> None:
        names = ", ".join(result.name for result in report.failed)
        super().__init__(f"the memory system fails {names}\n{report}")
        self.report = report
