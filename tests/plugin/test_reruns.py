"""With pytest-rerunfailures: a question is asked again in the store that is there."""

from __future__ import annotations

from collections import Counter

import pytest

from plugin.project import COEXISTING, LONG_HOP, Project
from plugin.test_ahead import only

pytest.importorskip("pytest_rerunfailures")


@pytest.mark.parametrize("last", ["lh-1", LONG_HOP[-1]])
def test_a_rerun_does_not_fill_its_store_again(any_project: Project, last: str) -> None:
    any_project.script(**{last.replace("-", "_"): "not_stored"})
    any_project.run("memfail/long_hop", "memfail/coexisting_facts")
    once = any_project.fills()
    result = any_project.run("memfail/long_hop", "memfail/coexisting_facts", "-prerunfailures", "--reruns=2")
    assert result.ret == 1
    assert result.parseoutcomes() == {"failed": 1, "passed": 9, "rerun": 2}
    assert any_project.fills() == once
    assert Counter(any_project.events("ask"))[last] == 3
    stores = [line["store"] for line in any_project.record() if line["type"] == "store"]
    assert sorted(stores) == ["coexisting_facts", "long_hop"]
    assert set(any_project.verdicts().values()) == {"correct", "not_stored"}


def test_all_may_fail(any_project: Project) -> None:
    any_project.script(**{name.replace("-", "_"): "summary_error" for name in COEXISTING})
    any_project.run("memfail/coexisting_facts")
    once = any_project.fills()
    result = any_project.run("memfail/coexisting_facts", "-prerunfailures", "--reruns=1")
    assert result.parseoutcomes() == {"failed": 6, "rerun": 6}
    assert any_project.fills() == once


@pytest.mark.parametrize("words", [["-prerunfailures"], ["-prerunfailures", "--reruns=0"]])
def test_without_reruns_a_store_is_reported_when_its_last_question_fails(project: Project, words: list[str]) -> None:
    project.script(**{name.replace("-", "_"): "not_stored" for name in LONG_HOP})
    project.run("memfail/long_hop", *words)
    assert [line["store"] for line in project.record() if line["type"] == "store"] == ["long_hop"]


def test_where_the_error_decides_about_reruns_the_store_is_reported_all_the_same(project: Project) -> None:
    project.script(**{LONG_HOP[-1].replace("-", "_"): "not_stored"})
    project.run("memfail/long_hop", "-prerunfailures", "--reruns=1", "--only-rerun=Nothing")
    assert [line["store"] for line in project.record() if line["type"] == "store"] == ["long_hop"]


def test_a_question_that_is_run_again_counts_once_among_the_first_errors(project: Project) -> None:
    option = only(project, alpha=20)
    result = project.run(option, "--memfail-system-option=raise_at=all", "-prerunfailures", "--reruns=3")
    assert "the first 10 questions all ended with the same error" in result.stdout.str()
    result.assert_outcomes(errors=10)
