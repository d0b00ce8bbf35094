"""Keep runs, find them again, and take over the results of an unfinished run.

runs/20260728-101530-123456-3fa9/
    run.json        the settings and the outcome of the run
    record.jsonl    its record
    lock            held by the process of the run while it runs
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import QuestionRecord, UsageError, hold_lock, is_fresh, is_held, json_of, write_whole
from pytest_memfail.records.codec import to_json
from pytest_memfail.records.file import checked, read_record
from pytest_memfail.records.record import (
    SCHEMA_VERSION,
    Footer,
    Header,
    Line,
    StoreRecord,
    options_differ,
    same_settings,
)
from pytest_memfail.safety import public

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


# -- resuming a run -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EarlierResults:
    """The results of an earlier record that need not be asked again."""

    questions: Mapping[str, QuestionRecord] = field(default_factory=dict)
    """By node id, only with verdicts: errors are asked again."""
    stores: Mapping[tuple[str, str], StoreRecord] = field(default_factory=dict)
    """By task and store."""


def read_kept(path: Path, header: Header) -> EarlierResults:
    """Return the results that a run with this header can take over from a record; empty if there is no record yet.

    Raises `UsageError` naming the field that differs if the record is of another run.
    """
    if not path.exists() or not path.stat().st_size:
        return EarlierResults()
    questions: dict[str, QuestionRecord] = {}
    stores: dict[tuple[str, str], StoreRecord] = {}
    for record in read_record(path):
        match record:
            case Header():
                for name, before, now in options_differ(record, header):
                    raise UsageError(
                        f"--memfail-resume: {path} is not resumable: {name} was {_short(before)}, is {_short(now)}; "
                        "give the options and the code of that run, or leave --memfail-resume out to start again"
                    )
            case QuestionRecord(verdict="error"):
                questions.pop(record.id, None)
            case QuestionRecord():
                questions[record.id] = record
            case StoreRecord():
                stores[record.task, record.store] = record
    return EarlierResults(questions, stores)


def is_whole_record(path: Path) -> bool:
    """Return whether a file is the record of a whole run that ended."""
    is_whole = False
    try:
        for record in read_record(path) if path.exists() else ():
            if isinstance(record, Header) and record.schema_version != SCHEMA_VERSION:
                return False
            if isinstance(record, Footer):
                is_whole = record.whole
    except UsageError:
        return False
    return is_whole


def _short(value: Any) -> str:
    text = value[:12] if isinstance(value, str) and len(value) == 64 else json.dumps(value)
    return text if len(text) <= 200 else text[:199] + "…"


# -- the kept runs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A kept run, as its folder describes it."""

    folder: Path
    header: Header
    state: str
    """`running`, `finished`, or `interrupted` (killed, stopped early, or with lost results)."""
    whole: bool
    """Whether every question that its options select has a result."""
    questions: int
    """How many questions its options select."""
    verdicts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By task and node id; empty while the run goes on."""
    held_back: str | None = None
    """A whole record (--memfail-record) that this run replaces only if it is whole itself."""

    @property
    def id(self) -> str:
        """The name of the run: its start time and a random suffix."""
        return self.folder.name

    @property
    def record(self) -> Path:
        """The path of its record."""
        return self.folder / RECORD

    @property
    def results(self) -> int:
        """How many questions have a result."""
        return sum(map(len, self.verdicts.values()))


class RunFolder:
    """The folder of a current run. It is not pruned until it is closed or its process has died."""

    def __init__(self, folder: Path, lock: int, entry: dict[str, Any]) -> None:
        self.path, self._lock, self._entry = folder, lock, entry

    @classmethod
    def create(cls, runs: Path, header: Header, *, questions: int, held_back: Path | None = None) -> RunFolder:
        """Create the folder of a new run, and prune old runs before. Raises `OSError`."""
        prune(runs, KEEP - 1)  # without the new one, whose entry a first run need not read
        now = datetime.now(timezone.utc)
        name = f"{now:%Y%m%d-%H%M%S-%f}-{uuid.uuid4().hex[:4]}"
        entry = {
            "format": FORMAT,
            "header": to_json(header),
            "state": RUNNING,
            "questions": questions,
            "held_back": None if held_back is None else str(held_back),
        }
        # it appears locked and with its entry, so that nobody takes it for an abandoned folder
        making = runs / f"{MAKING}{name}"
        making.mkdir(mode=0o700, parents=True)
        try:
            lock = hold_lock(making / LOCK)
            write_whole(making / ENTRY, _text(entry))
            folder = making.rename(runs / name)
        except BaseException:
            shutil.rmtree(making, ignore_errors=True)
            raise
        return cls(folder, lock, entry)

    @property
    def record(self) -> Path:
        """The path of the record of the run."""
        return self.path / RECORD

    def end(self, *, interrupted: bool, whole: bool, exit_code: int, verdicts: Mapping[str, Mapping[str, str]]) -> None:
        """Write the outcome of the run. Raises `OSError`."""
        state = INTERRUPTED if interrupted else FINISHED
        entry = {**self._entry, "state": state, "whole": whole, "exit_code": exit_code, "verdicts": verdicts}
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)  # somebody may have emptied the cache
        write_whole(self.path / ENTRY, _text(entry))

    def discard(self) -> None:
        """Remove the folder of a run without results."""
        shutil.rmtree(self.path, ignore_errors=True)
        for folder in (self.path.parent, self.path.parent.parent):
            with suppress(OSError):  # it holds other files
                folder.rmdir()

    def close(self) -> None:
        """Release the folder when the run is over."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def kept_runs(runs: Path) -> list[KeptRun]:
    """Return the runs of a folder, oldest first; skip what is no run or cannot be read."""
    try:
        names = sorted(path.name for path in runs.iterdir() if not path.name.startswith("."))
    except OSError:
        return []
    return [found for name in names if (found := _read(runs / name)) is not None]


def prune(runs: Path, keep: int = KEEP) -> None:
    """Remove all but the newest `keep` runs, but never the newest whole run or a current one."""
    found = kept_runs(runs)
    last = next((run for run in reversed(found) if run.whole), None)
    newest = [run for run in reversed(found) if run is not last][: keep - (last is not None)]
    for run in found:
        if run is not last and run not in newest:
            _unless_held(run.folder, lambda folder: _remove(folder, runs))
        elif run.state == INTERRUPTED:
            _unless_held(run.folder, _settle)
    for path in [*runs.glob(f"{MAKING}*"), *runs.glob(f"{GOING}*")]:  # left by a process that died
        if not is_fresh(path):
            shutil.rmtree(path, ignore_errors=True)


def find_run(runs: Path, name: str) -> KeptRun:
    """Return a run by name: the `last` whole run, the `newest` of any kind, or one by a unique part of its id.

    Raises `UsageError` saying which runs there are.
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
            f"no whole run is kept, only partial ones; give `{NEWEST}` for {found[-1].id}, or run all that --memfail-tasks chooses"
        )
    raise UsageError(
        f"no file and no kept run is called {name!r}; give {LAST}, {NEWEST}, a part of an id that `memfail show --list` prints, "
        "or the file of a record"
    )


def latest_verdicts(runs: Iterable[KeptRun], header: Header) -> dict[str, str]:
    """Return the latest verdict of each question by node id, over the runs with the same system, settings and rows."""
    latest: dict[str, str] = {}
    for run in runs:
        if same_settings(run.header, header):
            for task, verdicts in run.verdicts.items():
                now, then = header.tasks.get(task), run.header.tasks.get(task)
                if now is not None and then is not None and now.data_hash == then.data_hash:
                    latest.update(verdicts)
    return latest


def resumable(runs: Sequence[KeptRun], header: Header) -> tuple[KeptRun | None, str]:
    """Return the newest interrupted or whole run with the options of this header, or None and the reason for None.

    A whole run takes precedence over an older interrupted one, whose missing questions were asked since.
    """
    why = "no earlier run is kept"
    for run in reversed(runs):
        if run.state == RUNNING or not (run.whole or run.state == INTERRUPTED):
            continue
        other = next(options_differ(run.header, header), None)
        if other is None:
            return run, ""
        if why == "no earlier run is kept":
            name, before, now = other
            why = f"{run.id} is not resumable: {name} was {_short(before)}, is {_short(now)}"
    return None, why


def _text(entry: Line) -> str:
    return json.dumps(public(entry), default=str)


def _read(folder: Path) -> KeptRun | None:
    try:
        entry = json_of((folder / ENTRY).read_text(encoding="utf-8"))
        if entry["format"] != FORMAT:
            return None
        header, state = checked(Header, entry["header"], f"{folder / ENTRY}", "run"), entry["state"]
        verdicts = {str(task): dict(found) for task, found in entry.get("verdicts", {}).items()}
        whole, questions, held_back = bool(entry.get("whole")), int(entry["questions"]), entry.get("held_back")
    except (OSError, UsageError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if state == RUNNING and not is_held(folder / LOCK):
        state, verdicts = INTERRUPTED, _recorded(folder / RECORD)
    return KeptRun(folder, header, state, whole, questions, verdicts, held_back)


def _recorded(record: Path) -> dict[str, dict[str, str]]:
    """Return the verdicts of a record, which is the only source for a killed run."""
    found: dict[str, dict[str, str]] = {}
    with suppress(UsageError):
        for question in read_record(record):
            if isinstance(question, QuestionRecord):
                found.setdefault(question.task, {})[question.id] = question.verdict
    return found


def _unless_held(folder: Path, change: Callable[[Path], object]) -> None:
    """Change the folder of a run unless the run goes on; ignore errors of the file system."""
    if not is_held(folder / LOCK):
        with suppress(OSError):
            change(folder)


def _remove(folder: Path, runs: Path) -> None:
    # renamed first, so that nobody reads a half-removed folder
    shutil.rmtree(folder.rename(runs / f"{GOING}{folder.name}"), ignore_errors=True)


def _settle(folder: Path) -> None:
    """Write the outcome of a killed run, so that its record need not be read again."""
    entry = json_of((folder / ENTRY).read_text(encoding="utf-8"))
    if entry["state"] == RUNNING:
        entry |= {"state": INTERRUPTED, "verdicts": _recorded(folder / RECORD)}
        write_whole(folder / ENTRY, _text(entry))
