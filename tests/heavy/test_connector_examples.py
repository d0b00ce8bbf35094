"""examples/connectors over the shipped rows: the table of docs/connectors.md, and a service that lags."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "connectors"
SETTLE = "settle: {call: {method: GET, path: /status}, done: 'waiting == `0`'}\n"
HELD = {"notes.yaml": "55.8 [47, 65]", "notes_service.yaml": "55.8 [47, 65]", "folder.yaml": "61.9 [53, 70]"}
"""Memory held over all tasks, as in the docs."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the examples."""
    monkeypatch.setenv("MEMORY_KEY", "any-word")
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        monkeypatch.delenv(name)
    return Path(shutil.copytree(EXAMPLES, tmp_path / "examples"))


@pytest.fixture
def service(folder: Path) -> Iterator[Callable[..., None]]:
    """`service(lag, more)` starts the service, and lets notes_service.yaml point to it, with more lines."""

    def start(lag: float, more: str = "") -> None:
        environment = {**os.environ, "MEMORY_LAG": str(lag)}
        command = [sys.executable, "service.py", "0"]
        processes.append(subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True))
        address = processes[-1].stdout.readline().strip()
        text = (EXAMPLES / "notes_service.yaml").read_text(encoding="utf-8")
        (folder / "notes_service.yaml").write_text(
            text.replace("http://127.0.0.1:8765", address) + more, encoding="utf-8"
        )

    processes: list[subprocess.Popen[str]] = []
    yield start
    for process in processes:
        process.kill()
        process.communicate()


def run(folder: Path, name: str, *words: str) -> str:
    """Run the benchmark over an example, and return what is printed."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--memfail-system={name}", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", HELD)
def test_the_examples_hold_what_the_docs_say(folder, service, name):
    if name == "notes.yaml" and shutil.which("npx") is None:
        pytest.skip("needs npx")
    if name == "notes_service.yaml":
        service(0)
    output = run(folder, name, "--memfail-limit=20", "--memfail-haystack=sample")
    (row,) = [line for line in output.splitlines() if line.startswith("all  ") and line.split()[1] == "120"]
    assert " ".join(row.split()[2:5]) == HELD[name]
    assert HELD[name] in (EXAMPLES.parents[1] / "docs" / "connectors.md").read_text(encoding="utf-8")


def test_a_service_that_lags_by_two_seconds_gets_the_same_verdicts(folder, service):
    found = []
    for lag, settle in ((0, ""), (2, SETTLE), (2, "")):
        service(lag, settle)
        record = folder / f"{lag}-{len(settle)}.jsonl"
        output = run(folder, "notes_service.yaml", "--memfail-limit=5", f"--memfail-record={record}")
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
        found.append({line["question"]: line["verdict"] for line in lines if "verdict" in line})
        assert ("in the background" in output) == (lag > 0 and not settle)
    assert len(found[0]) == 30
    assert found[0] == found[1]
    assert found[0] != found[2]
