"""The quickstart project and the README's own commands, run as a user runs them."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
Run = Callable[..., Any]


@pytest.fixture
def quickstart(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REPOSITORY / "examples" / "quickstart", tmp_path / "quickstart"))


def test_the_quickstart_runs_with_the_one_command_of_its_readme(run_pytest: Run, quickstart: Path) -> None:
    command = re.search(r"^\$ pytest (.+)$", (quickstart / "README.md").read_text(), re.MULTILINE)
    assert command is not None
    done = run_pytest(*shlex.split(command[1]), "--memfail-limit=10", "--memfail-haystack=sample", cwd=quickstart)
    assert done.code == 1
    counts = done.counts()
    assert sum(counts.values()) == 60
    assert counts["error"] == 0
    assert counts["not_stored"] + counts["summary_error"] > counts["not_retrieved"]


@pytest.mark.slow
def test_the_quickstart_runs_with_workers(run_pytest: Run, quickstart: Path) -> None:
    done = run_pytest("--memfail-system=toymem", "--memfail-limit=10", "-n", "2", cwd=quickstart)
    assert done.code == 1
    assert sum(done.counts().values()) == 60
    assert done.counts()["error"] == 0


@pytest.mark.slow
def test_keeping_more_sentences_helps_the_quickstart(run_pytest: Run, quickstart: Path) -> None:
    held = {}
    for keep in (1, 50):
        option = f"--memfail-system-option=keep={keep}"
        done = run_pytest("--memfail-system=toymem", option, "--memfail-limit=15", "-q", cwd=quickstart)
        held[keep] = sum(line["memory_held"] is True for line in done.questions.values())
    assert held[50] > held[1]


def test_a_failure_names_a_command_that_runs_it_again(run_pytest: Run, tmp_path: Path) -> None:
    done = run_pytest("--memfail-system=bm25", "--memfail-tasks=long_hop", "-x", "-q")
    rerun = re.search(r"^rerun +pytest (.+)$", done.output, re.MULTILINE)
    assert rerun is not None
    again = run_pytest(*shlex.split(rerun[1]), "-q")
    assert again.code == 1
    (line,) = again.questions.values()
    assert line["verdict"] == "not_retrieved"
