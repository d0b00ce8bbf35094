"""Where a run writes: only regular files, and what it goes on without."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plugin.project import Project

OPTIONS = {
    "--memfail-record": "out.jsonl",
    "--memfail-save-baseline": "out.jsonl",
    "--memfail-report": "out.html",
}


def device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))  # a null device of the test's own
    except PermissionError:
        pytest.skip("only root makes devices")


@pytest.mark.parametrize("make", [os.mkfifo, device, os.mkdir])
@pytest.mark.parametrize("option", OPTIONS)
def test_only_regular_files_are_written(project: Project, option: str, make: Callable[[Path], None]) -> None:
    out = project.path / OPTIONS[option]
    make(out)
    before = out.stat()
    result = project.run("memfail/long_hop", f"{option}={out.name}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert option in line
    assert "expected a" in line
    assert project.events() == []
    assert os.path.samestat(before, out.stat())
    assert not stat.S_ISREG(out.stat().st_mode)


@pytest.mark.parametrize("option", OPTIONS)
def test_a_name_too_long_is_a_usage_error(project: Project, option: str) -> None:
    result = project.run("memfail/long_hop", f"{option}={'n' * 300}{Path(OPTIONS[option]).suffix}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert f"{option}: cannot write" in line
    assert project.events() == []


def test_a_name_may_be_as_long_as_names_can_be(project: Project) -> None:
    record, base, page = ("n" * 244 + ending for ending in (".jsonl", ".base", ".html"))
    words = (f"--memfail-record={record}", f"--memfail-save-baseline={base}", f"--memfail-report={page}")
    assert project.run(*words).ret == 0
    assert len(project.record(record)) > 1
    assert (project.path / base).is_file()
    assert (project.path / page).is_file()


def test_what_is_written_is_its_owners_alone(project: Project) -> None:
    before = os.umask(0o022)
    try:
        project.run("--memfail-record=r.jsonl", "--memfail-save-baseline=b.jsonl", "--memfail-report=x.html")
    finally:
        os.umask(before)
    for name in ("r.jsonl", "b.jsonl", "x.html"):
        assert stat.S_IMODE((project.path / name).stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["x.svg", "x.png"])
def test_a_plot_without_matplotlib_is_refused_before_the_run(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = project.run("--memfail-report=x.html", f"--memfail-report={name}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert "--memfail-report" in line
    assert "pip install 'pytest-memfail[plots]'" in line
    assert project.events() == []


def test_a_report_that_fails_takes_no_other_with_it(project: Project) -> None:
    project.conftest(
        """
        import pytest_memfail.report.html

        def fail(*_):
            raise ValueError("no ink left")

        pytest_memfail.report.html.html = fail
        """
    )
    result = project.run_apart("memfail/long_hop", "--memfail-report=x.html", "--memfail-report=x.json")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["memfail: the report *x.html could not be written: ValueError: no ink left", "memfail: report written: x.json"]
    )
    assert not (project.path / "x.html").exists()
