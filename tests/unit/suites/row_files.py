"""Write small files of valid rows for every task, for the tests to damage."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

Record = dict[str, str]


def conditional(n: int = 0, **changes: str) -> Record:
    """Return a valid row; `n` makes it differ from others."""
    return {
        "entity": f"Ada{n}",
        "entity_category": "person",
        "behavior": f"bakes bread number {n}",
        "condition_type": "weather",
        "condition": "only when it rains",
        "entity_facts": json.dumps([f"Ada{n} bakes bread number {n} only when it rains."]),
        "question": f"It rains. Does Ada{n} bake bread number {n}?",
        "question_context": "it rains",
        "condition_met": "no" if n % 2 else "yes",
        "ground_truth_answer": "No, she does not." if n % 2 else "Yes, she does.",
        **changes,
    }


def coexisting(n: int = 0, size: int = 2, **changes: str) -> Record:
    """Return a row with `size` preferences."""
    return {
        "preference_category": f"category {n}",
        "preferences": json.dumps([f"thing {n}-{i}" for i in range(size)]),
        "preference_facts": json.dumps([f"I like thing {n}-{i}." for i in range(size)]),
        "question": f"What do I like of category {n}?",
        "ground_truth_answer": "All of them.",
        **changes,
    }


def asked(n: int, i: int, *, misleading: bool) -> dict[str, Any]:
    """Return one question of a persona row."""
    return {
        "text": f"Question {i} about person {n}?",
        "is_misleading": misleading,
        "distractor": f"Somebody {n}" if misleading else None,
        "ground_truth_answer": f"answer {i} of {n}",
    }


def persona(n: int = 0, **changes: str) -> Record:
    """Return an essay with two direct questions and a misleading one."""
    return {
        "entity": f"Person {n}",
        "entity_facts": json.dumps([f"Person {n} keeps {n + 3} bees in the attic."]),
        "questions": json.dumps([asked(n, i, misleading=i == 2) for i in range(3)]),
        **changes,
    }


def long_hop(n: int = 0, hops: int = 1, **changes: str) -> Record:
    """Return a chain of `hops` hops."""
    anchors = [f"anchor{n}x{i}" for i in range(hops + 2)]
    choices = [f"wrong {n}-{i}" for i in range(5)]
    choices[n % 5] = anchors[-1]
    stem = f"Where does {anchors[0]} lead?"
    options = "\n".join(f"{letter}. {choice}" for letter, choice in zip("ABCDE", choices, strict=True))
    record = {"id": f"chain-{n}", "hop_count": str(hops)}
    for i in range(4):
        record[f"fact_{i + 1}"] = f"The {anchors[i]} leads to {anchors[i + 1]}." if i <= hops else ""
    for i in range(5):
        record[f"chain_{i + 1}"] = anchors[i] if i < len(anchors) else ""
    record |= {"graded_question": f"{stem}\n\nOptions:\n{options}", "ground_truth_answer": anchors[-1]}
    record |= {f"choice_{letter.lower()}": choice for letter, choice in zip("ABCDE", choices, strict=True)}
    return {**record, "correct_choice": "ABCDE"[n % 5], **changes}


KINDS = ("update", "correction", "deletion", "control")


def updated(n: int = 0, **changes: str) -> Record:
    """Return a fact and its later change; the kinds alternate."""
    kind = KINDS[n % 4]
    changed = kind != "control"
    later = {"deletion": f"I gave the boat {n} away.", "control": f"Bo has the boat {n} at pier 1."}
    messages = [
        {"date": f"2025-01-{n % 28 + 1:02}", "text": f"My boat {n} lies at pier 5."},
        {"date": f"2025-02-{n % 28 + 1:02}", "text": f"Rain on day {n}."},
        {"date": f"2025-03-{n % 28 + 1:02}", "text": later.get(kind, f"My boat {n} lies at quay 9 now.")},
    ]
    return {
        "kind": kind,
        "entity": "the user",
        "subject": f"where boat {n} lies",
        "messages": json.dumps(messages),
        "old_value": "pier 5",
        "current_value": {"deletion": "", "control": "pier 5"}.get(kind, "quay 9"),
        "fact_index": "2" if changed else "0",
        "old_index": "0" if changed else "",
        "decoy_index": "" if changed else "2",
        "question": f"Where does boat {n} lie?",
        "ground_truth_answer": "There.",
        "stale_values": json.dumps(["pier 5"] if changed else []),
        **changes,
    }


MAKERS = {
    "conditional_facts_easy": conditional,
    "conditional_facts_hard": conditional,
    "coexisting_facts": coexisting,
    "persona_retrieval": persona,
    "long_hop": long_hop,
    "updated_facts": updated,
}


def as_csv(records: list[Record]) -> str:
    """Return the records as CSV text."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(records[0]))
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue()


def write(path: Path, *records: Record) -> Path:
    """Write the records to a file."""
    path.write_text(as_csv(list(records)), encoding="utf-8", newline="")
    return path


def folder(path: Path, rows: int = 6) -> Path:
    """Write a folder with valid rows of every task."""
    for name, make in MAKERS.items():
        write(path / f"{name}.csv", *(make(n) for n in range(rows)))
    return path
