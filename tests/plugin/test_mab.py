"""MemoryAgentBench as a suite: its sample with built-in systems, and with answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from plugin.project import BARE_INI, Project
from pytest_memfail.core import SuiteRequest
from pytest_memfail.suites.mab import SUITE
from pytest_memfail.testing import LocalEndpoint

SINGLE = "mab_forgetting.sh_1k"
ASK = ("--memfail-model=m", "--memfail-cache=off", f"--memfail-tasks={SINGLE}")


class Mab:
    """A repository without rows of its own, which runs MemoryAgentBench."""

    def __init__(self, project: Project) -> None:
        self.project = project
        project.file("pytest.ini", BARE_INI)

    def run(self, *words: str, system: str = "bm25", n: int | None = None) -> pytest.RunResult:
        return self.project.run("--memfail-suite=mab", *words, system=system, n=n)

    def questions(self) -> list[dict[str, Any]]:
        return [line for line in self.project.record() if line["type"] == "question"]

    def held(self) -> Counter[str]:
        return Counter(line["part"] for line in self.questions() if line["memory_held"])


@pytest.fixture
def mab(project: Project) -> Mab:
    return Mab(project)


def replies(wrong: Mapping[str, str]) -> dict[str, str]:
    """The gold answer of each question about one fact; `wrong` names what some get instead: the value or `replaced`."""
    tasks = {task.name: task for task in SUITE.load(SuiteRequest())}
    found = {}
    for question in tasks["mab_forgetting"].questions:
        (fact,) = (tasks["mab_forgetting"].evidence[each] for each in question.evidence)
        given = wrong.get(question.id, question.gold[0])
        found[question.query] = fact.claim.replaced[0] if given == "replaced" else given
    return found


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A model that repeats what it was shown and then gives the answer in this dictionary."""
    answers: dict[str, str] = {}

    def answer(request: Mapping[str, Any]) -> str:
        said = request["messages"][-1]["content"]
        block = re.search(r"<question>\n(.*)\n</question>", said)
        assert block is not None
        query = json.loads(block[1]).splitlines()[0]
        return f"Memories used:\n{said.partition('</memories>')[0]}\nAnswer: {answers[query]}"

    with LocalEndpoint(answer) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-local")
        yield answers


PARTS = {
    "ruler_qa1": 12,
    "ruler_qa2": 4,
    "longmemeval": 9,
    "eventqa_full": 8,
    "detective": 2,
    "sh_1k": 12,
    "mh_1k": 8,
}
"""Questions with evidence, by part: one of the chats cannot be answered, and four of the detective's have no string."""


def test_full_context_holds_everything(mab: Mab) -> None:
    result = mab.run(system="full-context")
    assert result.ret == 0
    assert mab.held() == PARTS
    result.stdout.fnmatch_lines(
        [
            "memfail: mab (our sample: 60 numbered facts, 12 documents, 3 stories, *; not the published rows: *)",
            *[f"mab_{task} *100.0 *" for task in ("retrieval.ruler_qa1", "retrieval.ruler_qa2", "forgetting.sh_1k")],
            "substring_em sh -  mh -  mean -  right, fact not shown - (needs a model that answers)",
            "overall (mean of 4 categories) - (needs models that answer and judge; no question of *",
            "gold string looked for, not a fact: mab_retrieval.ruler_qa1, mab_retrieval.ruler_qa2,",
            "  mab_retrieval.eventqa_full, mab_understanding.detective, mab_forgetting.mh_1k",
        ]
    )
    (suite,) = mab.project.record()[-1]["suites"]
    assert len(suite["proxies"]) == 5


@pytest.mark.parametrize("n", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_bm25_shows_single_facts_and_loses_chains(mab: Mab, n: int | None) -> None:
    assert mab.run(n=n).ret == 1
    assert {line["k"] for line in mab.questions()} == {10}
    assert mab.held() == {**PARTS, "mh_1k": 6, "longmemeval": 4}
    assert {line["verdict"] for line in mab.questions()} == {"not_retrieved", "no_answer"}


@pytest.mark.parametrize("system", ["no-memory", "forgetful"])
def test_nothing_is_held_by_a_system_that_keeps_nothing(mab: Mab, system: str) -> None:
    inner = ["--memfail-system-option=inner=full-context"] if system == "forgetful" else []
    mab.run(*inner, system=system)
    counts = Counter(line["verdict"] for line in mab.questions())
    assert counts["not_stored"] == sum(PARTS.values())
    assert not mab.held()


def test_a_system_that_shows_only_what_came_first(mab: Mab) -> None:
    mab.project.conftest(
        """
        class First:
            unlimited_k = True
            calls_model = False

            def __init__(self, context):
                self.texts = []

            def store_conversation(self, conversation):
                self.texts += [line for message in conversation.messages for line in message.content.splitlines()]

            def get_all_memories(self):
                return self.texts

            def retrieve_memories(self, query, conversation, k):
                words = set(query.strip("?").split())
                return [max(self.texts, key=lambda text: len(words & set(text.strip(".").split())))]

        def pytest_memfail_make_system(config, name):
            return First if name == "first" else None
        """
    )
    result = mab.run(f"--memfail-tasks={SINGLE}", system="first")
    labels = Counter(line.get("label") for line in mab.questions())
    assert labels["stale_value"] >= 3
    result.stdout.no_fnmatch_line("*gold string*")  # each of these facts is annotated
    assert {line["verdict"] for line in mab.questions() if line.get("label")} == {"not_retrieved"}
    result.stdout.fnmatch_lines([f"labels: stale_value {labels['stale_value']}"])


def test_answers(mab: Mab, endpoint: dict[str, str]) -> None:
    endpoint.update(replies({"sh-no0": "replaced", "sh-no2": "replaced", "sh-no3": "Nowhere"}))
    result = mab.run(*ASK, "--memfail-fail-on=mab.substring_em_sh<0.8,mab.overall<0.5")
    by_name = {line["question"]: line for line in mab.questions()}
    assert Counter(line["verdict"] for line in by_name.values()) == {"correct": 9, "reasoning_error": 3}
    assert {name for name, line in by_name.items() if line.get("label") == "stale_value"} == {"sh-no0", "sh-no2"}
    result.stdout.fnmatch_lines(
        [
            "*mab.substring_em_sh<0.8 *FAILED *0.750",
            "*mab.overall<0.5 *UNDECIDED",
            "      *no question of *",
            "substring_em sh 75.0 %  mh -  mean -  right, fact not shown 0 *",
            "labels: stale_value 2",
        ]
    )


def test_right_answers_without_the_fact_count_for_the_papers_number(mab: Mab, endpoint: dict[str, str]) -> None:
    endpoint.update(replies({"sh-no0": "Nowhere"}))
    result = mab.run(*ASK, system="no-memory")
    assert {line["verdict"] for line in mab.questions()} == {"not_stored"}
    assert Counter(line["credited"] for line in mab.questions()) == {True: 11, False: 1}
    result.stdout.fnmatch_lines(["substring_em sh 91.7 %  mh -  mean -  right, fact not shown 11 *"])


def test_a_part_and_a_marker(mab: Mab) -> None:
    mab.run("-m", "mab_forgetting and sh_1k")
    assert {line["part"] for line in mab.questions()} == {"sh_1k"}


def test_a_task_of_another_suite_names_it(project: Project) -> None:
    result = project.run(f"--memfail-tasks={SINGLE}")
    result.stderr.fnmatch_lines([f"ERROR: '{SINGLE}' is of the suite mab: --memfail-suite=mab"])


ASKED_OF_MODELS = "mab_learning.recommendation,mab_understanding.summary,mab_retrieval.longmemeval"


@pytest.fixture
def scorer(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A model that gives each gold answer but one list of titles, and as judge finds half of a summary."""
    change: dict[str, Any] = {}
    tasks = SUITE.load(SuiteRequest())
    golds = {q.text: "\n".join(f"{i}. {gold}" for i, gold in enumerate(q.gold, 1)) for t in tasks for q in t.questions}

    def answer(request: Mapping[str, Any]) -> str:
        system, said = (message["content"] for message in request["messages"][:2])
        if said.startswith("<facts>"):
            return json.dumps({"reason": "r", "missing": [], "right": "garage" not in said})
        if "You grade" in system:
            found = (
                {"fluent": True} if "<key_points>" not in said and "<reference>" not in said else {"numbers": [1, 2, 3]}
            )
            return json.dumps({"reason": "r", **found, **(change if "numbers" in found else {})})
        block = re.search(r"<question>\n(.*)\n</question>", said)
        assert block is not None
        question = json.loads(block[1])
        return "Answer: 1. Orbit Seven" if "scared again" in question else f"Answer: {golds[question]}"

    with LocalEndpoint(answer) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-local")
        yield change


def test_answers_that_have_a_score_or_need_a_model(mab: Mab, scorer: dict[str, Any]) -> None:
    words = [
        "--memfail-model=m",
        "--memfail-judge=offline+m",
        "--memfail-cache=off",
        f"--memfail-tasks={ASKED_OF_MODELS}",
    ]
    result = mab.run(*words, system="full-context")
    by_part: dict[str, list[dict[str, Any]]] = {}
    for line in mab.questions():
        by_part.setdefault(line["part"], []).append(line)
    assert sorted(line["score"] for line in by_part["recommendation"]) == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert [line["credited"] for line in by_part["longmemeval"]].count(False) == 1
    (summary,) = by_part["summary"]
    sentences = 12  # of the gold summary, which the model repeats
    precision, recall = 3 / sentences, 3 / 12
    assert summary["score"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert (summary["verdict"], len(summary["answer"]["missing"])) == ("reasoning_error", 9)
    result.stdout.fnmatch_lines(["*longmemeval 90.0 %*", "*recommendation 83.3 %*", "*summary 25.0 %*"])


def test_a_judge_that_cannot_be_understood_is_an_error(mab: Mab, scorer: dict[str, Any]) -> None:
    scorer["numbers"] = [99]
    words = [
        "--memfail-model=m",
        "--memfail-judge=m",
        "--memfail-cache=off",
        "--memfail-tasks=mab_understanding.summary",
    ]
    mab.run(*words, system="full-context")
    (line,) = mab.questions()
    assert (line["verdict"], line["error"]["type"]) == ("error", "ReplyError")


def test_chunks_of_another_length(mab: Mab) -> None:
    result = mab.run("--memfail-suite-option=mab.chunk=256", f"--memfail-tasks={SINGLE}", system="full-context")
    assert result.ret == 0
    header, *_, store, _ = mab.project.record()
    assert (header["suite_options"], store["conversations"]) == ({"mab.chunk": "256"}, 4)
    assert "--memfail-suite-option=mab.chunk=256" in header["rerun"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("mab.chunk=x", "--memfail-suite-option: mab.chunk: got 'x', expected a number of tokens, 16 or more"),
        ("mab.chnk=64", "unknown setting of the suite mab 'chnk'; did you mean 'chunk'? *"),
        (
            "meme.chunk=64",
            "--memfail-suite-option: got 'meme.chunk', expected SUITE.NAME=VALUE of a suite that runs: mab",
        ),
        ("mab.chunk", "--memfail-suite-option: got 'mab.chunk', expected KEY=VALUE"),
    ],
)
def test_a_setting_that_is_wrong(mab: Mab, given: str, message: str) -> None:
    result = mab.run(f"--memfail-suite-option={given}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
