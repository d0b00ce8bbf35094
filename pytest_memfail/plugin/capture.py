"""Prints and log records of background questions: kept with the question, shown with its item.

pytest captures by time, and several questions are in flight at once, so what they write is routed by context variable.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any, TextIO

import pytest

from pytest_memfail.core import mask_known
from pytest_memfail.engine import CURRENT, Captured
from pytest_memfail.plugin.cleaning import clean_record

REPLAYED = "memfail_replayed"
KEPT = "memfail_kept"


class _Route(logging.Filter):
    """On pytest's own handlers: keep a background question's record, let it pass when it is replayed."""

    def filter(self, record: logging.LogRecord) -> bool:
        captured = CURRENT.get()
        if captured is None or getattr(record, REPLAYED, False):
            return True
        if not getattr(record, KEPT, False):  # several handlers see the same record
            setattr(record, KEPT, True)
            captured.records.append(record)
        return False


class Routing:
    """Installs and removes the routes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._streams: list[TextIO] = []
        self._handlers: list[tuple[logging.Handler, _Route]] = []

    def start(self) -> None:
        """Route pytest's log handlers and the terminal's streams."""
        plugin = self._config.pluginmanager.get_plugin("logging-plugin")
        for name in ("caplog_handler", "report_handler", "log_cli_handler", "log_file_handler"):
            if (handler := getattr(plugin, name, None)) is not None:
                handler.addFilter(route := _Route())
                self._handlers.append((handler, route))
        self.route_streams()

    def route_streams(self) -> None:
        """Route what `sys.stdout` and `sys.stderr` are now: pytest swaps two objects in and out."""
        for stream in (sys.stdout, sys.stderr):
            if any(stream is known for known in self._streams):
                continue
            try:
                stream.write = _routed(stream.write)  # type: ignore[method-assign]  # one object, not its class
            except AttributeError:
                continue  # a stream that takes no attribute keeps its prints
            self._streams.append(stream)

    def stop(self) -> None:
        """Remove all routes."""
        for handler, route in self._handlers:
            handler.removeFilter(route)
        for stream in self._streams:
            try:
                del stream.write  # the instance's; the class's shows again
            except AttributeError:
                continue
        self._handlers.clear()
        self._streams.clear()


def _routed(write: Callable[[str], int]) -> Callable[[str], int]:
    def routed(text: str) -> int:
        captured = CURRENT.get()
        if captured is None:
            return write(text)
        captured.output.append(text)
        return len(text)

    return routed


def replay(captured: Captured) -> None:
    """Write what a question wrote, now that its item is at hand."""
    if captured.output:
        sys.stdout.write(mask_known(scrub("".join(captured.output))))
    for record in captured.records:
        setattr(record, REPLAYED, True)
        clean_record(record)
        logging.getLogger(record.name).handle(record)
    captured.output.clear()
    captured.records.clear()


def scrub(value: Any) -> Any:
    """The same plain data with lone surrogates escaped: one of them, which models do send, ends an xdist worker."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "backslashreplace").decode()
        return value
    if isinstance(value, dict):
        return {scrub(key): scrub(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(scrub, value))
    return value
