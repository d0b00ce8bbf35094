"""LoCoMo as a suite: its sample with built-in systems and with models, graded strictly and leniently, in one run and again."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from plugin.project import BARE_INI, Project
from pytest_memfail.cli import main as memfail
from pytest_memfail.testing import LocalEndpoint, answer_by_rule

SIZES = {"multi_hop": 12, "temporal": 12, "open_domain": 12, "single_hop": 16, "adversarial": 12}
ANSWERABLE = ("multi_hop", "temporal", "open_domain", "single_hop")
STAMPED = '''
from datetime import timedelta
from pytest_memfail.core import Memory


class Stamped:
    """Keeps each message word for word, with the time that it was given ("true"), the next day's, or none of those."""

    calls_model = False

    def __init__(self, shift):
        self.shift, self.kept = shift, []

    def store_conversation(self, conversation):
        for message in conversation.messages:
            when = "2031-01-31T10:00:00" if self.shift is None else (message.timestamp + timedelta(self.shift)).isoformat()
            self.kept.append(Memory(message.content, timestamp=when))

    def get_all_memories(self):
        return self.kept

    def retrieve_memories(self, query, conversation, k):
        return self.kept


def pytest_memfail_make_system(config, name):
    shifts = {"true": 0, "now": None, "shifted": 1}
    return (lambda context: Stamped(shifts[name])) if name in shifts else None
'''


class LoCoMo:
    """A repository without rows of its own, which runs LoCoMo."""

    def __init__(self, project: Project) -> None:
        self.project = project
        project.file("pytest.ini", BARE_INI)

    def run(self, *words: str, system: str = "bm25") -> pytest.RunResult:
        return self.project.run("--memfail-suite=locomo", *words, system=system)

    def questions(self, path: str | None = None) -> list[dict[str, Any]]:
        return [line for line in self.project.record(path) if line["type"] == "question"]

    def scores(self, path: str | None = None) -> dict[str, float]:
        """The measures with a value, by name."""
        (suite,) = self.project.record(path)[-1]["suites"]
        return {score["name"]: score["value"] for score in suite["scores"] if score["value"] is not None}


@pytest.fixture
def locomo(project: Project) -> LoCoMo:
    return LoCoMo(project)


def by_rule(request: dict[str, Any]) -> str:
    """Answer with the memories used, and judge by rule: strictly right has all words of the right answer, leniently one."""
    material = str(request["messages"][-1]["content"])
    if found := re.search(r"<right_answer>(.*)</right_answer>.*<reply>(.*)</reply>", material, re.S):
        right, reply = (set(re.findall(r"[a-z]{3,}|\d\d+", text.lower())) for text in found.groups())
        lenient = bool(right & reply)
        return json.dumps({"reason": "by rule", "lenient": lenient, "strict": lenient and right <= reply})
    used = re.fullmatch(r"Memories used: (.*)\nAnswer: (?:Yes|No)\.", said := answer_by_rule(request), re.S)
    return f"Memories used: {used[1]}\nAnswer: {used[1]}" if used else said


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalEndpoint]:
    with LocalEndpoint(by_rule) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-local")
        yield started


def test_a_verbatim_store_is_judged_exactly_without_a_model(locomo: LoCoMo) -> None:
    result = locomo.run()
    asked = locomo.questions()
    assert Counter(line["part"] for line in asked) == SIZES
    verdicts = Counter(line["verdict"] for line in asked)
    assert verdicts == {"not_retrieved": 11, "no_answer": 53}
    scores = locomo.scores()
    assert scores.keys() == {"turns_shown", *(f"turns_shown_{part}" for part in ANSWERABLE)}
    assert scores["turns_shown_temporal"] == 1.0
    assert 0.5 < scores["turns_shown_multi_hop"] < scores["turns_shown"] < 1
    result.stdout.fnmatch_lines(["memfail: locomo (our sample: 2 pairs of people, * not the published rows: *)"])


def test_full_context_holds_every_turn_and_a_store_of_nothing_holds_none(locomo: LoCoMo) -> None:
    assert locomo.run(system="full-context").ret == 0
    assert locomo.scores()["turns_shown"] == 1.0
    locomo.run(system="no-memory")
    asked = locomo.questions()
    assert locomo.scores()["turns_shown"] == 0.0
    failed = Counter(line["part"] for line in asked if line["verdict"] == "not_stored")
    assert failed == {"multi_hop": 12, "temporal": 12, "open_domain": 12, "single_hop": 14}  # 2 have no usable evidence


@pytest.mark.parametrize(("system", "lost"), [("true", 0), ("now", 12), ("shifted", 12)])
def test_wrong_days_lose_the_date_of_temporal_questions_alone(locomo: LoCoMo, system: str, lost: int) -> None:
    locomo.project.file("conftest.py", STAMPED)
    locomo.run(system=system)
    found = [line for line in locomo.questions() if line["verdict"] not in ("no_answer", "not_retrieved")]
    assert Counter((line["part"], line["verdict"], line["label"]) for line in found) == (
        {("temporal", "summary_error", "date_lost"): lost} if lost else {}
    )


def test_both_criteria_are_measured_in_one_run_and_one_of_them_decides(
    locomo: LoCoMo, endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_memfail.results.statistics.RESAMPLES", 100)  # no interval is looked at
    models = ("--memfail-model=m", "--memfail-judge=m")
    result = locomo.run(*models, "--memfail-record=strict.jsonl", system="full-context")
    scores = locomo.scores("strict.jsonl")
    expected = {"accuracy", "lenient", "turns_shown", *(["f1"] if find_spec("nltk") else [])}
    named = set(with_categories(expected)) | {"adversarial", "adversarial_phrase", "known_anyway"}
    assert scores.keys() == named
    assert 0 < scores["accuracy"] < scores["lenient"] < 1
    right = Counter(
        line["answer"]["outcome"] for line in locomo.questions("strict.jsonl") if line["part"] in ANSWERABLE
    )
    assert right["passed"] / 52 == pytest.approx(scores["accuracy"])
    assert "accuracy, strict (1-4)" in result.stdout.str()
    calls = len(endpoint.requests)
    # the same judgement decides otherwise: no model is asked again
    assert (
        memfail(
            ["regrade", "strict.jsonl", "--judge=m", "--suite-option=locomo.grading=lenient", "-o", "lenient.jsonl"]
        )
        == 0
    )
    again = locomo.scores("lenient.jsonl")
    assert {name: again[name] for name in ("accuracy", "lenient")} == {
        name: scores[name] for name in ("accuracy", "lenient")
    }
    right = Counter(
        line["answer"]["outcome"] for line in locomo.questions("lenient.jsonl") if line["part"] in ANSWERABLE
    )
    assert right["passed"] / 52 == pytest.approx(scores["lenient"])
    assert locomo.project.record("lenient.jsonl")[0]["suite_options"] == {"locomo.grading": "lenient"}
    assert len(endpoint.requests) == calls
    assert memfail(["compare", "strict.jsonl", "lenient.jsonl"]) in (0, 1)


def with_categories(names: set[str]) -> Iterator[str]:
    """The names of measures over all categories, and of each."""
    for name in names:
        yield from (name, *(f"{name}_{part}" for part in ANSWERABLE))
