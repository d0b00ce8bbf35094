"""Real MCP servers from npm and PyPI, and the program in TypeScript: their presets, and the tables of docs/connectors.md."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.testing import LocalEndpoint, Reply, ToolCall

ROOT = Path(__file__).parents[2]
PYTHON_OF_BASIC_MEMORY = "3.12"


def keeper(request: Mapping[str, Any]) -> str | Reply:
    """Stores each message of the user as an entity, and searches for each longer word of a question."""
    messages = request["messages"]
    text = messages[1]["content"]
    if messages[-1]["role"] == "tool":
        return Reply("Done.")
    if not text.startswith("<conversation>"):
        words = dict.fromkeys(word for word in re.findall(r"\w+", text.lower()) if len(word) > 4)
        return Reply("", tool_calls=tuple(ToolCall("search_nodes", {"query": word}) for word in words))
    said = [json.loads(line)["content"] for line in text.split("\n")[1:-1] if json.loads(line)["role"] == "user"]
    entities = [{"name": each[:80], "entityType": "memory", "observations": [each]} for each in said]
    return Reply("", tool_calls=(ToolCall("create_entities", {"entities": entities}),))


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


@needs_npx
def test_a_client_that_searches_single_words_finds_more_in_server_memory(tmp_path, monkeypatch):
    pytest.importorskip("mcp")
    with LocalEndpoint(keeper) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        agent = ["--memfail-system-option=mode=agent", "--memfail-system-option=model=m", "--memfail-limit=20"]
        output = run(tmp_path, "kind: mcp\npreset: server-memory\n", *agent)
    print(output)
    assert held(output, "all") > 50


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
