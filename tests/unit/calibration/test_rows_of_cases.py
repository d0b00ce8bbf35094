"""A labelled case on a shipped row is about what that row says today."""

from __future__ import annotations

import csv
import json

from pytest_memfail.tasks import shipped_data

TEXTS = ("entity_facts", "preference_facts", "fact_1", "fact_2", "fact_3", "fact_4", "messages")
"""The columns that are stored."""


def said(row):
    """What a row has stored, as one text; cells of a file are JSON where those of a case are not."""
    return json.dumps(
        [json.loads(cell) if isinstance(cell, str) and cell.startswith("[") else cell for cell in map(row.get, TEXTS)]
    )


def stored(task):
    with (shipped_data() / f"{task}.csv").open(encoding="utf-8", newline="") as file:
        return {said({key: value or None for key, value in row.items()}) for row in csv.DictReader(file)}


def test_cases_on_shipped_rows_have_the_evidence_of_these_rows():
    known, stale = {}, []
    folder = shipped_data() / "calibration"
    lines = [(folder / name).read_text(encoding="utf-8") for name in ("shipped_rows.jsonl", "updated_facts.jsonl")]
    for case in map(json.loads, "".join(lines).splitlines()):
        task = case["task"]
        evidence = said({key: value or None for key, value in case["row"].items()})
        if evidence not in known.setdefault(task, stored(task)):
            stale.append(case["case_id"])
    assert stale == []
