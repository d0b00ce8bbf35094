"""Records made from the few fields that a test is about."""

from __future__ import annotations

from typing import Any

from pytest_memfail.core import QuestionRecord
from pytest_memfail.records import Header, StoreRecord, from_json
from pytest_memfail.results import Loaded

PASSED = {"outcome": "passed"}
HEADER = {
    "type": "header",
    "schema_version": 1,
    "memfail": "0.1.0",
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
    "identity": {
        **dict.fromkeys(("system", "system_options", "test_taker", "model_options", "repeats", "memfail"), "subject"),
        **dict.fromkeys(("judge", "judge_weights", "assistant_turns", "protocol", "shown_tokens"), "verdicts"),
        **dict.fromkeys(("seed", "limit", "haystack"), "verdicts"),
        **dict.fromkeys(("k", "vary"), "run"),
    },
    "tasks": {"t": {"data_hash": "a"}, "u": {"data_hash": "b"}},
}
QUESTION = {
    "task": "t",
    "store": "t",
    "question": "q",
    "k": 5,
    "kind": "open",
    "stratum": "",
    "text": "?",
    "gold": [],
    "row": None,
    "verdict": "correct",
}
FACT = {
    "id": "e",
    "verdict": "correct",
    "text": "",
    "source": "",
    "decided_by": "retrieval",
    "missing": [],
    "storage": PASSED,
    "summary": PASSED,
    "retrieval": PASSED,
    "closest": [],
    "ranks": [],
}
STORE = {
    "store": "t",
    "task": "t",
    "conversations": 10,
    "fill_seconds": 2.0,
    "memories": 20,
    "tokens": 100,
    "changed_by_queries": [0, 0],
    "listings": [[]],
}


def header(**given: Any) -> Header:
    """A header with these fields, as in its JSON."""
    return from_json(Header, {**HEADER, **given})


def question(**given: Any) -> QuestionRecord:
    """A question with these fields, as in its JSON."""
    line = {**QUESTION, "id": f"memfail/t::{given.get('question', 'q')}", **given}
    line["facts"] = [{**FACT, **fact} for fact in line.get("facts", ())]
    if line["verdict"] == "error":
        line.setdefault("error", {"type": "MemfailError", "message": "no"})
    else:
        line.setdefault("answer", {"outcome": "not_reached"})
    return from_json(QuestionRecord, line)


def store(**given: Any) -> StoreRecord:
    """A store with these fields, as in its JSON."""
    return from_json(StoreRecord, {**STORE, **given})


def run(*records: QuestionRecord | StoreRecord, **given: Any) -> Loaded:
    """A run that goes on, with these records; of a question asked again there is the last."""
    questions = {record.id: record for record in records if isinstance(record, QuestionRecord)}
    stores = tuple(record for record in records if isinstance(record, StoreRecord))
    return Loaded("r.jsonl", header(**given), tuple(questions.values()), stores, None)
