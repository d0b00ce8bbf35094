"""Fixtures: a folder, an endpoint that writes valid rows, and the command."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import row_writer

from pytest_memfail.cli import main
from pytest_memfail.testing import LocalEndpoint


@pytest.fixture
def generate(tmp_path, monkeypatch, capsys):
    """Run `memfail generate` against a local endpoint; return exit code, output and the endpoint."""

    def run(task, n, *arguments, answer=row_writer.write, faults=(), out="rows", model="gpt-5-mini"):
        with LocalEndpoint(answer, faults=faults) as endpoint:
            monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
            monkeypatch.setenv("OPENAI_API_KEY", "sk-never-shown-anywhere")
            code = main(
                ["generate", task, "-n", str(n), "--model", model, "--out", str(tmp_path / out), *map(str, arguments)]
            )
            said, errors = capsys.readouterr()
        return Ran(code, said, errors, list(endpoint.requests), tmp_path / out)

    return run


class Ran:
    """One run of the command."""

    def __init__(self, code, out, err, requests, folder):
        self.code, self.out, self.err, self.requests, self.folder = code, out, err, requests, folder

    @property
    def kinds(self):
        return [row_writer.kind_of(request) for request in self.requests]

    def rows(self, name):
        with Path(self.folder, f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def account(self, task):
        return json.loads(Path(self.folder, "generation_config.json").read_text(encoding="utf-8"))["generated"][task]
