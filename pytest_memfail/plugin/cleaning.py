"""What leaves through pytest: reports of items, lines on the terminal, warnings and logs, without secrets and control characters."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

from pytest_memfail.core import KNOWN, escape_controls, mask_known, mask_text

Clean = Callable[[str], str]


def clean_line(text: str) -> str:
    """Return a line of ours as a terminal may show it."""
    return escape_controls(mask_known(text))


class CleanTerminal:
    """pytest's terminal reporter, for lines of ours."""

    def __init__(self, reporter: Any) -> None:
        self._reporter = reporter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reporter, name)

    def write_line(self, line: str, **markup: Any) -> None:
        """Write one line."""
        self._reporter.write_line(clean_line(line), **markup)


def clean_report(report: Any, *, is_error: bool) -> None:
    """Clean what pytest and other plugins show of an item: its failure, the reason of a skip, what was captured.

    The text of an error may hold secrets that nobody has seen before, so it is searched for their shapes; in memories and in
    what programs print only known ones are masked. Colours stay: pytest and programs set them.
    """
    KNOWN.read_environment()

    def clean(text: str) -> str:
        return escape_controls(mask_text(text) if is_error else KNOWN.mask(text), keep_colour=True)

    report.longrepr = _cleaned(report.longrepr, clean, set())
    report.sections = [(name, escape_controls(KNOWN.mask(text), keep_colour=True)) for name, text in report.sections]
    if hasattr(report, "wasxfail"):
        report.wasxfail = clean(report.wasxfail)


def _cleaned(value: Any, clean: Clean, seen: set[int]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_cleaned(item, clean, seen) for item in value])
    if type(value).__module__.startswith("_pytest._code") and id(value) not in seen:  # pytest's view of an exception
        seen.add(id(value))
        for name, item in vars(value).items():
            setattr(value, name, _cleaned(item, clean, seen))
    return value


def clean_warning(warning: warnings.WarningMessage) -> None:
    """Clean the text of a warning before pytest counts and shows it."""
    said = str(warning.message)
    cleaned = escape_controls(mask_text(said, entropy=False), keep_colour=True)
    if cleaned == said:
        return
    if isinstance(warning.message, Warning):
        warning.message.args = (cleaned,)
    if str(warning.message) != cleaned:  # a class that says something of its own
        warning.message = UserWarning(cleaned)


def clean_record(record: logging.LogRecord) -> None:
    """Mask the known secrets of a log record that is about to be handled."""
    said = record.getMessage()
    if (masked := mask_known(said)) != said:
        record.msg, record.args = masked, None
