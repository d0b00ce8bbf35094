"""HaluMem as a suite: its sample with built-in systems, and with a model as judge."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from plugin.project import BARE_INI, Project
from pytest_memfail.cli import main as memfail
from pytest_memfail.suites.halumem import shipped_users
from pytest_memfail.testing import LocalEndpoint, answer_by_rule

ASK = ("--memfail-model=m", "--memfail-judge=m", "--memfail-cache=off")
SIZES = {"added": 20, "points": 48, "distractors": 12, "update": 12, "qa": 30}
HELD = {name: SIZES[name] for name in ("points", "update", "qa")}
PICKY = '''
class Picky:
    """Keeps each message of the user; says what a conversation added, and invents one memory for each."""

    calls_model = False

    def __init__(self, context):
        self.texts = []

    def store_conversation(self, conversation):
        self.texts += [message.content for message in conversation.messages if message.role == "user"]

    def extracted_since(self, conversation):
        said = [message.content for message in conversation.messages if message.role == "user"]
        return [*said, "Quentin juggles turnips beneath waterfalls"]

    def get_all_memories(self):
        return self.texts

    def retrieve_memories(self, query, conversation, k):
        return self.texts[-k:]


class Changing(Picky):
    """The same without a word on what was added; it also rewrites the entry of before."""

    extracted_since = None

    def store_conversation(self, conversation):
        if self.texts:
            self.texts[-1] += " Quentin juggles turnips beneath waterfalls."
        super().store_conversation(conversation)


def pytest_memfail_make_system(config, name):
    return {"picky": Picky, "changing": Changing}.get(name)
'''


class HaluMem:
    """A repository without rows of its own, which runs HaluMem."""

    def __init__(self, project: Project) -> None:
        self.project = project
        project.file("pytest.ini", BARE_INI)

    def run(self, *words: str, system: str = "bm25", n: int | None = None) -> pytest.RunResult:
        return self.project.run("--memfail-suite=halumem", *words, system=system, n=n)

    def questions(self) -> list[dict[str, Any]]:
        return [line for line in self.project.record() if line["type"] == "question"]

    def held(self) -> Counter[str]:
        return Counter(line["part"] for line in self.questions() if line["memory_held"])

    def scores(self) -> dict[str, float]:
        """The measures with a value, by name."""
        (suite,) = self.project.record()[-1]["suites"]
        return {score["name"]: score["value"] for score in suite["scores"] if score["value"] is not None}

    def verdicts(self, part: str) -> Counter[str]:
        return Counter(line["verdict"] for line in self.questions() if line["part"] == part)


@pytest.fixture
def halumem(project: Project) -> HaluMem:
    return HaluMem(project)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalEndpoint]:
    with LocalEndpoint(answer_by_rule) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-local")
        yield started


def test_full_context_holds_everything_and_an_estimate_is_no_measure(halumem: HaluMem) -> None:
    result = halumem.run(system="full-context")
    assert result.ret == 0
    assert halumem.held() == HELD
    assert Counter(line["part"] for line in halumem.questions()) == SIZES
    assert {line["verdict"] for line in halumem.questions()} == {"no_answer", "ungraded"}
    assert halumem.scores() == {}
    result.stdout.fnmatch_lines(
        [
            "memfail: halumem (our sample: 2 users with 10 sessions each; not the published rows: *)",
            "halumem.points * 48 *-  *48",
            "halumem.distractors * 12 *-  *12",
            "extraction: R (store) -  weighted R (store) -  precision -  accuracy -  FMR (store) -  F1 - (needs a",
        ]
    )


def test_a_store_that_keeps_nothing_has_full_resistance_beside_no_recall(
    halumem: HaluMem, endpoint: LocalEndpoint
) -> None:
    result = halumem.run(*ASK, system="no-memory")
    assert not halumem.held()
    scores = halumem.scores()
    assert (scores["recall"], scores["fmr"], scores["update_omission"]) == (0.0, 1.0, 1.0)
    passed = [line for line in halumem.questions() if line["verdict"] == "correct"]
    assert Counter(line["part"] for line in passed) == {"added": 20, "distractors": 12}
    assert all(line["vacuous"] for line in passed)
    text = " ".join(result.stdout.str().split())
    assert "halumem, minutes each of 2 stores: adding 0.0" in text
    assert "FMR (store) 100.0 % (nothing false is held, because nothing is held at all: read it beside R)" in text


@pytest.mark.parametrize("n", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_bm25_loses_answers_and_keeps_k(halumem: HaluMem, n: int | None) -> None:
    assert halumem.run(n=n).ret == 1
    assert halumem.held() == {**HELD, "qa": 24}
    assert {line["part"]: line["k"] for line in halumem.questions()} == dict.fromkeys(SIZES, 20) | {"update": 10}


def test_a_model_as_judge_gives_the_measures(halumem: HaluMem, endpoint: LocalEndpoint) -> None:
    result = halumem.run(*ASK, "--memfail-fail-on=halumem.recall<0.95,halumem.fmr<0.1")
    scores = halumem.scores()
    whole = halumem.verdicts("points")["correct"] / 48
    assert scores["recall"] == pytest.approx(whole)
    assert 0.5 < whole < 1
    assert scores["fmr"] == pytest.approx(halumem.verdicts("distractors")["correct"] / 12)
    assert sum(scores[f"qa_{name}"] for name in ("correct", "hallucination", "omission")) == pytest.approx(1)
    # a verbatim store adds each message once, and the dialogue supports all of them
    assert scores["accuracy"] == 1.0
    assert sum(line["answer"]["metrics"]["added"] for line in halumem.questions() if line["part"] == "added") == 128
    # each answer is judged, those too whose memory was lost
    answered = [line["answer"]["outcome"] for line in halumem.questions() if line["part"] == "qa"]
    assert set(answered) == {"passed", "failed"}
    assert halumem.verdicts("qa")["not_retrieved"]
    result.stdout.fnmatch_lines(["*halumem.recall<0.95 *FAILED *", "*halumem.fmr<0.1 *ok *", "labels: unconfirmed *"])


@pytest.mark.parametrize("system", ["picky", "changing"])
def test_what_a_session_added_is_judged_once(halumem: HaluMem, endpoint: LocalEndpoint, system: str) -> None:
    halumem.project.conftest(PICKY)
    halumem.run(*ASK, "--memfail-tasks=halumem.added", system=system)
    lines = {line["question"]: line for line in halumem.questions() if line["store"] == "u-brask-0417"}
    first, second = (lines[name]["answer"]["metrics"]["added"] for name in ("s000-added", "s001-added"))
    # four messages of the user, and an invented memory or an entry that was rewritten
    assert (first, second) == ((5, 5) if system == "picky" else (4, 5))
    wrong = {name: line for name, line in lines.items() if line["verdict"] == "summary_error"}
    assert len(wrong) == (10 if system == "picky" else 9)
    assert {line["label"] for line in wrong.values()} == {"fabricated"}
    assert all("juggles" in " ".join(line["answer"]["missing"]) for line in wrong.values())
    assert halumem.scores()["accuracy"] < 1


def test_the_judge_decides_what_the_offline_judge_only_estimates(halumem: HaluMem, endpoint: LocalEndpoint) -> None:
    halumem.run("--memfail-judge=offline+m", "--memfail-cache=off", "--memfail-tasks=halumem.points")
    assert halumem.verdicts("points").total() == 48
    assert halumem.verdicts("points")["ungraded"] == 0
    assert "recall" in halumem.scores()


def test_a_broken_judge_is_an_error_which_only_the_measures_over_all_count(
    halumem: HaluMem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: Any) -> str:
        return (
            "?"
            if "Pilot" in request["messages"][-1]["content"].partition("</memories>")[2]
            else answer_by_rule(request)
        )

    with LocalEndpoint(answer) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-local")
        halumem.run(*ASK, "--memfail-tasks=halumem.points")
    errors = halumem.verdicts("points")["error"]
    scores = halumem.scores()
    assert errors
    assert scores["recall"] == pytest.approx(halumem.verdicts("points")["correct"] / 48)
    assert scores["recall_valid"] == pytest.approx(halumem.verdicts("points")["correct"] / (48 - errors))


@pytest.mark.parametrize("protocol", ["ours", "paper"])
def test_a_judge_that_breaks_on_the_store_costs_no_answer_and_no_update(
    halumem: HaluMem, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    """Answers and updates are graded by their reply and their search alone, as published."""
    is_broken = False

    def answer(request: Any) -> str:
        told = request["messages"][-1]["content"].partition("</memories>")[2]
        breaks = is_broken and re.search('"check": "(stored|storage)"', told) and len(told) % 2
        return "?" if breaks else answer_by_rule(request)

    def graded(name: str) -> dict[str, float]:
        (suite,) = halumem.project.record(name)[-1]["suites"]
        return {score["name"]: score.get("value") for score in suite["scores"] if score["name"][:3] in ("qa_", "upd")}

    record = halumem.project.path / "whole.jsonl"
    with LocalEndpoint(answer) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-local")
        words = (*ASK, f"--memfail-protocol={protocol}")
        halumem.run(*words, "--memfail-record=whole.jsonl")
        is_broken = True
        halumem.run(*words, "--memfail-record=broken.jsonl")
        again = ["regrade", str(record), "--judge", "m", "--out", str(record.with_name("again.jsonl"))]
        assert memfail(again) == 1
    for name in ("broken.jsonl", "again.jsonl"):
        assert graded(name) == graded("whole.jsonl")
        lost = [line for line in halumem.project.record(name) if line.get("verdict") == "error"]
        assert {"points", "update", "qa"} <= {line["part"] for line in lost}
        assert not any("shown_tokens" in line or "memory_held" in line for line in lost)


def test_regrade_judges_what_was_added_then(
    halumem: HaluMem, endpoint: LocalEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    halumem.project.conftest(PICKY)
    halumem.run("--memfail-record=r.jsonl", "--memfail-tasks=halumem.added", "--memfail-limit=4", system="picky")
    record = halumem.project.path / "r.jsonl"
    assert memfail(["regrade", str(record), "--judge", "m", "--out", str(record.with_name("again.jsonl"))]) == 0
    lines = [line for line in halumem.project.record("again.jsonl") if line["type"] == "question"]
    assert len(lines) == 4
    assert {(line["verdict"], line["label"]) for line in lines} == {("summary_error", "fabricated")}


def test_the_paper_judges_by_additions_and_regrade_does_so_again(
    halumem: HaluMem, endpoint: LocalEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    halumem.project.conftest(PICKY)
    words = ("--memfail-protocol=paper", "--memfail-record=r.jsonl", "-k", "s000 or s001")
    halumem.run(*ASK, *words, system="picky")
    lines = [line for line in halumem.project.record("r.jsonl") if line["type"] == "question"]
    points = [line for line in lines if line["part"] in ("points", "distractors")]
    # the messages of the session, and the memory that the system says it made of it, which it does not list
    assert len({line["store"] for line in points}) == 2
    assert all("juggles" in line["retrieved"][-1]["text"] for line in points)
    assert all(2 <= len(line["retrieved"]) <= 5 for line in points)
    assert "R (additions)" in json.dumps(halumem.project.record("r.jsonl")[-1])
    record = halumem.project.path / "r.jsonl"
    assert memfail(["regrade", str(record), "--judge", "m", "--out", str(record.with_name("again.jsonl"))]) == 0
    again = {
        line["id"]: line["verdict"] for line in halumem.project.record("again.jsonl") if line["type"] == "question"
    }
    assert again == {line["id"]: line["verdict"] for line in lines}


def test_the_stores_line_grows_with_what_is_stored_and_not_with_the_probes(halumem: HaluMem) -> None:
    def stored(sessions: int) -> int:
        point = {"memory_type": "Event Memory", "memory_source": "primary", "is_update": "False", "importance": 0.5}
        made = [
            {
                "dialogue": [{"role": "user", "content": f"On day {i} I planted tree {i}."}],
                "memory_points": [{**point, "index": 1, "memory_content": f"The user planted tree {i} on day {i}"}],
            }
            for i in range(sessions)
        ]
        halumem.project.file("users.jsonl", json.dumps({"uuid": f"u-{sessions}", "sessions": made}))
        data = f"--memfail-data={halumem.project.path}"
        halumem.project.run("--memfail-suite=halumem:ours", data, "--memfail-tasks=halumem.points", system="bm25")
        (store,) = (line for line in halumem.project.record() if line["type"] == "store")
        assert len(store["history"]) == sessions
        return len(json.dumps(store))

    assert stored(65) < 2.2 * stored(32)


def test_only_questions(halumem: HaluMem) -> None:
    halumem.run("--memfail-tasks=halumem.qa", "--collect-only", "-q")
    result = halumem.run("--memfail-tasks=halumem.qa", "-k", "u-brask-0417 and s003")
    assert [line["question"] for line in halumem.questions()] == ["s003-q1", "s003-q2"]
    assert result.ret in (0, 1)


def test_labelled_cases_are_of_every_part_that_a_store_decides(capsys: pytest.CaptureFixture[str]) -> None:
    assert memfail(["judge-check", "--suite", "halumem"]) == 0
    printed = capsys.readouterr().out.partition("\nreplies")[0]
    found = dict(re.findall(r"^(halumem\.\w+|all) +(\d+) +\d+ +\d", printed, re.MULTILINE))
    assert found == {"halumem.points": "64", "halumem.update": "11", "halumem.qa": "6", "all": "81"}


def test_validate_and_a_missing_file(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert memfail(["validate", str(shipped_users().parent), "--suite", "halumem"]) == 0
    assert re.search(r": 0 errors, \d warnings?", capsys.readouterr().out)
    project.file("pytest.ini", BARE_INI)
    result = project.run("--memfail-suite=halumem:medium", f"--memfail-data={project.path}", system="bm25")
    result.stderr.fnmatch_lines(
        [
            "ERROR: no file of halumem:medium in *; expected HaluMem-Medium.jsonl (20 users, CC BY-NC-ND 4.0, not shipped) *"
        ]
    )
