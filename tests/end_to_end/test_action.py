"""`action.yml`: the shell scripts of its steps, run in order as GitHub runs them; `pip` and `gh` are stand-ins."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
GH = """#!/bin/bash
# Keeps the comments of a pull request as files, as api.github.com does for `gh api`.
echo "$*" >> "$COMMENTS/calls"
case "$*" in
  *--method*)
    for word in "$@"; do case "$word" in body=@*) file="${word#body=@}" ;; esac; done
    cp "$file" "$COMMENTS/7.md" ;;
  *) [ -e "$COMMENTS/7.md" ] && echo 7 ;;
esac
exit 0
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(REPOSITORY / "examples" / "quickstart", tmp_path / "project")
    for folder in ("bin", "comments"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bin/gh").write_text(GH)
    python = f'#!/bin/bash\nif [ "$2" = pip ]; then echo "$@" > "{tmp_path}/installed"; else exec {sys.executable} "$@"; fi\n'
    (tmp_path / "bin/python").write_text(python)
    (tmp_path / "bin/pytest").write_text(f'#!/bin/bash\nexec {sys.executable} -m pytest "$@"\n')
    (tmp_path / "bin/memfail").write_text(f'#!/bin/bash\nexec {sys.executable} -m pytest_memfail.cli "$@"\n')
    for tool in (tmp_path / "bin").iterdir():
        tool.chmod(0o755)
    return tmp_path / "project"


def act(project: Path, **given: str) -> tuple[int, str]:
    """Run the steps; return the exit code of the last one, and all that was printed."""
    inputs = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | {"system": "toymem"} | given
    output = project.parent / "output"
    output.write_text("")
    values = {
        "steps.page.outputs.artifact-url": "https://github.com/o/r/actions/runs/1/artifacts/2",
        "github.token": "t",
        "github.repository": "o/r",
        "github.event.pull_request.number": "3",
        **{f"inputs.{name}": value for name, value in inputs.items()},
    }
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "GITHUB_", "OPENAI_"))}
    env = {
        **clean,
        "PATH": f"{project.parent / 'bin'}:{os.environ['PATH']}",
        "CI": "true",
        "GITHUB_OUTPUT": str(output),
        "GITHUB_ACTION_PATH": str(REPOSITORY),
    }
    env |= {"COMMENTS": str(project.parent / "comments"), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    env["PYTEST_ADDOPTS"] = "-p no:cacheprovider"
    code, printed = 0, ""
    for step in ACTION["runs"]["steps"]:
        if "run" not in step:
            continue
        values |= {
            f"steps.run.outputs.{line.partition('=')[0]}": line.partition("=")[2]
            for line in output.read_text().splitlines()
        }
        mine = {
            name: re.sub(r"\$\{\{ (.*?) \}\}", lambda found, now=dict(values): now[found[1]], text)
            for name, text in step.get("env", {}).items()
        }
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step["run"]], cwd=project, env=env | mine, capture_output=True, text=True
        )
        printed += done.stdout + done.stderr
        code = done.returncode
    return code, printed


def test_every_expression_is_in_env() -> None:
    """A value of a pull request never becomes part of a script."""
    steps: list[dict[str, Any]] = ACTION["runs"]["steps"]
    assert not [step["name"] for step in steps if "${{" in step.get("run", "")]


def test_the_six_lines_of_the_docs_name_inputs_that_exist() -> None:
    page = (REPOSITORY / "docs/gate.md").read_text(encoding="utf-8")
    found = re.search(r"```yaml\n(on: pull_request\n.*?)```", page, re.DOTALL)
    assert found is not None
    assert len(found[1].splitlines()) == 6
    workflow = yaml.safe_load(found[1])
    _, action = workflow["jobs"]["memory"]["steps"]
    assert action["with"].keys() <= ACTION["inputs"].keys()
    assert workflow["jobs"]["memory"]["permissions"]["pull-requests"] == "write"


def test_the_first_run_makes_a_baseline_where_the_ini_has_a_rule_about_regressions(project: Path) -> None:
    with (project / "pyproject.toml").open("a", encoding="utf-8") as ini:
        ini.write('memfail_fail_on = ["regressions>0"]\n')
    code, printed = act(project, options="--memfail-limit=2 --memfail-tasks=long_hop")
    assert code == 6, printed
    assert "::error::no baseline at memfail-baseline.jsonl: commit memfail-baseline.jsonl of the artefact" in printed
    assert (project / "memfail-results/memfail-baseline.jsonl").is_file()


@pytest.mark.slow
def test_the_action_gates_and_keeps_one_comment(project: Path) -> None:
    sample = "--memfail-limit=8 --memfail-system-option=keep={}"
    code, printed = act(project, options=sample.format(3))
    assert code == 6, printed  # in CI a gate without its baseline fails closed
    assert (project.parent / "installed").read_text() == f"-m pip install {REPOSITORY} -e .\n"
    assert "::error::no baseline at memfail-baseline.jsonl: commit memfail-baseline.jsonl of the artefact" in printed
    shutil.copy(project / "memfail-results/memfail-baseline.jsonl", project)
    code, printed = act(project, options=sample.format(3))
    assert code == 0, printed
    comment = (project.parent / "comments/7.md").read_text(encoding="utf-8")
    assert "**memfail: gate passed**" in comment
    code, printed = act(project, options=sample.format(1))
    assert code == 1, printed
    comment = (project.parent / "comments/7.md").read_text(encoding="utf-8")
    lines = comment.splitlines()
    assert lines[:2] == ["<!-- memfail report -->", "**memfail: gate failed**"]
    assert len(lines) < 60
    assert "(https://github.com/o/r/actions/runs/1/artifacts/2)" in comment
    assert re.search(r"failures before → now: .*? \d+ → \d+ of \d+", comment)
    assert re.search(r"^- `memfail/\S+` .* → \*\*\w+", comment, re.MULTILINE)
    assert "one again: `pytest memfail/" in comment
    calls = (project.parent / "comments/calls").read_text().splitlines()
    assert [call.split()[2] for call in calls if "--method" in call] == ["POST", "PATCH", "PATCH"]
    assert (project / "memfail-results/memfail.html").is_file()
