"""The kept runs: listed, found, gone on with, pruned; what goes on is left alone."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from made_records import header, question

from pytest_memfail.core import UsageError
from pytest_memfail.records import RecordWriter, RunFolder, find_run, kept_runs, latest_verdicts, read_kept, resumable
from pytest_memfail.records.kept import KEEP, prune

HEADER = header()


def begin(runs: Path, **other: Any) -> RunFolder:
    """A run that goes on."""
    return RunFolder.create(runs, header(**other), questions=2)


def run(runs: Path, *, whole: bool = True, interrupted: bool = False, verdicts: Any = None, **other: Any) -> RunFolder:
    """A run that has ended."""
    folder = begin(runs, **other)
    given = {"t": {"memfail/t::q-1": "correct"}} if verdicts is None else verdicts
    folder.end(interrupted=interrupted, whole=whole, exit_code=0, verdicts=given)
    folder.close()
    return folder


def kill(runs: Path, *questions: tuple[str, str], **other: Any) -> RunFolder:
    """A run whose process died after these questions, in the middle of a line."""
    folder = begin(runs, **other)
    writer = RecordWriter(folder.record)
    asked = [question(id=name, question=name, verdict=verdict) for name, verdict in questions]
    writer.begin([header(**other), *asked])
    writer.close()
    with folder.record.open("a") as stream:
        stream.write('{"type": "question", "id": "memfail/t')
    folder.close()
    return folder


def states(runs: Path) -> list[tuple[str, bool]]:
    return [(found.state, found.whole) for found in kept_runs(runs)]


# -- listing -------------------------------------------------------------------------------------------------------------


def test_a_folder_without_runs_has_none(tmp_path):
    assert kept_runs(tmp_path / "nowhere") == []
    assert kept_runs(tmp_path) == []


def test_runs_are_listed_in_the_order_they_began(tmp_path):
    folders = [run(tmp_path), run(tmp_path, whole=False), run(tmp_path, whole=False, interrupted=True)]
    kill(tmp_path, ("memfail/t::q-1", "correct"))
    going = begin(tmp_path)
    assert [found.folder for found in kept_runs(tmp_path)][:3] == [folder.path for folder in folders]
    expected = [("finished", True), ("finished", False), ("interrupted", False), ("interrupted", False)]
    assert states(tmp_path) == [*expected, ("running", False)]
    going.close()
    assert states(tmp_path)[-1] == ("interrupted", False)


def test_a_run_is_its_owners_alone(tmp_path):
    folder = run(tmp_path / "runs")
    modes = [
        stat.S_IMODE(path.stat().st_mode) for path in (folder.path, folder.path / "run.json", folder.path / "lock")
    ]
    assert modes == [0o700, 0o600, 0o600]


def test_a_killed_run_is_read_from_its_record(tmp_path):
    kill(tmp_path, ("memfail/t::q-1", "correct"), ("memfail/t::q-2", "not_stored"))
    for _ in range(2):  # before and after its entry is mended
        (found,) = kept_runs(tmp_path)
        assert found.verdicts == {"t": {"memfail/t::q-1": "correct", "memfail/t::q-2": "not_stored"}}
        assert (found.state, found.results, found.questions) == ("interrupted", 2, 2)
        prune(tmp_path)
    assert json.loads((found.folder / "run.json").read_text())["state"] == "interrupted"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"format": 2}', b'{"format": 1, "header": 5, "state": "x"}', None]
)
def test_what_cannot_be_read_is_left_out(tmp_path, content):
    folder = run(tmp_path)
    other = run(tmp_path)
    (other.path / "run.json").unlink()
    if content is not None:
        (other.path / "run.json").write_bytes(content)
    (tmp_path / "notes.txt").write_text("mine")
    assert [found.folder for found in kept_runs(tmp_path)] == [folder.path]
    prune(tmp_path)
    assert other.path.exists()


# -- pruning -------------------------------------------------------------------------------------------------------------


def test_the_last_twenty_are_kept(tmp_path):
    folders = [run(tmp_path) for _ in range(KEEP + 3)]
    assert KEEP == 20
    assert [found.folder for found in kept_runs(tmp_path)] == [folder.path for folder in folders[3:]]
    assert sorted(tmp_path.iterdir()) == [folder.path for folder in folders[3:]]


def test_partial_runs_never_push_out_the_last_whole_one(tmp_path):
    whole = run(tmp_path)
    partial = [run(tmp_path, whole=False) for _ in range(KEEP + 5)]
    kept = [found.folder for found in kept_runs(tmp_path)]
    assert kept == [whole.path, *(folder.path for folder in partial[-KEEP + 1 :])]
    assert find_run(tmp_path, "last").folder == whole.path


def test_a_run_that_goes_on_is_never_pruned(tmp_path):
    going = begin(tmp_path)
    for _ in range(KEEP + 2):
        run(tmp_path)
    assert going.path.is_dir()
    going.close()
    run(tmp_path)
    assert not going.path.exists()


def test_a_run_of_another_process_is_never_pruned(tmp_path):
    script = (
        "import sys, pathlib; from pytest_memfail.records import RunFolder\n"
        "import made_records\n"
        "folder = RunFolder.create(pathlib.Path(sys.argv[1]), made_records.header(), questions=1)\n"
        "print(folder.path, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as other:
        assert other.stdout is not None
        folder = Path(other.stdout.readline().strip())
        for _ in range(KEEP + 1):
            run(tmp_path)
        assert folder.is_dir()
        other.kill()  # its lock dies with it
    run(tmp_path)
    assert not folder.exists()


def test_a_folder_that_cannot_be_removed_is_no_error(tmp_path, monkeypatch):
    folders = [run(tmp_path) for _ in range(KEEP)]

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "rename", refuse)
    prune(tmp_path, keep=1)
    assert all(folder.path.exists() for folder in folders)


def test_a_run_without_results_leaves_nothing(tmp_path):
    folder = begin(tmp_path / "memfail" / "runs")
    folder.discard()
    folder.close()
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_was_emptied_meanwhile_holds_the_run_again(tmp_path):
    folder = begin(tmp_path)
    (folder.path / "run.json").unlink()
    (folder.path / "lock").unlink()
    folder.path.rmdir()
    folder.end(interrupted=False, whole=True, exit_code=0, verdicts={})
    folder.close()
    assert states(tmp_path) == [("finished", True)]


# -- names ---------------------------------------------------------------------------------------------------------------


def test_last_is_the_last_whole_run_and_newest_the_newest(tmp_path):
    run(tmp_path)
    whole = run(tmp_path)
    partial = run(tmp_path, whole=False)
    assert find_run(tmp_path, "last").folder == whole.path
    assert find_run(tmp_path, "newest").folder == partial.path
    assert find_run(tmp_path, partial.path.name[-4:]).folder == partial.path


@pytest.mark.parametrize(
    ("name", "says"), [("last", "only partial ones"), ("20", "several runs"), ("nothing", "no file and no kept run")]
)
def test_a_name_that_fits_no_one_run_is_refused(tmp_path, name, says):
    run(tmp_path, whole=False)
    run(tmp_path, whole=False)
    with pytest.raises(UsageError, match=says) as caught:
        find_run(tmp_path, name)
    assert "\n" not in str(caught.value)


def test_a_name_where_no_run_is(tmp_path):
    with pytest.raises(UsageError, match="no run is kept"):
        find_run(tmp_path, "last")


# -- the latest verdicts -------------------------------------------------------------------------------------------------


def verdicts(**of: str) -> dict[str, dict[str, str]]:
    return {"t": {f"memfail/t::{name}": verdict for name, verdict in of.items()}}


def test_the_latest_verdict_counts(tmp_path):
    run(tmp_path, verdicts=verdicts(q1="summary_error", q2="summary_error", q3="correct"))
    run(tmp_path, whole=False, verdicts=verdicts(q1="correct"))
    kill(tmp_path, ("memfail/t::q3", "not_stored"))
    found = latest_verdicts(kept_runs(tmp_path), HEADER)
    assert found == {"memfail/t::q1": "correct", "memfail/t::q2": "summary_error", "memfail/t::q3": "not_stored"}


@pytest.mark.parametrize(
    "other", [{"k": [10]}, {"system": "b"}, {"system_options": {"rate": "1"}}, {"judge": "m"}, {"limit": 5}]
)
def test_verdicts_of_other_settings_do_not_count(tmp_path, other):
    run(tmp_path, **other)
    assert latest_verdicts(kept_runs(tmp_path), HEADER) == {}
    assert latest_verdicts(kept_runs(tmp_path), header(**other)) == {"memfail/t::q-1": "correct"}


def test_verdicts_of_other_rows_do_not_count_and_those_of_some_tasks_do(tmp_path):
    run(tmp_path, verdicts={"t": {"memfail/t::q": "correct"}, "u": {"memfail/u::q": "correct"}})
    changed = header(tasks={"t": {"data_hash": "other"}, "u": {"data_hash": "b"}})
    assert latest_verdicts(kept_runs(tmp_path), changed) == {"memfail/u::q": "correct"}
    assert latest_verdicts(kept_runs(tmp_path), header(tasks={"t": {"data_hash": "a"}})) == {"memfail/t::q": "correct"}
    assert latest_verdicts(kept_runs(tmp_path), header(memfail="2", shard="1/2")).keys() == {
        "memfail/t::q",
        "memfail/u::q",
    }


# -- going on ------------------------------------------------------------------------------------------------------------


def taken(runs: Path, **other: Any) -> Path | None:
    found, why = resumable(kept_runs(runs), header(**other))
    assert bool(why) == (found is None)
    return None if found is None else found.folder


def test_the_newest_unfinished_run_is_gone_on_with(tmp_path):
    assert taken(tmp_path) is None
    run(tmp_path)
    run(tmp_path, whole=False, interrupted=True)
    killed = kill(tmp_path)
    run(tmp_path, whole=False)  # by -k: it came to its end
    kill(tmp_path, k=[10])
    going = begin(tmp_path)
    assert taken(tmp_path) == killed.path
    going.close()
    assert taken(tmp_path) == going.path


def test_what_a_whole_run_has_asked_since_is_not_asked_again(tmp_path):
    kill(tmp_path)
    whole = run(tmp_path)
    assert taken(tmp_path) == whole.path


@pytest.mark.parametrize("other", [{"k": [10]}, {"shard": "1/2"}, {"limit": 3}, {"memfail": "2"}, {"tasks": {}}])
def test_a_run_of_other_options_is_not_gone_on_with(tmp_path, other):
    kill(tmp_path)
    assert taken(tmp_path, **other) is None
    _, why = resumable(kept_runs(tmp_path), header(**other))
    assert f"{next(iter(other))} was" in why


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"sources": {"mymem.py": "b"}}, 'not resumable: code of mymem.py was "a", is "b"'),
        ({"sources": {}}, 'not resumable: code of mymem.py was "a", is "missing"'),
        ({"system_version": "2"}, 'not resumable: system_version was null, is "2"'),
    ],
)
def test_a_run_of_other_code_is_not_gone_on_with(tmp_path, other, says):
    fields = {"sources": {"mymem.py": "a"}, "identity": {"system_version": "subject"}}
    killed = kill(tmp_path, **fields)
    assert taken(tmp_path, **fields) == killed.path
    found, why = resumable(kept_runs(tmp_path), header(**{**fields, **other}))
    assert found is None
    assert why.endswith(says)
    with pytest.raises(UsageError, match="not resumable"):
        read_kept(killed.record, header(**{**fields, **other}))
