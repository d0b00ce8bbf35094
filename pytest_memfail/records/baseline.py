"""Write and read baselines and anchors: sorted JSON Lines, suitable for version control.

The first line is the header of the run, the others are the outcomes of its questions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from pytest_memfail.core import Comparable, Key, UsageError, VerdictName, one_line, write_whole
from pytest_memfail.records.codec import to_json
from pytest_memfail.records.file import check_writable, checked, line_of
from pytest_memfail.records.record import SCHEMA_VERSION, Header, Line, identity
from pytest_memfail.safety import public

SAVE_OPTION: Final = "--memfail-save-baseline"
ANCHOR_COMMAND: Final = 'memfail anchor RECORD -o FILE --reason "..."'
DAMAGED: Final = "the baseline is damaged, save it again"


@dataclass(frozen=True, slots=True)
class Entry(Comparable):
    """The outcome of a question in a baseline."""

    __pydantic_config__: ClassVar[Any] = {"strict": True, "extra": "forbid"}

    id: str
    task: str
    store: str
    question: str
    k: int
    verdict: VerdictName
    memory_held: bool | None
    vacuous: bool
    row: str | None = None
    """The row of the question, if known. The questions of a row depend on each other."""
    part: str = ""
    cluster: str = ""


class BaselineRefused(UsageError):
    """A baseline that this run cannot be compared with."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier run to compare with."""

    header: Header
    entries: Mapping[Key, Entry]

    @property
    def protocol(self) -> str:
        """How vacuous passes are counted."""
        return self.header.protocol


def read_baseline(path: Path) -> Baseline:
    """Read a whole baseline.

    Raises `UsageError` if the file is no baseline or is damaged, and `BaselineRefused` if its schema differs.
    """
    lines = list(_lines(path))
    first = lines[0] if lines else {}
    if first.get("type") == "header":
        raise UsageError(f"{path}: a record, expected a baseline; make one with {SAVE_OPTION}")
    if first.get("type") != "baseline":
        raise UsageError(f"{path}: not a baseline of memfail; make one with {SAVE_OPTION}")
    if first.get("schema_version") != SCHEMA_VERSION:
        raise _refused(path, [("schema_version", first.get("schema_version"), SCHEMA_VERSION)])
    if first.get("verdicts") != len(lines) - 1:
        raise UsageError(f"{path}: {len(lines) - 1} of {first.get('verdicts')} verdicts; {DAMAGED}")
    header = checked(Header, first, f"{path}:1", DAMAGED)
    entries: dict[Key, Entry] = {}
    for i, line in enumerate(lines[1:], 2):
        entry = checked(Entry, {name: value for name, value in line.items() if name != "type"}, f"{path}:{i}", DAMAGED)
        if entries.setdefault(entry.key, entry) is not entry:
            raise UsageError(f"{path}:{i}: the same question again; {DAMAGED}")
    return Baseline(header, entries)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as a baseline ({one_line(error)})") from None
    for i, raw in enumerate(text.splitlines(), 1):
        try:
            line = line_of(raw)
        except ValueError:
            line = None
        if not isinstance(line, dict):
            raise UsageError(f"{path}:{i}: not a JSON object; {DAMAGED}")
        yield line


def check_baseline(baseline: Baseline, path: Path, header: Header, what: str = "baseline") -> None:
    """Check that a run with this header can be compared with a baseline (or an anchor, as `what` says).

    Raises `BaselineRefused` naming each field that differs, with both values.
    """
    before = baseline.header
    different = list(_different(before, header, "verdicts"))
    if set(before.k) != set(header.k):
        different.append(("k", before.value("k"), header.value("k")))
    if (before.test_taker is None) != (header.test_taker is None):
        # runs may be compared for their models, but whether any model answers decides what a verdict means
        different.append(("test_taker", before.test_taker, header.test_taker))
    for name in header.tasks.keys() & before.tasks.keys():
        then, now = before.tasks[name].data_hash, header.tasks[name].data_hash
        if then != now:
            different.append((f"data_hash of {name}", then[:12], now[:12]))
        elif before.tasks[name].variant != header.tasks[name].variant:
            different.append((f"variant of {name}", before.tasks[name].variant, header.tasks[name].variant))
    if not before.tasks.keys() & header.tasks.keys():
        different.append(("tasks", sorted(before.tasks), sorted(header.tasks)))
    if different:
        raise _refused(path, different, what)


def _refused(path: Path, different: Iterable[tuple[str, object, object]], what: str = "baseline") -> BaselineRefused:
    fields = "; ".join(
        f"{name} is {_given(name, now)}, in the {what} {_given(name, before)}" for name, before, now in different
    )
    remedy = "save a new one" if what == "baseline" else f"move it on purpose: {ANCHOR_COMMAND}"
    return BaselineRefused(f"the {what} {path} is refused: {fields}; run with the same settings, or {remedy}")


def _given(name: str, value: object) -> str:
    if value is None:
        return "no limit" if name in ("limit", "shown_tokens") else "none"
    return repr(value)


def notes(baseline: Baseline, header: Header) -> list[str]:
    """Return the other differences between a baseline and a run: mostly what is being compared."""
    before = baseline.header
    return [
        f"{name} is {_shown(now)}, in the baseline {_shown(then)}"
        for name, then, now in _different(before, header, "subject")
    ]


def _different(before: Header, header: Header, depends: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield each differing field of this identity, with its values in the baseline and now."""
    for name, what in identity(before, header).items():
        if what == depends and before.value(name) != header.value(name):
            yield name, before.value(name), header.value(name)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={text}" for name, text in value.items()) or "none"
    return "none" if value is None else str(value)


def check_baseline_place(path: Path) -> None:
    """Check that a baseline can and may be written to a path; write nothing.

    Raises `UsageError` if not.
    """
    check_writable(path, SAVE_OPTION, "baseline", "baseline")
    if (reason := anchor_reason_at(path)) is not None:
        raise UsageError(
            f"{SAVE_OPTION}: {path} is an anchor ({one_line(reason, 80)}), expected another file; an anchor is moved with "
            f"{ANCHOR_COMMAND}"
        )


def anchor_reason(baseline: Baseline) -> str | None:
    """Return the reason of an anchor; None for a baseline that is no anchor."""
    return _reason(baseline.header.extra)


def anchor_reason_at(path: Path) -> str | None:
    """Return the reason of the anchor in a file; None if the file is missing, empty, or no anchor."""
    return _reason(next(_lines(path), {}) if path.exists() else {})


def _reason(header: Line) -> str | None:
    anchor = header.get("anchor")
    return str(anchor.get("reason")) if isinstance(anchor, dict) else None


def read_anchor(path: Path) -> Baseline:
    """Read an anchor: a baseline that says why it was moved.

    Raises `UsageError` if the file is no anchor, and `BaselineRefused` if its schema differs.
    """
    anchor = read_baseline(path)
    if anchor_reason(anchor) is None:
        raise UsageError(f"{path}: a baseline without a reason, expected an anchor; make one with {ANCHOR_COMMAND}")
    return anchor


def write_anchor(path: Path, header: Header, outcomes: Iterable[Comparable], reason: str, when: str) -> int:
    """Write a run as an anchor, with its reason and the earlier reasons; return the number of its verdicts."""
    before: list[Any] = []
    old = next(_lines(path), {}).get("anchor") if path.exists() else None
    if isinstance(old, dict):
        before = [*old.get("before", []), {"reason": old.get("reason"), "moved": old.get("moved")}]
    anchor = {"reason": reason, "moved": when, "before": before}
    return write_baseline(path, replace(header, extra={**header.extra, "anchor": anchor}), outcomes)


def write_baseline(path: Path, header: Header, outcomes: Iterable[Comparable]) -> int:
    """Write a baseline whole or not at all; return the number of its verdicts. Raises `OSError`."""
    found = sorted(outcomes, key=lambda outcome: outcome.key)
    first = {**to_json(header), "type": "baseline", "verdicts": len(found)}
    lines = [first, *map(_entry_line, found)]
    write_whole(
        path, "".join(json.dumps(public(line), ensure_ascii=True, separators=(",", ":")) + "\n" for line in lines)
    )
    return len(found)


def _entry_line(outcome: Comparable) -> dict[str, Any]:
    line = {"type": "verdict", **{one.name: getattr(outcome, one.name) for one in fields(Entry)}}
    return {name: value for name, value in line.items() if value or name not in ("part", "cluster")}
