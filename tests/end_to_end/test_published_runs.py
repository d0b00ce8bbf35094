"""The published rows through the whole plugin: counts, the same result at any -n, and what each failing system shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

QUESTIONS = {
    "conditional_facts_easy": 100,
    "conditional_facts_hard": 100,
    "coexisting_facts": 100,
    "persona_retrieval": 300,
    "long_hop": 92,
}


@pytest.mark.slow
def test_the_published_rows_give_the_same_verdicts_at_any_number_of_workers(run_pytest: Run, published: Path) -> None:
    arguments = ("--memfail-system=bm25", f"--memfail-data={published}", "-q")
    alone = run_pytest(*arguments)
    assert Counter(line["task"] for line in alone.questions.values()) == QUESTIONS
    for _ in range(2):
        shared = run_pytest(*arguments, "-n", "2")
        assert shared.verdicts == alone.verdicts
        assert shared.table == alone.table != ""
        assert shared.code == alone.code == 1


@pytest.mark.slow
def test_a_verbatim_store_loses_nothing_before_retrieval(run_pytest: Run, published: Path) -> None:
    counts = run_pytest("--memfail-system=full-context", f"--memfail-data={published}", "-q").counts()
    assert counts["no_answer"] >= 0.99 * sum(counts.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "verdict"),
    [("forgetful", "not_stored"), ("lossy", "summary_error"), ("misdirected", "not_retrieved")],
)
def test_a_system_that_fails_on_purpose_shows_its_own_verdict_most(
    run_pytest: Run, published: Path, system: str, verdict: str
) -> None:
    done = run_pytest(f"--memfail-system={system}", f"--memfail-data={published}", "-q", "-n", "2")
    (most, count), *_ = done.counts(vacuous=False).most_common(1)
    assert most == verdict
    assert count > 100


@pytest.mark.slow
def test_no_memory_shows_only_facts_not_stored_and_vacuous_passes(run_pytest: Run, published: Path) -> None:
    done = run_pytest("--memfail-system=no-memory", f"--memfail-data={published}", "-q")
    assert set(done.counts(vacuous=False)) == {"not_stored"}
    assert sum(line.get("vacuous", False) for line in done.questions.values()) == 157


def test_the_paper_protocol_runs_on_the_published_rows(run_pytest: Run, published: Path) -> None:
    done = run_pytest(
        "--memfail-system=bm25",
        f"--memfail-data={published}",
        "--memfail-protocol=paper",
        "-q",
        "--memfail-tasks=long_hop,coex*",
        "--memfail-limit=20",  # all conversations are stored
    )
    stores = {line["task"]: line for line in done.record if line["type"] == "store"}
    assert stores["coexisting_facts"]["conversations"] == 340
    assert stores["long_hop"]["conversations"] == 274
    assert done.counts()["error"] == 0
