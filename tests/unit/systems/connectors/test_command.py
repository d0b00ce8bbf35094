"""Kind `command`: what it asks its program, what each fault becomes, and that no process stays."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from pytest_memfail.core import MemorySystemError, WrongTypeError
from pytest_memfail.systems import yaml_system
from pytest_memfail.systems.connectors.processes import OUTPUT_KEPT, LineProgram, Output, run_once, said
from pytest_memfail.testing import check_memory_system

ROOT = Path(__file__).parents[4]
COMMAND = "kind: command\ncommand: [PYTHON, memory.py{}]\ntimeout: {}\nstart_timeout: {}"


def command(fault: str = "", timeout: float = 20.0, start_timeout: float = 20.0) -> str:
    return COMMAND.format(f", {fault}" if fault else "", timeout, start_timeout)


def test_it_keeps_the_contract(describe):
    check_memory_system(
        yaml_system(describe(command())), checks="round-trip,listing,isolation,turns,unicode,close,errors"
    )
    report = check_memory_system(yaml_system(describe(f"{command()}\nforget: true")), checks="forgetting")
    assert report.outcome("forgetting") == "passed"


def node_runs_types() -> bool:
    node = shutil.which("node")
    found = node and subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return bool(found) and tuple(map(int, found.strip()[1:].split(".")[:2])) >= (22, 18)


@pytest.mark.skipif(not node_runs_types(), reason="needs Node 22.18 or later; .ci/heavy runs it with any")
def test_the_typescript_example_keeps_the_contract(describe):
    text = f"kind: command\ncommand: [node, {ROOT}/examples/connectors/notes.mts]"
    check_memory_system(yaml_system(describe(text)), checks="round-trip,listing,isolation,turns,unicode,close")


FAULTS = {
    "dies": ("store", MemorySystemError, "ended with exit code 3, on stderr 'out of memory'; run it yourself"),
    "hangs": (
        "retrieve",
        MemorySystemError,
        "did not answer 'retrieve' within 0.3 s; check what it waits for, or set a",
    ),
    "prints": ("retrieve", MemorySystemError, "printed 'loading the index ...' on stdout; expected a JSON object"),
    "schema": ("retrieve", WrongTypeError, "answered 'retrieve' with {'results': ['The boat is blue.']}; expected"),
    "refuses": ("retrieve", MemorySystemError, "answered 'retrieve' with the error: no index"),
    "wrong-id": (
        "retrieve",
        MemorySystemError,
        """printed '{"id": 999, "memories": ["The boat is blue."]}' on stdout; expected a JSON object with the "id" of a """
        "request (3), logs on stderr",
    ),
    "same-id": (
        "retrieve",
        MemorySystemError,
        """did not answer 'retrieve' within 0.3 s, but printed '{"id": 1, "memories": ["The boat is blue."]}', expected the """
        "id 3; check what it waits for",
    ),
    "fails": (
        "retrieve",
        MemorySystemError,
        "answered 'retrieve' with {'success': False}; expected no error beside an",
    ),
    "slow-start": ("open", MemorySystemError, "did not answer 'open' within 0.3 s; check what it waits for, or set a"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_an_error_of_one_line(use, talk, fault):
    reached = ["open"]

    async def work(system):
        reached.append("store")
        await system.store_conversation(talk("a", "The boat is blue."))
        reached.append("retrieve")
        await system.retrieve_memories("the boat", talk("q"), 5)
        reached.append("end")

    limits = {"hangs": (0.3, 20), "same-id": (0.3, 20), "slow-start": (20, 0.3)}.get(fault, (20, 20))
    place, kind, message = FAULTS[fault]
    with pytest.raises(kind) as caught:
        use(command(fault, *limits), work)
    assert reached[-1] == place
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


NPM = [
    "npm error code E404",
    "npm error 404  'x@*' is not in this registry.",
    "npm error 404",
    "npm error A complete log",
]


def test_the_line_that_names_the_fault_is_quoted():
    assert said(NPM) == ", on stderr \"npm error 404 'x@*' is not in this registry.\""
    assert said(["Traceback", "ValueError: no key", "", "Node.js v20.20.2"]) == ", on stderr 'ValueError: no key'"
    assert said(["starting", "out of memory"]) == ", on stderr 'out of memory'"
    assert said([]) == ""


def test_the_answer_to_a_write_is_handed_on(use, talk):
    assert use(command(), lambda system: system.store_conversation(talk("a", "The boat is blue."))) == {"id": 2}


def test_a_late_answer_is_not_taken_for_that_of_the_next_request(use, talk, tmp_path):
    (tmp_path / "late.py").write_text(
        textwrap.dedent("""
        import json, os, sys, time
        for line in sys.stdin:
            request = json.loads(line)
            while request.get("query") == "first" and not os.path.exists("go"):
                time.sleep(0.01)
            print(json.dumps({"id": request["id"], "memories": [request.get("query", "")]}), flush=True)
        """)
    )

    async def work(system):
        with pytest.raises(MemorySystemError, match="within 1 s"):
            await system.retrieve_memories("first", talk("q"), 5)
        (tmp_path / "go").touch()
        return await system.retrieve_memories("second", talk("q"), 5)

    assert use("kind: command\ncommand: [PYTHON, late.py]\ntimeout: 1\nstart_timeout: 20", work) == ["second"]


def test_a_fault_in_reading_is_an_error_at_once(use, talk, monkeypatch):
    async def work(system):
        monkeypatch.setattr(LineProgram, "_take", lambda self, line: 1 / 0)
        await system.retrieve_memories("the boat", talk("q"), 5)

    with pytest.raises(MemorySystemError, match=r"could not be read \(ZeroDivisionError.*; report this"):
        use(command(), work)


# -- no process stays ----------------------------------------------------------------------------------------------------

STUBBORN = """
import os, signal, subprocess, sys, json, pathlib
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"])
request = json.loads(sys.stdin.readline())
pathlib.Path("pids").write_text(f"{os.getpid()} {child.pid}")
print(json.dumps({"id": request["id"]}), flush=True)
signal.pause()
"""
HOLDER = """
import asyncio, pathlib, signal
from pytest_memfail.core import SystemContext
from pytest_memfail.systems import yaml_system

async def main():
    await yaml_system(pathlib.Path("memory.yaml"))(SystemContext("run", "store", pathlib.Path.cwd()))
    print("open", flush=True)
    await asyncio.sleep(60)

# a job in the background of a shell ignores it, and hands that on
signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main())
"""


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pids: list[int]) -> list[int]:
    end = time.monotonic() + 20
    while time.monotonic() < end and any(map(is_running, pids)):
        time.sleep(0.05)
    return [pid for pid in pids if is_running(pid)]


@pytest.fixture
def stubborn(describe, tmp_path):
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    describe("kind: command\ncommand: [PYTHON, stubborn.py]")
    yield tmp_path
    for pid in map(int, (tmp_path / "pids").read_text().split()):  # those that this test started
        if is_running(pid):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_a_run_that_is_killed(stubborn, end):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER], cwd=stubborn, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        pids = [int(pid) for pid in (stubborn / "pids").read_text().split()]
        assert all(map(is_running, pids))
        holder.send_signal(end)
        holder.wait(20)
    assert wait_until_gone(pids) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_a_program_that_ignores_the_end_of_its_input_is_ended_with_its_children(stubborn, use):
    async def work(system):
        return [int(pid) for pid in (stubborn / "pids").read_text().split()]

    pids = use("kind: command\ncommand: [PYTHON, stubborn.py]", work)
    assert wait_until_gone(pids) == []


LEAVING = """
import json, pathlib, subprocess, sys
sleep = [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"]
inner = "import os, subprocess, sys, time; print(subprocess.Popen(sys.argv[1:]).pid, os.getpid(), flush=True); time.sleep(60)"
child = subprocess.Popen([sys.executable, "-c", inner, *sleep], stdout=subprocess.PIPE, start_new_session=True, text=True)
pathlib.Path("pids").write_text(child.stdout.readline())
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"]}), flush=True)
"""


@pytest.fixture
def leaving(tmp_path):
    (tmp_path / "leaving.py").write_text(LEAVING)
    yield lambda: [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    for pid in map(int, (tmp_path / "pids").read_text().split()):  # those that this test started
        if is_running(pid):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to the leash")
def test_a_process_that_left_the_group_is_ended_too(leaving, use):
    async def work(system):
        return leaving()

    pids = use("kind: command\ncommand: [PYTHON, leaving.py]", work)
    assert len(pids) == 2
    assert wait_until_gone(pids) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_pipes_that_another_process_holds_open_are_closed(leaving, use, monkeypatch):
    monkeypatch.setattr("pytest_memfail.systems.connectors.processes.leashed", list)  # as where nobody adopts orphans
    monkeypatch.setattr("pytest_memfail.systems.connectors.processes.CLOSE_SECONDS", 0.2)
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)

    async def work(system):
        return all(map(is_running, leaving()))

    assert use("kind: command\ncommand: [PYTHON, leaving.py]", work)
    gc.collect()
    assert raised == []


def test_of_what_a_program_prints_the_end_is_kept(tmp_path):
    script = "import sys; [print('x' * 99_999, file=sys.stderr) for _ in range(50)]; sys.exit('the disk is full')"
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pytest_memfail.systems.connectors.processes.said", lambda lines: kept.extend(lines) or "")
        with pytest.raises(MemorySystemError, match="ended with exit code 1"):
            asyncio.run(run_once("it", [sys.executable, "-c", script], tmp_path, b"", 20, {}))
    assert kept[-1] == "the disk is full"
    assert 60_000 < sum(map(len, kept)) <= OUTPUT_KEPT
    flood = Output()
    with flood.pipe() as file:
        for _ in range(20):
            file.write(b"y" * 99_999 + b"\n")
    asyncio.run(flood.ended())
    assert sum(map(len, flood.lines())) <= OUTPUT_KEPT
