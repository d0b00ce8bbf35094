"""A real model as judge and answering model: it may be wrong, but what goes wrong is an error, never a verdict."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from local_model import NAME, Server, weights

VERDICTS = {
    "correct",
    "not_stored",
    "summary_error",
    "not_retrieved",
    "reasoning_error",
    "no_answer",
    "ungraded",
    "error",
}
UNUSABLE = re.compile(r"gave an impossible reply|is not valid JSON|was cut off|cut off after|no usable reply")
"""What a model that is too small does to a question."""
MODEL = (
    "--memfail-model-option=temperature=0",
    "--memfail-model-option=max_tokens=60",  # raised for a reply that is cut off
    "--memfail-concurrency=2",
    "--memfail-haystack=sample",
)
JUDGES = f"--memfail-judge={NAME}"
ANSWERS = f"--memfail-model={NAME}"


@dataclass
class Run:
    """What a run printed and recorded."""

    code: int
    output: str
    lines: list[dict[str, Any]]

    @property
    def questions(self) -> dict[str, dict[str, Any]]:
        return {line["id"]: line for line in self.lines if line["type"] == "question"}

    @property
    def verdicts(self) -> dict[str, str]:
        return {name: line["verdict"] for name, line in self.questions.items()}

    @property
    def errors(self) -> list[str]:
        return [line["error"]["message"] for line in self.questions.values() if line["verdict"] == "error"]

    @property
    def reasons(self) -> list[str]:
        """Why each stage of each fact passed or failed."""
        facts = [fact for line in self.questions.values() for fact in line.get("facts", ())]
        stages = [stage for fact in facts for stage in fact.values() if isinstance(stage, dict)]
        return [stage["reason"] for stage in stages if stage.get("reason") is not None]

    def spent(self, name: str) -> int:
        """The sum of a column of the model calls."""
        return sum(row[name] for row in self.lines[-1]["models"])


def run(folder: Path, server: Server, *options: str, record: str = "record.jsonl", **environment: str) -> Run:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "PYTEST_"))}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--memfail-record={folder / record}"),
            *(f"--memfail-cache-path={folder / 'replies.sqlite'}", *options),
        ],
        cwd=folder,
        env={**kept, **server.environment, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    path = folder / record
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    found = Run(done.returncode, done.stdout + done.stderr, lines)
    counts = dict(Counter(found.verdicts.values()))
    print(f"{' '.join(options)}: exit {found.code}, {counts}, {found.lines[-1].get('models') if found.lines else ''}")
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    with Server(folder, "--ctx-size", "16384", "--parallel", "2", "--metrics") as server:
        yield server


SUITES = {
    "memfail": ("--memfail-limit=1",),
    "meme": ("--memfail-suite=meme", "--memfail-limit=1"),
    "halumem": ("--memfail-suite=halumem", "--memfail-limit=1"),
}


# what `bm25` keeps stands there word for word, so a rule decides it; `lossy` leaves something to judge
@pytest.mark.parametrize(("system", "roles"), [("lossy", (JUDGES,)), ("bm25", (JUDGES, ANSWERS))])
@pytest.mark.parametrize("suite", SUITES)
def test_every_suite(server: Server, tmp_path: Path, suite: str, system: str, roles: tuple[str, ...]) -> None:
    asked = (f"--memfail-system={system}", *SUITES[suite], *MODEL, *roles)
    before = [server.counted(name) for name in ("prompt_tokens_total", "tokens_predicted_total")]
    done = run(tmp_path, server, *asked)
    assert done.code in {0, 1, 6}, done.output
    assert done.questions, done.output
    assert set(done.verdicts.values()) <= VERDICTS
    assert [error for error in done.errors if not UNUSABLE.search(error)] == []
    assert [reason for reason in done.reasons if not reason.strip(" .…")] == []
    assert done.spent("calls") > 0
    if system == "bm25" and suite != "halumem":  # whose points are paraphrases
        assert "not_stored" not in done.verdicts.values()
    after = [server.counted(name) for name in ("prompt_tokens_total", "tokens_predicted_total")]
    if not done.spent("failures"):  # the tokens of a reply that came too late are known to the server alone
        assert done.spent("prompt_tokens") - done.spent("cached_tokens") == after[0] - before[0]
        assert done.spent("completion_tokens") == after[1] - before[1]

    again = run(tmp_path, server, *asked, "--memfail-cache=only", record="b.jsonl")
    assert again.verdicts == done.verdicts
    assert again.spent("calls") == 0


def test_a_store_longer_than_the_context_is_shown_in_parts(tmp_path: Path) -> None:
    """`lossy` rewrites what it stores, so no rule decides and the model must see eight essays."""
    asked = ("--memfail-system=lossy", "--memfail-tasks=conditional_facts_hard", "--memfail-limit=8", "-k", "cfh-060")
    with Server(tmp_path, "--ctx-size", "1024", "--parallel", "1") as small:
        done = run(tmp_path, small, *asked, *MODEL, JUDGES, "--memfail-concurrency=1")
    assert len(done.questions) == 1, done.output
    assert done.spent("failures") > 0  # 400, `exceed_context_size_error`
    assert done.spent("calls") > 0
    assert [error for error in done.errors if not UNUSABLE.search(error)] == []


KILLS = """
import os, signal

results = []

def pytest_runtest_logreport(report):
    if report.when == "call" and "SERVER" in os.environ:
        results.append(report.nodeid)
        if len(results) == 2:
            os.killpg(int(os.environ["SERVER"]), signal.SIGKILL)
"""
OUTAGE = re.compile(r"cannot be reached|no model was asked|waited")


def test_a_server_killed_in_the_middle_costs_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(KILLS, encoding="utf-8")
    # the offline judge grades letters by rule, and the first line is an answer: only the outage can be an error
    asked = ("--memfail-system=bm25", "--memfail-tasks=long_hop", "--memfail-limit=6", *MODEL, ANSWERS)
    asked = (*asked, '--memfail-model-option=stop="\\n"', "--memfail-concurrency=1", "--memfail-max-wait=5")
    with Server(tmp_path, "--ctx-size", "4096", "--parallel", "1") as server:
        cut = run(tmp_path, server, *asked, SERVER=str(server.pid))
        assert cut.code == 6, cut.output
        counts = Counter(cut.verdicts.values())
        assert 2 <= counts.total() - counts["error"] < 6
        assert [error for error in cut.errors if not OUTAGE.search(error)] == []
        server.kill()
        server.start()
        whole = run(tmp_path, server, *asked, "--memfail-resume")
    assert len(whole.questions) == 6
    assert whole.errors == []
    assert whole.spent("calls") >= counts["error"]
    answered = {name: verdict for name, verdict in cut.verdicts.items() if verdict != "error"}
    assert {name: whole.verdicts[name] for name in answered} == answered


MODELS = """
version = 1

[{name}]
model = {path}
ctx-size = 9216
parallel = 1

[vectors]
model = {path}
ctx-size = 2048
parallel = 1
embeddings = true
pooling = mean
"""
DIMENSIONS = {"gemma-3-270m": 640, "qwen2.5-coder-1.5b": 1536}
MEM0 = (
    "--memfail-system=mem0",
    f"--memfail-system-option=llm={NAME}",
    "--memfail-system-option=embedding=vectors",
    "--memfail-system-option=store=faiss",
    f"--memfail-system-option=dimensions={DIMENSIONS[NAME]}",
    "--memfail-tasks=updated_facts",
    "--memfail-limit=1",
    "--memfail-proxy",
    "--memfail-timeout=1800,600",
)


def test_mem0_extracts_with_it_and_is_replayed_without_it(tmp_path: Path) -> None:
    pytest.importorskip("mem0")
    pytest.importorskip("faiss")
    presets = tmp_path / "models.ini"
    presets.write_text(MODELS.format(name=NAME, path=weights()), encoding="utf-8")
    with Server(tmp_path, "--models-preset", str(presets), model=False) as server:
        done = run(tmp_path, server, *MEM0)
        assert done.questions, done.output
        assert done.errors == [], done.output
        chats = [row for row in done.lines[-1]["models"] if row["model"] == NAME]
        assert sum(row["prompt_tokens"] for row in chats) > 8_000 * sum(row["calls"] for row in chats) > 0
        with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as kept:
            texts = [text for (text,) in kept.execute("SELECT text FROM replies")]
        is_cut = any(re.search(r'"finish_reason":\s*"length"', text) for text in texts)
        assert ("was cut off at a limit of tokens" in " ".join(done.output.split())) is is_cut
    replayed = run(tmp_path, server, *MEM0, "--memfail-cache=only", record="b.jsonl")
    assert replayed.verdicts == done.verdicts, replayed.output
    assert replayed.spent("calls") == replayed.spent("failures") == 0
