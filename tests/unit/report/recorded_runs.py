"""Small records as files, made by the record's own functions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from record_lines import failed

from pytest_memfail.core import QuestionRecord, StageResult
from pytest_memfail.records import (
    Check,
    Comparison,
    Flip,
    Footer,
    Gate,
    Header,
    Paired,
    StoreRecord,
    from_json,
    write_record,
)
from pytest_memfail.results import wilson

HEADER = {
    "type": "header",
    "schema_version": 1,
    "memfail": "0",
    "started": "2026-01-01T00:00:00+00:00",
    "system": "toy",
    "system_options": {},
    "judge": "offline",
    "test_taker": None,
    "model_options": {},
    "assistant_turns": False,
    "protocol": "ours",
    "k": [5],
    "seed": 42,
    "limit": None,
    "shard": None,
    "data": None,
    "identity": {
        **dict.fromkeys(("system", "system_options", "test_taker", "model_options", "repeats", "memfail"), "subject"),
        **dict.fromkeys(("judge", "judge_weights", "assistant_turns", "protocol", "shown_tokens"), "verdicts"),
        **dict.fromkeys(("seed", "limit", "haystack"), "verdicts"),
        **dict.fromkeys(("k", "vary"), "run"),
    },
    "rerun": ["--memfail-system=toy"],
    "tasks": {"t": {"data_hash": "0" * 64, "licence": "CC0", "questions": 4}},
    "stores": {"t": 4},
}


def question(number: int, verdict: str, *, k: int = 5, task: str = "t", **texts: Any) -> QuestionRecord:
    """A question; `correct` means that its memory held and its answer was right."""
    suffix, name = "" if k == 5 else f"[k={k}]", f"q-{number}"
    return replace(
        failed(verdict, reply="Only when it rains.", **texts),
        id=f"memfail/{task}::{name}{suffix}",
        question=name,
        task=task,
        store=task,
        k=k,
        row=f"{task}.csv:{number + 2}",
        answer=StageResult(outcome="passed" if verdict == "correct" else "failed", reason="as the gold says"),
        verdict=verdict,
    )


def store(task: str = "t", tokens: int = 100) -> StoreRecord:
    """A store."""
    return StoreRecord(
        store=task,
        task=task,
        conversations=10,
        fill_seconds=2.0,
        memories=20,
        tokens=tokens,
        changed_by_queries=(0, 0),
        listings=((),),
    )


def gate(worse: int, *, name: str = "q-{}") -> Gate:
    """A footer's gate that failed for so many regressions."""
    pair = Paired("all", 20, worse, 0, 0.5**worse)
    flips = tuple(Flip(f"memfail/t::{name.format(i)}", "t", "correct", "not_stored", "worse") for i in range(worse))
    compared = Comparison(pair, (pair,), {"t": (pair,)}, flips, 0, 0, 0, 0)
    checks = (
        Check("regressions:p<0.05", None, "failed", paired=pair),
        Check("correct<0.5", None, "passed", rate=wilson(12, 20)),
    )
    return Gate(checks, compared, "base.jsonl", ("other Python",), 0.2)


def write(
    path: Path, *records: QuestionRecord | StoreRecord, complete: bool = True, gate: Gate | None = None, **header: Any
) -> Path:
    """A record with these lines."""
    begun = from_json(Header, {**HEADER, **header})
    write_record(path, [begun, *records, Footer(exit_code=1, complete=complete, gate=gate)])
    return path


def verdicts(path: Path, *names: str, tokens: int = 100, **header: Any) -> Path:
    """A record of one task whose questions have these verdicts."""
    asked = [question(i, name) for i, name in enumerate(names)]
    return write(path, *asked, store(tokens=tokens), **header)
