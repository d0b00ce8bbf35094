"""A folder for each run: what is kept, what counts as the last, and runs that lose their place or share it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plugin.project import ALL, COEXISTING, LONG_HOP, RUNS, Project, slowly_both_ways
from pytest_memfail.cli import main
from pytest_memfail.records import KeptRun, kept_runs

RESUME = "--memfail-resume"
NAMED = "--memfail-record=r.jsonl"


def kept(project: Project) -> list[KeptRun]:
    return kept_runs(project.path / RUNS)


def states(project: Project) -> list[tuple[str, bool]]:
    return [(run.state, run.whole) for run in kept(project)]


def questions(lines: list[dict[str, Any]]) -> list[str]:
    return sorted(line["id"] for line in lines if line["type"] == "question")


def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Project, *words: str) -> str:
    """What `memfail show` prints where the project is."""
    monkeypatch.chdir(project.path)
    capsys.readouterr()
    assert main(["show", *words]) == 0
    return capsys.readouterr().out


# -- whole and partial ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "state", "whole"),
    [
        ([], "finished", True),
        (["memfail"], "finished", True),
        (["--memfail-limit=1"], "finished", True),
        (["--memfail-tasks=long_hop"], "finished", True),
        (["--memfail-shard=1/2"], "finished", True),
        (["--memfail-k=2,3"], "finished", True),
        (["memfail/long_hop"], "finished", False),
        (["memfail/long_hop::lh-1"], "finished", False),
        (["-k", "ce"], "finished", False),
        (["-m", "long_hop"], "finished", False),
        (["--deselect", "memfail/long_hop::lh-1"], "finished", False),
        (["-x"], "interrupted", False),
        (["--maxfail=1"], "interrupted", False),
    ],
)
def test_what_a_whole_run_is(project: Project, words: list[str], state: str, whole: bool) -> None:
    project.script(ce_1="not_stored")
    project.run(*words)
    assert states(project) == [(state, whole)]
    assert project.record()[-1]["whole"] is whole


def test_a_partial_run_never_replaces_a_whole_one(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.script(ce_1="not_stored", lh_1="summary_error")
    result = project.run()
    (whole,) = project.runs()
    result.stdout.fnmatch_lines([f"all failures: memfail show {whole.name} --all"])
    before = (whole / "record.jsonl").read_bytes()
    for words in (["memfail/coexisting_facts::ce-1"], ["-k", "lh-2"], ["--lf"], ["-x"], ["-m", "summary_error"]):
        project.run(*words)
    assert (whole / "record.jsonl").read_bytes() == before
    assert states(project)[0] == ("finished", True)
    assert {whole for _, whole in states(project)[1:]} == {False}
    assert "22 questions" in shown(monkeypatch, capsys, project, "last")
    assert shown(monkeypatch, capsys, project) == shown(monkeypatch, capsys, project, "last")
    assert "1 of 1 question shown" in shown(monkeypatch, capsys, project, "newest")
    table = shown(monkeypatch, capsys, project, "--list").splitlines()
    assert table[0].split() == ["run", "system", "settings", "questions"]
    assert table[1].split() == [whole.name, "toy", "judge=script", "22", "of", "22", "whole,", "finished"]
    assert [line.split()[3] for line in table[2:5]] == ["1", "1", "2"]
    assert table[-1].startswith(f"last: {whole.name}; newest: {project.runs()[-1].name}; ")


def test_other_commands_take_the_name_of_a_run(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.run()
    project.run("memfail/long_hop::lh-1")
    (project.path / "below").mkdir()
    monkeypatch.chdir(project.path / "below")
    assert main(["report", "last", "-o", "x.json"]) == 0
    assert json.loads(Path("x.json").read_text())["records"][0]["total"]["n"] == len(ALL)
    assert main(["gate", "last", "--save-baseline", "base.jsonl"]) == 0
    assert main(["compare", "last", "newest"]) == 0
    assert main(["merge", "newest", "-o", "m.jsonl"]) == 1
    assert main(["show", "nothing"]) == 4
    assert "a part of an id that `memfail show --list` prints" in capsys.readouterr().err


@slowly_both_ways
def test_the_failures_of_a_verdict_shrink_as_they_are_fixed(any_project: Project) -> None:
    any_project.script(ce_1="summary_error", ce_2="summary_error", lh_1="summary_error")
    any_project.run()
    any_project.script(ce_2="summary_error")
    any_project.run("-m", "summary_error")
    assert sorted(any_project.ran()) == ["ce-1", "ce-2", "lh-1"]
    any_project.run("-m", "summary_error")
    assert any_project.ran() == ["ce-2"]
    if any_project.n is None:
        any_project.script()
        any_project.run("-m", "summary_error")
        assert any_project.run("-m", "summary_error").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_verdicts_at_another_k_do_not_count(project: Project) -> None:
    project.script(ce_1="summary_error")
    project.run()
    result = project.run("--collect-only", "-m", "summary_error", "--memfail-k=7")
    result.stdout.fnmatch_lines(["memfail: -m selects what each task is designed to provoke*"])


# -- going on ------------------------------------------------------------------------------------------------------------


def test_the_newest_unfinished_run_of_these_options_is_gone_on_with(project: Project) -> None:
    project.script(ce_1="not_stored")
    project.run("-x")
    stopped, answered = project.runs()[-1], project.ran()
    project.run("memfail/long_hop::lh-1")
    project.run("-x", "--memfail-k=7")
    result = project.run(RESUME)
    result.stdout.fnmatch_lines([f"memfail: {len(answered)} questions are taken from the run {stopped.name}, not*"])
    assert not set(project.events("ask")) & set(answered)
    assert questions(project.record()) == sorted(ALL)
    assert states(project)[-1] == ("finished", True)
    project.run(RESUME)
    assert project.events() == []


def test_there_may_be_nothing_to_go_on_with(project: Project) -> None:
    result = project.run("memfail/long_hop", RESUME)
    result.stdout.fnmatch_lines(["memfail: nothing to resume: no earlier run is kept"])
    project.run()
    result = project.run("memfail/long_hop", RESUME, "--memfail-k=7")
    result.stdout.fnmatch_lines(["memfail: nothing to resume: * is not resumable: k was [[]5[]], is [[]7[]]"])
    assert sorted(project.events("ask")) == LONG_HOP


# -- a record of a name --------------------------------------------------------------------------------------------------


def test_a_named_record_of_a_whole_run_is_replaced_by_whole_ones_only(project: Project) -> None:
    project.run(NAMED)
    before = project.record("r.jsonl")
    project.script(ce_1="not_stored")
    for words in (["memfail/long_hop::lh-1"], ["-x"]):
        result = project.run(NAMED, *words)
        result.stdout.fnmatch_lines(["memfail: r.jsonl is the record of a whole run and is kept; this run is partial"])
        result.stdout.fnmatch_lines([f"record: {RUNS}/*"])
        assert project.record("r.jsonl") == before
    result = project.run(NAMED, RESUME)
    result.stdout.fnmatch_lines(["memfail: * questions are taken from the run *", "memfail: record written: r.jsonl"])
    assert len(project.events("ask")) < len(ALL)
    assert project.record("r.jsonl") == project.record()
    assert project.run(NAMED).ret == 1
    assert questions(project.record("r.jsonl")) == sorted(ALL)


# -- two runs at once ----------------------------------------------------------------------------------------------------

OTHER = """
import subprocess, sys

begun = []

def pytest_runtest_logreport(report):
    if not begun and report.when == "call" and "outer" in sys.argv:
        begun.append(report.nodeid)
        words = [word for word in sys.argv[1:] if word not in ("outer", "memfail/long_hop")]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words, "memfail/coexisting_facts"], capture_output=True, text=True
        )
        with open("inner.txt", "w") as out:
            out.write(done.stdout + done.stderr)

def pytest_configure(config):
    config.args[:] = [arg for arg in config.args if arg != "outer"]
"""


@pytest.mark.parametrize("words", [[], [NAMED]], ids=["kept", "named"])
def test_two_runs_in_one_folder_do_not_disturb_each_other(project: Project, words: list[str]) -> None:
    """The second begins after the first result of the first, and ends before its second."""
    project.conftest(OTHER)
    project.file("outer", "")
    project.script(ce_1="not_stored")
    result = project.run_apart("outer", "memfail/long_hop", "--memfail-report=x.json", *words)
    inner = (project.path / "inner.txt").read_text()
    assert "loses most in storage (not_stored): 1 of 6" in inner
    result.stdout.fnmatch_lines(["nothing lost among 4 questions"])
    first, second = kept(project)
    assert [run.state for run in (first, second)] == ["finished", "finished"]
    records = [run.record.read_text().splitlines() for run in (first, second)]
    ids = [questions([json.loads(line) for line in lines]) for lines in records]
    assert ids == [
        [f"memfail/long_hop::{name}" for name in LONG_HOP],
        [f"memfail/coexisting_facts::{name}" for name in COEXISTING],
    ]
    # the report that was written last is of the run that ended last
    assert json.loads((project.path / "x.json").read_text())["records"][0]["total"]["n"] == len(LONG_HOP)
    if words:
        # the name was taken over: the first run says so, leaves the other's record alone, and fails
        assert questions(project.record("r.jsonl")) == ids[1]
        result.stdout.fnmatch_lines(["memfail: the record r.jsonl could not be written: another file was put there*"])
        assert result.ret == 6
    else:
        assert result.ret == 0


# -- a record that loses its place ---------------------------------------------------------------------------------------

REMOVE = """
import pathlib, shutil

def pytest_runtest_logreport(report):
    if report.when == "call" and report.nodeid.endswith("lh-2"):
        for path in {paths!r}:
            found = pathlib.Path({root!r}, path)
            shutil.rmtree(found) if found.is_dir() else found.unlink()
"""


@pytest.mark.parametrize("removed", [".pytest_cache", "r.jsonl"])
def test_a_record_that_is_removed_during_the_run_is_written_again(project: Project, removed: str) -> None:
    project.conftest(REMOVE.format(paths=[removed], root=str(project.path)))
    result = project.run("memfail/long_hop", "--memfail-report=x.json", NAMED)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["memfail: * was removed during the run; it is written again"])
    ids = [f"memfail/long_hop::{name}" for name in LONG_HOP]
    assert questions(project.record("r.jsonl")) == questions(project.record()) == ids
    assert [line["type"] for line in project.record("r.jsonl")] == ["header", *["question"] * 4, "store", "footer"]
    assert json.loads((project.path / "x.json").read_text())["records"][0]["total"]["n"] == len(LONG_HOP)


FULL = """
import resource

def pytest_collection_finish():
    resource.setrlimit(resource.RLIMIT_FSIZE, (12000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
"""


@pytest.mark.parametrize(("words", "code"), [([], 0), ([NAMED], 6)], ids=["kept", "named"])
def test_a_full_disk_ends_no_run(project: Project, words: list[str], code: int) -> None:
    project.conftest(FULL)  # no file of the process may grow any more
    result = project.run_apart("-q", *words)
    assert result.ret == code
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert "INTERNALERROR" not in result.stdout.str()
    result.stdout.fnmatch_lines(["nothing lost among 22 questions"])
    if words:
        result.stdout.fnmatch_lines(["memfail: the record r.jsonl could not be written: File too large*"])
    result.stdout.fnmatch_lines(["memfail: this run is not kept whole: *: File too large"])


def unwritable_file(project: Project) -> None:
    project.file(".pytest_cache", "not a folder")


def unwritable_folder(project: Project) -> None:
    # root may write anywhere but on a file system that is mounted to be read only
    project.conftest(
        """
        import errno, pathlib

        make = pathlib.Path.mkdir

        def mkdir(self, *args, **kwargs):
            if ".pytest_cache" in self.parts:
                raise OSError(errno.EROFS, "Read-only file system", str(self))
            return make(self, *args, **kwargs)

        pathlib.Path.mkdir = mkdir
        """
    )


@pytest.mark.parametrize("spoil", [unwritable_file, unwritable_folder])
def test_a_run_goes_on_where_it_cannot_be_kept(project: Project, spoil: Any) -> None:
    spoil(project)
    words = ("memfail/long_hop", "--memfail-report=x.json", "-W", "ignore::pytest.PytestCacheWarning")
    result = project.run_apart(*words)
    assert result.ret == 0
    assert "INTERNALERROR" not in result.stdout.str()
    lines = [line for line in result.outlines if line.startswith("memfail: this run is not kept: ")]
    assert len(lines) == 2  # before a store is filled, and at the end
    assert result.outlines.index(lines[0]) < next(i for i, line in enumerate(result.outlines) if "long_hop" in line)
    assert json.loads((project.path / "x.json").read_text())["records"][0]["total"]["n"] == len(LONG_HOP)


def test_a_cache_that_is_no_folder_and_a_record_of_a_name(project: Project) -> None:
    unwritable_file(project)
    result = project.run_apart("memfail/long_hop", NAMED, "-W", "ignore::pytest.PytestCacheWarning")
    assert result.ret == 0
    assert len(questions(project.record("r.jsonl"))) == len(LONG_HOP)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--memfail-reuse-stores=on"], "--memfail-reuse-stores"),
        (["--memfail-model=m"], "--memfail-cache-path"),
    ],
)
def test_what_has_to_be_kept_is_looked_at_before_anything_is_stored(
    project: Project, monkeypatch: pytest.MonkeyPatch, words: list[str], option: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    unwritable_file(project)
    result = project.run_apart("memfail/long_hop", *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert f"{option}: cannot write" in line
    assert project.events() == []


# -- what a killed run leaves --------------------------------------------------------------------------------------------


def test_journals_of_killed_runs_are_removed_by_the_next(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from pytest_memfail.running import JOURNALS_LOCK, JOURNALS_PREFIX, shared_folder

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with shared_folder() as going:
        for name in ("left", "foreign"):
            (tmp_path / f"{JOURNALS_PREFIX}{name}").mkdir()
        (tmp_path / f"{JOURNALS_PREFIX}left" / JOURNALS_LOCK).touch()
        (tmp_path / f"{JOURNALS_PREFIX}left" / "gw0.journal").write_text("F long_hop\n")
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        assert project.run("memfail/long_hop", n=2).ret == 0
        # one without a lock may be one that is just being made
        left = {path.name for path in tmp_path.glob(f"{JOURNALS_PREFIX}*")}
        assert left == {going.name, f"{JOURNALS_PREFIX}foreign"}
    assert not going.exists()


def test_a_run_that_begins_is_not_taken_for_a_killed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_memfail.running import journals, shared_folder

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    hold_lock = journals.hold_lock

    def held_late(path: Path) -> int:
        path.touch()
        monkeypatch.setattr(journals, "hold_lock", hold_lock)
        with shared_folder():  # another run begins between the two steps
            pass
        return hold_lock(path)

    monkeypatch.setattr(journals, "hold_lock", held_late)
    with shared_folder() as going:
        assert [path.name for path in going.iterdir()] == [journals.JOURNALS_LOCK]


@pytest.mark.skipif(os.name == "nt", reason="sends SIGTERM")
@pytest.mark.parametrize(
    ("n", "end"), [(None, "os.kill(os.getpid(), 15)"), (1, "os._exit(3)")], ids=["alone", "worker"]
)
def test_the_snapshots_of_a_killed_process_lie_where_pytest_cleans_up(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, n: int | None, end: str
) -> None:
    project.file(
        "mine.py",
        f"""
        import os, pathlib, shutil

        class Memory:
            def __init__(self, context):
                self.path = context.path / "notes"
            def store_conversation(self, conversation):
                if self.path.exists():
                    pathlib.Path("killed").touch()
                    {end}
                self.path.write_text(conversation.text)
            def retrieve_memories(self, query, conversation, k):
                return self.get_all_memories()
            def get_all_memories(self):
                return [self.path.read_text()]
            def snapshot(self, path):
                (path / "notes").write_text("kept")
            def restore(self, path):
                shutil.copy(path / "notes", self.path)
        """,
    )
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    words = ["-m", "pytest", "memfail/coexisting_facts", "--memfail-system=mine:Memory", "-n", str(n or 0)]
    subprocess.run([sys.executable, *words], cwd=project.path, check=False, capture_output=True, timeout=120)
    assert (project.path / "killed").exists()
    assert list(temporary.iterdir()) == []  # pytester gives pytest another folder
