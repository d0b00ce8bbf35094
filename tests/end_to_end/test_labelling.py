"""A person labels facts of a run: what is shown, what is written, and what it says of the judge."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.calibration import read_cases
from pytest_memfail.cli import main
from pytest_memfail.suites import read_custom
from pytest_memfail.suites.memfail import SUITE as MEMFAIL

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def record(run_once: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tasks = "--memfail-tasks=conditional_facts_easy,long_hop,persona_retrieval,updated_facts"
    path = tmp_path_factory.mktemp("labelled") / "r.jsonl"
    few = ("--memfail-limit=8", "--memfail-haystack=sample")
    done = run_once("--memfail-system=lossy", tasks, *few, f"--memfail-record={path}", "-q")
    assert path.exists(), done.output
    return path


def typed(monkeypatch: pytest.MonkeyPatch, *keys: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(keys) + "\n"))


def test_labels_become_cases_and_an_estimate(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "labels.jsonl"
    typed(monkeypatch, "o", "?", "n", "s", "r", "x", *"ooooooo")
    assert main(["label", str(record), "-n", "12", "-o", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "got '?', expected one of o, n, s, r, x, q" in shown
    assert "said " in shown
    assert "11 labels in" in shown
    assert "the judge is right about" in shown
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [line["facts"][0]["label"] for line in lines[:4]] == ["ok", "not_stored", "summary_error", "not_retrieved"]
    assert main(["judge-check", str(out)]) == 0
    assert "11" in capsys.readouterr().out


def test_a_row_is_labelled_with_the_place_of_its_question(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "labels.jsonl"
    typed(monkeypatch, *"o" * 200)
    assert main(["label", str(record), "-n", "200", "-o", str(out)]) == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    tasks = {"conditional_facts_easy", "persona_retrieval", "updated_facts", "points"}
    assert {line["task"] for line in lines} == tasks  # a chain has several facts, each of which is a point
    places = {line["case_id"].partition("#")[0][-2:]: line.get("question_index") for line in lines}
    assert {places[name] for name in ("q1", "q2", "q3")} == {0, 1, 2}
    assert any(line["row"].get("current_value") == "" for line in lines)  # what has ended has no value
    assert main(["judge-check", str(out), "--data-report"]) == 0, capsys.readouterr().err


def test_what_the_judge_said_is_not_shown(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, "q")
    assert main(["label", str(record), "-o", str(tmp_path / "l.jsonl")]) == 0
    shown = (
        capsys.readouterr()
        .out.replace("n not stored", "")
        .replace("s summary error", "")
        .replace("r not retrieved", "")
    )
    assert "nothing was labelled" in shown
    for verdict in ("not_stored", "summary_error", "not_retrieved", "confidence", "unsure"):
        assert verdict not in shown


def test_unsure_facts_give_no_estimate(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, *"oo")
    assert main(["label", str(record), "--unsure", "-n", "2", "-o", str(tmp_path / "l.jsonl")]) == 0
    assert "no label counts towards an estimate" in capsys.readouterr().out


def test_a_file_that_is_there_is_not_written_over(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["label", str(record), "-o", str(record)]) == 4
    assert "exists; give another name" in capsys.readouterr().err


def test_a_labelled_fact_of_an_own_case_is_judged_as_in_its_run(
    run_once: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Path(__file__).parents[2] / "examples" / "own_domain" / "incidents" / "room-change.memfail.yaml"
    path, out = tmp_path / "r.jsonl", tmp_path / "labels.jsonl"
    done = run_once(str(case), "--memfail-suite=own", "--memfail-system=full-context", f"--memfail-record={path}")
    assert path.exists(), done.output
    typed(monkeypatch, "o")
    assert main(["label", str(path), "-o", str(out)]) == 0
    (labelled,) = read_cases(MEMFAIL, [out])
    task = read_custom([case], case.parent)
    assert task is not None
    (fact,) = task.evidence.values()
    assert labelled.evidence[0].claim == replace(fact.claim, is_dated=False)  # a labelled store has no times
    assert fact.claim.earlier is not None
