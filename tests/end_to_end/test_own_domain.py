"""The example with rows and incidents of a user's own domain."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from pytest_memfail.suites import validate

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_domain"


@pytest.fixture
def project(tmp_path):
    return Path(shutil.copytree(EXAMPLE, tmp_path / "own_domain"))


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
def test_rows_and_incidents_run_with_the_one_command(run_pytest, project, workers):
    done = run_pytest(*workers, cwd=project)
    assert done.code == 0
    assert len(done.questions) == 12
    assert {line["task"] for line in done.questions.values()} == {"conditional_facts_easy", "custom"}
    assert all(line["memory_held"] for line in done.questions.values())


def test_a_system_that_stores_nothing_fails_all_of_them(run_pytest, project):
    done = run_pytest("--memfail-system=no-memory", cwd=project)
    assert done.counts() == {"not_stored": 12}


def test_an_incident_has_an_id_to_paste(run_pytest, project):
    done = run_pytest("memfail/custom::penicillin", cwd=project)
    assert [line["id"] for line in done.questions.values()] == ["memfail/custom::penicillin::penicillin"]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        pytest.param("incidents/", ["penicillin", "room-change"], marks=pytest.mark.slow),
        ("incidents/penicillin.memfail.yaml", ["penicillin"]),
    ],
)
def test_a_path_runs_the_incidents_it_names(run_pytest, project, path, names):
    done = run_pytest(path, cwd=project)
    assert done.code == 0
    assert sorted(done.questions) == [f"memfail/custom::{name}::{name}" for name in names]
    stored = {line["store"]: line["conversations"] for line in done.record if line["type"] == "store"}
    assert stored["penicillin"] > 100


def test_the_incidents_have_a_gate_of_their_own(run_pytest, project):
    gate = (EXAMPLE / "README.md").read_text(encoding="utf-8").partition("## A gate for cases")[2]
    saves, compares = (
        [*shlex.split(line, comments=True)[2:], "--memfail-system=bm25"]
        for line in gate.splitlines()
        if line.startswith("$ pytest incidents/")
    )
    assert run_pytest(*saves, cwd=project).code == 0
    done = run_pytest(*compares, cwd=project)
    assert done.code == 0
    assert "baseline: memfail-baseline.jsonl, 2 questions compared" in done.output
    assert run_pytest(*compares, "--memfail-system=no-memory", cwd=project).code == 1


def test_a_fault_in_an_incident_stops_the_run_before_anything_is_stored(run_pytest, project):
    path = project / "incidents" / "penicillin.memfail.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("conversation: 1", "conversation: 3"), encoding="utf-8")
    done = run_pytest(cwd=project)
    assert done.code == 4
    assert "penicillin.memfail.yaml:14: expected.0.conversation: got 3, expected 1 to 2" in done.output


def test_the_rows_have_no_fault():
    assert list(map(str, validate(EXAMPLE / "rows"))) == []
