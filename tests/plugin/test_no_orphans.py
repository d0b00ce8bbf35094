"""A run that is interrupted or killed leaves no process: no program or server of a memory, and no worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from plugin.project import Project

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")

PROGRAM = """
import json, os, pathlib, signal, subprocess, sys, time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(120)"])
for line in sys.stdin:
    request = json.loads(line)
    method, given = request["method"], request.get("params", {})
    if method in ("store", "tools/call"):
        pathlib.Path(f"storing-{os.getpid()}").touch()
        time.sleep(120)
    if "id" not in request:
        continue
    reply = {"id": request["id"], "jsonrpc": "2.0"}
    if method == "initialize":
        server = {"name": "notes", "version": "7"}
        reply["result"] = {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": "use", "inputSchema": {"type": "object"}}]}
    print(json.dumps(reply), flush=True)
"""
KINDS = {"command": "kind: command\n", "mcp": "kind: mcp\nwrite: {tool: use}\nsearch: {tool: use}\nlist: {tool: use}\n"}
ENDS: dict[str, Callable[[int], None]] = {
    "ctrl-c": lambda group: os.killpg(group, signal.SIGINT),  # as a terminal does
    "kill -9": lambda pid: os.kill(pid, signal.SIGKILL),
    "kill -9 of the group": lambda group: os.killpg(group, signal.SIGKILL),
}


def parents() -> dict[int, int]:
    """The parent of each running process."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # ended meanwhile
            continue
        if state != "Z":
            found[int(stat.parent.name)] = int(parent)
    return found


def family(pid: int) -> set[int]:
    """A process, and all below it."""
    above = parents()
    found, size = {pid}, 0
    while len(found) > size:
        size = len(found)
        found |= {child for child, parent in above.items() if parent in found}
    return found


def wait_for(what: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not (done := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return done


@pytest.mark.parametrize(
    ("kind", "n", "end"),
    [
        pytest.param(
            kind, n, end, marks=() if (kind, n, end) == ("command", 2, "kill -9 of the group") else pytest.mark.slow
        )
        for kind in KINDS
        for n in (0, 2)
        for end in ENDS
    ],
)
def test_nothing_outlives_the_run(project: Project, kind: str, n: int, end: str) -> None:
    if kind == "mcp" and find_spec("mcp") is None:
        pytest.skip("needs the extra mcp")
    project.file("memory.py", PROGRAM)
    project.file("memory.yaml", f"{KINDS[kind]}command: [{sys.executable}, memory.py]\n")
    (project.path / "conftest.py").unlink()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "memfail",
        "--memfail-system=memory.yaml",
        "--memfail-judge=offline",
        "-n",
        str(n),
    ]
    with (project.path / "out").open("w") as out:
        run = subprocess.Popen(command, cwd=project.path, stdout=out, stderr=out, start_new_session=True)
    ours = {run.pid}

    def is_storing() -> bool:
        return run.poll() is not None or len(list(project.path.glob("storing-*"))) > n // 2

    try:
        assert wait_for(is_storing)
        assert run.poll() is None, (project.path / "out").read_text()
        ours = family(run.pid)
        assert len(ours) > 3 * (1 + n // 2)  # pytest, perhaps workers, and of each program three
        ENDS[end](run.pid)
        run.wait(40)
        assert wait_for(lambda: not ours & parents().keys()), ours & parents().keys()
    finally:
        ours |= family(run.pid)
        for pid in ours & parents().keys():  # started here, and not ended
            os.kill(pid, signal.SIGKILL)
