"""What each process is doing, in a file of its own, so that after its death the cause can be named.

One event a line: `F`/`G store` a fill begins and ends, `S`/`E item` a question begins and ends, `P text` progress.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

from pytest_memfail.core import hold_lock, is_fresh, is_held

SUFFIX = ".journal"
DEATHS = "deaths"
"""A file that is there once a worker has died: before that nobody needs to read the others' journals."""


PREFIX = "memfail-journals-"
LOCK = "lock"


def new_folder() -> tuple[Path, int]:
    """Make a folder for the journals of a run in the temporary one; the handle holds it until it is closed.

    What killed runs of this user have left there is removed.
    """
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = hold_lock(folder / LOCK)
    for left in folder.parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            # without a lock it may be one that is being made
            over = not is_held(left / LOCK) if (left / LOCK).exists() else not is_fresh(left)
            if over and not left.is_symlink() and left.stat().st_uid == folder.stat().st_uid:
                shutil.rmtree(left, ignore_errors=True)
    return folder, lock


class FileJournal:
    """Appends to the file of this process. Plain writes: the operating system keeps them when the process dies."""

    def __init__(self, folder: Path, process: str) -> None:
        self._fd = os.open(folder / f"{process}{SUFFIX}", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def fill_started(self, store: str) -> None:
        """A store is being filled."""
        self._write("F", store)

    def fill_ended(self, store: str) -> None:
        """The fill came to an end, good or bad."""
        self._write("G", store)

    def question_started(self, key: str) -> None:
        """A question is in flight."""
        self._write("S", key)

    def question_ended(self, key: str) -> None:
        """It no longer is."""
        self._write("E", key)

    def progress(self, text: str) -> None:
        """What the user may want to see."""
        self._write("P", text)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _write(self, event: str, text: str) -> None:
        os.write(self._fd, f"{event} {text}\n".encode("utf-8", "replace"))


def in_flight(folder: Path, process: str) -> list[str]:
    """The questions that a process had begun and not ended, in the order they began."""
    flying: dict[str, None] = {}
    for event, text in _events(folder / f"{process}{SUFFIX}"):
        if event == "S":
            flying[text] = None
        elif event == "E":
            flying.pop(text, None)
    return list(flying)


def suspects(folder: Path, this_process: str) -> frozenset[str]:
    """The questions in flight in all other processes' journals.

    A live process's own are among them, which does no harm: its items are not run here.
    """
    return frozenset(
        key for process in _processes(folder) if process != this_process for key in in_flight(folder, process)
    )


def unfinished_fills(folder: Path, this_process: str) -> Counter[str]:
    """How often each store's fill was begun and not ended in other processes."""
    counts: Counter[str] = Counter()
    for process in _processes(folder):
        if process == this_process:
            continue
        filling: Counter[str] = Counter()
        for event, text in _events(folder / f"{process}{SUFFIX}"):
            if event == "F":
                filling[text] = 1
            elif event == "G":
                filling[text] = 0
        counts += filling
    return counts


def last_progress(folder: Path) -> dict[str, str]:
    """The last progress text of each process."""
    found = {}
    for process in _processes(folder):
        for event, text in _events(folder / f"{process}{SUFFIX}"):
            if event == "P":
                found[process] = text
    return found


def _processes(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}"))


def _events(path: Path) -> list[tuple[str, str]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:  # a process that has asked nothing, or runs on another machine
        return []
    return [(line[0], line[2:]) for line in text.splitlines() if len(line) > 2]
