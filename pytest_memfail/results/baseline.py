"""A baseline: what a run was of, and the verdict of each of its questions. JSON Lines, sorted, to be kept in version control."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import CORRECT, FAILURES, UNGRADED, VERDICTS, UsageError, one_line, public, write_whole
from pytest_memfail.results.record import SCHEMA_VERSION, Line, check_writable, cleaned

SAVE_OPTION: Final = "--memfail-save-baseline"
ANCHOR_COMMAND: Final = 'memfail anchor RECORD -o FILE --reason "..."'
MUST_AGREE: Final = (
    "judge",
    "judge_weights",
    "protocol",
    "seed",
    "limit",
    "haystack",
    "shown_tokens",
    "assistant_turns",
)
"""Where one of these differs, or the rows or k do, other questions were asked or otherwise judged: nothing can be compared."""
MAY_DIFFER: Final = ("system", "system_options", "test_taker", "model_options", "repeats", "memfail")
"""What two runs may be compared for; a difference is told."""

Key = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of a question."""

    id: str
    task: str
    store: str
    question: str
    k: int
    verdict: str
    memory_held: bool | None
    vacuous: bool
    row: str | None = None
    """The row it comes from, where that is known: its questions stand and fall together."""

    @property
    def cluster(self) -> tuple[str, ...]:
        """What it shares its stored conversation with: the other questions of its row, and itself at other k."""
        return cluster_of(self.task, self.store, self.question, self.row)

    @property
    def key(self) -> Key:
        """The question at its k, however it was asked."""
        return self.task, self.store, self.question, self.k

    @property
    def failed(self) -> bool:
        """Whether the verdict is a failure."""
        return self.verdict in FAILURES

    @property
    def held(self) -> bool:
        """Whether nothing that was judged failed: correct, or memory held and the answer left open."""
        return self.verdict == CORRECT or (self.verdict == UNGRADED and self.memory_held is True)


def cluster_of(task: str, store: str, question: str, row: str | None) -> tuple[str, ...]:
    """The same for all questions of a row, at any k."""
    # line 1 heads a table, and is what a task of one's own says that knows no lines
    known = row is not None and not row.endswith(":1")
    return task, store, (row or "") if known else question


class BaselineRefused(UsageError):
    """A baseline that this run cannot be compared with."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier run to compare with."""

    header: Line
    entries: Mapping[Key, Entry]

    @property
    def protocol(self) -> str:
        """How vacuous passes are counted."""
        return str(self.header.get("protocol"))


def read_baseline(path: Path) -> Baseline:
    """Read a whole baseline.

    Raises `UsageError` for a file that is none or is damaged, `BaselineRefused` for one of another schema.
    """
    lines = list(_lines(path))
    header = lines[0] if lines else {}
    if header.get("type") == "header":
        raise UsageError(f"{path}: a record, expected a baseline; make one with {SAVE_OPTION}")
    if header.get("type") != "baseline":
        raise UsageError(f"{path}: not a baseline of memfail; make one with {SAVE_OPTION}")
    if header.get("schema_version") != SCHEMA_VERSION:
        raise _refused(path, [("schema_version", header.get("schema_version"), SCHEMA_VERSION)])
    if header.get("verdicts") != len(lines) - 1:
        raise UsageError(
            f"{path}: {len(lines) - 1} of {header.get('verdicts')} verdicts; the baseline is damaged, save it again"
        )
    tasks = header.get("tasks")
    hashed = isinstance(tasks, dict) and all(isinstance(task, dict) and "data_hash" in task for task in tasks.values())
    if not (hashed and isinstance(header.get("k"), list)):
        raise UsageError(f"{path}:1: no k, or no tasks with their hash; the baseline is damaged, save it again")
    entries: dict[Key, Entry] = {}
    for i, line in enumerate(lines[1:], 2):
        entry = _entry(line)
        if entry is None or entry.key in entries:
            what = "not a verdict" if entry is None else "the same question again"
            raise UsageError(f"{path}:{i}: {what}; the baseline is damaged, save it again")
        entries[entry.key] = entry
    return Baseline(header, entries)


def _entry(line: Line) -> Entry | None:
    """A verdict's line; None if it is none: a misspelt verdict would otherwise count as neither right nor wrong."""
    try:
        entry = Entry(**{name: value for name, value in line.items() if name != "type"})
    except TypeError:
        return None
    texts = (entry.id, entry.task, entry.store, entry.question)
    sound = (
        all(isinstance(text, str) for text in texts)
        and isinstance(entry.row, str | None)
        and type(entry.k) is int
        and isinstance(entry.vacuous, bool)
    )
    return entry if sound and entry.verdict in VERDICTS and entry.memory_held in (True, False, None) else None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as a baseline ({one_line(error)})") from None
    for i, raw in enumerate(text.splitlines(), 1):
        try:
            line = json.loads(raw)
        except ValueError:
            line = None
        if not isinstance(line, dict):
            raise UsageError(f"{path}:{i}: not a JSON object; the baseline is damaged, save it again")
        yield cleaned(line)


def check_baseline(baseline: Baseline, path: Path, header: Line, what: str = "baseline") -> None:
    """Compare what the baseline (or `what` else) was of with what this run, by the header of its record, is of.

    Raises `BaselineRefused` naming each field that differs, with both values.
    """
    before = baseline.header
    different = [
        (name, before.get(name), header.get(name)) for name in MUST_AGREE if before.get(name) != header.get(name)
    ]
    if set(before["k"]) != set(header["k"]):
        different.append(("k", before["k"], header["k"]))
    if (before.get("test_taker") is None) != (header.get("test_taker") is None):
        # which model answers may be what is compared; whether any does decides what a verdict means
        different.append(("test_taker", before.get("test_taker"), header.get("test_taker")))
    tasks = before["tasks"]
    for name, task in header["tasks"].items():
        if name in tasks and tasks[name]["data_hash"] != task["data_hash"]:
            different.append((f"data_hash of {name}", tasks[name]["data_hash"][:12], task["data_hash"][:12]))
    if not set(tasks) & set(header["tasks"]):
        different.append(("tasks", sorted(tasks), sorted(header["tasks"])))
    if different:
        raise _refused(path, different, what)


def _refused(path: Path, different: Iterable[tuple[str, object, object]], what: str = "baseline") -> BaselineRefused:
    fields = "; ".join(
        f"{name} is {_given(name, now)}, in the {what} {_given(name, before)}" for name, before, now in different
    )
    mend = "save a new one" if what == "baseline" else f"move it on purpose: {ANCHOR_COMMAND}"
    return BaselineRefused(f"the {what} {path} is refused: {fields}; run as it was run, or {mend}")


def _given(name: str, value: object) -> str:
    if value is None:
        return "no limit" if name in ("limit", "shown_tokens") else "none"
    return repr(value)


def notes(baseline: Baseline, header: Line) -> list[str]:
    """What else differs: mostly what is being compared."""
    before = baseline.header
    return [
        f"{name} is {_shown(header.get(name))}, in the baseline {_shown(before.get(name))}"
        for name in MAY_DIFFER
        if before.get(name) != header.get(name)
    ]


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={text}" for name, text in value.items()) or "none"
    return "none" if value is None else str(value)


def check_baseline_place(path: Path) -> None:
    """Refuse a place where no baseline can be, or must not be, written.

    Raises `UsageError`, with nothing touched.
    """
    check_writable(path, SAVE_OPTION, "baseline", "baseline")
    if (reason := anchor_reason_at(path)) is not None:
        raise UsageError(
            f"{SAVE_OPTION}: {path} is an anchor ({one_line(reason, 80)}), expected another file; an anchor is moved with "
            f"{ANCHOR_COMMAND}"
        )


def anchor_reason(baseline: Baseline) -> str | None:
    """Return why an anchor is where it is; None for a baseline that is no anchor."""
    anchor = baseline.header.get("anchor")
    return str(anchor.get("reason")) if isinstance(anchor, dict) else None


def anchor_reason_at(path: Path) -> str | None:
    """Return the reason of the anchor in a file; None where there is no file, nothing in it, or no anchor."""
    header = next(_lines(path), {}) if path.exists() else {}
    return anchor_reason(Baseline(header, {}))


def read_anchor(path: Path) -> Baseline:
    """Read an anchor: a baseline that says why it was moved.

    Raises `UsageError` for a file that is none, `BaselineRefused` for one of another schema.
    """
    anchor = read_baseline(path)
    if anchor_reason(anchor) is None:
        raise UsageError(f"{path}: a baseline that gives no reason, expected an anchor; make one with {ANCHOR_COMMAND}")
    return anchor


def write_anchor(path: Path, header: Line, entries: Iterable[Entry], reason: str, when: str) -> int:
    """Write a run as an anchor, with the reason and the reasons before it; returns how many verdicts it holds."""
    before: list[Any] = []
    old = next(_lines(path), {}).get("anchor") if path.exists() else None
    if isinstance(old, dict):
        before = [*old.get("before", []), {"reason": old.get("reason"), "moved": old.get("moved")}]
    return write_baseline(path, {**header, "anchor": {"reason": reason, "moved": when, "before": before}}, entries)


def write_baseline(path: Path, header: Line, entries: Iterable[Entry]) -> int:
    """Write a baseline whole or not at all; returns how many verdicts it holds. Raises `OSError`."""
    found = sorted(entries, key=lambda entry: entry.key)
    first = {**header, "type": "baseline", "verdicts": len(found)}
    lines = [first, *({"type": "verdict", **asdict(entry)} for entry in found)]
    write_whole(
        path, "".join(json.dumps(public(line), ensure_ascii=True, separators=(",", ":")) + "\n" for line in lines)
    )
    return len(found)
