"""`--memfail-proxy`: the calls of models that a memory system makes by itself."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

import pytest

from pytest_memfail.cli import main
from pytest_memfail.testing import Fault, LocalEndpoint

KEY = "quiet-harbour-552177"
MEMORY = """
    import os, uuid
    from datetime import date
    import openai

    class Silent:
        def __init__(self, context):
            self.memories = []

        def store_conversation(self, conversation):
            self.memories.append(conversation.text)

        def retrieve_memories(self, query, conversation, k):
            words = set(query.split())
            return sorted(self.memories, key=lambda text: -len(words & set(text.split())))[:k]

        def get_all_memories(self):
            return self.memories

    class Asking(Silent):
        def __init__(self, context):
            super().__init__(context)
            own = {"base_url": context.base_url} if os.environ.get("OWN") else {}
            self.client = openai.OpenAI(max_retries=1, **own)

        def ask(self, text):
            day = os.environ.get("DAY") or f"{date.today():%B %d, %Y}"
            said = f"It is {day}, this is note {uuid.uuid4()}. {text}"
            messages = [{"role": "user", "content": said}]
            return self.client.chat.completions.create(model="gpt-4o-mini", messages=messages)

        def store_conversation(self, conversation):
            try:
                self.memories.append(self.ask(conversation.text).choices[0].message.content)
            except openai.APIError:
                if not os.environ.get("HIDES"):
                    raise

        def close(self):
            self.client.close()

    def pytest_memfail_make_system(name, config):
        return {"asking": Asking, "silent": Silent}.get(name)
"""
JUDGE = """
    import os
    from pathlib import Path
    from pytest_memfail.judges import OfflineJudge

    def judge(*given, **named):
        Path("judge.txt").write_text(os.environ["OPENAI_BASE_URL"], encoding="utf-8")
        return OfflineJudge()
"""
TASK = ("--memfail-tasks=long_hop", "--memfail-judge=offline")


def forgetful(request: dict[str, Any]) -> str:
    """Return what it is told, with the day and the id, but not of one row."""
    said = str(request["messages"][-1]["content"])
    return "nothing" if "lh-2" in said else f"noted: {said}"


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with LocalEndpoint(forgetful, api_key=KEY) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        yield started


@pytest.fixture
def asking(project):
    project.conftest(MEMORY)
    return project


def recorded(project, name: str) -> tuple[dict[str, str], list[dict[str, Any]], str]:
    """Return the verdicts of a record, what its models cost, and its text."""
    text = (project.pytester.path / name).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    return {line["question"]: line["verdict"] for line in lines if "verdict" in line}, lines[-1]["models"], text


@pytest.mark.parametrize("own", [False, True], ids=["the run's address", "the store's address"])
def test_a_run_is_replayed_on_another_day_without_a_key_and_an_endpoint(asking, endpoint, monkeypatch, capsys, own):
    if own:
        monkeypatch.setenv("OWN", "1")
    first = asking.run(*TASK, "--memfail-proxy", "--memfail-record=first.jsonl", system="asking")
    verdicts, models, first_text = recorded(asking, "first.jsonl")
    assert len(verdicts) == 4
    assert len(set(verdicts.values())) > 1
    (row,) = models
    assert (row["stage"], row["model"], row["cache_hits"], row["failures"]) == ("memory", "gpt-4o-mini", 0, 0)
    assert row["calls"] == endpoint.calls > 4
    assert row["prompt_tokens"] > 0 < row["cost"]
    first.stdout.fnmatch_lines([f"memory by gpt-4o-mini * {row['calls']} * 0 *"])
    (store,) = [line for line in map(json.loads, first_text.splitlines()) if line["type"] == "store"]
    own_calls = {name: row[name] for name in ("calls", "cache_hits", "prompt_tokens", "completion_tokens")}
    assert store.get("model_calls") == (own_calls if own else None)
    assert os.environ["OPENAI_BASE_URL"] == endpoint.url
    estimated = ["estimate", "--system=asking", "--tasks=long_hop", "--data=data", "--cache-dir=.pytest_cache"]
    assert main(estimated) == 0
    told = capsys.readouterr().out
    assert f"asking itself made {row['calls']} calls in the run 20" in told
    assert f"{row['prompt_tokens']} tokens in, {row['completion_tokens']} out, {row['cost']:.4f} USD" in told
    assert "that run stored 8 conversations and asked 4 questions; this run stores 8 conversations and asks 4" in told
    assert main([*estimated[:1], "--system=another", *estimated[2:]]) == 0
    assert "what another itself asks models is not counted: no kept run" in capsys.readouterr().out
    endpoint.die()
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    # another day on this machine, for the system and for the proxy, in a process of its own
    monkeypatch.setenv("TZ", "XXX-23:59:59")
    options = ("--memfail-proxy", "--memfail-cache=only", "--memfail-record=again.jsonl")
    again = asking.run_apart(*TASK, *options, system="asking")
    again_verdicts, (again_row,), text = recorded(asking, "again.jsonl")
    assert again_verdicts == verdicts
    assert (again_row["calls"], again_row["cache_hits"], again_row["cost"]) == (0, row["calls"], 0)
    for output in (first.stdout.str(), again.stdout.str(), text):
        assert KEY not in output
    assert "OPENAI_API_KEY" not in os.environ


def test_what_is_not_in_the_cache_is_an_error_that_says_so(asking, endpoint, monkeypatch):
    asking.run("memfail/long_hop::lh-1", *TASK, "--memfail-proxy", system="asking")
    monkeypatch.setenv("DAY", "May 1, 2019")  # what no pattern knows
    monkeypatch.setenv("HIDES", "1")
    result = asking.run(*TASK, "--memfail-proxy", "--memfail-cache=only", system="asking")
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(
        [
            "*store_conversation(): a model call of the memory system failed: *responses.sqlite has no reply to POST "
            "/chat/completions of 'gpt-4o-mini' (*), and --memfail-cache=only forbids calls; record it with *"
        ]
    )
    asking.run(*TASK, "--memfail-proxy", "--memfail-replay-ignore=date", system="asking").assert_outcomes(
        failed=3, skipped=1
    )
    asked = endpoint.calls
    monkeypatch.setenv("DAY", "2 June 2020")
    replay = ("--memfail-proxy", "--memfail-cache=only", "--memfail-replay-ignore=date")
    asking.run(*TASK, *replay, system="asking").assert_outcomes(failed=3, skipped=1)
    assert endpoint.calls == asked


def test_a_memory_that_hides_a_failed_call_has_no_verdict(asking, monkeypatch):
    monkeypatch.setenv("HIDES", "1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    faults = [Fault("status", status=500)] * 2  # the client tries twice
    with LocalEndpoint(forgetful, faults=faults) as endpoint:
        result = asking.run(*TASK, f"--memfail-proxy={endpoint.url}", system="asking")
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(["*a model call of the memory system failed: 127.0.0.1:* answered 500 to POST *"])


def test_the_budget_holds_for_the_memory_too(asking, endpoint, monkeypatch):
    monkeypatch.setenv("HIDES", "1")
    result = asking.run(*TASK, "--memfail-proxy", "--memfail-max-tokens=100", system="asking")
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(["*store_conversation(): *: budget: 100 tokens used up; not asked*"])
    result.stdout.no_fnmatch_line("*saw no call*")


def test_a_memory_that_makes_no_call_is_pointed_out(asking, endpoint):
    asking.file("looking.py", JUDGE)
    result = asking.run(TASK[0], "--memfail-judge=looking:judge", "--memfail-proxy", system="silent")
    assert (asking.pytester.path / "judge.txt").read_text(encoding="utf-8") == endpoint.url
    result.stdout.fnmatch_lines(["memfail: --memfail-proxy saw no call of the memory system: it asked no model, or *"])
    asking.run("--memfail-proxy=ftp://x", system="silent").stderr.fnmatch_lines(
        [
            "ERROR: --memfail-proxy: got 'ftp://x', expected on, off or the URL of an endpoint; write --memfail-proxy=URL*"
        ]
    )
    asking.run("--memfail-replay-ignore=(", system="silent").stderr.fnmatch_lines(
        ["ERROR: --memfail-replay-ignore: got '(', expected today, uuid, *"]
    )
    asking.file("bad.sqlite", "not a database, but a text of some length")
    asking.run("--memfail-proxy", "--memfail-cache-path=bad.sqlite", system="silent").stderr.fnmatch_lines(
        ["ERROR: *bad.sqlite: not usable as a response cache (file is not a database); delete it or name another file"]
    )


PROGRAM = """
    import json, os, sys, uuid, urllib.request

    url, memories = os.environ["OPENAI_BASE_URL"], []
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"], "memories": memories, "name": url, "version": os.environ["MINE"]}
        if request["method"] == "store":
            said = f"job {uuid.uuid4().int} {request['text']}"
            body = {"model": "m", "messages": [{"role": "user", "content": said}]}
            headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
            asked = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode(), headers)
            reply = json.loads(urllib.request.urlopen(asked).read())
            memories.append(reply["choices"][0]["message"]["content"])
        print(json.dumps(answer), flush=True)
"""
YAML = """
    kind: command
    command: [{python}, memory.py]
    env: {{MINE: "{{base_url}}"}}
    replay_ignore: ['job \\d+']
"""


def test_a_program_gets_the_address_of_its_store(asking, endpoint, monkeypatch):
    asking.file("memory.py", PROGRAM)
    asking.file("memory.yaml", YAML.format(python=sys.executable))
    asking.run(*TASK, "--memfail-proxy", "--memfail-record=first.jsonl", system="memory.yaml")
    verdicts, (row,), text = recorded(asking, "first.jsonl")
    assert (row["stage"], row["calls"]) == ("memory", endpoint.calls)
    (described,) = [line["system"] for line in map(json.loads, text.splitlines()[1:]) if "system" in line]
    assert described["name"] == described["version"]
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\*\*\*/store/[0-9a-f]{8}-main-1/v1", described["name"])
    monkeypatch.delenv("OPENAI_API_KEY")
    replay = (*TASK, "--memfail-proxy", "--memfail-cache=only", "--memfail-record=again.jsonl")
    asking.run(*replay, system="memory.yaml")
    again, (row,), _ = recorded(asking, "again.jsonl")
    assert again == verdicts
    assert len(set(verdicts.values()) - {"error"}) > 1
    assert row["calls"] == 0 < row["cache_hits"]
