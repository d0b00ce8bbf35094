"""What the `memfail` command writes: where it may, and what becomes of the rest when a part cannot be written."""

from __future__ import annotations

import io
import os
import stat

import pytest
from recorded_runs import verdicts

import pytest_memfail.report.html
from pytest_memfail.cli import main


@pytest.fixture
def record(tmp_path):
    return verdicts(tmp_path / "r.jsonl", "correct", "correct", "summary_error", "not_retrieved")


@pytest.fixture(autouse=True)
def no_step_summary(monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


OUTPUTS = [
    ["report", "r.jsonl", "-o", "out.html"],
    ["report", "r.jsonl", "-o", "out.md"],
    ["report", "r.jsonl", "-o", "out.json"],
    ["gate", "r.jsonl", "--fail-on", "correct<0.1", "-o", "out.md"],
    ["gate", "r.jsonl", "--save-baseline", "out.jsonl"],
    ["merge", "r.jsonl", "-o", "out.jsonl"],
    ["regrade", "r.jsonl", "--judge", "offline", "-o", "out.jsonl"],
]


@pytest.mark.parametrize("make", ["pipe", "device"])
@pytest.mark.parametrize("words", OUTPUTS, ids=lambda words: " ".join(words))
def test_only_regular_files_are_written(record, monkeypatch, capsys, words, make):
    monkeypatch.chdir(record.parent)
    out = record.with_name(words[-1])
    if make == "pipe":
        os.mkfifo(out)
    else:
        _make_device(out)
    before = out.stat()
    assert main(words) == 4
    said, error = capsys.readouterr()
    assert (said, len(error.splitlines())) == ("", 1)
    assert "expected a regular file" in error
    assert os.path.samestat(before, out.stat())
    assert not stat.S_ISREG(out.stat().st_mode)


@pytest.mark.parametrize("name", ["long_hop.csv", "generation_config.json", "raw/long_hop.jsonl"])
@pytest.mark.parametrize("words", [[], ["--force"]])
def test_generated_rows_replace_no_node(tmp_path, capsys, name, words):
    (tmp_path / "rows/raw").mkdir(parents=True)
    os.mkfifo(tmp_path / "rows" / name)
    assert main(["generate", "long_hop", "-n", "5", "--model", "m", "--out", str(tmp_path / "rows"), *words]) == 4
    assert "expected a regular file" in capsys.readouterr().err
    assert stat.S_ISFIFO((tmp_path / "rows" / name).stat().st_mode)


def test_a_report_that_fails_takes_no_other_with_it(record, tmp_path, monkeypatch, capsys):
    def fail(*_: object) -> str:
        raise ValueError("no ink\nleft")

    monkeypatch.setattr(pytest_memfail.report.html, "html", fail)
    names = ["x.html", "x.md", "x.json"]
    assert main(["report", str(record), *(f"-o{tmp_path / name}" for name in names)]) == 1
    assert [(tmp_path / name).exists() for name in names] == [False, True, True]
    line = capsys.readouterr().out.splitlines()[0]
    assert line == f"memfail: {tmp_path / 'x.html'} could not be written: ValueError: no ink left"


def test_a_step_summary_that_cannot_be_written_is_said_and_the_comment_stays(record, tmp_path, monkeypatch, capsys):
    os.mkfifo(tmp_path / "step")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step"))
    assert main(["report", str(record), "-o", str(tmp_path / "x.md"), "-o", str(tmp_path / "x.json")]) == 1
    assert "x.md could not be written" in capsys.readouterr().out
    assert (tmp_path / "x.md").exists()
    assert (tmp_path / "x.json").exists()


@pytest.mark.parametrize("name", ["x.svg", "x.png"])
def test_a_plot_without_matplotlib_is_refused_before_anything_is_written(record, tmp_path, monkeypatch, capsys, name):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert main(["report", str(record), "-o", str(tmp_path / "x.md"), "-o", str(tmp_path / name)]) == 4
    assert "pip install 'pytest-memfail[plots]'" in capsys.readouterr().err
    assert not (tmp_path / "x.md").exists()


def test_what_is_written_is_its_owners_alone(record, tmp_path, monkeypatch):
    before = os.umask(0o022)
    try:
        for words in (
            ["report", str(record), *(f"-o{tmp_path / f'x.{ending}'}" for ending in ("html", "md", "json"))],
            ["gate", str(record), "--save-baseline", str(tmp_path / "base.jsonl")],
            ["merge", str(record), "-o", str(tmp_path / "all.jsonl")],
        ):
            main(words)
    finally:
        os.umask(before)
    written = ["r.jsonl", "x.html", "x.md", "x.json", "base.jsonl", "all.jsonl"]
    assert {name: oct(stat.S_IMODE((tmp_path / name).stat().st_mode)) for name in written} == dict.fromkeys(
        written, "0o600"
    )


def test_a_full_disk_is_one_line(record, tmp_path, monkeypatch, capsys):
    def refuse(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", refuse)
    code = main(["merge", str(record), "-o", str(tmp_path / "all.jsonl")])
    monkeypatch.undo()
    assert (code, capsys.readouterr().err) == (3, "memfail: No space left on device\n")
    assert sorted(tmp_path.iterdir()) == [record]


def _make_device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")


@pytest.fixture
def no_reader():
    """A stream whose reader has left, as after `| head -1`."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", buffering=1, encoding="utf-8") as stream:
        yield stream


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["gate", "r.jsonl", "--fail-on", "correct<0.9", "-o", "out.md"], 1),
        (["gate", "r.jsonl", "--save-baseline", "out.jsonl"], 0),
        (["report", "r.jsonl", "-o", "out.json"], 0),
        (["merge", "r.jsonl", "-o", "out.jsonl"], 0),
        (["show", "r.jsonl"], 0),
        (["show", "gone.jsonl"], 4),
        (["shwo"], 4),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_a_reader_that_leaves_changes_only_what_is_printed(record, no_reader, monkeypatch, words, code, stream):
    monkeypatch.chdir(record.parent)
    monkeypatch.setattr(f"sys.{stream}", no_reader)
    assert main(words) == code
    if "-o" in words or "--save-baseline" in words:
        assert record.with_name(words[-1]).stat().st_size


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gate", "--fail-on", "nope<1"], "(--fail-on 'nope<1', column 1)"),
        (["gate", "--fail-on", "nope.correct<1"], "(in --fail-on 'nope.correct<1')"),
        (["gate", "--save-baseline", "/nowhere/b"], "memfail: --save-baseline: the folder /nowhere does not exist"),
        (
            ["regrade", "--judge=offline", "-o", "new.jsonl", "--suite-option", "mab"],
            "memfail: --suite-option: got 'mab', expected SUITE.NAME=VALUE",
        ),
    ],
)
def test_an_error_names_the_option_of_the_command(record, monkeypatch, capsys, words, said):
    monkeypatch.chdir(record.parent)
    assert main([words[0], str(record), *words[1:]]) == 4
    assert said in capsys.readouterr().err


def test_a_stream_that_was_closed_before_the_start_changes_nothing(record, monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    assert main(["gate", str(record), "--fail-on", "correct<0.9"]) == 1


def test_output_that_does_not_fit_on_the_disk_is_no_success(record, monkeypatch, capsys):
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

        def fileno(self) -> int:
            return os.open(os.devnull, os.O_WRONLY)

    monkeypatch.setattr("sys.stdout", Full())
    assert main(["show", str(record)]) == 3
    assert capsys.readouterr().err == "memfail: No space left on device\n"
