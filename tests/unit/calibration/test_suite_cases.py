"""Labelled cases of suites: they are read with their faults, and the offline judge agrees with most of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_memfail.calibration import (
    grade_replies,
    judge_cases,
    measure,
    read_cases,
    read_replies,
    reply_measures,
    shipped_cases,
)
from pytest_memfail.cli import main
from pytest_memfail.core import RowError, StageResult, UsageError
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.suites import built_in_suite

ACCEPTED = 0.86
"""Measured: .883."""
REPLIES = 0.85
"""Measured: 26 of 29."""


@pytest.fixture(scope="module")
def meme():
    return built_in_suite("meme")


@pytest.fixture(scope="module")
def judge(meme):
    return OfflineJudge(kinds=meme.kinds, answers=meme.answers)


def test_the_offline_judge_agrees_with_most_labels(meme, judge):
    cases = read_cases(meme, shipped_cases(meme))
    assert len(cases) >= 100
    measures = measure(judge_cases(judge, cases))
    assert measures["errors"] == []
    assert measures["overall"]["accepted"] >= ACCEPTED
    assert {case.task for case in cases} == {f"meme.{part.name}" for part in meme.parts["meme"]}


def test_replies_that_are_decided_without_a_model_are_mostly_right(meme, judge):
    replies = read_replies(meme)
    counts = reply_measures(grade_replies(judge, replies))["groups"]["all"]
    assert counts["n"] == len(replies) >= 40
    assert counts["right"] >= REPLIES * counts["decided"] > 0


def test_stores_and_replies_of_mab():
    suite = built_in_suite("mab")
    cases, replies = read_cases(suite, shipped_cases(suite)), read_replies(suite)
    offline = OfflineJudge(kinds=suite.kinds, answers=suite.answers)
    assert len(cases) >= 80
    assert measure(judge_cases(offline, cases))["overall"]["accepted"] >= 0.95  # measured: .967
    graded = grade_replies(offline, replies)
    assert [one.case.id for one in graded if (one.outcome == "passed") != one.case.right] == []


def test_a_judge_that_says_the_contrary_is_found_out(meme, judge):
    class Contrary(OfflineJudge):
        def answer(self, question, evidence, reply):
            found = super().answer(question, evidence, reply)
            turned = {"passed": "failed", "failed": "passed"}
            return replace(found, outcome=turned.get(found.outcome, found.outcome))

    replies = read_replies(meme)
    right = [reply_measures(grade_replies(each, replies)) for each in (judge, contrary(Contrary, meme))]
    decided = right[0]["groups"]["all"]["decided"]
    assert right[0]["groups"]["all"]["right"] + right[1]["groups"]["all"]["right"] == decided
    assert len(right[1]["disagreements"]) == right[0]["groups"]["all"]["right"]


def contrary(kind, suite):
    return kind(kinds=suite.kinds, answers=suite.answers)


def test_an_error_of_the_judge_is_neither_right_nor_wrong(meme):
    class Broken:
        def answer(self, question, evidence, reply):
            raise UsageError("no judge today")

    replies = read_replies(meme)
    measures = reply_measures(grade_replies(Broken(), replies[:3]))
    assert measures["groups"]["all"] == {"n": 3, "decided": 0, "right": 0}
    assert [wrong["outcome"] for wrong in measures["disagreements"]] == ["error"] * 3


def test_an_answer_may_be_awaited(meme):
    class Waiting:
        async def answer(self, question, evidence, reply):
            return StageResult("passed")

    replies = read_replies(meme)
    assert {graded.outcome for graded in grade_replies(Waiting(), replies[:2])} == {"passed"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"question": "after-cas-nothing"}, "question: got 'after-cas-nothing' of 'pl_901'"),
        ({"retrieved": [99]}, "retrieved: got index 99, expected 0 to"),
        ({"facts": [{"label": "lost"}]}, "facts.0.label: got 'lost', expected"),
        ({"more": 1}, "more: no such field"),
    ],
)
def test_a_faulty_line_is_named(meme, tmp_path, change, says):
    folder = meme.cases()
    lines = (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    lines[1] = json.dumps({**json.loads(lines[0]), "case_id": "other", **change})
    (tmp_path / "cases.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(RowError) as error:
        read_cases(meme, [tmp_path / "cases.jsonl"])
    assert says in str(error.value)
    assert "cases.jsonl:2" in str(error.value)


def test_a_suite_without_cases_says_so(meme):
    with pytest.raises(UsageError, match="ships no labelled cases"):
        shipped_cases(replace(meme, cases=None))


def test_the_command_prints_stores_and_replies(capsys):
    assert main(["judge-check", "--suite", "meme", "--show", "1"]) == 0
    out = capsys.readouterr().out
    assert "meme.cascade" in out
    assert "replies" in out
    assert max(map(len, out.splitlines())) <= 100
    assert main(["judge-check", "--suite", "meme", "--fail-under", "0.99"]) == 1
    assert main(["judge-check", "--suite", "meme", "--planted"]) == 4
    assert "the suite 'meme' has no faults to plant" in capsys.readouterr().err
    assert main(["judge-check", "--suite", "meme", "--split", "dev"]) == 4
    assert "the cases of the suite 'meme' are not split" in capsys.readouterr().err


def test_the_command_explains_and_balances_the_cases_of_a_suite(meme, capsys):
    case = read_cases(meme, shipped_cases(meme))[0]
    assert main(["judge-check", "--suite", "meme", "--explain", case.id]) == 0
    assert f"label {case.labels[0].label}, judged " in capsys.readouterr().out
    assert main(["judge-check", "--suite", "meme", "--data-report", "--tasks", "meme.cascade"]) == 0
    assert "meme.cascade" in capsys.readouterr().out
