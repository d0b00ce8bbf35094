"""Kind `mcp`: a server of a few lines over stdio, one over streamable HTTP, and what each fault becomes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from test_command import HOLDER, is_running, wait_until_gone

from pytest_memfail.core import MemorySystemError, UsageError, WrongTypeError
from pytest_memfail.systems import yaml_system
from pytest_memfail.systems.connectors.picks import check_ok, picked
from pytest_memfail.testing import check_memory_system

pytest.importorskip("mcp", reason="needs the extra mcp")

PRESETS = sorted(
    path.stem for path in Path(sys.modules[yaml_system.__module__].__file__ or "").parent.glob("connectors/presets/*")
)

SERVER = '''\
"""An MCP server without an SDK. Its faults are words of the command line."""
import json, os, sys, time

fault = sys.argv[1] if len(sys.argv) > 1 else ""
notes = []
tools = {"add": ["text"], "find": ["query", "k"], "all": []}

def call(name, arguments):
    if name == "add":
        if fault == "dies":
            print("out of memory", file=sys.stderr)
            os._exit(3)
        notes.append(arguments["text"])
        return {"content": [{"type": "text", "text": "ok"}]}
    if name == "find":
        if fault == "hangs":
            time.sleep(30)
        if fault == "refuses":
            return {"isError": True, "content": [{"type": "text", "text": "no index"}]}
        words = set(arguments["query"].lower().split())
        found = sorted(notes, key=lambda note: -len(words & set(note.lower().split())))[: arguments["k"]]
    else:
        found = notes
    key = "memories" if fault != "schema" else "results"
    return {"content": [{"type": "text", "text": json.dumps({key: [{"text": text} for text in found]})}]}

with open("pid", "w") as file:
    file.write(str(os.getpid()))
if fault == "slow-start":
    time.sleep(30)
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    method, parameters = request["method"], request.get("params", {})
    if fault == "latin" and method == "tools/call":
        sys.stdout.buffer.write(b'{"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "caf\\xe9"}]}}\\n')
        sys.stdout.flush()
        continue
    if fault == "prints" and method == "tools/call":
        print("loading the index ...", flush=True)
        time.sleep(30)
    if method == "initialize":
        version = parameters["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "7"}}
    elif method == "tools/list":
        listed = [{"name": name, "inputSchema": {"type": "object"}} for name in tools]
        result = {"tools": listed}
        if fault.startswith("pages"):
            page = int(parameters.get("cursor", 0))
            result = {"tools": listed[page % 3 : page % 3 + 1], "nextCursor": str(page + 1)}
            if fault == "pages" and page == 2 or fault == "pages-again" and page > 2:
                result["nextCursor"] = None if fault == "pages" else "1"
    elif method == "tools/call":
        result = call(parameters["name"], parameters.get("arguments", {}))
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no such method"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
'''
CALLS = """\
write: {tool: add, arguments: {text: "{text}"}}
search: {tool: find, arguments: {query: "{query}", k: "{k}"}, pick: memories}
list: {tool: all, pick: memories}
"""


@pytest.fixture
def stdio(tmp_path):
    (tmp_path / "server.py").write_text(SERVER)

    def text(fault: str = "", more: str = "timeout: 20") -> str:
        word = f", {fault}" if fault else ""
        return f"kind: mcp\ncommand: [PYTHON, server.py{word}]\n{CALLS}{more}\n"

    return text


def test_it_keeps_the_contract(stdio, describe):
    check_memory_system(
        yaml_system(describe(stdio())), checks="round-trip,listing,isolation,turns,unicode,close,errors,describe"
    )


def test_the_record_names_the_server(stdio, use):
    async def work(system):
        return system.describe()

    described = use(stdio(), work)
    assert {key: described[key] for key in ("kind", "name", "version")} == {
        "kind": "mcp",
        "name": "notes",
        "version": "7",
    }


FAULTS = {
    "dies": (MemorySystemError, r"write: the tool 'add' failed: .*, on stderr 'out of memory'"),
    "hangs": (
        MemorySystemError,
        r"search: the tool 'find' had no answer within 0\.5 s; check what the server waits for",
    ),
    "prints": (
        MemorySystemError,
        r"the MCP server .*server\.py prints' printed 'loading the index \.\.\.' on stdout; expec",
    ),
    "latin": (
        MemorySystemError,
        r"server\.py latin' printed .*caf\\+xe9.*, which is not UTF-8, on stdout; expected messages of the protocol only",
    ),
    "refuses": (MemorySystemError, r"search: the tool 'find' answered with the error: no index"),
    "schema": (WrongTypeError, r"search: the pick 'memories' finds None in \{'results': \[\{'text'.*; expected a list"),
    "slow-start": (
        MemorySystemError,
        r"the MCP server .* did not start within 0\.5 s; check what it waits for, or set a",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_an_error_of_one_line(stdio, use, talk, fault):
    async def work(system):
        await system.store_conversation(talk("a", "The boat is blue."))
        await system.retrieve_memories("the boat", talk("q"), 5)

    more = {"hangs": "timeout: 0.5", "slow-start": "start_timeout: 0.5"}.get(fault, "timeout: 20")
    kind, message = FAULTS[fault]
    with pytest.raises(kind, match=message) as caught:
        use(stdio(fault, more), work)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("fault", ["pages", "pages-again", "pages-for-ever"])
def test_all_pages_of_tools_are_read_up_to_a_limit(stdio, use, fault):
    async def work(system):
        return [tool["function"]["name"] for tool in system.tools]

    assert use(stdio(fault), work)[:3] == ["add", "find", "all"]


def test_a_tool_that_the_server_lacks_is_named_with_those_it_has(stdio, use):
    with pytest.raises(MemorySystemError, match=r"has no tool 'fnd' \(`search`\); it has add, all, find"):
        use(stdio().replace("tool: find", "tool: fnd"), asyncio.sleep)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_no_server_outlives_a_run_that_is_killed(stdio, describe, tmp_path):
    describe(stdio())
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        pid = int((tmp_path / "pid").read_text())
        assert is_running(pid)
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait(20)
    assert wait_until_gone([pid]) == []


@pytest.fixture
def over_http():
    """The address of a server of the SDK, over streamable HTTP."""
    import uvicorn
    from mcp.server.mcpserver import MCPServer

    notes: dict[str, list[str]] = {}
    memory = MCPServer("notes")

    @memory.tool()
    def add(user: str, text: str) -> str:
        notes.setdefault(user, []).append(text)
        return "ok"

    @memory.tool()
    async def find(user: str, query: str, k: int) -> dict[str, list[str]]:
        if query in ("hang up", "end"):
            server.should_exit = query == "end"
            for connection in list(server.server_state.connections):
                connection.transport.abort()
            await asyncio.sleep(20)
        words = set(query.lower().split())
        found = sorted(notes.get(user, []), key=lambda note: -len(words & set(note.lower().split())))
        return {"memories": found[:k]}

    @memory.tool(name="all")
    def list_all(user: str) -> dict[str, list[str]]:
        return {"memories": notes.get(user, [])}

    server = uvicorn.Server(uvicorn.Config(memory.streamable_http_app(), port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    (listening,) = server.servers[0].sockets
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join(10)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_server_over_http_keeps_the_contract(over_http, describe):
    # the SDK hands on a text as {"result": text}
    calls = CALLS.replace("write: {", "write: {ok: \"@ == 'ok'\", ").replace(
        "arguments: {", 'arguments: {user: "{store}", '
    )
    calls = calls.replace("{tool: all,", '{tool: all, arguments: {user: "{store}"},')
    report = check_memory_system(
        yaml_system(describe(f"kind: mcp\nurl: {over_http}\n{calls}")), checks="round-trip,isolation,close"
    )
    assert not report.failed


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("way", ["hang up", "end"])
def test_a_connection_lost_half_way_is_an_error_of_one_line(over_http, use, talk, way):
    calls = CALLS.replace("arguments: {", "arguments: {user: a, ").replace("all,", "all, arguments: {user: a},")

    async def work(system):
        await system.store_conversation(talk("a", "The boat is blue."))
        assert len(await system.retrieve_memories("the boat", talk("q"), 5)) == 1
        await system.retrieve_memories(way, talk("q"), 5)

    said = r"^search: the tool 'find' failed: .*; see whether http://127\.0\.0\.1:\d+/mcp still runs$"
    with pytest.raises(MemorySystemError, match=said) as caught:
        use(f"kind: mcp\nurl: {over_http}\n{calls}timeout: 10\n", work)
    assert "\n" not in str(caught.value)


def test_a_server_that_is_not_there(use):
    with pytest.raises(MemorySystemError, match=r"the MCP server 'http://127\.0\.0\.1:9/mcp' failed: ConnectError"):
        use(f"kind: mcp\nurl: http://127.0.0.1:9/mcp\n{CALLS}", asyncio.sleep)


@pytest.mark.parametrize("name", PRESETS)
def test_the_presets_are_whole(describe, monkeypatch, name):
    monkeypatch.setenv("SUPERMEMORY_API_KEY", "quiet-harbour-5521")
    config = yaml_system(describe(f"kind: mcp\npreset: {name}\ntimeout: 5")).config
    assert set(config.calls) >= {"write", "search", "list"}
    assert config.timeout == 5


def test_a_reply_that_is_not_ok_is_an_error(stdio, use, talk):
    text = stdio().replace("write: {", "write: {ok: \"starts_with(@, 'stored')\", ")

    async def work(system):
        await system.store_conversation(talk("a", "The boat is blue."))

    with pytest.raises(MemorySystemError, match=r"^write: got 'ok', expected a reply in which `starts_with\(@, 'sto"):
        use(text, work)


def test_replies_to_writes_are_handed_on_unless_ok_has_checked_them(stdio, use, talk):
    async def work(system):
        return await system.store_conversation(talk("a", "The boat is blue.", " ", "The car is red."))

    assert use(stdio(), work) == ["ok"]
    assert use(f"{stdio()}each: message", work, "store-2") == ["ok", "ok"]
    assert use(stdio().replace("write: {", "write: {ok: '@', "), work, "store-3") == []


REPLIES = {
    "cognee": [
        (
            "2 memories found (2 from graph)\n[graph] The boat\n\nis blue.\n\n[graph] [x] y",
            ["The boat\n\nis blue.", "[x] y"],
        ),
        ("no matching memories", []),
        ("still indexing \u2014 retry shortly", None),
        ("Error: Recall failed: the model is not found", None),
        ("Error: Recall failed: DatasetNotFoundError: Dataset(s) not found: 'memories'.", []),
    ],
    "mcp-memory-service": [
        (
            "Found 2 memories (mode: semantic) for query: 'A?\n\n1. b'\n\n1. The boat\n\n2. is blue.\n   Hash: 0a\n   Created: now"
            " [untagged]\n\n2. y\n   Hash: 0b\n   Created: now",
            ["The boat\n\n2. is blue.", "y"],
        ),
        ("No memories found for query: 'A?'", []),
        ("Error: no such mode", None),
    ],
}


@pytest.mark.parametrize("name", REPLIES)
def test_presets_take_the_memories_out_of_a_text(describe, name):
    search = yaml_system(describe(f"kind: mcp\npreset: {name}")).config.calls["search"]
    for text, texts in REPLIES[name]:
        reply: object = {"result": [{"type": "text", "text": text}]} if name == "cognee" else text
        if texts is None:
            with pytest.raises(MemorySystemError, match=r"search: got .*, expected a reply in which"):
                check_ok(reply, search.ok, "search")
        else:
            check_ok(reply, search.ok, "search")
            assert [memory["text"] for memory in picked(reply, search.pick, "search")] == texts


MISTAKES = {
    "preset: server-memroy": "unknown preset in .* 'server-memroy'; did you mean 'server-memory'",
    f"{CALLS}": r"memory\.yaml: expected one of `command` and `url`",
    "command: x": r"memory\.yaml: expected the keys `write`, `search` and `list`; 'write' is missing",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_seen_before_anything_is_started(describe, text):
    with pytest.raises(UsageError, match=MISTAKES[text]):
        yaml_system(describe(f"kind: mcp\n{text}"))
