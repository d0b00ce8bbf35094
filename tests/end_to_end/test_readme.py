"""What the README says is so."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
Run = Callable[..., Any]


def python_block(word: str) -> str:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (found,) = [block for block in blocks if word in block]
    return found


def test_every_option_is_on_its_page_and_the_other_way_round() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    offered = set(re.findall(r"^ +(--memfail-[a-z-]+)", done.stdout, re.MULTILINE))
    assert offered
    page = (REPOSITORY / "docs" / "options.md").read_text(encoding="utf-8")
    assert offered == set(re.findall(r"--memfail-[a-z]+(?:-[a-z]+)*", page))
    assert set(re.findall(r"--memfail-[a-z]+(?:-[a-z]+)*", README)) <= offered


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200


def test_the_sample_of_a_memory_system_of_ones_own_runs(run_pytest: Run, tmp_path: Path) -> None:
    hook = python_block("pytest_memfail_make_system")
    memory = (
        "class MyMemory:\n"
        "    def __init__(self, path): self.said = []\n"
        "    def store_conversation(self, conversation): self.said += [m.content for m in conversation.messages]\n"
        "    def retrieve_memories(self, query, conversation, k): return self.said[:k]\n"
        "    def get_all_memories(self): return self.said\n\n"
    )
    (tmp_path / "conftest.py").write_text(memory + hook, encoding="utf-8")
    done = run_pytest("--memfail-system=mymem", "--memfail-tasks=long_hop", "--memfail-limit=12", "-q")
    assert done.code in (0, 1)
    assert sum(done.counts().values()) == 12
    assert done.counts()["error"] == 0


def test_the_table_of_the_readme_is_what_its_command_prints(run_pytest: Run) -> None:
    shown = re.search(r"```text\n( +memory held.*?)\n```", README, re.DOTALL)
    assert shown is not None
    done = run_pytest("--memfail-system=bm25")
    assert shown[1] in done.output
    # a verbatim store loses nothing
    assert set(done.counts()) <= {"no_answer", "not_retrieved", "correct"}
    assert sum(done.counts().values()) == 796


def test_the_failure_of_the_readme_is_what_its_system_shows(run_pytest: Run) -> None:
    shown = re.search(r"```text\n(summary_error: .*?)\n```", README, re.DOTALL)
    assert shown is not None
    done = run_pytest("--memfail-system=lossy", "memfail/conditional_facts_easy::cfe-011")
    assert shown[1] in done.output


@pytest.mark.slow
def test_the_figures_of_the_gate_are_what_its_simulation_prints() -> None:
    page = (REPOSITORY / "docs" / "gate.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(no true change.*?)```", page, re.DOTALL)
    assert shown is not None
    done = subprocess.run(
        [sys.executable, REPOSITORY / "benchmarks" / "gate.py"], capture_output=True, text=True, check=True
    )
    assert done.stdout == shown[1]
    # the promise: of runs without a change, at most one in twenty is stopped
    table = shown[1].partition("\n\n")[0].splitlines()[1:]
    assert all(float(re.findall(r"([\d.]+)%(?= |$)", line)[-4]) <= 5 for line in table)
