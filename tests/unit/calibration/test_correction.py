"""A correction learned from labels: needs enough of them, stays near the shipped weights, and is used by the judge."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_memfail import calibration
from pytest_memfail.calibration import (
    Change,
    Correction,
    Label,
    judge_cases,
    measure,
    read_cases,
    shipped_cases,
    train_correction,
)
from pytest_memfail.cli import main
from pytest_memfail.core import UsageError
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.suites.memfail import SUITE as MEMFAIL


@pytest.fixture(scope="module")
def cases():
    return [case for case in read_cases(MEMFAIL, shipped_cases(MEMFAIL, ("dev",))) if case.style][:60]


def test_fewer_than_fifty_labels_are_refused(cases):
    with pytest.raises(UsageError, match=r"got \d+ labels, expected 50 or more"):
        train_correction(cases[:10], "ours")


def test_a_correction_changes_what_the_judge_says(cases, tmp_path, capsys):
    made = train_correction(cases, "ours")
    assert made.labels >= 50
    path = tmp_path / "mine.json"
    content = {**made.content, "heads": {"kept": [1.0, -9.0], "absent": [1.0, 9.0]}}
    path.write_text(json.dumps(content), encoding="utf-8")
    judge = OfflineJudge(weights=path)
    assert judge.identity != OfflineJudge().identity
    found = measure(judge_cases(judge, [c for c in cases if c.style != "verbatim"]))["overall"]["confusion"]
    assert sum(row["not_stored"] for row in found.values()) > 0.8 * sum(sum(row.values()) for row in found.values())


def test_it_is_kept_near_the_shipped_weights(cases):
    made = train_correction(cases, "ours")
    (slope, offset), _ = (made.content["heads"][name] for name in ("kept", "absent"))
    assert 0.2 < slope < 2.5
    assert abs(offset) < 2
    assert made.accepted.after >= made.accepted.before - 0.1


def test_a_gain_is_what_chance_does_not_explain(cases, tmp_path):
    path = tmp_path / "strict.json"
    made = train_correction(cases, "ours")
    path.write_text(json.dumps({**made.content, "heads": {"kept": [1, -3], "absent": [1, 0]}}), encoding="utf-8")
    assert not made.accepted.is_more
    strict = judge_cases(OfflineJudge(weights=path), cases)
    learned = train_correction(
        [replace(found.case, labels=tuple(Label(label=said) for said in found.predictions)) for found in strict], "ours"
    )
    low, high = learned.accepted.interval
    assert 0 < low < learned.accepted.after - learned.accepted.before < high
    assert learned.accepted.is_more
    assert learned.damaged_passed.after < learned.damaged_passed.before


WORSE, SAME, BETTER = (Change(100, 0.34, 0.34 + by, (by - 0.1, by + 0.1)) for by in (0.15, 0.0, -0.15))


@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        ((WORSE, SAME, SAME), "use it: pytest"),
        ((WORSE, BETTER, SAME), "use it: pytest"),
        (
            (SAME, SAME, SAME),
            "not advised: no more verdicts accepted than chance explains; to use it all the same: pytest",
        ),
        ((WORSE, BETTER, WORSE), "not advised: clearly more damaged or lost facts passed; to use it"),
        ((WORSE, WORSE, SAME), "not advised: clearly more good facts failed; to use it"),
        ((Change(1, 0.0, 1.0, None), SAME, SAME), "not advised: no more verdicts"),
    ],
)
def test_the_command_advises_it_only_for_a_gain_that_nothing_pays_for(tmp_path, capsys, monkeypatch, changes, advice):
    monkeypatch.setattr(calibration, "train_correction", lambda *_, **__: Correction({}, 100, *changes))
    labels = tmp_path / "labels.jsonl"
    labels.write_text("", encoding="utf-8")
    assert main(["judge-check", str(labels), "--train", "-o", str(tmp_path / "new.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith(advice)
    if changes[2] == WORSE:
        assert lines[3] == "damaged or lost facts passed: 34.0% before, 49.0% after [+5.0, +25.0], of 100"


def test_the_command_writes_it_and_refuses_mistakes(cases, tmp_path, capsys):
    out = tmp_path / "weights.json"
    (dev,) = shipped_cases(MEMFAIL, ("dev",))
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(dev.read_text(encoding="utf-8").splitlines(keepends=True)[:80]), encoding="utf-8")
    assert main(["judge-check", str(labels), "--train", "-o", str(out)]) == 0
    assert ": pytest --memfail-judge-option=weights=" in capsys.readouterr().out
    assert main(["judge-check", str(labels), "--train", "-o", str(out)]) == 4
    assert "exists; give another name" in capsys.readouterr().err
    assert main(["judge-check", "--train", "-o", str(tmp_path / "x")]) == 4
    assert "--train needs files of labels" in capsys.readouterr().err
    others = {"--judge=offline+m": "'offline+m', expected offline", f"--judge-option=weights={out}": "leave it out"}
    for word, said in others.items():
        assert main(["judge-check", str(labels), "--train", "-o", str(tmp_path / "x"), word]) == 4
        assert said in capsys.readouterr().err


def test_one_made_for_other_weights_is_refused(tmp_path):
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"base": "0" * 10, "heads": {"kept": [1, 0], "absent": [1, 0]}}), encoding="utf-8")
    with pytest.raises(UsageError, match="made for the weights 0000000000"):
        OfflineJudge(weights=path)
