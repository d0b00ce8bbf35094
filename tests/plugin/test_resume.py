"""--memfail-resume: a run that was killed goes on, and nothing is asked or recorded twice."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from plugin.project import ALL, COEXISTING, LONG_HOP, QUESTIONS, Project, slowly_both_ways, with_a_worker
from plugin.test_ahead import only
from plugin.test_record import comparable
from pytest_memfail.cli import main

KILL = """
import pathlib, signal

seen = []
workers = []

def pytest_configure(config):
    workers[:] = [True] if hasattr(config, "workerinput") else []

@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    kill = pathlib.Path(__file__).with_name("kill")
    if not workers and kill.exists() and report.when == "call":
        seen.append(report.nodeid)
        if len(seen) == int(kill.read_text()):
            kill.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
"""
RECORD = "--memfail-record=run.jsonl"
RESUME = "--memfail-resume"
VERDICTS = {"ce_2": "not_stored", "lh_1": "not_retrieved", "co_1": "ungraded", "pe_1_q1": "summary_error"}


@pytest.fixture
def killed(any_project: Project) -> Project:
    """Killed by SIGKILL after so many results."""
    any_project.conftest("import pytest\n" + KILL)
    any_project.script(**VERDICTS)
    any_project.once(("killed", any_project.n), lambda: kill(any_project, 9))
    return any_project


def kill(project: Project, after: int, *args: str) -> None:
    project.file("kill", str(after))
    result = project.run_apart(RECORD, *args) if project.n is None else project.run(RECORD, *args)
    assert result.ret == -signal.SIGKILL
    assert not (project.path / "kill").exists()


def without_stores(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A store killed between its last question and its end has no line, and there is nothing left to ask of it."""
    return [line for line in comparable(lines) if line["type"] != "store"]


def table(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith((*QUESTIONS, "all "))][: len(QUESTIONS) + 1]


def lines_of(project: Project, kind: str) -> list[str]:
    name = "id" if kind == "question" else "store"
    return [line[name] for line in project.record("run.jsonl") if line["type"] == kind]


def test_only_unfinished_questions_run(killed: Project) -> None:
    before = {line["id"]: line for line in killed.record("run.jsonl") if line["type"] == "question"}
    assert 9 <= len(before) < len(ALL)
    result = killed.run(RECORD, RESUME, "-v")
    assert result.ret == 1
    asked = set(killed.events("ask"))
    # a question killed in flight may have been recorded by nobody; what was recorded is not asked
    assert asked == {node_id.rpartition("::")[2] for node_id in ALL if node_id not in before}
    assert sorted(lines_of(killed, "question")) == sorted(ALL)
    assert len(set(lines_of(killed, "store"))) == len(lines_of(killed, "store")) >= len(QUESTIONS) - 2
    after = {line["id"]: line for line in killed.record("run.jsonl") if line["type"] == "question"}
    assert {node_id: after[node_id] for node_id in before} == before
    footer = killed.record("run.jsonl")[-1]
    assert (footer["exit_code"], footer["complete"]) == (1, True)
    result.stdout.fnmatch_lines([f"memfail: {len(before)} questions are taken from the record, not asked again"])
    words = {
        "correct": "PASSED",
        "not_stored": "NOT_STORED",
        "no_answer": "NO_ANSWER",
        "summary_error": "SUMMARY_ERROR",
    }
    for node_id, line in before.items():
        shown = words.get(line["verdict"], line["verdict"].upper())
        (report,) = [text for text in result.outlines if node_id in text and shown in text and "(recorded)" in text][:1]
        assert report


@with_a_worker
def test_the_same_as_a_run_in_one_go(killed: Project) -> None:
    resumed = killed.run(RECORD, RESUME)
    whole = killed.run("--memfail-record=whole.jsonl")
    assert resumed.ret == whole.ret == 1
    assert without_stores(killed.record("run.jsonl")) == without_stores(killed.record("whole.jsonl"))
    assert table(resumed) == table(whole)
    assert resumed.parseoutcomes() == whole.parseoutcomes()


@slowly_both_ways
def test_killed_again_and_again(killed: Project) -> None:
    for after in (12, 15):
        kill(killed, after, RESUME)
        assert len(lines_of(killed, "question")) >= after
    assert killed.run(RECORD, RESUME).ret == 1
    assert sorted(lines_of(killed, "question")) == sorted(ALL)
    assert len(set(lines_of(killed, "store"))) == len(lines_of(killed, "store"))


def test_a_complete_record_asks_nothing(any_project: Project) -> None:
    any_project.script(lh_1="not_retrieved")
    first = any_project.run(RECORD)
    record = any_project.record("run.jsonl")
    second = any_project.run(RECORD, RESUME)
    assert (first.ret, second.ret) == (1, 1)
    assert any_project.events() == []
    assert comparable(any_project.record("run.jsonl")) == comparable(record)
    second.stdout.fnmatch_lines(
        [
            "not_retrieved: * (recorded)",
            "retrieval*the script says not_retrieved of lh-1",
            "NOT_RETRIEVED 1 of 4 in long_hop:",
        ]
    )
    assert first.parseoutcomes() == second.parseoutcomes()
    any_project.run(RECORD, RESUME, "-v").stdout.fnmatch_lines(["*NOT_RETRIEVED (recorded)*"])


def test_errors_are_asked_again(any_project: Project) -> None:
    any_project.script(lh_1="raise", lh_2="not_stored")
    assert any_project.run("memfail/long_hop", RECORD).parseoutcomes()["errors"] == 1
    any_project.script()
    result = any_project.run("memfail/long_hop", RECORD, RESUME)
    assert result.ret == 1
    assert any_project.events("ask") == ["lh-1"]
    verdicts = {line["id"]: line["verdict"] for line in any_project.record("run.jsonl") if line["type"] == "question"}
    assert [verdicts[node_id] for node_id in LONG_HOP_IDS] == ["correct", "not_stored", "correct", "correct"]
    assert lines_of(any_project, "store") == ["long_hop"]


@with_a_worker
@pytest.mark.parametrize("stores", [{"alpha": 12, "beta": 8}, {"beta": 8, "alpha": 12}], ids=["errors first", "last"])
def test_like_errors_do_not_stop_a_run_with_recorded_verdicts(any_project: Project, stores: dict[str, int]) -> None:
    option = only(any_project, **stores)
    any_project.script(**{f"alpha_{i}": "raise" for i in range(1, 13)})
    assert any_project.run(option, RECORD, "--memfail-keep-going").parseoutcomes() == {"errors": 12, "passed": 8}
    result = any_project.run(option, RECORD, RESUME)
    assert result.parseoutcomes() == {"errors": 12, "passed": 8}
    assert len(any_project.events("ask")) == 12
    assert "keep-going" not in result.stdout.str()
    any_project.script()
    assert any_project.run(option, RECORD, RESUME).ret == 0


LONG_HOP_IDS = [f"memfail/long_hop::{name}" for name in LONG_HOP]


def cut_short(run: Path, lines: int) -> None:
    """Leave a kept run as a kill in the middle of a line does."""
    record = run / "record.jsonl"
    whole = record.read_text().splitlines(keepends=True)
    record.write_text("".join(whole[:lines]) + whole[lines][:40])
    entry = json.loads((run / "run.json").read_text())
    began = {name: value for name, value in entry.items() if name not in ("verdicts", "whole", "exit_code")}
    (run / "run.json").write_text(json.dumps({**began, "state": "running"}))


def test_the_record_in_the_cache(project: Project) -> None:
    project.run("memfail/long_hop")
    (folder,) = project.runs()
    cut_short(folder, 3)
    result = project.run("memfail/long_hop", RESUME)
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"memfail: 2 questions are taken from the run {folder.name}, not asked again"])
    assert len(project.events("ask")) == 2
    assert sorted(project.ran()) == LONG_HOP


def test_nothing_recorded_yet(project: Project) -> None:
    result = project.run("memfail/long_hop", RECORD, RESUME)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["memfail: 0 questions are taken from the record*"])
    assert sorted(lines_of(project, "question")) == LONG_HOP_IDS


def test_what_is_not_selected_stays(project: Project) -> None:
    project.run_once(RECORD)
    result = project.run("memfail/long_hop", RECORD, RESUME)
    assert result.ret == 0
    assert project.events() == []
    assert sorted(lines_of(project, "question")) == sorted(ALL)
    assert sorted(lines_of(project, "store")) == sorted(QUESTIONS)


def test_a_test_of_ones_own_runs_again(project: Project) -> None:
    project.file(
        "test_own.py",
        """
        import pytest

        @pytest.mark.memfail(task="coexisting_facts")
        def test_own(memfail_trace):
            assert memfail_trace.shown
        """,
    )
    project.run("test_own.py", RECORD)
    assert project.run("test_own.py", RECORD, RESUME).ret == 0
    assert sorted(project.events("ask")) == COEXISTING
    assert len(lines_of(project, "question")) == len(COEXISTING)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--memfail-k=5,10"], "k was [5], is [5, 10]"),
        (["--memfail-judge=offline"], 'judge was "script", is "offline"'),
        (["--memfail-system=async-toy"], 'system was "toy", is "async-toy"'),
        (["--memfail-system-option=reads=2"], 'system_options was {}, is {"reads": "2"}'),
        (["--memfail-protocol=paper"], 'protocol was "ours", is "paper"'),
        (["--memfail-seed=1"], "seed was 42, is 1"),
        (["--memfail-limit=1"], "limit was null, is 1"),
        (["--memfail-shard=1/2"], 'shard was null, is "1/2"'),
        (["--memfail-tasks=long_hop"], "tasks was ["),
    ],
)
def test_a_record_of_another_run_is_refused(project: Project, words: list[str], says: str) -> None:
    project.run_once(RECORD)
    before = (project.path / "run.jsonl").read_bytes()
    result = project.run(RECORD, RESUME, *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert "--memfail-resume: " in line
    assert says in line
    assert project.events() == []
    assert (project.path / "run.jsonl").read_bytes() == before


def test_a_record_of_other_data_is_refused(any_project: Project) -> None:
    from plugin.project import long_hop_rows

    any_project.run("memfail/coexisting_facts", RECORD)
    any_project.write_rows("long_hop", long_hop_rows()[:3])
    result = any_project.run("memfail/coexisting_facts", RECORD, RESUME)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert "data of long_hop was " in line


def test_a_damaged_record_is_refused(project: Project) -> None:
    project.run_once(RECORD)
    path = project.path / "run.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1][:50] + "\n" + "".join(lines[2:]))
    before = path.read_bytes()
    result = project.run(RECORD, RESUME)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "run.jsonl:2: not JSON" in "".join(result.errlines)
    assert path.read_bytes() == before


def test_without_a_place_for_a_record(project: Project) -> None:
    result = project.pytester.runpytest_subprocess("--memfail-system=toy", RESUME, "-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--memfail-record" in "".join(result.errlines)


def test_by_the_ini_file(project: Project) -> None:
    project.ini("memfail_resume = true", "memfail_record = run.jsonl")
    project.run("memfail/long_hop")
    assert project.run("memfail/long_hop").ret == 0
    assert project.events() == []


def test_changed_code_is_not_resumed(project: Project) -> None:
    assert project.run("memfail/long_hop", RECORD).ret == 0
    project.conftest("# the memory was changed")
    result = project.run("memfail/long_hop", RECORD, RESUME)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(['*run.jsonl is not resumable: code of conftest.py was "*", is "*"*'])
    assert project.events() == []


def test_what_the_plugin_cannot_see_is_named(project: Project) -> None:
    project.run("memfail/long_hop", RECORD, "--memfail-system-version=server 1")
    result = project.run("memfail/long_hop", RECORD, RESUME, "--memfail-system-version=server 2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(['*not resumable: system_version was "server 1", is "server 2"*'])


def test_a_mixture_of_systems_is_neither_gated_nor_saved(project: Project) -> None:
    project.conftest(
        """
        class Versioned(Toy):
            def describe(self):
                return {"version": pathlib.Path(__file__).with_name("server").read_text()}

        def pytest_memfail_make_system(config, name):
            return lambda context: Versioned(context, config.rootpath / "events.log")

        import pathlib
        """
    )
    project.file("server", "1")
    project.run("memfail/long_hop", RECORD)
    project.file("server", "2")
    gate = ["--memfail-fail-on=correct<0.1", "--memfail-save-baseline=b.jsonl"]
    result = project.run(RECORD, RESUME, *gate)
    assert result.ret == 6
    said = "*verdicts of several systems in one run*version of describe() was '1', is '2'*"
    result.stdout.fnmatch_lines([f"memfail: no baseline is saved: {said}", f"memfail: no trustworthy result: {said}"])
    assert not (project.path / "b.jsonl").exists()
    assert main(["gate", str(project.path / "run.jsonl"), "--fail-on", "correct<0.1"]) == 6
