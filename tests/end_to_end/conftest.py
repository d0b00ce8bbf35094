"""Whole runs, as a user starts them: with workers in processes of their own, else in this one, which has all imported."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from whole_runs import run_pytest_in

REPOSITORY = Path(__file__).parents[2]
PUBLISHED = REPOSITORY.parent / "shared" / "data" / "memfail"


@dataclass
class Finished:
    """What a run printed and left."""

    code: int
    output: str
    record: list[dict[str, Any]]

    @property
    def questions(self) -> dict[str, dict[str, Any]]:
        return {line["id"]: line for line in self.record if line["type"] == "question"}

    @property
    def verdicts(self) -> dict[str, str]:
        return {node_id: line["verdict"] for node_id, line in self.questions.items()}

    @property
    def table(self) -> str:
        found = re.search(r"^task  .*?(?=^\s*$|^vacuous|^record)", self.output, re.MULTILINE | re.DOTALL)
        return found[0] if found else ""

    def counts(self, *, vacuous: bool = True) -> Counter[str]:
        return Counter(line["verdict"] for line in self.questions.values() if vacuous or not line.get("vacuous"))


def running_in(home: Path) -> Callable[..., Finished]:
    """Return what runs pytest and reads its record, both in this folder unless told otherwise."""

    def run(*arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Finished:
        record = home / "record.jsonl"
        record.unlink(missing_ok=True)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "OPENAI_"))}
        words = [f"--memfail-record={record}", *arguments]
        code, output = run_pytest_in(cwd or home, words, {**environment, **(env or {})})
        lines = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
        return Finished(code, output, lines)

    return run


@pytest.fixture
def run_pytest(tmp_path: Path) -> Callable[..., Finished]:
    return running_in(tmp_path)


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Finished]:
    """For a run that several tests of a file look at."""
    return running_in(tmp_path_factory.mktemp("once"))


@pytest.fixture(scope="session")
def published() -> Path:
    if not PUBLISHED.is_dir():
        pytest.skip("the published rows are not beside this repository")
    return PUBLISHED
