"""Real MCP servers from npm and PyPI, and the program in TypeScript: their presets, and the tables of docs/connectors.md."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON_OF_BASIC_MEMORY = "3.12"


def run(tmp_path: Path, text: str, *words: str) -> str:
    """Run the benchmark over a YAML file, and return what is printed."""
    (tmp_path / "memory.yaml").write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "examples" / "connectors" / "notes.mts", tmp_path)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--memfail-system=memory.yaml", *words]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert " error" not in done.stdout.splitlines()[-1], done.stdout
    return done.stdout


def held(output: str, task: str) -> float:
    """The percentage of a task's row."""
    (row,) = [line for line in output.splitlines() if line.startswith(f"{task} ") and "[" in line][-1:]
    return float(row.split()[2])


needs_npx = pytest.mark.skipif(shutil.which("npx") is None, reason="needs npx")


@needs_npx
def test_server_memory_searches_the_whole_question_as_a_substring(tmp_path):
    pytest.importorskip("mcp")
    output = run(tmp_path, "kind: mcp\npreset: server-memory\n", "--memfail-limit=20")
    assert held(output, "all") == 0.0
    assert "loses most in retrieval" in output


def basic_memory() -> str | None:
    """The command of basic-memory; None where its Python is missing."""
    uvx = shutil.which("uvx") or shutil.which("uv")
    if uvx is None:
        return None
    words = [uvx] if uvx.endswith("uvx") else [uvx, "tool", "run"]
    command = [*words, "--python", PYTHON_OF_BASIC_MEMORY, "basic-memory==0.24.1"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return " ".join([*command, "mcp"]) if done.returncode == 0 else None


def test_basic_memory_finds_what_its_words_find(tmp_path):
    pytest.importorskip("mcp")
    if (command := basic_memory()) is None:
        pytest.skip(f"needs uvx and Python {PYTHON_OF_BASIC_MEMORY}")
    text = f"kind: mcp\npreset: basic-memory\ncommand: {command}\n"
    output = run(tmp_path, text, "--memfail-limit=5", "--memfail-tasks=conditional_facts_easy,long_hop")
    assert held(output, "conditional_facts_easy") > held(output, "long_hop")


@needs_npx
def test_the_typescript_program_stores_every_message(tmp_path):
    text = (ROOT / "examples" / "connectors" / "notes.yaml").read_text(encoding="utf-8")
    output = run(tmp_path, text, "--memfail-limit=20", "--memfail-tasks=conditional_facts_easy,long_hop")
    assert held(output, "conditional_facts_easy") == 95.0
    assert held(output, "long_hop") == 5.0
