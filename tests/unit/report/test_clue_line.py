"""The first clue of a run is the same line in every report, and `memfail show --clue` shows its questions."""

from __future__ import annotations

import json

import pytest
from recorded_runs import verdicts

from pytest_memfail.cli import main
from pytest_memfail.records import Clue, Footer, read_record, write_record

TEXT = (
    "131 of 1318 conversations left no entry, every 10th of a store: all 121 facts not stored, and 5 of the 1117 held"
)


@pytest.fixture
def record(tmp_path):
    path = verdicts(tmp_path / "r.jsonl", "correct", "not_stored", "not_stored", "not_retrieved")
    lines = [line for line in read_record(path) if not isinstance(line, Footer)]
    lost = [line.id for line in lines if getattr(line, "verdict", "") == "not_stored"]
    clue = Clue(
        name="left-no-entry", text=TEXT, verdict="not_stored", explained=2, lost=2, p=1e-9, questions=tuple(lost)
    )
    write_record(path, [*lines, Footer(exit_code=1, complete=True, whole=True, clues=(clue,))])
    return path


def test_every_report_says_it(record, capsys):
    assert main(["show", str(record)]) == 0
    assert f"likely cause: {TEXT}" in " ".join(capsys.readouterr().out.split())
    for name in ("r.md", "r.json", "r.html"):
        assert main(["report", str(record), "-o", str(record.with_name(name))]) == 0
    assert TEXT in record.with_name("r.md").read_text(encoding="utf-8")
    assert TEXT in record.with_name("r.html").read_text(encoding="utf-8")
    (clue,) = json.loads(record.with_name("r.json").read_text(encoding="utf-8"))["records"][0]["clues"]
    assert (clue["text"], len(clue["questions"])) == (TEXT, 2)


def test_show_shows_the_questions_that_a_clue_explains(record, capsys):
    assert main(["show", str(record), "--clue", "1"]) == 0
    out = capsys.readouterr().out
    assert out.count("--- ") == 2
    assert "not_retrieved" not in out
    assert main(["show", str(record), "--clue", "2"]) == 4
    assert "1 clue, numbered from 1" in capsys.readouterr().err
