"""The records of a run's shards as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_memfail.core import UsageError
from pytest_memfail.results.kept import differences
from pytest_memfail.results.loaded import Loaded
from pytest_memfail.results.record import Line


def merge(records: Sequence[Loaded]) -> tuple[list[Line], list[str]]:
    """The lines of the joint record, and what it still lacks of the whole run (one text each).

    Raises `UsageError` for records that do not belong together, or overlap.
    """
    first = records[0]
    origin: dict[str, str] = {}
    for record in records:
        for name, before, now in differences(first.header, record.header):
            raise UsageError(f"{record.path} is of another run: {name} is {now!r}, in {first.path} {before!r}")
        for line in record.questions:
            if (other := origin.setdefault(line["id"], record.path)) != record.path:
                raise UsageError(f"{record.path} and {other} overlap: both hold {line['id']}")
    missing = list(_missing(records))
    header = {**first.header, "shard": None, "merged": [record.header.get("shard") for record in records]}
    if approximate := [why for record in records if (why := record.header.get("approximate_tokens"))]:
        header["approximate_tokens"] = approximate[0]
    footer = {
        "type": "footer",
        "exit_code": max((record.footer["exit_code"] for record in records if record.footer), default=1),
        "complete": not missing,
        "whole": not missing,
        "models": _models(records),
    }
    lines = [line for record in records for line in (*record.questions, *record.stores)]
    return [header, *lines, footer], missing


def _missing(records: Sequence[Loaded]) -> Iterator[str]:
    shards = [str(record.header["shard"]) for record in records if record.header.get("shard")]
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
    # by their results: a shard may have been run for some of its questions only
    have = Counter(
        line["task"] if line["store"] == line["task"] else f"{line['task']}::{line['store']}" for line in _all(records)
    )
    for store, n in records[0].header.get("stores", {}).items():
        if have[store] < n:
            yield f"{n - have[store]} of {n} questions of {store}"


def _all(records: Sequence[Loaded]) -> Iterator[Line]:
    for record in records:
        yield from record.questions


def _models(records: Sequence[Loaded]) -> list[dict[str, Any]]:
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        for row in (record.footer or {}).get("models", ()):
            known = sums.setdefault((row["stage"], row["model"]), {})
            for name, value in row.items():
                if name in ("stage", "model"):
                    known[name] = value
                elif value is None or known.get(name, 0) is None:
                    known[name] = None  # a price that is not known stays so
                else:
                    known[name] = known.get(name, 0) + value
    return list(sums.values())
