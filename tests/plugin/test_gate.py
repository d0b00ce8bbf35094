"""Baselines and the gate: what fails a run, what does not, and what its exit code says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plugin.project import ALL, COEXISTING, CONDITIONAL, LONG_HOP, RUNS, Project
from plugin.test_outcomes import letters
from pytest_memfail.cli import main as memfail

BASE = "base.jsonl"
SAVE = f"--memfail-save-baseline={BASE}"
COMPARE = f"--memfail-baseline={BASE}"
GATE = "--memfail-fail-on"
FEW = {"ce_1": "not_stored", "lh_1": "not_retrieved"}
MANY = {name.replace("-", "_"): "summary_error" for name in (*COEXISTING, *CONDITIONAL)}


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def lines(result: pytest.RunResult) -> list[str]:
    """What was printed, on either stream, without the frame of xdist."""
    return [line for line in (*result.outlines, *result.errlines) if line.strip()]


def baseline(project: Project) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.path / BASE).read_text().splitlines()]


def with_baseline(project: Project, *args: str, **script: str) -> Project:
    """A project whose baseline has these verdicts."""
    project.script(**script)
    project.run_once(SAVE, *args)
    assert (project.path / BASE).exists()
    return project


# -- saving ------------------------------------------------------------------------------------------------------------


def test_a_baseline_is_a_header_and_a_verdict_per_item(any_project: Project) -> None:
    any_project.script(**FEW)
    result = any_project.run(SAVE)
    assert result.ret == 1  # without a gate the items decide
    result.stdout.fnmatch_lines([f"memfail: baseline saved: {BASE}, 22 verdicts"])
    header, *entries = baseline(any_project)
    assert (header["type"], header["schema_version"], header["verdicts"]) == ("baseline", 1, 22)
    assert (header["judge"], header["k"], header["limit"]) == ("script", [5], None)
    assert {entry["id"]: entry["verdict"] for entry in entries} == any_project.verdicts()
    assert sorted(entry["id"] for entry in entries) == sorted(ALL)


def test_the_same_baseline_and_the_same_gate_with_workers(project: Project) -> None:
    with_baseline(project, **FEW)
    alone = baseline(project)[1:]
    result = project.run(COMPARE, f"{GATE}=regressions>0", "--memfail-save-baseline=other.jsonl", n=2)
    assert result.ret == 0
    result.assert_outcomes(passed=20, xfailed=2)
    result.stdout.fnmatch_lines(["  regressions>0 *ok *0 worse, 0 better of 22*"])
    (project.path / "other.jsonl").replace(project.path / BASE)
    assert baseline(project)[1:] == alone


PARTIAL = [
    (
        ["memfail/long_hop"],
        {},
        "a partial run: 4 of 22 questions have a result; choose their tasks with --memfail-tasks=long_hop",
    ),
    (["-k", "long_hop"], {}, "a partial run: 4 of 22 questions have a result"),
    (["--deselect", ALL[0]], {}, "a partial run: 21 of 22 questions have a result; ask all, without node ids, -k, -m"),
    (["-m", "long_hop"], {}, "a partial run: 4 of 22 questions have a result"),
    (["-x"], {"co_1": "not_stored"}, "a partial run: "),
    ([], {"ce_1": "raise"}, "1 of 22 questions are errors"),
    ([], dict.fromkeys(FEW, "raise") | {"co_1": "raise"}, "3 of 22 questions are errors"),
]


@pytest.mark.parametrize(("words", "script", "reason"), PARTIAL)
def test_a_partial_or_faulty_run_saves_nothing(
    any_project: Project, words: list[str], script: dict[str, str], reason: str
) -> None:
    with_baseline(any_project, **FEW)
    before = (any_project.path / BASE).read_bytes()
    any_project.script(**script)
    result = any_project.run(SAVE, *words)
    # xdist interrupts the session at -x, which pytest tells by a code of its own
    assert result.ret in ({6, pytest.ExitCode.INTERRUPTED} if words == ["-x"] else {6}), result.stdout.str()
    assert len([line for line in lines(result) if f"no baseline is saved: {reason}" in line]) == 1
    assert (any_project.path / BASE).read_bytes() == before


def test_a_sample_may_be_a_baseline(project: Project) -> None:
    result = project.run(SAVE, "--memfail-limit=2")
    assert result.ret == 0
    assert baseline(project)[0]["limit"] == 2
    assert project.run(COMPARE, "--memfail-limit=2").ret == 0


def test_an_interrupted_run_saves_nothing(project: Project) -> None:
    project.conftest("def pytest_runtest_logreport(report):\n    if 'lh-1' in report.nodeid: raise KeyboardInterrupt")
    result = project.run_apart(SAVE)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert not (project.path / BASE).exists()


def test_a_run_that_fails_its_gate_does_not_replace_the_baseline(
    any_project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_baseline(any_project)
    before = (any_project.path / BASE).read_bytes()
    any_project.script(**MANY)
    for _ in range(2):
        result = any_project.run(COMPARE, f"--memfail-save-baseline=./{BASE}", "--memfail-record=now.jsonl")
        assert result.ret == 1
        stays = f"memfail: no baseline is saved: the gate failed, so {BASE} stays; to accept this run: memfail gate last --save"
        assert [line.removesuffix(f"-baseline {BASE}") for line in lines(result) if "no baseline" in line] == [stays]
        assert (any_project.path / BASE).read_bytes() == before
    monkeypatch.chdir(any_project.path)
    capsys.readouterr()
    assert memfail(["gate", "now.jsonl", "--baseline", BASE, "--save-baseline", BASE]) == 1
    assert "no baseline is saved: the gate failed" in capsys.readouterr().out
    assert (any_project.path / BASE).read_bytes() == before
    assert memfail(["gate", "now.jsonl", "--baseline", BASE, "--save-baseline", "other.jsonl"]) == 1
    assert (any_project.path / "other.jsonl").exists()
    assert memfail(["gate", "last", "--save-baseline", BASE]) == 0  # accepted on purpose
    assert any_project.run(COMPARE).ret == 0


@pytest.mark.parametrize("option", ["--memfail-save-baseline", "--memfail-record"])
def test_a_file_of_somebody_else_is_left_alone(project: Project, option: str) -> None:
    with_baseline(project)
    name = "notes.txt" if option == "--memfail-save-baseline" else BASE
    path = project.path / name
    text = path.read_text() if path.exists() else project.file(name, "Buy milk.\n").read_text()
    result = project.run(f"{option}={name}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert len(lines(result)) == 1
    assert path.read_text() == text
    assert project.events() == []


def test_a_baseline_holds_no_secret(project: Project) -> None:
    project.run(SAVE, "--memfail-system-option=api_key=sk-verysecret")
    assert "sk-verysecret" not in (project.path / BASE).read_text()


# -- comparing ---------------------------------------------------------------------------------------------------------


def test_known_failures_and_fixes(any_project: Project) -> None:
    with_baseline(any_project, ce_1="not_stored", ce_2="summary_error", lh_1="not_retrieved", lh_2="reasoning_error")
    any_project.script(ce_1="not_stored", ce_2="not_stored", lh_3="not_retrieved")
    result = any_project.run(COMPARE, "-v")
    result.assert_outcomes(passed=17, failed=1, xfailed=2, xpassed=2)
    text = result.stdout.str()
    for item, word in (
        ("coexisting_facts::ce-1", "XFAIL (known)"),
        ("coexisting_facts::ce-2", "XFAIL (known)"),
        ("long_hop::lh-1", "XPASS (fixed)"),
        ("long_hop::lh-2", "XPASS (fixed)"),
        ("long_hop::lh-3", "NOT_RETRIEVED"),
    ):
        shown = f"memfail/{item} {word}" if any_project.n is None else f"{word} memfail/{item}"
        assert shown in text
    assert result.ret == 0  # one flip is no evidence: the default gate decides


def test_letters_of_known_failures_and_fixes(any_project: Project) -> None:
    with_baseline(any_project, ce_1="not_stored", lh_1="not_retrieved")
    any_project.script(ce_1="not_stored", ce_2="summary_error")
    assert letters(any_project.run(COMPARE)) == {"x": 1, "X": 1, "S": 1, ".": 19}


def test_a_fix_without_a_judged_answer_is_one(any_project: Project) -> None:
    with_baseline(any_project, lh_1="not_retrieved", lh_2="reasoning_error")
    any_project.script(lh_1="ungraded", lh_2="ungraded")
    result = any_project.run(COMPARE)
    result.assert_outcomes(passed=20, skipped=1, xpassed=1)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  memfail/long_hop::lh-1 not_retrieved -> no_answer"])


def test_lf_reruns_regressions_only(project: Project) -> None:
    with_baseline(project, ce_1="not_stored", lh_1="not_retrieved")
    project.script(ce_1="not_stored", lh_2="not_retrieved")
    project.run(COMPARE)
    project.run(COMPARE, "--lf")
    assert project.ran() == ["lh-2"]


def test_a_regression_is_listed_with_its_p(any_project: Project) -> None:
    with_baseline(any_project, ce_1="not_stored", lh_1="not_retrieved", lh_2="summary_error")
    any_project.script(**MANY, lh_2="not_retrieved")
    assert "other changes since" not in any_project.run(COMPARE).stdout.str()
    result = any_project.run(COMPARE, "--tb=short", "-v")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "memfail gate: failed",
            "  regressions:p<0.04 *FAILED *9 worse, 1 better of 22, p 0.0107",
            f"baseline: {BASE}, 22 questions compared",
            "coexisting_facts * 6 * 5 * 0 * 0.0312 * 0.1250",
            "  p treats the questions of a row as one: 9 worse, 1 better of 18 rows",
            "worse than in the baseline: 9",
            "  memfail/conditional_facts_easy::co-1 correct -> summary_error",
            "better than in the baseline: 1",
            "  memfail/long_hop::lh-1 not_retrieved -> correct",
            "other changes since the baseline, neither worse nor better: 2",
            "  memfail/coexisting_facts::ce-1 not_stored -> summary_error",
            "  memfail/long_hop::lh-2 summary_error -> not_retrieved",
            "smallest true drop that 18 such rows show in four of five runs: * points",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert sum(" correct -> summary_error" in line for line in result.outlines) == 9
    start = result.outlines.index("memfail gate: failed")
    assert [line for line in result.outlines[start : start + 30] if len(line) > 100] == []


def test_the_gate_is_shown_without_a_summary(project: Project) -> None:
    with_baseline(project)
    project.script(**MANY)
    result = project.run(COMPARE, "--memfail-summary=none")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["memfail gate: failed", "  memfail/coexisting_facts::ce-1 correct -> summary_error"])


def test_the_summary_hook_sees_the_gate(any_project: Project) -> None:
    any_project.conftest(
        """
        def pytest_memfail_summary(config, summary):
            (config.rootpath / "gate.log").write_text(summary.gate.outcome if summary.gate else "none")
        """
    )
    with_baseline(any_project)
    any_project.script(**MANY)
    any_project.run(COMPARE)
    assert (any_project.path / "gate.log").read_text() == "failed"


DIFFERENT = [
    (["--memfail-k=3"], "k is [3], in the baseline [5]"),
    (["--memfail-seed=7"], "seed is 7, in the baseline 42"),
    (["--memfail-limit=2"], "limit is 2, in the baseline no limit"),
    (["--memfail-judge=offline"], "judge is 'offline', in the baseline 'script'"),
    (["--memfail-protocol=paper"], "protocol is 'paper', in the baseline 'ours'"),
    (["--memfail-k=3", "--memfail-seed=7"], "seed is 7, in the baseline 42; k is [3]"),
]


@pytest.mark.parametrize(("words", "message"), DIFFERENT)
def test_a_baseline_of_something_else_is_refused(project: Project, words: list[str], message: str) -> None:
    refused(with_baseline(project), words, message)


def refused(project: Project, words: list[str], message: str) -> None:
    result = project.run(COMPARE, *words)
    assert result.ret == 6
    (line,) = lines(result)
    assert message in line
    assert "is refused" in line
    assert project.events() == []


def test_a_baseline_of_something_else_is_refused_under_xdist(project2: Project) -> None:
    refused(with_baseline(project2), *DIFFERENT[0])


def test_a_baseline_of_other_rows_is_refused(any_project: Project) -> None:
    with_baseline(any_project)
    path = any_project.path / "data" / "long_hop.csv"
    path.write_text(path.read_text().replace("plum jam", "quince jam"))
    refused(any_project, [], "data_hash of long_hop is '")


def test_a_baseline_that_does_not_fit_is_replaced_by_a_run_that_saves_over_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_baseline(project)
    monkeypatch.setenv("CI", "true")
    result = project.run(COMPARE, SAVE, "--memfail-k=3")
    told = f"memfail: the baseline */{BASE} is refused: k is [[]3[]], in the baseline [[]5[]]; run with the same settings, or save"
    result.stdout.fnmatch_lines([f"{told} a new one (this run does)", f"memfail: baseline saved: {BASE}, 22 verdicts"])
    assert baseline(project)[0]["k"] == [3]
    assert project.run(COMPARE, "--memfail-save-baseline=other.jsonl").ret == 6


def test_a_baseline_of_another_schema_is_refused(project: Project) -> None:
    with_baseline(project)
    path = project.path / BASE
    path.write_text(path.read_text().replace('"schema_version":1', '"schema_version":99', 1))
    refused(project, [], "schema_version is 1, in the baseline 99")


def test_another_system_is_what_is_compared(any_project: Project) -> None:
    with_baseline(any_project)
    result = any_project.run(COMPARE, "--memfail-system-option=stores=1")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  system_options is stores=1, in the baseline none"])


@pytest.mark.parametrize("damage", ["record", "cut", "half", "foreign", "empty", "verdict"])
def test_what_is_no_baseline(project: Project, damage: str) -> None:
    with_baseline(project, "--memfail-record=r.jsonl")
    path = project.path / BASE
    text = path.read_text()
    path.write_text(
        {
            "record": (project.path / "r.jsonl").read_text(),
            "cut": "".join(text.splitlines(keepends=True)[:-3]),
            "half": text[:-20],
            "foreign": "Buy milk.\n",
            "empty": "",
            "verdict": text.replace('"vacuous"', '"hollow"'),
        }[damage]
    )
    result = project.run(COMPARE)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = lines(result)
    assert BASE in line
    assert project.events() == []


def test_more_and_fewer_questions_than_the_baseline(project: Project) -> None:
    with_baseline(project, "--memfail-tasks=long_hop,coexisting_facts")
    result = project.run(COMPARE, "--memfail-tasks=long_hop,persona_retrieval")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["  not in the baseline: 8 questions, 0 of them failing", "  6 of its questions were not asked"]
    )


def test_nothing_in_common(any_project: Project) -> None:
    with_baseline(any_project, "--memfail-tasks=long_hop,coexisting_facts")
    rule = "persona_retrieval.regressions>0"
    result = any_project.run(COMPARE, "--memfail-tasks=long_hop,persona_retrieval", f"{GATE}={rule}")
    assert result.ret == 6
    result.stdout.fnmatch_lines([f"*no trustworthy result: {rule}: no question in common with the baseline"])


PARTS = [
    (["memfail/long_hop"], "4 of 22 questions have a result; choose their tasks with --memfail-tasks=long_hop"),
    (["memfail/long_hop::lh-2"], "1 of 22 questions have a result; ask all, without node ids, -k, -m, -x, --lf and"),
    (["-k", "long_hop"], "4 of 22 questions have a result"),
    (["-m", "correct and long_hop"], "3 of 22 questions have a result"),
    (["--deselect", ALL[0]], "21 of 22 questions have a result"),
]


@pytest.mark.parametrize("rule", ["regressions:p<0.04", "correct<0.1"])
@pytest.mark.parametrize(("words", "said"), PARTS)
def test_the_items_of_a_partial_run_decide(project: Project, words: list[str], said: str, rule: str) -> None:
    with_baseline(project, lh_1="not_stored")
    good = project.run(COMPARE, f"{GATE}={rule}", *words)
    assert good.ret == 0  # a known failure is expected
    assert len([line for line in lines(good) if f"the gate was not decided: a partial run: {said}" in line]) == 1
    assert not any(line.startswith("memfail gate") for line in lines(good))
    project.script(lh_1="not_stored", lh_2="not_stored")
    assert project.run(COMPARE, f"{GATE}={rule}", *words).ret == 1


def test_a_shard_leaves_the_gate_to_the_joined_record(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project.ini("memfail_fail_on = regressions>0")
    monkeypatch.setenv("CI", "true")
    with_baseline(project)
    project.script(lh_1="not_stored")
    for number in (1, 2):
        for words in ([], [COMPARE]):
            result = project.run(f"--memfail-shard={number}/2", f"--memfail-record={number}.jsonl", *words)
            assert result.ret == ("lh-1" in project.ran())
            said = "memfail: the gate was not decided: a shard is a part of a run; join the shards with memfail merge first"
            assert said in result.outlines
    monkeypatch.chdir(project.path)
    assert memfail(["merge", "1.jsonl", "2.jsonl", "-o", "all.jsonl"]) == 0
    assert memfail(["gate", "all.jsonl", "--baseline", BASE, "--fail-on", "regressions>0"]) == 1


def test_users_own_tests_still_count(any_project: Project) -> None:
    any_project.file("test_own.py", "def test_own(): assert False")
    with_baseline(any_project)
    any_project.script(lh_1="not_stored")
    result = any_project.run("memfail", "test_own.py", COMPARE)
    result.assert_outcomes(passed=21, failed=2)
    assert result.ret == 1
    assert any_project.run("memfail", COMPARE).ret == 0


def test_users_own_tests_alone_are_not_gated(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    project.file("test_own.py", "def test_own(): pass")
    assert project.run("test_own.py", COMPARE, "--memfail-fail-on=correct<0.9").ret == 0
    assert project.run("--collect-only", COMPARE).ret == 0


# -- no baseline yet ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[COMPARE], ["--memfail-fail-on=regressions:p<0.05"]])
def test_no_baseline_yet(any_project: Project, words: list[str]) -> None:
    good = any_project.run("memfail/long_hop", *words)
    assert good.ret == 0
    assert len([line for line in lines(good) if "--memfail-save-baseline" in line]) == 1
    any_project.script(lh_1="not_stored")
    bad = any_project.run("memfail/long_hop", *words)
    assert bad.ret == 1
    assert not any("memfail gate" in line for line in lines(bad))


def test_rules_that_pass_do_not_speak_for_one_without_a_baseline(any_project: Project) -> None:
    words = [COMPARE, "--memfail-fail-on=regressions>0,wrongly_held>0", "--memfail-tasks=long_hop"]
    assert any_project.run(*words).ret == 0
    any_project.script(lh_1="not_stored")
    result = any_project.run(*words)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "  wrongly_held>0 * ok *",
            "memfail gate: skipped, regressions>0: no baseline",
            "*there is no baseline at *yet*",
        ]
    )


@pytest.mark.parametrize("words", [[COMPARE], ["--memfail-fail-on=regressions>0"]])
def test_no_baseline_yet_in_ci(any_project: Project, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setenv("CI", "true")
    result = any_project.run(*words)
    assert result.ret == 6
    (line,) = lines(result)
    assert "in CI the gate fails closed" in line
    assert any_project.events() == []


@pytest.mark.parametrize("words", [[COMPARE], ["--memfail-fail-on=regressions>0,wrongly_held>0"]])
def test_ci_makes_the_first_baseline_and_does_not_pass(
    any_project: Project, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("CI", "true")
    result = any_project.run(SAVE, *words)
    assert result.ret == 6
    told = [line for line in lines(result) if "no trustworthy result" in line]
    assert len(told) == 1
    assert told[0].endswith("save one with --memfail-save-baseline, as this run does), and in CI the gate fails closed")
    assert len(baseline(any_project)) == 23
    assert any_project.run(COMPARE, *words).ret == 0


def test_ci_makes_no_baseline_beside_a_missing_anchor(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert project.run(SAVE, "--memfail-anchor=anchor.jsonl").ret == 6
    assert project.events() == []


def test_ci_that_is_off(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "false")
    assert project.run("memfail/long_hop", COMPARE).ret == 0


# -- expressions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("corect<0.8", "unknown measure 'corect'; did you mean 'correct'?"),
        ("long_hops.correct<0.8", "unknown task 'long_hops'; did you mean 'long_hop'?"),
        ("correct<", "--memfail-fail-on 'correct<', column 9: got the end, expected a number"),
        ("correct<80", "column 9: got 80, expected a share between 0 and 1"),
        ("", "column 1: got nothing, expected an expression"),
    ],
)
def test_a_wrong_expression(any_project: Project, value: str, message: str) -> None:
    result = any_project.run(f"--memfail-fail-on={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = lines(result)
    assert message in line
    assert any_project.events() == []


def test_a_rate_that_cannot_be_had(any_project: Project) -> None:
    any_project.script(**{name.replace("-", "_"): "ungraded" for name in LONG_HOP})
    words = ["--memfail-tasks=long_hop"]
    result = any_project.run(*words, "--memfail-fail-on=correct<0.5")
    assert result.ret == 6
    result.stdout.fnmatch_lines(["*no trustworthy result: correct<0.5: no answer was judged*"])
    assert any_project.run(*words, "--memfail-fail-on=memory_held<0.5, summary_error>0").ret == 0


def test_expressions_of_the_ini_file(project: Project) -> None:
    project.ini("memfail_fail_on =", "    correct<0.5", "    long_hop.not_retrieved>0.5, regressions>0")
    project.script(lh_1="not_retrieved", lh_2="not_retrieved", lh_3="not_retrieved")
    result = project.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "memfail gate: failed",
            "  correct<0.5 * ok * 0.864 * of 22",
            "  long_hop.not_retrieved>0.5 *FAILED *0.750 [[]0.30, 0.95[]] of 4",
            "  regressions>0 *skipped *no baseline",
        ]
    )


def test_each_task(any_project: Project) -> None:
    with_baseline(any_project)
    any_project.script(**{name.replace("-", "_"): "not_stored" for name in COEXISTING})
    result = any_project.run(COMPARE, "--memfail-fail-on=*.regressions:p<0.05")
    assert result.ret == 0  # 1/64 is not below 0.05 after four tests
    result.stdout.fnmatch_lines(["  ?.regressions:p<0.05 (coexisting_facts) * ok * p (Holm) 0.0625"])


def test_the_gate_is_said_last(any_project: Project) -> None:
    with_baseline(any_project)
    any_project.script(**MANY)
    lines = any_project.run(COMPARE).outlines
    listed = max(i for i, line in enumerate(lines) if line.startswith("record:"))
    assert lines[listed + 1] == "memfail gate: failed, regressions:p<0.04: 10 worse, 0 better of 22, p 0.0010"


def test_run_report_and_command_agree_that_an_error_fails(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path)
    with_baseline(project)
    project.script(ce_1="raise")
    result = project.run(COMPARE, "--memfail-record=now.jsonl", "--memfail-report=x.md")
    said = "failed, errors: got 1 of 22 questions, expected none"
    assert (result.ret, f"memfail gate: {said}" in result.outlines) == (1, True)
    assert "**memfail: gate failed**" in (project.path / "x.md").read_text()
    capsys.readouterr()
    assert memfail(["gate", "now.jsonl", "--baseline", BASE]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith(
        "gate: failed errors FAILED got 1 of 22 questions, expected none regressions:p<0.04 ok 0 worse"
    )


# -- the command -------------------------------------------------------------------------------------------------------

COMMANDS = [
    # words, in CI, exit code, the last line
    (["--baseline", "typo.jsonl"], False, 1, "nothing was compared: 2 of 22 questions failed"),
    (["--anchor", "typo.jsonl"], False, 1, "nothing was compared: 2 of 22 questions failed"),
    (["--fail-on", "regressions>0,wrongly_held>0"], False, 1, "nothing was compared: 2 of 22 questions failed"),
    (["--baseline", "new.jsonl", "--save-baseline", "new.jsonl"], False, 1, "nothing was compared: 2 of 22 questions"),
    (["--save-baseline", "new.jsonl"], False, 0, "baseline saved: new.jsonl, 22 verdicts"),
    (["--fail-on", "correct<0.5"], False, 0, ""),
    (
        ["--baseline", "typo.jsonl"],
        True,
        6,
        "no trustworthy result: there is no baseline at typo.jsonl, and in CI the gate",
    ),
    (
        ["--baseline", "new.jsonl", "--save-baseline", "new.jsonl"],
        True,
        6,
        "no trustworthy result: there is no baseline at",
    ),
]


def test_the_gate_command_without_what_it_compares_with_exits_as_a_run(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path)
    project.script(**FEW)
    project.run("--memfail-record=now.jsonl")
    for words, ci, code, last in COMMANDS:
        (project.path / "new.jsonl").unlink(missing_ok=True)
        monkeypatch.setenv("CI", str(ci).lower())
        capsys.readouterr()
        assert memfail(["gate", "now.jsonl", *words]) == code, words
        printed = capsys.readouterr().out
        assert f"memfail: {last}" in printed.splitlines()[-1] or not last, printed
        assert (project.path / "new.jsonl").exists() is ("--save-baseline" in words)
    monkeypatch.setenv("CI", "false")
    project.script()
    project.run("--memfail-record=good.jsonl")
    assert memfail(["gate", "good.jsonl", "--baseline", "typo.jsonl"]) == 0


# -- the anchor --------------------------------------------------------------------------------------------------------

ANCHOR = "anchor.jsonl"
ANCHORED = f"--memfail-anchor={ANCHOR}"


def with_anchor(project: Project, **script: str) -> None:
    project.script(**script)
    project.run_once("--memfail-record=golden.jsonl")
    golden = str(project.path / "golden.jsonl")
    assert memfail(["anchor", golden, "-o", str(project.path / ANCHOR), "--reason", "release 1.2"]) == 0


def test_losses_that_add_up_are_stopped_by_the_anchor(any_project: Project) -> None:
    with_anchor(any_project)
    lost = [name.replace("-", "_") for name in (*COEXISTING, *CONDITIONAL)]
    with_baseline(any_project, **dict.fromkeys(lost[:8], "summary_error"))
    any_project.script(**dict.fromkeys(lost[:9], "summary_error"))
    assert any_project.run(COMPARE).ret == 0
    result = any_project.run(COMPARE, ANCHORED)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "memfail gate: failed",
            "  regressions:p<0.04 *ok *1 worse, 0 better of 22, p 0.5000",
            f"anchor: {ANCHOR}, 22 questions compared",
            "  set because: release 1.2",
            "  regressions:p<0.01 *FAILED *9 worse, 0 better of 22, p 0.0020",
            "worse than in the anchor: 9",
            "memfail gate: failed, regressions:p<0.01 (anchor): 9 worse, 0 better of 22, p 0.0020",
        ]
    )


def test_the_anchor_alone(any_project: Project) -> None:
    with_anchor(any_project, **FEW)
    result = any_project.run(ANCHORED)
    result.assert_outcomes(passed=20, xfailed=2)  # what failed there is expected to fail
    assert result.ret == 0
    any_project.script(**MANY | FEW)
    assert any_project.run(ANCHORED).ret == 1


def test_no_anchor_yet(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    result = project.run(ANCHORED)
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"memfail: there is no anchor at *{ANCHOR} yet (make one with memfail anchor *"])
    monkeypatch.setenv("CI", "true")
    assert project.run(ANCHORED).ret == 6


def test_an_anchor_of_other_settings_is_refused(project: Project) -> None:
    with_anchor(project)
    result = project.run(ANCHORED, "--memfail-seed=7")
    assert result.ret == 6
    (line,) = [line for line in lines(result) if "no trustworthy result" in line]
    assert f"the anchor {project.path / ANCHOR} is refused: seed is 7, in the anchor 42" in line
    assert "move it on purpose: memfail anchor" in line


def test_a_run_never_saves_its_baseline_over_the_anchor(project: Project) -> None:
    with_anchor(project)
    before = (project.path / ANCHOR).read_bytes()
    result = project.run(f"--memfail-save-baseline={ANCHOR}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert (project.path / ANCHOR).read_bytes() == before


def test_a_baseline_is_no_anchor(project: Project) -> None:
    with_baseline(project)
    result = project.run(f"--memfail-anchor={BASE}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert len(lines(result)) == 1
    assert "without a reason, expected an anchor" in lines(result)[0]


def test_the_gate_command_knows_the_anchor(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path)
    with_anchor(project)
    project.script(**MANY)
    project.run("--memfail-record=now.jsonl")
    capsys.readouterr()
    assert memfail(["gate", "now.jsonl", "--anchor", ANCHOR, "-o", "x.md", "-o", "x.html", "-o", "x.json"]) == 1
    assert "set because: release 1.2\n  regressions:p<0.01  " in capsys.readouterr().out
    comment = (project.path / "x.md").read_text()
    assert (
        "**Gate: failed**, against the anchor anchor.jsonl (set because: release 1.2)".replace("(", "\\(").replace(
            ")", "\\)"
        )
        in comment
    )
    assert "Worse than in the anchor: 10" in comment
    assert "Questions with another verdict than in the anchor" in (project.path / "x.html").read_text()
    gate = json.loads((project.path / "x.json").read_text())["records"][0]["gate"]
    assert (gate["anchor"]["reason"], len(gate["anchor"]["flips"])) == ("release 1.2", 10)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["part.jsonl", "-o", "new.jsonl", "--reason", "x"], 6, "no anchor is saved: "),
        (["golden.jsonl", "-o", "new.jsonl", "--reason", "  "], 4, "--reason: got nothing"),
        (["golden.jsonl", "-o", ANCHOR, "--reason", "y"], 0, "it was set before because: release 1.2"),
    ],
)
def test_the_anchor_command(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(project.path)
    with_anchor(project)
    project.run("--memfail-record=part.jsonl", "memfail/long_hop")
    capsys.readouterr()
    assert memfail(["anchor", *words]) == code
    out, err = capsys.readouterr()
    assert said in out + err
    assert (project.path / "new.jsonl").exists() is False


def test_a_kept_run_becomes_the_anchor_by_its_name(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.path)
    project.run()
    assert memfail(["anchor", "last", "-o", ANCHOR, "--reason", "release 1.2"]) == 0
    assert project.run(ANCHORED).ret == 0


# -- the exit code -----------------------------------------------------------------------------------------------------

RAISE = {"ce_1": "raise"}
TOO_MANY = {name.replace("-", "_"): "raise" for name in LONG_HOP}
EXIT_CODES: list[tuple[str, Mapping[str, str] | None, Mapping[str, str], list[str], bool, int]] = [
    # what, the baseline's verdicts, this run's verdicts, options, in CI, exit code
    ("all correct", None, {}, [], False, 0),
    ("a failure", None, FEW, [], False, 1),
    ("an error", None, RAISE, [], False, 1),
    ("too many errors", None, TOO_MANY, [], False, 6),
    ("nothing selected", None, {}, ["-k", "nothing"], False, 5),
    ("known failures", FEW, FEW, [COMPARE], False, 0),
    ("a fix", FEW, {}, [COMPARE], False, 0),
    ("a flip that may be noise", {}, FEW, [COMPARE], False, 0),
    ("a flip, none allowed", {}, FEW, [COMPARE, f"{GATE}=regressions>0"], False, 1),
    ("known failures, no flip allowed", FEW, FEW, [COMPARE, f"{GATE}=regressions>0"], False, 0),
    ("a regression", {}, MANY, [COMPARE], False, 1),
    ("a regression in CI", {}, MANY, [COMPARE], True, 1),
    ("one of a task", {}, FEW, [COMPARE, f"{GATE}=long_hop.regressions>0"], False, 1),
    ("one of another task", {}, FEW, [COMPARE, f"{GATE}=persona_retrieval.regressions>0"], False, 0),
    ("an error beside the gate", {}, RAISE, [COMPARE], False, 1),
    ("too many errors beside the gate", {}, TOO_MANY, [COMPARE, f"{GATE}=regressions>0"], False, 6),
    ("a rate that holds", None, FEW, [f"{GATE}=correct<0.80"], False, 0),
    ("a rate that does not", None, FEW, [f"{GATE}=correct<0.95"], False, 1),
    ("two rates, one of them not", None, FEW, [f"{GATE}=correct<0.8", f"{GATE}=not_stored>0"], False, 1),
    ("no baseline yet", None, {}, [COMPARE], False, 0),
    ("no baseline yet, a failure", None, FEW, [COMPARE], False, 1),
    ("no baseline in CI", None, {}, [COMPARE], True, 6),
    ("a refused baseline", {}, {}, [COMPARE, "--memfail-k=3"], False, 6),
    ("a wrong expression", None, {}, [f"{GATE}=correct"], False, 4),
    ("a gate on a run that ended early", {}, MANY, [COMPARE, "-x"], False, 1),
    ("saving a partial run", None, {}, [SAVE, "memfail/long_hop"], False, 6),
    ("saving a failing run", None, FEW, [SAVE], False, 1),
    ("saving under a gate that holds", FEW, FEW, [COMPARE, SAVE], False, 0),
]
ALSO_WITH_WORKERS = ("no baseline in CI",)
"""Not left to `-m slow` with two workers."""


@pytest.mark.parametrize(
    ("any_project", "before", "now", "words", "ci", "code"),
    [
        pytest.param(
            n, *case, id=f"{workers}-{name}", marks=[pytest.mark.slow] if n and name not in ALSO_WITH_WORKERS else []
        )
        for workers, n in (("alone", None), ("n2", 2))
        for name, *case in EXIT_CODES
    ],
    indirect=["any_project"],
)
def test_exit_code(
    any_project: Project,
    monkeypatch: pytest.MonkeyPatch,
    before: Mapping[str, str] | None,
    now: Mapping[str, str],
    words: list[str],
    ci: bool,
    code: int,
) -> None:
    if before is not None:
        with_baseline(any_project, **before)
    if ci:
        monkeypatch.setenv("CI", "true")
    any_project.script(**now)
    result = any_project.run(*words)
    if "-x" in words and any_project.n is not None and result.ret == pytest.ExitCode.INTERRUPTED:
        code = pytest.ExitCode.INTERRUPTED  # how xdist ends a session that -x stops while others still run
    assert result.ret == code, result.stdout.str()
    assert "Traceback" not in result.stdout.str() or "raise" in now.values()
    if any_project.record():
        assert any_project.end()[0] == code


# -- markers from what is recorded -------------------------------------------------------------------------------------


def test_markers_of_the_last_run_go_before_those_of_the_baseline(any_project: Project) -> None:
    with_baseline(any_project, ce_1="summary_error", ce_2="summary_error")
    shutil.rmtree(any_project.path / RUNS)
    result = any_project.run(COMPARE, "-m", "summary_error")
    assert sorted(any_project.ran()) == ["ce-1", "ce-2"]
    result.stdout.fnmatch_lines([f"memfail: -m selects by * 22 of 22 questions have one (22 in the baseline {BASE})"])
    any_project.script(ce_2="summary_error", lh_1="summary_error")
    result = any_project.run("memfail/coexisting_facts", COMPARE)
    result = any_project.run(COMPARE, "-m", "summary_error")
    assert any_project.ran() == ["ce-2"]
    result.stdout.fnmatch_lines(
        [f"memfail: -m * 22 of 22 questions have one (6 in pytest's cache, 16 in the baseline {BASE})"]
    )


def test_a_run_selects_what_it_recorded(any_project: Project) -> None:
    any_project.script(lh_1="summary_error", ce_1="summary_error", ce_2="not_stored")
    any_project.run()
    result = any_project.run("-m", "summary_error")
    assert sorted(any_project.ran()) == ["ce-1", "lh-1"]
    result.stdout.fnmatch_lines(["memfail: -m * 22 of 22 questions have one (22 in pytest's cache)"])


def test_paths_are_relative_to_where_they_are_given(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project.file("sub/nothing.txt", "").parent
    monkeypatch.chdir(folder)
    project.run(SAVE)
    assert Path(folder, BASE).exists()
    result = project.run(COMPARE)
    result.stdout.fnmatch_lines([f"baseline: sub/{BASE}, 22 questions compared"])
