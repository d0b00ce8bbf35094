"""A run is compared with a reference: shipped, kept, made at the end, or named by the user."""

from __future__ import annotations

import json

import pytest

from plugin.project import COEXISTING, Project
from pytest_memfail.records import Reference, from_json
from pytest_memfail.running import SHIPPED_REFERENCE, Asked, Unit, digest, question_digest
from pytest_memfail.suites import BUILT_IN, TaskRequest, choose_suites, load_tasks

TASK = "memfail/coexisting_facts"
DROPPING = """
from pytest_memfail.systems.bm25 import BM25

class Dropping(BM25):
    def store_conversation(self, conversation):
        if "ce-1" not in conversation.text:
            super().store_conversation(conversation)

toy_system = pytest_memfail_make_system

def pytest_memfail_make_system(config, name):
    return Dropping if name == "dropping" else toy_system(config, name)
"""
WORDS = (TASK, "--memfail-judge=offline", "--tb=no")


@pytest.fixture
def dropping(project: Project) -> Project:
    project.conftest(DROPPING)
    return project


def reference_of(project: Project) -> Reference:
    return from_json(Reference, project.record()[-1]["reference"])


def test_what_is_lost_beyond_a_verbatim_store_is_said_and_the_reference_is_kept(dropping: Project) -> None:
    result = dropping.run(*WORDS, "--memfail-reference=", system="dropping")
    made = reference_of(dropping)
    assert (made.system, made.judge, made.note) == ("bm25", "offline", "")
    assert made.outcomes == {f"{TASK}::{name}": "correct" for name in COEXISTING}
    result.stdout.fnmatch_lines(
        [
            "NOT_STORED 1 of 6 in coexisting_facts, 1 beyond verbatim:",
            "coexisting_facts * 6 * 1 * 0",
            "loses most in storage (not_stored): 1 of 6 beyond a verbatim store",
        ]
    )
    # the next run reads it, and so does the record
    (kept,) = dropping.path.glob(".pytest_cache/d/memfail/reference.json")
    known = json.loads(kept.read_text())
    kept.write_text(json.dumps({store: dict.fromkeys(found, "not_retrieved") for store, found in known.items()}))
    dropping.run(*WORDS, "--memfail-reference=", system="dropping")
    assert set(reference_of(dropping).outcomes.values()) == {"not_retrieved"}


def test_a_record_of_ones_own_is_the_reference(dropping: Project) -> None:
    dropping.run(*WORDS, "--memfail-record=before.jsonl", system="dropping")
    assert "reference" not in dropping.record()[-1]
    result = dropping.run(*WORDS, "--memfail-reference=before.jsonl", "--memfail-report=run.json")
    made = reference_of(dropping)
    assert made.system == "dropping"
    assert [name for name, outcome in made.outcomes.items() if outcome != "correct"] == [f"{TASK}::ce-1"]
    result.stdout.fnmatch_lines(["coexisting_facts * 6 * * *"])
    (published,) = json.loads((dropping.path / "run.json").read_text())["records"]
    assert published["reference"] == {"system": "dropping", "judge": "offline", "is_itself": False, "note": ""}
    assert published["total"]["compared"] == 6


@pytest.mark.parametrize("how", ["missing", "other rows"])
def test_a_record_that_cannot_be_compared_ends_the_run_before_it_begins(dropping: Project, how: str) -> None:
    if how == "other rows":
        dropping.run("--memfail-tasks=long_hop", "--memfail-record=other.jsonl")
    result = dropping.run(*WORDS, "--memfail-tasks=coexisting_facts", "--memfail-reference=other.jsonl")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.startswith("ERROR:")]
    assert ("cannot be read" if how == "missing" else "none of the rows of this run") in line
    assert not dropping.events("store")


def test_a_reference_that_cannot_be_made_costs_only_the_comparison(
    dropping: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_memfail.running.reference.MOST_CHARACTERS", 1)
    result = dropping.run(*WORDS, "--memfail-reference=", system="dropping")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not reference_of(dropping).outcomes
    result.stdout.fnmatch_lines(
        [
            "loses most in storage (not_stored): 1 of 6",
            "no reference bm25: * characters to store, at most 1 are stored for it; run *",
        ]
    )


def test_the_shipped_reference_is_of_the_shipped_rows() -> None:
    """If this fails, the rows, the offline judge or the reference changed: run `python tools/reference_runs.py`."""
    shipped = json.loads(SHIPPED_REFERENCE.read_text(encoding="utf-8"))
    found: dict[str, set[str]] = {}
    for task in load_tasks(TaskRequest(suites=choose_suites(BUILT_IN))):
        for plan in task.stores:
            unit = Unit(task, plan, plan.id)
            asked = (Asked(unit, question, question.k or task.k or 5, "") for question in plan.questions)
            found.setdefault(digest(unit), set()).update(map(question_digest, asked))
    assert {store: set(known) for store, known in shipped.items()} == found
