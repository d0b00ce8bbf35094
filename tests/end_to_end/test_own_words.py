"""No sentence of ours comes from the published rows or the papers: no run of eight words is shared."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pytest_memfail.rows.repeats import runs_of
from pytest_memfail.suites import shipped_data

SHARED = Path(__file__).parents[3] / "shared"
ROWS, PAPERS = SHARED / "data" / "memfail", SHARED / "papers"

pytestmark = [
    pytest.mark.skipif(not ROWS.is_dir(), reason=f"the published rows are not at {ROWS}"),
    pytest.mark.skipif(not PAPERS.is_dir(), reason=f"the papers are not at {PAPERS}"),
]


def told(value):
    """Every text inside a value that was read from a cell or a line."""
    if isinstance(value, str):
        try:
            inner = json.loads(value)
        except ValueError:
            yield from value.split("\n")  # the options below a question are lists, not sentences
        else:
            yield from told(inner) if isinstance(inner, (list, dict)) else (value,)
    elif isinstance(value, dict):
        for item in value.values():
            yield from told(item)
    elif isinstance(value, list):
        for item in value:
            yield from told(item)


def texts(folder):
    """Every text of the rows of a folder, with the place it stands in."""
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 1):
                for text in told(dict(row)):
                    yield f"{path.name} row {number}", text
    for path in sorted(folder.rglob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for text in told(json.loads(line)):
                yield f"{path.name}:{number}", text


@pytest.fixture(scope="module")
def published():
    """All runs of eight words of the published rows and the papers."""
    found = {run for _, text in texts(ROWS) for run in runs_of(text)}
    for paper in sorted(PAPERS.glob("*.txt")):
        found.update(runs_of(paper.read_text(encoding="utf-8")))
    assert len(found) > 100_000
    return found


def test_no_run_of_eight_words_is_shared(published):
    shared = {
        (where, " ".join(run)) for where, text in texts(shipped_data()) for run in runs_of(text) if run in published
    }
    assert sorted(shared) == []
