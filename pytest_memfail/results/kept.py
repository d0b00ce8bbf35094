"""What a run that goes on takes over from its earlier record, and whether two records are of the same run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import ERROR, UsageError
from pytest_memfail.results.record import Line, read_record

SAME: Final = (
    "schema_version",
    "memfail",
    "system",
    "system_options",
    "judge",
    "judge_weights",
    "test_taker",
    "model_options",
    "assistant_turns",
    "protocol",
    "k",
    "shown_tokens",
    "seed",
    "limit",
    "haystack",
    "repeats",
    "vary",
)
"""Fields of the header that decide what a verdict means; the data of each task come on top."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Of an earlier record, what need not be asked again."""

    questions: Mapping[str, Line] = field(default_factory=dict)
    """By node id; only those with a verdict: errors are asked again."""
    stores: Mapping[tuple[str, str], Line] = field(default_factory=dict)
    """By task and store."""


def differences(old: Line, new: Line) -> Iterator[tuple[str, Any, Any]]:
    """Field, old and new value of each thing in which the headers of two runs differ."""
    for name in SAME:
        if old.get(name) != new.get(name):
            yield name, old.get(name), new.get(name)
    tasks, others = old.get("tasks", {}), new.get("tasks", {})
    if sorted(tasks) != sorted(others):
        yield "tasks", sorted(tasks), sorted(others)
    for name in tasks.keys() & others.keys():
        if tasks[name].get("data_hash") != others[name].get("data_hash"):
            yield f"data of {name}", tasks[name].get("data_hash"), others[name].get("data_hash")


def read_kept(path: Path, header: Line) -> Kept:
    """What a run with this header can take over from the record; nothing if there is none yet.

    Raises `UsageError` for a record of another run, naming the field that differs.
    """
    if not path.exists() or not path.stat().st_size:
        return Kept()
    from pytest_memfail.results.line_models import checked

    new = json.loads(json.dumps(header, default=str))  # as it will be read
    questions: dict[str, Line] = {}
    stores: dict[tuple[str, str], Line] = {}
    for line in checked(read_record(path), str(path)):
        if line["type"] == "header":
            differs = list(differences(line, new))
            if line.get("shard") != new.get("shard"):
                differs.append(("shard", line.get("shard"), new.get("shard")))
            for name, before, now in differs:
                raise UsageError(
                    f"--memfail-resume: {path} is of another run: {name} was {_short(before)}, is {_short(now)}; "
                    "give the options of that run, or leave --memfail-resume out to begin anew"
                )
        elif line["type"] == "question":
            if line["verdict"] == ERROR:
                questions.pop(line["id"], None)
            else:
                questions[line["id"]] = line
        elif line["type"] == "store":
            stores[line["task"], line["store"]] = line
    return Kept(questions, stores)


def _short(value: Any) -> str:
    text = value[:12] if isinstance(value, str) and len(value) == 64 else json.dumps(value)
    return text if len(text) <= 200 else text[:199] + "…"
