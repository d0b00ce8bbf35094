"""Show the progress of a run, and keep the prints and logs of a question until its item runs.

Several questions are in flight at once, so their output is routed by context variable.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TextIO

from pytest_memfail.hosting import CURRENT, Captured
from pytest_memfail.running.journals import last_progress
from pytest_memfail.safety import escape_controls, mask_known

REPLAYED: Final = "memfail_replayed"
KEPT: Final = "memfail_kept"
REFRESH_SECONDS: Final = 0.25


# -- prints and logs of questions --------------------------------------------------------------------------------------


class _Route(logging.Filter):
    """Filter a log handler: keep the records of background questions until they are replayed."""

    def filter(self, record: logging.LogRecord) -> bool:
        captured = CURRENT.get()
        if captured is None or getattr(record, REPLAYED, False):
            return True
        if not getattr(record, KEPT, False):  # several handlers see the same record
            setattr(record, KEPT, True)
            captured.records.append(record)
        return False


class Routing:
    """Install and remove the routes of prints and logs."""

    def __init__(self) -> None:
        self._streams: list[TextIO] = []
        self._handlers: list[tuple[logging.Handler, _Route]] = []

    def start(self, handlers: Iterable[logging.Handler]) -> None:
        """Route these log handlers and the terminal's streams."""
        for handler in handlers:
            handler.addFilter(route := _Route())
            self._handlers.append((handler, route))
        self.route_streams()

    def route_streams(self) -> None:
        """Route the current `sys.stdout` and `sys.stderr`: pytest swaps two objects in and out."""
        for stream in (sys.stdout, sys.stderr):
            if any(stream is known for known in self._streams):
                continue
            try:
                stream.write = _routed(stream.write)  # type: ignore[method-assign]  # one object, not its class
            except AttributeError:
                continue  # a stream without settable attributes is not routed
            self._streams.append(stream)

    def stop(self) -> None:
        """Remove all routes."""
        for handler, route in self._handlers:
            handler.removeFilter(route)
        for stream in self._streams:
            try:
                del stream.write  # removes the instance's attribute, so the class's is used again
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
    """Write the prints and logs of a fill or a question while its item runs."""
    if captured.output:
        sys.stdout.write(mask_known(scrub("".join(captured.output))))
    for record in captured.records:
        setattr(record, REPLAYED, True)
        clean_record(record)
        logging.getLogger(record.name).handle(record)
    captured.output.clear()
    captured.records.clear()


def scrub(value: Any) -> Any:
    """Return plain data with lone surrogates escaped: models send them, and one of them ends an xdist worker."""
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


def clean_record(record: logging.LogRecord) -> None:
    """Mask the known secrets of a log record that is about to be handled."""
    said = record.getMessage()
    if (masked := mask_known(said)) != said:
        record.msg, record.args = masked, None


# -- progress ----------------------------------------------------------------------------------------------------------


class Progress:
    """Turn ticks into a line of text and show it."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._began: dict[str, float] = {}
        self._shown = 0.0

    def tick(self, store: str, done: int, total: int) -> None:
        """Show that `done` of `total` conversations are stored."""
        now = time.monotonic()
        began = self._began.setdefault(store, now)
        if done >= total:
            self._show("")
        elif now - self._shown >= REFRESH_SECONDS:
            self._shown = now
            rate = (done - 1) / (now - began) if now > began else 0.0
            left = f", {(total - done) / rate:.0f} s left" if rate else ""
            self._show(f"storing {store}: {done} of {total}{f' at {rate:.1f}/s' if rate else ''}{left}")


class TerminalLine:
    """A line below the cursor, which does not move: pytest's letters and its column count are not affected."""

    def __init__(self, fd: int | None, width: Callable[[], int] = lambda: 80) -> None:
        """`fd` is the terminal's, which this object closes; None without a terminal."""
        self._fd, self._width = fd, width
        self._shows = False

    @property
    def is_shown(self) -> bool:
        """Whether there is a terminal to write to."""
        return self._fd is not None

    def show(self, text: str) -> None:
        """Replace what is shown; the empty text removes it."""
        if self._fd is None:
            return
        if text:
            line = escape_controls(text)[: self._width() - 1]
            # down a line and up again makes room at the end of the screen, in the same column
            os.write(self._fd, f"\x1bD\x1bM\x1b7\x1b[B\r\x1b[K{line}\x1b8".encode())
        elif self._shows:
            os.write(self._fd, b"\x1b[J")
        self._shows = bool(text)

    def close(self) -> None:
        """Close the handle of the terminal."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class Watcher:
    """Show the progress from the workers' journals in an xdist controller."""

    def __init__(self, line: TerminalLine, folder: Path) -> None:
        self._line, self._folder = line, folder
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memfail-progress", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join(2)

    def _watch(self) -> None:
        before = ""
        while not self._stop.wait(REFRESH_SECONDS):
            text = " | ".join(part for part in last_progress(self._folder).values() if part)
            if text != before:
                self._line.show(text)
                before = text
