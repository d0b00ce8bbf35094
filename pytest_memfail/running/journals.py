"""Journal what each process of a run is doing, to name the cause after a process dies."""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NoReturn

from pytest_memfail.core import hold_lock, is_fresh, is_held
from pytest_memfail.hosting import Journal

JOURNAL_SUFFIX: Final = ".journal"
DEATHS: Final = "deaths"
"""A file that exists once a worker has died; before that, no process needs to read the others' journals."""
JOURNALS_PREFIX: Final = "memfail-journals-"
JOURNALS_LOCK: Final = "lock"


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Make a temporary folder for the journals of a run, locked while it is used, and remove it at the end.

    Folders that killed runs of this user left behind are removed too.
    """
    folder = Path(tempfile.mkdtemp(prefix=JOURNALS_PREFIX))
    lock = hold_lock(unseen := folder / f"{JOURNALS_LOCK}.new")
    with suppress(OSError):  # Windows renames no open file; a folder without a lock is left alone for a day
        unseen.rename(folder / JOURNALS_LOCK)  # another run must not see the lock before it is held
    for left in folder.parent.glob(f"{JOURNALS_PREFIX}*"):
        with suppress(OSError):
            # a folder without a lock may be about to get one
            over = not is_held(left / JOURNALS_LOCK) if (left / JOURNALS_LOCK).exists() else not is_fresh(left)
            if over and not left.is_symlink() and left.stat().st_uid == folder.stat().st_uid:
                shutil.rmtree(left, ignore_errors=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def loud_exit(code: int) -> Iterator[None]:
    """While a memory system runs in this process, let its `os._exit(0)` end the run with this exit code and a cause.

    Otherwise a run without results passes. Processes that the system forks end as they like.
    """
    real, process = os._exit, os.getpid()
    stderr = os.dup(2)  # before pytest captures it

    def leave(status: int) -> NoReturn:
        if status == 0 and os.getpid() == process:
            where = "".join(traceback.format_stack(limit=2)[:1]).strip()
            os.write(stderr, f"\nmemfail: no trustworthy result: os._exit(0) ended the run: {where}\n".encode())
            status = code
        real(status)

    os._exit = leave
    try:
        yield
    finally:
        os._exit = real
        os.close(stderr)


class FileJournal(Journal):
    """Append events to the journal of this process. Plain writes survive the death of the process."""

    def __init__(self, folder: Path, process: str) -> None:
        self._fd = os.open(folder / f"{process}{JOURNAL_SUFFIX}", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def fill_started(self, store: str) -> None:
        """Record that the fill of a store started."""
        self._write("F", store)

    def fill_ended(self, store: str) -> None:
        """Record that the fill of a store ended, whether it succeeded or not."""
        self._write("G", store)

    def question_started(self, key: str) -> None:
        """Record that a question started."""
        self._write("S", key)

    def question_ended(self, key: str) -> None:
        """Record that a question ended."""
        self._write("E", key)

    def progress(self, text: str) -> None:
        """Record a progress text to show to the user."""
        self._write("P", text)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _write(self, event: str, text: str) -> None:
        os.write(self._fd, f"{event} {text}\n".encode("utf-8", "replace"))


def in_flight(folder: Path, process: str) -> list[str]:
    """Return the questions that a process began but did not end, in the order they began."""
    return _unended(folder, process, "S", "E")


def suspects_of(folder: Path, this_process: str) -> frozenset[str]:
    """Return the questions in flight in the journals of all other processes.

    This includes live processes, which does no harm: their items are not run here.
    """
    return frozenset(key for process in _others(folder, this_process) for key in in_flight(folder, process))


def unfinished_fills(folder: Path, this_process: str) -> Counter[str]:
    """Return, for each store, how many fills other processes started but did not end."""
    others = _others(folder, this_process)
    return Counter(store for process in others for store in _unended(folder, process, "F", "G"))


def _unended(folder: Path, process: str, begins: str, ends: str) -> list[str]:
    """Return the texts of the events of one kind that no later event of the other kind has ended."""
    found: dict[str, None] = {}
    for event, text in _events(folder / f"{process}{JOURNAL_SUFFIX}"):
        if event == begins:
            found[text] = None
        elif event == ends:
            found.pop(text, None)
    return list(found)


def _others(folder: Path, this_process: str) -> list[str]:
    return [process for process in _processes(folder) if process != this_process]


def last_progress(folder: Path) -> dict[str, str]:
    """Return the last progress text of each process."""
    found = {}
    for process in _processes(folder):
        for event, text in _events(folder / f"{process}{JOURNAL_SUFFIX}"):
            if event == "P":
                found[process] = text
    return found


def _processes(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(JOURNAL_SUFFIX) for path in folder.glob(f"*{JOURNAL_SUFFIX}"))


def _events(path: Path) -> list[tuple[str, str]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:  # the process has asked nothing, or runs on another machine
        return []
    return [(line[0], line[2:]) for line in text.splitlines() if len(line) > 2]
