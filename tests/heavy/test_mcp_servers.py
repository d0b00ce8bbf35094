"""Real MCP servers from npm and PyPI: their presets, and what docs/connectors.md says of them."""

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
"""Notes or files that the client reads for a question."""


def keeper(request: Mapping[str, Any]) -> str | Reply:
    """Stores each message of the user, and searches for each longer word of a question.

    basic-memory's search shows the titles of notes: they are read afterwards. In a folder, each conversation becomes a
    file, and the files are read whose names share a longer word with the question.
    """
    messages = request["messages"]
    tools = {tool["function"]["name"] for tool in request["tools"]}
    text = messages[1]["content"]
    is_conversation = text.startswith("<conversation>")
    said = [json.loads(line) for line in text.split("\n")[1:-1]] if is_conversation else []
    said = [each["content"] for each in said if each["role"] == "user"]
    words = dict.fromkeys(word for word in re.findall(r"\w+", text.lower()) if len(word) > 4)
    if messages[-1]["role"] == "tool":
        shown = "\n".join(message["content"] for message in messages if message["role"] == "tool")
        if is_conversation or sum(message["role"] == "assistant" for message in messages) > 1:
            return Reply("Done.")
        notes = dict.fromkeys(re.findall(r"^- permalink: (\S+)$", shown, re.MULTILINE))
        files = [path for path in re.findall(r"^/memories/\S+$", shown, re.MULTILINE) if any(w in path for w in words)]
        calls = [ToolCall("read_note", {"identifier": name}) for name in notes]
        calls += [ToolCall("view", {"path": path}) for path in files]
        return Reply("", tool_calls=tuple(calls[:MOST_READ])) if calls else Reply("Done.")
    if "search_nodes" in tools:  # server-memory
        entities = [{"name": each[:80], "entityType": "memory", "observations": [each]} for each in said]
        stored = [ToolCall("create_entities", {"entities": entities})]
        looked = [ToolCall("search_nodes", {"query": word}) for word in words]
    elif "search_notes" in tools:  # basic-memory
        titles = [re.sub(r"\W+", " ", each)[:80] for each in said]
        notes_said = zip(titles, said, strict=True)
        stored = [ToolCall("write_note", {"title": t, "directory": "notes", "content": each}) for t, each in notes_said]
        looked = [ToolCall("search_notes", {"query": word}) for word in words]
    else:  # the memory tool
        name = re.sub(r"\W+", "-", said[0].lower())[:60] if said else ""
        stored = [ToolCall("create", {"path": f"/memories/{name}.md", "file_text": "\n\n".join(said)})]
        looked = [ToolCall("view", {"path": "/memories"})]
    return Reply("", tool_calls=tuple(stored if is_conversation else looked))


def run(tmp_path: Path, text: str, *words: str) -> str:
    """Run the benchmark over a YAML file, and return what is printed."""
    (tmp_path / "memory.yaml").write_text(text, encoding="utf-8")
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


def uvx(package: str, *words: str, python: str, probe: str = "--version") -> str:
    """The command of a package's program, in an interpreter that meets a condition; skips where there is none."""
    pytest.importorskip("mcp")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    if (uv := shutil.which("uv", path=path)) is None:
        pytest.skip("needs uv")
    pyenv = map(str, Path.home().glob(".pyenv/versions/3.1*/bin/python"))
    for interpreter in (sys.executable, "/usr/bin/python3", *pyenv):
        command = [uv, "tool", "run", "--python", interpreter, "--from", package, *words]
        condition = f"import sqlite3, sys; assert {python}"
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            subprocess.run([interpreter, "-c", condition], capture_output=True, check=True)
            subprocess.run([*command, probe], capture_output=True, check=True)
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


def filled(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    """The least that a JSON schema allows."""
    if "$ref" in schema:
        return filled(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if schema.get("type") == "object":
        return {name: filled(part, definitions) for name, part in schema.get("properties", {}).items()}
    return {"array": [], "string": "note", "integer": 0, "number": 0.0, "boolean": False}.get(schema.get("type", ""))


def graph(request: Mapping[str, Any]) -> str:
    """An empty graph, and a summary of one word."""
    schema = request["response_format"]["json_schema"]["schema"]
    return json.dumps(filled(schema, schema.get("$defs", {})))


def test_cognee_finds_the_chunks_of_what_it_was_told(tmp_path, monkeypatch):
    package = "cognee-mcp==0.5.7"
    command = uvx(package, "cognee-mcp", python="sys.version_info >= (3, 10)", probe="--help")
    where = "import litellm.litellm_core_utils as u; print(u.__path__[0])"
    litellm = subprocess.run(
        [*command.rpartition(" ")[0].split(), "python", "-c", where], capture_output=True, text=True, check=True
    )
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", f"{litellm.stdout.strip()}/tokenizers")  # else it is fetched
    with LocalEndpoint(graph) as endpoint:
        for kind, model in (("LLM", "openai/gpt-5-mini"), ("EMBEDDING", "openai/text-embedding-3-small")):
            monkeypatch.setenv(f"{kind}_PROVIDER", "openai")
            monkeypatch.setenv(f"{kind}_MODEL", model)
            monkeypatch.setenv(f"{kind}_ENDPOINT", endpoint.url)
            monkeypatch.setenv(f"{kind}_API_KEY", "none")
        monkeypatch.setenv("EMBEDDING_DIMENSIONS", "256")
        monkeypatch.setenv("COGNEE_SKIP_CONNECTION_TEST", "true")
        monkeypatch.setenv("TELEMETRY_DISABLED", "1")
        text = f"kind: mcp\npreset: cognee\ncommand: {command} --transport stdio\n"
        output = run(tmp_path, text, "--memfail-limit=5", "--memfail-tasks=conditional_facts_easy,long_hop")
    assert endpoint.calls > 0
    assert held(output, "conditional_facts_easy") > held(output, "long_hop")


def test_a_model_with_the_memory_tool_reads_the_files_that_their_names_promise(tmp_path, monkeypatch):
    output = run_agent(tmp_path, "kind: files\n", monkeypatch, "--memfail-limit=20")
    assert 20 < held(output, "all") < 100
