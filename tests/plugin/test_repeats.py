"""--memfail-repeats: a question asked more than once has the verdict of the majority."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from plugin.project import CONDITIONAL, Project

TASK = "memfail/conditional_facts_easy"
THREE = "--memfail-repeats=3"
WAVERING = """
    from collections import Counter

    class Wavering(ScriptedJudge):
        '''Decides as the script says for each time that a question is asked: its verdicts, separated by blanks.'''

        def __init__(self, script):
            super().__init__(script)
            self.times = Counter()

        def retrieval(self, evidence, question, shown):
            verdicts = self.script.get(question.id, "correct").split()
            verdict = verdicts[self.times[question.id] % len(verdicts)]
            self.times[question.id] += 1
            if verdict == "raise":
                raise RuntimeError("the judge is out of order")
            if verdict == "not_retrieved":
                return StageResult("failed", "the script says so", (0,), missing=("lost",))
            return StageResult("passed", entries=(0,))

    def pytest_memfail_make_judge(config, name):
        return Wavering(json.loads((config.rootpath / "verdicts.json").read_text())) if name == "script" else None
    """


def wavering(project: Project, **verdicts: str) -> Project:
    project.conftest(WAVERING)
    project.script(**verdicts)
    return project


def questions(project: Project) -> dict[str, Any]:
    return {line["question"]: line for line in project.record() if line["type"] == "question"}


def test_the_majority_is_the_verdict(any_project: Project) -> None:
    wavering(
        any_project,
        co_1="correct not_retrieved not_retrieved",
        co_2="correct correct not_retrieved",
        co_3="not_retrieved not_retrieved correct",
    )
    result = any_project.run(TASK, THREE)
    result.assert_outcomes(passed=2, failed=2)
    found = questions(any_project)
    assert {name: line["verdict"] for name, line in found.items()} == {
        "co-1": "not_retrieved",
        "co-2": "correct",
        "co-3": "not_retrieved",
        "co-4": "correct",
    }
    assert found["co-1"]["repeats"] == ["correct", "not_retrieved", "not_retrieved"]
    # what is recorded of a failure is of a time that it failed
    assert found["co-1"]["facts"][0]["verdict"] == "not_retrieved"
    assert Counter(any_project.events("ask")) == dict.fromkeys(CONDITIONAL, 3)
    assert set(any_project.fills().values()) == {1}
    assert any_project.record()[0]["repeats"] == 3
    result.stdout.fnmatch_lines(
        [
            "repeats    correct, not_retrieved, not_retrieved",
            "*--memfail-repeats=3*",
            "repeats: 3 of 4 in conditional_facts_easy changed their verdict between repeats (75.0 [[]30, 95[]] %)",
        ]
    )


def test_a_tie_goes_to_the_worse(any_project: Project) -> None:
    wavering(any_project, co_1="correct not_retrieved", co_2="not_retrieved correct")
    any_project.run(TASK, "--memfail-repeats=2").assert_outcomes(passed=2, failed=2)


def test_an_error_in_one_of_the_times_is_an_error(any_project: Project) -> None:
    wavering(any_project, co_1="correct correct raise")
    result = any_project.run("memfail", THREE)
    result.assert_outcomes(passed=21, errors=1)
    assert questions(any_project)["co-1"]["verdict"] == "error"


def test_asked_once_nothing_is_said_of_repeats(project: Project) -> None:
    result = project.run(TASK)
    assert not any("repeats" in line for line in project.record() if line["type"] == "question")
    assert not any(line.startswith("repeats") for line in result.outlines)


def test_a_baseline_with_another_number_of_times_is_told(project: Project) -> None:
    project.run("--memfail-save-baseline=base.jsonl")
    result = project.run("--memfail-baseline=base.jsonl", "--memfail-repeats=2")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  repeats is 2, in the baseline 1"])


def test_a_run_with_another_number_of_times_is_not_gone_on_with(project: Project) -> None:
    project.run(TASK, "--memfail-record=r.jsonl")
    result = project.run(TASK, "--memfail-record=r.jsonl", "--memfail-resume", THREE)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*repeats was 1, is 3*"])


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5"])
def test_a_wrong_number(project: Project, value: str) -> None:
    result = project.run(f"--memfail-repeats={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--memfail-repeats: got '{value}', expected a whole number of at least 1"])
