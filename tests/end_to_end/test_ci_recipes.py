"""The CI recipes: their shell steps, run here as the services would run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
RECIPES = REPOSITORY / "examples" / "ci"
SAMPLE = "-p no:hypothesispytest -p no:anyio --memfail-limit=8 --memfail-system-option=keep={keep}"


class Runner:
    """Runs the steps of a recipe in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.steps: dict[str, str] = {}
        self.keep = 3

    def __call__(self, step: str, **variables: str) -> subprocess.CompletedProcess[str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "GITHUB_", "OPENAI_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        given = {"PATH": path, "CI": "true", "SYSTEM": "toymem", "PYTEST_ADDOPTS": SAMPLE.format(keep=self.keep)}
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", self.steps[step]],
            cwd=self.folder,
            env={**clean, **given, **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    def make_anchor(self) -> None:
        """What the README says to do once by hand."""
        self.steps["anchor"] = "memfail anchor run.jsonl -o memfail-anchor.jsonl --reason 'first golden run'"
        done = self("anchor")
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(Path(shutil.copytree(REPOSITORY / "examples" / "quickstart", tmp_path / "project")))


def read(name: str) -> Any:
    return yaml.safe_load((RECIPES / name).read_text(encoding="utf-8"))


@pytest.mark.slow
def test_github_actions(runner: Runner) -> None:
    recipe = read("github-actions.yml")
    jobs = recipe["jobs"]
    runner.steps = {step["name"]: step["run"] for job in jobs.values() for step in job["steps"] if "run" in step}
    shards = jobs["ask"]["strategy"]["matrix"]["shard"]
    assert len(shards) == recipe["env"]["SHARDS"]
    step_summary = runner.folder / "step.md"

    def ask() -> None:
        for shard in (1, 2):
            done = runner("Ask", SHARD=str(shard), SHARDS="2")
            assert done.returncode == 0, done.stdout + done.stderr
        assert runner("Join").returncode == 0

    ask()
    runner.make_anchor()
    missing = runner("Gate", ANCHOR=recipe["env"]["ANCHOR"])
    (runner.folder / recipe["env"]["ANCHOR"]).unlink()
    assert missing.returncode == 6
    assert "there is no baseline at baseline.jsonl, and in CI the gate fails closed" in missing.stdout
    saved = runner("Baseline")
    assert saved.returncode == 0, saved.stdout + saved.stderr
    anchor = {"ANCHOR": recipe["env"]["ANCHOR"]}
    unanchored = runner("Gate", **anchor)
    assert unanchored.returncode == 6
    assert "there is no anchor at memfail-anchor.jsonl, and in CI the gate fails closed" in unanchored.stdout
    runner.make_anchor()
    assert runner("Gate", **anchor).returncode == 0
    runner.keep = 1
    ask()
    stopped = runner("Gate", GITHUB_STEP_SUMMARY=str(step_summary), **anchor)
    assert stopped.returncode == 1, stopped.stdout + stopped.stderr
    assert "gate: failed" in stopped.stdout
    assert "pytest memfail/" in step_summary.read_text(encoding="utf-8")
    assert (runner.folder / "memfail.html").is_file()


@pytest.mark.slow
def test_gitlab(runner: Runner) -> None:
    recipe = read("gitlab-ci.yml")
    runner.steps = {name: "\n".join(recipe[name]["script"]) for name in ("ask", "gate", "baseline")}
    total = recipe["ask"]["parallel"]
    for index in range(1, total + 1):
        done = runner("ask", CI_NODE_INDEX=str(index), CI_NODE_TOTAL=str(total))
        assert done.returncode == 0, done.stdout + done.stderr
    assert runner("baseline").returncode == 0
    runner.make_anchor()
    anchor = {"ANCHOR": recipe["variables"]["ANCHOR"]}
    assert runner("gate", **anchor).returncode == 0
    (runner.folder / "shard-2.jsonl").unlink()
    lacking = runner("gate", **anchor)
    assert lacking.returncode == 1
    assert "missing: shard 2/3" in lacking.stdout


@pytest.mark.parametrize(
    "gateway", [pytest.param("popen", marks=pytest.mark.slow), pytest.param("socket", marks=pytest.mark.slow)]
)
def test_several_gateways(runner: Runner, gateway: str) -> None:
    """Two gateways of xdist's own `--tx`: processes here, and socket servers on loopback as on other machines."""
    servers = []
    specs = ["popen//id=a", "popen//id=b"]
    if gateway == "socket":
        server_command = [sys.executable, "-u", "-m", "execnet.script.socketserver", "127.0.0.1:0"]
        specs = []
        for _ in range(2):
            server = subprocess.Popen(server_command, cwd=runner.folder, stdout=subprocess.PIPE, text=True)
            servers.append(server)
            assert server.stdout is not None
            told = next(line for line in server.stdout if "127.0.0.1" in line)
            specs.append(f"socket=127.0.0.1:{told.strip().rstrip(')').split()[-1]}")
    try:
        gateways = " ".join(f"--tx {spec}" for spec in specs)
        runner.steps = {
            "run": f"pytest -d {gateways} --memfail-system=toymem --memfail-record=run.jsonl || test $? -eq 1"
        }
        done = runner("run")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "2 workers" in done.stdout
        runner.steps["alone"] = "pytest --memfail-system=toymem --memfail-record=alone.jsonl || test $? -eq 1"
        assert runner("alone").returncode == 0
        runner.steps["compare"] = "memfail compare alone.jsonl run.jsonl"
        compared = runner("compare")
        assert compared.stdout.splitlines()[-1].split()[-3:-1] == ["0", "0"], compared.stdout
    finally:
        for server in servers:
            server.kill()
            server.communicate()
