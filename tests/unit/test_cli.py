"""The `memfail` command."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from pytest_memfail._version import __version__
from pytest_memfail.cli import main
from pytest_memfail.suites import shipped_data

TASK = "long_hop.csv"


@pytest.fixture
def rows(tmp_path):
    """A folder with sound rows of one task."""
    shutil.copy(shipped_data() / TASK, tmp_path / TASK)
    return tmp_path


def damage(rows, old, new):
    path = rows / TASK
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize("arguments", [[], ["--strict"]])
def test_sound_rows_exit_with_0(rows, capsys, arguments):
    assert main(["validate", str(rows), *arguments]) == 0
    assert capsys.readouterr() == (f"{rows}: 0 errors, 0 warnings\n", "")


def test_a_faulty_row_exits_with_1_and_names_the_place(rows, capsys):
    damage(rows, "lh-1-001,1,", "lh-1-001,9,")
    assert main(["validate", str(rows)]) == 1
    out, err = capsys.readouterr()
    first, last = out.splitlines()
    assert first.startswith(f"{rows / TASK}:2: error: hop_count: got '9', expected")
    assert last == f"{rows}: 1 error, 0 warnings"
    assert err == ""


def test_every_finding_is_one_line(rows, capsys):
    damage(rows, "lh-1-001,1,", "lh-1-001,9,")
    damage(rows, "lh-1-002,1,", "lh 1 002,1,")
    assert main(["validate", str(rows)]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_facts_that_the_offline_judge_cannot_read_are_warned_of(tmp_path, capsys):
    case = "conversations: ['{said}']\nquestion: '?'\nanswer: x\nexpected: [{{fact: '{said}'}}]\n"
    for name, said in {
        "de": "Meine Tante verkauft jeden Samstag Honig und backt dort auch Waffeln.",
        "en": "My aunt sells honey at the harbour.",
    }.items():
        (tmp_path / f"{name}.memfail.yaml").write_text(case.format(said=said), encoding="utf-8")
    assert main(["validate", str(tmp_path)]) == 0
    (said,) = [line for line in capsys.readouterr().out.splitlines() if "offline judge" in line]
    assert "reads English only, not 1 of 2 facts (first: de:1)" in said
    assert "--memfail-judge=MODEL" in said
    (tmp_path / "de.memfail.yaml").unlink()
    assert main(["validate", str(tmp_path)]) == 0
    assert "offline judge" not in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "code"), [([], 0), (["--strict"], 1)])
def test_warnings_count_under_strict_only(rows, capsys, arguments, code):
    damage(rows, "The foghorn always gives", "The siren always gives")
    assert main(["validate", str(rows), *arguments]) == code
    assert "warning: fact_1: does not contain its anchor 'foghorn'" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["", "nowhere", TASK])
def test_a_place_without_rows_exits_with_4_and_one_line(tmp_path, capsys, name):
    if name == TASK:
        (tmp_path / name).write_text("x", encoding="utf-8")
    assert main(["validate", str(tmp_path / name)]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("memfail: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [[], ["validate"], ["nothing"], ["validate", "x", "--strct"]])
def test_a_wrong_call_exits_with_4(capsys, arguments):
    try:
        code = main(arguments)
    except SystemExit as exit_:
        code = exit_.code
    assert code == 4
    assert "memfail" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["validate", "--help"]])
def test_help_exits_with_0(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 0
    assert "usage: memfail" in capsys.readouterr().out


def test_the_command_runs_as_a_module_and_gives_its_exit_code(rows):
    damage(rows, "lh-1-001,1,", "lh-1-001,9,")
    done = subprocess.run(
        [sys.executable, "-m", "pytest_memfail.cli", "validate", str(rows)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "hop_count" in done.stdout
    assert done.stderr == ""


def test_the_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"memfail {__version__}\n"


def test_no_help_shows_a_doubled_percent_sign(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    assert "95 % intervals" in " ".join(capsys.readouterr().out.split())
