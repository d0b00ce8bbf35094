"""`mode=agent`: a model calls the tools of a memory, over the local endpoint."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.testing import LocalEndpoint, Reply, ToolCall, reply_by_rule

Run = Callable[..., Any]
FEW = ("--memfail-tasks=long_hop", "--memfail-haystack=sample")
AGENT = ("--memfail-system=memory.yaml", "--memfail-system-option=mode=agent", *FEW)
MODEL = "--memfail-system-option=model=m"

SERVER = '''\
"""An MCP server without an SDK: notes of users."""
import json, sys

notes = {}
tools = {"add": ["user", "text"], "find": ["user", "query"], "all": ["user"]}

def call(name, given):
    mine = notes.setdefault(given["user"], [])
    if name == "add":
        mine.append(given["text"])
        return "ok"
    return json.dumps({"memories": [note for note in mine if name == "all" or set(given["query"].split()) & set(note.split())]})

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    method, given = request["method"], request.get("params", {})
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    if method == "initialize":
        server = {"name": "notes", "version": "7"}
        reply["result"] = {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in tools]}
    elif method == "tools/call":
        try:
            reply["result"] = {"content": [{"type": "text", "text": call(given["name"], given["arguments"])}]}
        except KeyError as error:
            reply["result"] = {"isError": True, "content": [{"type": "text", "text": f"{error} is missing"}]}
    else:
        reply["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(reply), flush=True)
'''
MEMORIES = {
    "files": "kind: files\n",
    "mcp": f"""\
kind: mcp
command: [{sys.executable}, server.py]
write: {{tool: add, arguments: {{user: "{{store}}", text: "{{text}}"}}}}
search: {{tool: find, arguments: {{user: "{{store}}", query: "{{query}}"}}, pick: memories}}
list: {{tool: all, arguments: {{user: "{{store}}"}}, pick: memories}}
""",
}


def keeper(request: Mapping[str, Any]) -> str | Reply:
    """Stores every message of the user, and looks once for a question; tries a tool wrongly at first."""
    tools = {tool["function"]["name"] for tool in request.get("tools") or ()}
    messages = request["messages"]
    if not tools & {"view", "add"}:
        return reply_by_rule(request)
    text = messages[1]["content"]
    last = messages[-1]
    if last["role"] == "tool" and "error" not in last["content"]:
        paths = re.findall(r"^/memories/\S+$", last["content"], re.MULTILINE)
        if paths and not text.startswith("<conversation>"):
            return Reply("", tool_calls=tuple(ToolCall("view", {"path": path}) for path in paths))
        return Reply("Done.")
    if not text.startswith("<conversation>"):
        return Reply(
            "",
            tool_calls=(
                ToolCall("find", {"query": text}) if "find" in tools else ToolCall("view", {"path": "/memories"}),
            ),
        )
    said = [json.loads(line)["content"] for line in text.split("\n")[1:-1] if json.loads(line)["role"] == "user"]
    if "add" in tools:
        return Reply("", tool_calls=tuple(ToolCall("add", {"text": each, "user": "somebody else"}) for each in said))
    if last["role"] != "tool":  # a mistake, which the memory explains
        return Reply("", tool_calls=(ToolCall("create", {"path": "/tmp/notes.md", "file_text": "x"}),))
    name = re.sub(r"\W+", "-", said[0])[:60]
    return Reply("", tool_calls=(ToolCall("create", {"path": f"/memories/{name}.md", "file_text": "\n\n".join(said)}),))


@pytest.fixture(params=MEMORIES)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "mcp" and importlib.util.find_spec("mcp") is None:
        pytest.skip("needs the extra mcp")
    (tmp_path / "memory.yaml").write_text(MEMORIES[request.param])
    (tmp_path / "server.py").write_text(SERVER)
    return str(request.param)


def test_a_model_stores_and_looks_and_a_recorded_run_replays(run_pytest: Run, memory: str, tmp_path: Path) -> None:
    given = (*AGENT, MODEL, "--memfail-limit=4", f"--memfail-cache-path={tmp_path / 'kept.sqlite'}")
    with LocalEndpoint(keeper) as endpoint:
        done = run_pytest(*given, env={"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "none"})
    assert "error" not in done.counts(), done.output
    by_memory = [
        row for row in done.record[-1]["models"] if row["stage"].startswith("memory")
    ]  # storing, and searching
    assert sum(row["calls"] for row in by_memory) == endpoint.calls > 8
    assert done.record[0]["system_options"] == {"mode": "agent", "model": "m"}
    (store,) = [line for line in done.record if line["type"] == "store"]
    assert store["system"]["mode"] == "agent"
    assert store["memories"] >= store["conversations"]
    assert "memfail: system memory.yaml (mode agent), judge" in done.output
    again = run_pytest(*given, "--memfail-cache=only")
    assert again.verdicts == done.verdicts


def test_both_modes_are_different_systems_for_a_baseline(run_pytest: Run, tmp_path: Path) -> None:
    (tmp_path / "memory.yaml").write_text(MEMORIES["files"])
    direct = ("--memfail-system=memory.yaml", "--memfail-limit=2", *FEW)
    baseline = f"--memfail-baseline={tmp_path / 'baseline.json'}"
    run_pytest(*direct, f"--memfail-save-baseline={tmp_path / 'baseline.json'}")
    with LocalEndpoint(keeper) as endpoint:
        env = {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "none"}
        done = run_pytest(*AGENT, MODEL, "--memfail-limit=2", baseline, env=env)
    assert "mode agent" in done.output
    print(done.output)
    assert "agent" in done.output.partition("[100%]")[2]


def test_without_a_model_it_is_refused_in_one_line(run_pytest: Run, tmp_path: Path) -> None:
    (tmp_path / "memory.yaml").write_text(MEMORIES["files"])
    done = run_pytest(*AGENT)
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert (
        "ERROR: --memfail-system-option mode=agent needs a model that calls tools; give --memfail-model" in done.output
    )
    tool = run_pytest("--memfail-system=memory-tool")
    assert "ERROR: --memfail-system=memory-tool needs a model that calls tools; give --memfail-model" in tool.output
    assert "got 'agnt', expected direct or agent" in run_pytest(AGENT[0], "--memfail-system-option=mode=agnt").output


def test_the_memory_tool_is_a_built_in_system(run_pytest: Run) -> None:
    given = ("--memfail-system=memory-tool", *FEW, "--memfail-limit=2", "--memfail-model=m")
    with LocalEndpoint(keeper) as endpoint:
        done = run_pytest(*given, env={"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "none"})
    (store,) = [line for line in done.record if line["type"] == "store"]
    assert store["system"]["system"] == "memory-tool"
    assert store["memories"] >= store["conversations"] > 0
    assert "error" not in done.counts(), done.output
