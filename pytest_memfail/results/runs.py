"""Load records, merge shards, resume runs, and manage the kept runs.

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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import ERROR, Suite, UsageError, hold_lock, is_fresh, is_held, public, write_whole
from pytest_memfail.results.record import (
    SCHEMA_VERSION,
    Footer,
    Header,
    Key,
    Line,
    QuestionRecord,
    Record,
    StoreRecord,
    checked,
    read_record,
    to_json,
)
from pytest_memfail.results.summary import Summary, suite_records, summarize

IDENTITY: Final[Mapping[str, str]] = {
    "system": "subject",
    "system_options": "subject",
    "judge": "verdicts",
    "judge_weights": "verdicts",
    "test_taker": "subject",
    "model_options": "subject",
    "assistant_turns": "verdicts",
    "protocol": "verdicts",
    "k": "run",
    "shown_tokens": "verdicts",
    "seed": "verdicts",
    "limit": "verdicts",
    "haystack": "verdicts",
    "repeats": "subject",
    "vary": "run",
    "memfail": "subject",
}
"""What depends on each field, for headers without their own field `identity`."""


# -- a record in memory ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loaded:
    """The record of a run in memory, read from a file or collected during the run."""

    path: str
    header: Header
    questions: tuple[QuestionRecord, ...]
    """In the order asked; a question with a rerun appears once, with its last result."""
    stores: tuple[StoreRecord, ...]
    footer: Footer | None
    """None if the run was killed or is still running."""
    _counted: list[Summary] = field(default_factory=list, init=False, repr=False, compare=False)
    """The summary of the questions, once computed."""

    @property
    def complete(self) -> bool:
        """Whether everything that was selected has a result."""
        return self.footer is not None and self.footer.complete

    @property
    def whole(self) -> bool:
        """Whether every question that the run's options select has a result, even those that ids, -k or -m leave out."""
        return self.footer is not None and self.footer.whole

    @property
    def protocol(self) -> str:
        """The protocol of the run."""
        return self.header.protocol

    @property
    def repeats(self) -> int:
        """How often each question was asked."""
        return self.header.repeats or 1

    @property
    def ks(self) -> tuple[int, ...]:
        """The values of k of the questions, in ascending order."""
        return tuple(sorted({question.k for question in self.questions}))

    @property
    def outcomes(self) -> dict[Key, QuestionRecord]:
        """The outcome of each question, by question and k; the last outcome if two items ask it."""
        return {question.key: question for question in self.questions}

    def summary(self) -> Summary:
        """Return the summary of the run; it is computed once."""
        if not self._counted:
            self._counted.append(self.summary_of(self.questions))
        if self.footer is None:
            return self._counted[0]
        return replace(self._counted[0], models=self.footer.models, gate=self.footer.gate, suites=self.footer.suites)

    def summary_of(self, questions: Iterable[QuestionRecord]) -> Summary:
        """Return the summary of some questions of the run."""
        header = self.header
        return summarize(
            questions,
            self.stores,
            protocol=header.protocol,
            tasks=header.tasks,
            record=self.path or None,
            approximate=header.approximate_tokens,
        )

    def ended(self, footer: Footer) -> Loaded:
        """Return the record with another footer, without computing the summary of its questions again."""
        found = replace(self, footer=footer)
        found._counted.extend(self._counted)
        return found


def load_record(path: Path) -> Loaded:
    """Read a record.

    Raises `UsageError` if the file is no record, or if its schema differs.
    """
    header: Header | None = None
    questions: dict[str, QuestionRecord] = {}
    stores: list[StoreRecord] = []
    footer: Footer | None = None
    for record in read_record(path):
        match record:
            case Header():
                header = record
            case QuestionRecord():
                questions[record.id] = record
            case StoreRecord():
                stores.append(record)
            case Footer():
                footer = record
    if header is None or header.schema_version != SCHEMA_VERSION:
        version = None if header is None else header.schema_version
        raise UsageError(f"{path}: schema_version is {version!r}, this memfail reads {SCHEMA_VERSION}")
    return Loaded(str(path), header, tuple(questions.values()), tuple(stores), footer)


def is_whole_record(path: Path) -> bool:
    """Return whether a file is the record of a whole run that ended."""
    try:
        return path.exists() and load_record(path).whole
    except UsageError:
        return False


def labels(records: Sequence[Loaded]) -> list[str]:
    """Return a short, unique name for each record: its system, its system and k, or else the file's name."""
    ways = (
        [record.header.system for record in records],
        [f"{r.header.system} k={','.join(map(str, r.ks))}" for r in records],
        [Path(record.path).stem for record in records],
    )
    for names in ways:
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({i})" for i, name in enumerate(ways[-1], 1)]


# -- whether two runs are the same, and their shards as one ------------------------------------------------------------


def identity(*headers: Header) -> dict[str, str]:
    """Return the fields of headers that identify a run, and what depends on each.

    `verdicts`: what is asked, or what a verdict means. `subject`: what two runs are compared for. `run`: neither.
    """
    found: dict[str, str] = {}
    for header in headers:
        found |= header.identity or IDENTITY
    return found


def differences(old: Header, new: Header) -> Iterator[tuple[str, Any, Any]]:
    """Yield the field, old and new JSON value of each difference between two runs."""
    for name in ("schema_version", *identity(old, new)):
        if old.value(name) != new.value(name):
            yield name, old.value(name), new.value(name)
    if sorted(old.tasks) != sorted(new.tasks):
        yield "tasks", sorted(old.tasks), sorted(new.tasks)
    for name in old.tasks.keys() & new.tasks.keys():
        if old.tasks[name].data_hash != new.tasks[name].data_hash:
            yield f"data of {name}", old.tasks[name].data_hash, new.tasks[name].data_hash


def options_differ(old: Header, new: Header) -> Iterator[tuple[str, Any, Any]]:
    """Yield the differences between two runs, including the shard."""
    yield from differences(old, new)
    if old.shard != new.shard:
        yield "shard", old.shard, new.shard


def merge(records: Sequence[Loaded], suites: Sequence[Suite] = ()) -> tuple[list[Record], list[str]]:
    """Return the lines of the merged record, and what it still lacks of the whole run (one text each).

    `suites` are the suites whose own measures are computed over all questions.

    Raises `UsageError` if the records do not belong together, or overlap.
    """
    first = records[0]
    origin: dict[str, str] = {}
    for record in records:
        for name, before, now in differences(first.header, record.header):
            raise UsageError(f"{record.path} is of another run: {name} is {now!r}, in {first.path} {before!r}")
        for question in record.questions:
            if (other := origin.setdefault(question.id, record.path)) != record.path:
                raise UsageError(f"{record.path} and {other} overlap: both hold {question.id}")
    missing = list(_missing(records))
    merged = {**first.header.extra, "merged": [record.header.shard for record in records]}
    approximate = next((why for record in records if (why := record.header.approximate_tokens)), None)
    header = replace(first.header, shard=None, approximate_tokens=approximate, extra=merged)
    footer = Footer(
        exit_code=max((record.footer.exit_code for record in records if record.footer), default=1),
        complete=not missing,
        whole=not missing,
        models=tuple(_models(records)),
        suites=suite_records(
            (q for record in records for q in record.questions), suites, header.tasks, header.protocol
        ),
    )
    lines: list[Record] = [header]
    for record in records:
        lines += [*record.questions, *record.stores]
    return [*lines, footer], missing


def _missing(records: Sequence[Loaded]) -> Iterator[str]:
    shards = [record.header.shard for record in records if record.header.shard]
    counts = {shard.partition("/")[2] for shard in shards}
    if len(counts) > 1:
        raise UsageError(f"the records are of runs in different numbers of shards: {', '.join(sorted(shards))}")
    for count in counts:
        for number in range(1, int(count) + 1):
            if f"{number}/{count}" not in shards:
                yield f"shard {number}/{count}"
    for record in records:
        if not record.complete:
            yield f"{record.path}: the run did not end, or not all that was selected has a result"
    # count results: a shard may have run only some of its questions
    have = Counter(
        q.task if q.store == q.task else f"{q.task}::{q.store}" for record in records for q in record.questions
    )
    for store, n in records[0].header.stores.items():
        if have[store] < n:
            yield f"{n - have[store]} of {n} questions of {store}"


def _models(records: Sequence[Loaded]) -> list[dict[str, Any]]:
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        for row in record.footer.models if record.footer is not None else ():
            known = sums.setdefault((row["stage"], row["model"]), {})
            for name, value in row.items():
                if name in ("stage", "model"):
                    known[name] = value
                elif value is None or known.get(name, 0) is None:
                    known[name] = None  # an unknown price stays unknown
                else:
                    known[name] = known.get(name, 0) + value
    return list(sums.values())


# -- going on with a run -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kept:
    """The results of an earlier record that need not be asked again."""

    questions: Mapping[str, QuestionRecord] = field(default_factory=dict)
    """By node id, only with verdicts: errors are asked again."""
    stores: Mapping[tuple[str, str], StoreRecord] = field(default_factory=dict)
    """By task and store."""


def read_kept(path: Path, header: Header) -> Kept:
    """Return the results that a run with this header can take over from a record; empty if there is no record yet.

    Raises `UsageError` naming the field that differs if the record is of another run.
    """
    if not path.exists() or not path.stat().st_size:
        return Kept()
    questions: dict[str, QuestionRecord] = {}
    stores: dict[tuple[str, str], StoreRecord] = {}
    for record in read_record(path):
        match record:
            case Header():
                for name, before, now in options_differ(record, header):
                    raise UsageError(
                        f"--memfail-resume: {path} is of another run: {name} was {_short(before)}, is {_short(now)}; "
                        "give the options of that run, or leave --memfail-resume out to begin anew"
                    )
            case QuestionRecord(verdict="error"):
                questions.pop(record.id, None)
            case QuestionRecord():
                questions[record.id] = record
            case StoreRecord():
                stores[record.task, record.store] = record
    return Kept(questions, stores)


def _short(value: Any) -> str:
    text = value[:12] if isinstance(value, str) and len(value) == 64 else json.dumps(value)
    return text if len(text) <= 200 else text[:199] + "…"


# -- the kept runs -----------------------------------------------------------------------------------------------------

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
    exit_code: int | None = None
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

    @property
    def errors(self) -> int:
        """How many of them are errors."""
        return sum(verdict == ERROR for found in self.verdicts.values() for verdict in found.values())


class RunFolder:
    """The folder of a current run. It is not pruned until it is closed or its process has died."""

    def __init__(self, folder: Path, lock: int, entry: dict[str, Any]) -> None:
        self.path, self._lock, self._entry = folder, lock, entry

    @classmethod
    def create(cls, runs: Path, header: Header, *, questions: int, held_back: Path | None = None) -> RunFolder:
        """Create the folder of a new run, and prune old runs. Raises `OSError`."""
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
        prune(runs)
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
            f"no whole run is kept, only partial ones; `{NEWEST}` is {found[-1].id}, `memfail show --list` lists all"
        )
    raise UsageError(
        f"no file and no kept run is called {name!r}; give {LAST}, {NEWEST}, a part of an id that `memfail show --list` prints, "
        "or the file of a record"
    )


def same_settings(one: Header, other: Header) -> bool:
    """Return whether the runs of two headers tested the same system with the same settings."""
    return all(one.value(name) == other.value(name) for name in identity(one, other) if name != "memfail")


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
            why = f"no unfinished run of these options is kept ({run.id} differs: {name} was {before!r}, is {now!r})"
    return None, why


def _text(entry: Line) -> str:
    return json.dumps(public(entry), default=str)


def _read(folder: Path) -> KeptRun | None:
    try:
        entry = json.loads((folder / ENTRY).read_text(encoding="utf-8"))
        if entry["format"] != FORMAT:
            return None
        header, state = checked(Header, entry["header"], f"{folder / ENTRY}", "run"), entry["state"]
        verdicts = {str(task): dict(found) for task, found in entry.get("verdicts", {}).items()}
        whole, code = bool(entry.get("whole")), entry.get("exit_code")
        questions, held_back = int(entry["questions"]), entry.get("held_back")
    except (OSError, UsageError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if state == RUNNING and not is_held(folder / LOCK):
        state, verdicts = INTERRUPTED, _recorded(folder / RECORD)
    return KeptRun(folder, header, state, whole, questions, verdicts, code, held_back)


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
    entry = json.loads((folder / ENTRY).read_text(encoding="utf-8"))
    if entry["state"] == RUNNING:
        entry |= {"state": INTERRUPTED, "verdicts": _recorded(folder / RECORD)}
        write_whole(folder / ENTRY, _text(entry))
