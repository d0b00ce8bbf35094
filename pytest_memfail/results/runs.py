"""The kept runs: a folder for each, listed, found by name, gone on with, and pruned.

runs/20260728-101530-123456-3fa9/
    run.json        what the run is of, and what it came to
    record.jsonl    its record
    lock            held by its process as long as it goes on
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import ERROR, UsageError, hold_lock, is_fresh, is_held, public, write_whole
from pytest_memfail.results.kept import SAME, differences
from pytest_memfail.results.record import Line, read_record

FORMAT: Final = 1
RECORD: Final = "record.jsonl"
ENTRY: Final = "run.json"
LOCK: Final = "lock"
MAKING: Final = ".making-"
GOING: Final = ".going-"
KEEP: Final = 20
"""How many runs are kept."""

RUNNING: Final = "running"
FINISHED: Final = "finished"
INTERRUPTED: Final = "interrupted"

LAST: Final = "last"
NEWEST: Final = "newest"

SETTINGS: Final = tuple(name for name in SAME if name not in ("schema_version", "memfail"))
"""Fields of the header that two runs of the same system and settings agree in."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run as its folder tells of it."""

    folder: Path
    header: Line
    state: str
    """`running`, `finished`, or `interrupted`: killed, stopped early, or with results that got lost."""
    whole: bool
    """Whether every question that its options select has a result."""
    questions: int
    """How many questions its options select."""
    verdicts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By task and node id; of a run that goes on there are none yet."""
    exit_code: int | None = None
    held_back: str | None = None
    """A whole record (--memfail-record) that this run replaces only if it is whole itself."""

    @property
    def id(self) -> str:
        """Its name: the time it began at, and what tells it from another of the same moment."""
        return self.folder.name

    @property
    def record(self) -> Path:
        """Its record."""
        return self.folder / RECORD

    @property
    def results(self) -> int:
        """How many questions have a result."""
        return sum(map(len, self.verdicts.values()))

    @property
    def errors(self) -> int:
        """How many of them are errors."""
        return sum(verdict == ERROR for found in self.verdicts.values() for verdict in found.values())


class RunFolder:
    """The folder of a run that goes on; nobody prunes it before it is closed or its process has died."""

    def __init__(self, folder: Path, lock: int, entry: dict[str, Any]) -> None:
        self.path, self._lock, self._entry = folder, lock, entry

    @classmethod
    def create(cls, runs: Path, header: Line, *, questions: int, held_back: Path | None = None) -> RunFolder:
        """Make a folder for a run that begins, and prune what is too old. Raises `OSError`."""
        now = datetime.now(timezone.utc)
        name = f"{now:%Y%m%d-%H%M%S-%f}-{uuid.uuid4().hex[:4]}"
        entry = {
            "format": FORMAT,
            "header": header,
            "state": RUNNING,
            "questions": questions,
            "held_back": None if held_back is None else str(held_back),
        }
        # it appears locked and with its entry, so that nobody takes it for one that was left behind
        making = runs / f"{MAKING}{name}"
        making.mkdir(mode=0o700, parents=True)
        try:
            lock = hold_lock(making / LOCK)
            write_whole(making / ENTRY, _text(entry))
            folder = making.rename(runs / name)
        except BaseException:
            shutil.rmtree(making, ignore_errors=True)
            raise
        prune(runs)
        return cls(folder, lock, entry)

    @property
    def record(self) -> Path:
        """Where its record is written."""
        return self.path / RECORD

    def end(self, *, interrupted: bool, whole: bool, exit_code: int, verdicts: Mapping[str, Mapping[str, str]]) -> None:
        """Note what the run came to. Raises `OSError`."""
        state = INTERRUPTED if interrupted else FINISHED
        entry = {**self._entry, "state": state, "whole": whole, "exit_code": exit_code, "verdicts": verdicts}
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)  # somebody may have emptied the cache
        write_whole(self.path / ENTRY, _text(entry))

    def discard(self) -> None:
        """Remove it: the run had no result."""
        shutil.rmtree(self.path, ignore_errors=True)
        for folder in (self.path.parent, self.path.parent.parent):
            with suppress(OSError):  # others are in it
                folder.rmdir()

    def close(self) -> None:
        """Let it go: the run is over."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def kept_runs(runs: Path) -> list[KeptRun]:
    """List the runs of a folder, oldest first; what is no run, or cannot be read, is left out."""
    try:
        names = sorted(path.name for path in runs.iterdir() if not path.name.startswith("."))
    except OSError:
        return []
    return [found for name in names if (found := _read(runs / name)) is not None]


def prune(runs: Path, keep: int = KEEP) -> None:
    """Remove the oldest runs but so many; never the newest whole run, nor one that goes on."""
    found = kept_runs(runs)
    last = next((run for run in reversed(found) if run.whole), None)
    newest = [run for run in reversed(found) if run is not last][: keep - (last is not None)]
    for run in found:
        if run is not last and run not in newest:
            _unless_held(run.folder, lambda folder: _remove(folder, runs))
        elif run.state == INTERRUPTED:
            _unless_held(run.folder, _settle)
    for path in [*runs.glob(f"{MAKING}*"), *runs.glob(f"{GOING}*")]:  # of a process that died over it
        if not is_fresh(path):
            shutil.rmtree(path, ignore_errors=True)


def find_run(runs: Path, name: str) -> KeptRun:
    """Find a run: `last` whole one, `newest` of any kind, or by a part of its id that no other has.

    Raises `UsageError` that says which there are.
    """
    found = kept_runs(runs)
    if name == LAST:
        matching = [run for run in found if run.whole and run.state != RUNNING][-1:]
    elif name == NEWEST:
        matching = found[-1:]
    else:
        matching = [run for run in found if name in run.id]
    if len(matching) == 1:
        return matching[0]
    if not found:
        raise UsageError(f"no run is kept in {runs}; run the benchmark first, or give the file of a record")
    if matching:
        raise UsageError(
            f"several runs are called {name!r}: {', '.join(run.id for run in matching)}; give more of the id"
        )
    if name == LAST:
        raise UsageError(
            f"no whole run is kept, only partial ones; `{NEWEST}` is {found[-1].id}, `memfail show` lists all"
        )
    raise UsageError(
        f"no file and no kept run is called {name!r}; give {LAST}, {NEWEST}, a part of an id that `memfail show` lists, "
        "or the file of a record"
    )


def same_settings(one: Line, other: Line) -> bool:
    """Whether the runs of two headers tested the same system with the same settings."""
    return all(one.get(name) == other.get(name) for name in SETTINGS)


def latest_verdicts(runs: Iterable[KeptRun], header: Line) -> dict[str, str]:
    """The latest verdict of each question, by node id, over the runs of the same system, settings and rows."""
    header = json.loads(json.dumps(header, default=str))
    tasks = header.get("tasks", {})
    latest: dict[str, str] = {}
    for run in runs:
        if same_settings(run.header, header):
            for task, verdicts in run.verdicts.items():
                if _hash_of(run.header, task) == _hash_of(header, task) and task in tasks:
                    latest.update(verdicts)
    return latest


def resumable(runs: Sequence[KeptRun], header: Line) -> tuple[KeptRun | None, str]:
    """The newest run with the options of this header that did not end, or that is whole; else None and why there is none.

    A whole run comes before an older one that did not end: what is missing there was asked since.
    """
    header = json.loads(json.dumps(header, default=str))
    why = "no earlier run is kept"
    for run in reversed(runs):
        if run.state == RUNNING or not (run.whole or run.state == INTERRUPTED):
            continue
        other = next(options_differ(run.header, header), None)
        if other is None:
            return run, ""
        if why == "no earlier run is kept":
            name, before, now = other
            why = f"no unfinished run of these options is kept ({run.id} differs: {name} was {before!r}, is {now!r})"
    return None, why


def options_differ(old: Line, new: Line) -> Iterator[tuple[str, Any, Any]]:
    """Yield field, old and new value of each option that decides what is asked, or what a verdict means."""
    yield from differences(old, new)
    if old.get("shard") != new.get("shard"):
        yield "shard", old.get("shard"), new.get("shard")


def _hash_of(header: Line, task: str) -> Any:
    found = header.get("tasks", {}).get(task)
    return found.get("data_hash") if isinstance(found, dict) else None


def _text(entry: Mapping[str, Any]) -> str:
    return json.dumps(public(entry), default=str)


def _read(folder: Path) -> KeptRun | None:
    try:
        entry = json.loads((folder / ENTRY).read_text(encoding="utf-8"))
        header, state = entry["header"], entry["state"]
        if entry["format"] != FORMAT or not isinstance(header, dict):
            return None
        verdicts = {str(task): dict(found) for task, found in entry.get("verdicts", {}).items()}
        whole, code = bool(entry.get("whole")), entry.get("exit_code")
        questions, held_back = int(entry["questions"]), entry.get("held_back")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if state == RUNNING and not is_held(folder / LOCK):
        state, verdicts = INTERRUPTED, _recorded(folder / RECORD)
    return KeptRun(folder, header, state, whole, questions, verdicts, code, held_back)


def _recorded(record: Path) -> dict[str, dict[str, str]]:
    """The verdicts of a record; of a run that was killed nothing else tells them."""
    found: dict[str, dict[str, str]] = {}
    with suppress(UsageError, KeyError):
        for line in read_record(record):
            if line["type"] == "question":
                found.setdefault(line["task"], {})[line["id"]] = line["verdict"]
    return found


def _unless_held(folder: Path, change: Callable[[Path], object]) -> None:
    """Change the folder of a run, unless it goes on; where it cannot be changed, it stays as it is."""
    if not is_held(folder / LOCK):
        with suppress(OSError):
            change(folder)


def _remove(folder: Path, runs: Path) -> None:
    # out of sight first, so that nobody reads half of it
    shutil.rmtree(folder.rename(runs / f"{GOING}{folder.name}"), ignore_errors=True)


def _settle(folder: Path) -> None:
    """Note what a run came to that was killed: its record need not be read again."""
    entry = json.loads((folder / ENTRY).read_text(encoding="utf-8"))
    if entry["state"] == RUNNING:
        entry |= {"state": INTERRUPTED, "verdicts": _recorded(folder / RECORD)}
        write_whole(folder / ENTRY, _text(entry))
