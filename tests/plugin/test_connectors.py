"""`--memfail-system=memory.yaml`: from the command line to the record, with workers, and without orphans."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from plugin.project import RECORD

FOLDER = "kind: files\nentry: file\n"


@pytest.fixture
def yaml_project(project):
    project.file("memory.yaml", FOLDER)
    return project


@pytest.mark.parametrize("n", [None, 1])
def test_a_yaml_file_is_a_memory_system(yaml_project, n):
    result = yaml_project.run("--memfail-tasks=long_hop", system="memory.yaml", n=n)
    result.assert_outcomes(passed=4)
    (record,) = yaml_project.pytester.path.glob(RECORD)
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    assert lines[0]["system"] == "memory.yaml"
    (described,) = [line["system"] for line in lines[1:] if "system" in line]
    assert described["kind"] == "files"
    assert len(described["config"]) == 12


def test_a_mistake_in_the_file_ends_the_run_before_anything_is_stored(yaml_project):
    yaml_project.file("memory.yaml", "kind: files\nretreive: first\n")
    result = yaml_project.run(system="memory.yaml")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: *memory.yaml: retreive: unknown key; did you mean 'retrieve'?*"])


SERVICE = Path(__file__).parents[2] / "examples" / "connectors"
SETTLE = "settle: {call: {method: GET, path: /status}, done: 'waiting == `0`'}\n"


@pytest.fixture
def serve(project, monkeypatch):
    """`serve(lag, settle)` starts the example service with a lag, and writes its YAML file."""
    processes = []

    def start(lag: float, settle: str) -> None:
        monkeypatch.setenv("MEMORY_LAG", str(lag))
        monkeypatch.setenv("MEMORY_KEY", "quiet-harbour-5521")
        command = [sys.executable, str(SERVICE / "service.py"), "0"]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        address = processes[-1].stdout.readline().strip()
        text = (SERVICE / "notes_service.yaml").read_text(encoding="utf-8").replace("http://127.0.0.1:8765", address)
        project.file("memory.yaml", text + settle)

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_a_service_that_lags_gets_the_verdicts_of_one_that_does_not(project, serve):
    verdicts, printed = [], []
    for i, (lag, settle) in enumerate([(0, ""), (0.5, SETTLE), (0.5, "")]):
        serve(lag, settle)
        record = project.pytester.path / f"record-{i}.jsonl"
        result = project.run("--memfail-tasks=long_hop", f"--memfail-record={record}", system="memory.yaml")
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
        verdicts.append({line["question"]: line["verdict"] for line in lines if "verdict" in line})
        printed.append(result.stdout.str() + result.stderr.str())
        assert "quiet-harbour-5521" not in printed[-1] + record.read_text(encoding="utf-8")
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) == 4
    assert "in the background" not in printed[1]
    assert "in the background" in printed[2]


def test_a_service_that_listed_nothing_gives_no_trustworthy_result(project, serve):
    serve(60, "")
    result = project.run("--memfail-tasks=long_hop,conditional_facts_easy", system="memory.yaml")
    assert result.ret == 6
    output = " ".join(result.stdout.str().split())
    assert "the listing is empty although conversations were stored and nothing was refused: set `settle`" in output
    assert "loses most in" not in output


def test_a_leak_between_workers_is_an_error_that_names_both_stores(project, serve):
    serve(0, "")
    path = project.pytester.path / "memory.yaml"
    text = path.read_text(encoding="utf-8").replace("/users/{store}", "/users/all").replace("close:", "# close:")
    path.write_text(text, encoding="utf-8")
    result = project.run("--memfail-tasks=long_hop,coexisting_facts", system="memory.yaml", n=2)
    output = " ".join(result.stdout.str().split())
    assert re.search(
        r"the store (long_hop|coexisting_facts) lists '.*?', which was stored in the store (?!\1)", output
    ), output


PROGRAM = """
import json, sys, time

notes, words = [], sys.argv[1:]
for line in sys.stdin:
    request = json.loads(line)
    method, reply = request["method"], {"id": request["id"], "memories": notes}
    if method == "store":
        notes += [message["content"] for message in request["conversation"]["messages"]]
    if words[:1] == [method]:
        print(*words[1:], flush=True, file=sys.stderr if words[1:] == ["gone"] else sys.stdout)
        sys.exit(3) if words[1:] == ["gone"] else time.sleep(0.1)
    if words == ["page"] and method == "list":
        reply["memories"] = notes[:1]
    print(json.dumps(reply), flush=True)
"""
FAULTS = {
    "store gone": "ended with exit code 3, on stderr 'gone'",
    "retrieve gone": "ended with exit code 3, on stderr 'gone'",
    "retrieve loading": "printed 'loading' on stdout; expected a JSON object",
    "page": "get_all_memories() lists 1 entries and leaves out one that retrieve_memories() returns",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_memory_that_fails_is_an_error_and_never_a_verdict(project, fault):
    project.file("memory.py", PROGRAM)
    project.file("memory.yaml", f"kind: command\ncommand: {sys.executable} memory.py {fault}\n")
    result = project.run("--memfail-tasks=long_hop", system="memory.yaml")
    outcomes = result.parseoutcomes()
    assert set(outcomes) == {"errors"}
    assert outcomes["errors"] in (4, 5), "that of each question, and perhaps that of the last listing"
    assert result.ret == 6
    assert FAULTS[fault] in " ".join(result.stdout.str().split())
