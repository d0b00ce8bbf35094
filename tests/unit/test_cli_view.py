"""`memfail view`."""

from __future__ import annotations

import sys
import webbrowser
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_memfail.cli import main
from pytest_memfail.records import RunFolder, write_record
from pytest_memfail.results import load_record

sys.path.insert(0, str(Path(__file__).parent / "report"))
from recorded_runs import verdicts


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Three kept runs of one system, each better than the one before, and one of another."""
    monkeypatch.chdir(tmp_path)
    runs = tmp_path / ".pytest_cache/d/memfail/runs"
    folders = []
    for system, right in (("toy", 1), ("toy", 2), ("other", 0), ("toy", 3)):
        loaded = load_record(
            verdicts(
                tmp_path / "one.jsonl",
                *["correct"] * right,
                *["not_stored"] * (4 - right),
                system=system,
                suite=["mab"] if system == "other" else None,
            )
        )
        folder = RunFolder.create(runs, loaded.header, questions=4)
        write_record(
            folder.record, [loaded.header, *loaded.questions, *loaded.stores, replace(loaded.footer, whole=True)]
        )
        folder.end(
            interrupted=False, whole=True, exit_code=1, verdicts={"t": {q.id: q.verdict for q in loaded.questions}}
        )
        folder.close()
        folders.append(folder.path)
    return folders


def test_the_page_of_the_last_run_is_written_and_opened(kept, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    assert main(["view"]) == 0
    page = kept[-1] / "page.html"
    assert opened == [page.as_uri()]
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == str(page)
    assert [line.split(" held ")[1].split()[0] for line in lines[:-1]] == ["25.0", "50.0", "75.0"]
    assert "loses most in storage (not_stored): 1 of 4" in lines[-2]
    text = page.read_text(encoding="utf-8")
    assert "Kept runs of this system, oldest first" in text
    assert "gate:" not in text


def test_a_suite_that_is_not_the_default_is_named(kept, capsys):
    assert main(["view", kept[2].name, "--no-open"]) == 0
    assert "  mab: loses most in storage (not_stored): 4 of 4" in capsys.readouterr().out
    assert main(["show", "--list"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:5]
    assert ["suite=mab" in row for row in rows] == [False, False, True, False]


def test_nothing_is_opened_on_request(kept, monkeypatch, capsys):
    monkeypatch.setattr(webbrowser, "open", lambda url: pytest.fail("opened"))
    assert main(["view", "--no-open"]) == 0
    assert main(["view", "--no-open"]) == 0  # a page is replaced by the next one
    assert capsys.readouterr().out.count("page.html") == 2


def test_a_file_gets_its_page_beside_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    record = verdicts(tmp_path / "r.jsonl", "correct")
    assert main(["view", str(record), "--no-open"]) == 0
    assert (tmp_path / "r.html").exists()
    (tmp_path / "r.html").write_text("mine")
    assert main(["view", str(record), "--no-open"]) == 4
    assert "is not a report of memfail" in capsys.readouterr().err


def test_without_a_run_it_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["view", "--no-open"]) == 4
    said = capsys.readouterr().err
    assert main(["show"]) == 4
    assert said == capsys.readouterr().err
    assert "no run is kept" in said
