"""How far the filling of stores is: right of pytest's own progress on a terminal, and nowhere else."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from pytest_memfail.core import escape_controls
from pytest_memfail.plugin.journal import last_progress

REFRESH_SECONDS: Final = 0.25


class Progress:
    """Turns ticks into a line of text and shows it."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._began: dict[str, float] = {}
        self._shown = 0.0

    def tick(self, store: str, done: int, total: int) -> None:
        """`done` of `total` conversations are stored."""
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
    """A text behind the cursor, which stays where it is: pytest's own column counting never sees it."""

    def __init__(self, config: pytest.Config) -> None:
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        self._writer = getattr(reporter, "_tw", None)
        self._fd: int | None = None
        if reporter is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
            # capture is suspended while a session starts, so this is the terminal and not pytest's capture file
            self._fd = os.dup(sys.stdout.fileno())

    @property
    def is_shown(self) -> bool:
        """Whether there is a terminal to write to."""
        return self._fd is not None

    def show(self, text: str) -> None:
        """Replace what is shown; the empty text removes it."""
        if self._fd is None:
            return
        room = 40
        if self._writer is not None:
            room = max(0, self._writer.fullwidth - self._writer.width_of_current_line - 2)
        if text:
            text = escape_controls(text)
            os.write(self._fd, f"\x1b7 {text[:room]}\x1b[K\x1b8".encode())
        else:
            os.write(self._fd, b"\x1b[K")

    def close(self) -> None:
        """Let go of the terminal."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class Watcher:
    """In an xdist controller: shows what the workers' journals say."""

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
