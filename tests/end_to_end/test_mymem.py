"""The example repository: its own tests, its gate, and the regression that its README walks through."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

EXAMPLE = Path(__file__).parents[2] / "examples" / "mymem"
README = (EXAMPLE / "README.md").read_text(encoding="utf-8")
SYSTEM = "--memfail-system=mymem"


@pytest.fixture
def mymem(tmp_path):
    kept = shutil.ignore_patterns(".pytest_cache", "__pycache__")
    return Path(shutil.copytree(EXAMPLE, tmp_path / "mymem", ignore=kept))


def apply_regression(folder):
    """The change of the README."""
    (diff,) = re.findall(r"```diff\n(.*?)```", README, re.DOTALL)
    subprocess.run(["git", "apply", "-"], cwd=folder, input=diff, text=True, check=True)


@pytest.mark.slow  # they pass with the regression too, which the test of the regression shows
def test_its_own_tests_pass(mymem):
    """In a process of their own, as the first step of its workflow."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "OPENAI_"))}
    words = [sys.executable, "-m", "pytest", "tests", "-q"]
    done = subprocess.run(words, cwd=mymem, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
def test_it_passes_its_gate_in_ci(run_pytest, mymem, workers):
    done = run_pytest(SYSTEM, *workers, cwd=mymem, env={"CI": "true"})
    assert "memfail gate: passed" in done.output, done.output  # other rows? save the baseline anew, as its README says
    assert done.code == 0
    assert len(done.questions) == 120
    assert done.counts()["error"] == 0


def test_the_regression_of_the_readme_passes_the_tests_and_fails_the_gate(run_pytest, mymem):
    apply_regression(mymem)
    own = run_pytest("tests", "-q", "--import-mode=importlib", cwd=mymem)  # this file has the name of one of them
    assert own.code == 0, own.output
    done = run_pytest(SYSTEM, cwd=mymem)
    assert done.code == 1
    for excerpt in re.findall(r"```text\n(.*?)```", README, re.DOTALL):
        for line in excerpt.splitlines():
            said, failed, _ = line.partition("FAILED")  # how many have flipped is the judge's matter, too
            assert said + failed in done.output


def test_without_its_baseline_ci_does_not_pass(run_pytest, mymem):
    (mymem / "memfail-baseline.jsonl").unlink()
    done = run_pytest(SYSTEM, cwd=mymem, env={"CI": "true"})
    assert done.code == 6


@pytest.mark.slow  # a store that is kept is that of tests/plugin/test_reuse.py
def test_a_kept_store_serves_a_second_run(run_pytest, mymem):
    words = (SYSTEM, "memfail/long_hop", "memfail/updated_facts", f"--memfail-reuse-stores={mymem / 'kept'}", "-q")
    runs = [run_pytest(*words, cwd=mymem) for _ in range(2)]
    assert runs[0].verdicts == runs[1].verdicts
    restored = [[line["restored"] for line in run.record if line["type"] == "store"] for run in runs]
    assert restored == [[False, False], [True, True]]


def test_its_workflow_runs_the_commands_of_its_readme():
    workflow = yaml.safe_load((EXAMPLE / ".github" / "workflows" / "memory.yml").read_text(encoding="utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["tests"]["steps"] if "run" in step]
    for command in ("pytest tests", f"pytest {SYSTEM}"):
        assert f"$ {command}" in README
        assert any(line.startswith(command) for line in commands)
