"""The Ray loop of docs/machines.md, on the cores of this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_memfail.cli import main

pytest.importorskip("ray", reason="no ray")


def test_the_loop_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs/machines.md").read_text(encoding="utf-8")
    loop = re.search(r"```python\n(import json\n.*?import ray.*?)```", page, re.DOTALL)
    assert loop is not None
    monkeypatch.chdir(tmp_path)
    words = ["--systems=bm25,lossy", "-o", "plan.jsonl", "--", "--memfail-tasks=updated_facts", "--memfail-limit=2"]
    assert main(["plan", *words]) == 0
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "RAY_USAGE_STATS_ENABLED": "0"}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run([sys.executable, "-c", loop[1]], env=env, capture_output=True, text=True, timeout=300)
    assert "2 of 2 runs ended" in done.stdout.splitlines(), done.stdout + done.stderr
    assert sorted(path.name for path in Path("records").iterdir()) == ["bm25-s42.jsonl", "lossy-s42.jsonl"]
