"""Real MCP servers from npm and PyPI, and the program in TypeScript: their presets, and the tables of docs/connectors.md."""

from __future__ import annotations

import contextlib
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
MOST_READ = 10
"""Notes that the client reads for a question."""


def keeper(request: Mapping[str, Any]) -> str | Reply:
    """Stores each message of the user as an entity or note, and searches for each longer word of a question.

    basic-memory's search shows the titles of notes: they are read afterwards.
    """
    messages = request["messages"]
    tools = {tool["function"]["name"] for tool in request["tools"]}
    is_graph = "search_nodes" in tools  # server-memory; else basic-memory
    text = messages[1]["content"]
    if messages[-1]["role"] == "tool":
        results = [message["content"] for message in messages if message["role"] == "tool"]
        found = list(dict.fromkeys(re.findall(r"^- permalink: (\S+)$", "\n".join(results), re.MULTILINE)))
        has_read = any(call["function"]["name"] == "read_note" for m in messages for call in m.get("tool_calls", ()))
        if not found or has_read or text.startswith("<conversation>"):
            return Reply("Done.")
        return Reply("", tool_calls=tuple(ToolCall("read_note", {"identifier": name}) for name in found[:MOST_READ]))
    if not text.startswith("<conversation>"):
        words = dict.fromkeys(word for word in re.findall(r"\w+", text.lower()) if len(word) > 4)
        tool = "search_nodes" if is_graph else "search_notes"
        return Reply("", tool_calls=tuple(ToolCall(tool, {"query": word}) for word in words))
    said = [json.loads(line)["content"] for line in text.split("\n")[1:-1] if json.loads(line)["role"] == "user"]
    if is_graph:
        entities = [{"name": each[:80], "entityType": "memory", "observations": [each]} for each in said]
        return Reply("", tool_calls=(ToolCall("create_entities", {"entities": entities}),))
    notes = [{"title": re.sub(r"\W+", " ", each)[:80], "directory": "notes", "content": each} for each in said]
    return Reply("", tool_calls=tuple(ToolCall("write_note", note) for note in notes))


def run(tmp_path: Path, text: str, *words: str) -> str:
    """Run the benchmark over a YAML file, and return what is printed."""
    (tmp_path / "memory.yaml").write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "examples" / "connectors" / "notes.mts", tmp_path)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--memfail-system=memory.yaml", *words]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert " error" not in done.stdout.splitlines()[-1], done.stdout
    return done.stdout


def run_agent(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """Run in mode `agent`, with `keeper` at the local endpoint."""
    with LocalEndpoint(keeper) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        return run(tmp_path, text, "--memfail-system-option=mode=agent", "--memfail-system-option=model=m", *words)


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
    output = run_agent(tmp_path, "kind: mcp\npreset: server-memory\n", monkeypatch, "--memfail-limit=20")
    assert held(output, "all") > 50


def uvx(package: str, *words: str, python: str) -> str:
    """The command of a package's program, in an interpreter that meets a condition; skips where there is none."""
    pytest.importorskip("mcp")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    if (uv := shutil.which("uv", path=path)) is None:
        pytest.skip("needs uv")
    pyenv = map(str, Path.home().glob(".pyenv/versions/3.1*/bin/python"))
    for interpreter in (sys.executable, "/usr/bin/python3", *pyenv):
        command = [uv, "tool", "run", "--python", interpreter, "--from", package, *words]
        probe = f"import sqlite3, sys; assert {python}"
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            subprocess.run([interpreter, "-c", probe], capture_output=True, check=True)
            subprocess.run([*command, "--version"], capture_output=True, check=True)
            return " ".join(command)
    pytest.skip(f"needs PyPI, and a Python with {python}")


@pytest.fixture(scope="module")
def basic_memory() -> str:
    """The YAML file of basic-memory."""
    command = uvx("basic-memory==0.24.1", "basic-memory", python="sys.version_info >= (3, 12)")
    return f"kind: mcp\npreset: basic-memory\ncommand: {command} mcp\n"


@pytest.fixture(scope="module")
def memory_service() -> str:
    """The YAML file of mcp-memory-service."""
    command = uvx("mcp-memory-service==12.4.0", "memory", python="hasattr(sqlite3.Connection, 'enable_load_extension')")
    return f"kind: mcp\npreset: mcp-memory-service\ncommand: {command} server\n"


FEW = ("--memfail-limit=5", "--memfail-tasks=conditional_facts_easy,long_hop")


def test_basic_memory_finds_what_its_words_find(tmp_path, basic_memory):
    output = run(tmp_path, basic_memory, *FEW)
    assert held(output, "conditional_facts_easy") > held(output, "long_hop")


def test_a_client_that_searches_single_words_finds_more_in_basic_memory(tmp_path, basic_memory, monkeypatch):
    output = run_agent(tmp_path, basic_memory, monkeypatch, *FEW)
    assert held(output, "conditional_facts_easy") > 50


def test_mcp_memory_service_ranks_by_the_embeddings_it_gets(tmp_path, memory_service, monkeypatch):
    with LocalEndpoint() as endpoint:
        monkeypatch.setenv("MCP_EXTERNAL_EMBEDDING_URL", f"{endpoint.url}/embeddings")
        output = run(tmp_path, memory_service, *FEW)
    assert held(output, "conditional_facts_easy") > held(output, "long_hop")


@needs_npx
def test_the_typescript_program_stores_every_message(tmp_path):
    text = (ROOT / "examples" / "connectors" / "notes.yaml").read_text(encoding="utf-8")
    output = run(tmp_path, text, "--memfail-limit=20", "--memfail-tasks=conditional_facts_easy,long_hop")
    assert held(output, "conditional_facts_easy") == 95.0
    assert held(output, "long_hop") == 5.0
