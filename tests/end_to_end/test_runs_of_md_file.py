"""Whole runs of a memory system that asks the run's own models: counted, cached and held to the budget as all others are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_memfail.testing import LocalEndpoint, reply_by_rule

Run = Callable[..., Any]
SYSTEM = (
    "--memfail-system=md-file",
    "--memfail-tasks=long_hop",
    "--memfail-limit=4",
    "--memfail-haystack=sample",
    "-q",
)


def env_of(endpoint: LocalEndpoint) -> dict[str, str]:
    return {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "none"}


def spent(done: Any) -> dict[str, Any]:
    """What the memory has asked, by the books of the run."""
    (row,) = [row for row in done.record[-1]["models"] if row["stage"] == "memory"]
    return dict(row)


def test_without_a_model_it_is_refused_in_one_line(run_pytest: Run) -> None:
    done = run_pytest(*SYSTEM)
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: --memfail-system=md-file needs a model that calls tools; give --memfail-model" in done.output
    assert "needs OPENAI_API_KEY" in run_pytest(*SYSTEM, "--memfail-system-option=model=m").output


def test_its_calls_are_counted_and_a_recorded_run_replays_without_an_endpoint(run_pytest: Run, tmp_path: Any) -> None:
    given = (*SYSTEM, "--memfail-system-option=model=m", f"--memfail-cache-path={tmp_path / 'kept.sqlite'}")
    with LocalEndpoint(reply_by_rule) as endpoint:
        first = run_pytest(*given, env=env_of(endpoint))
        calls = endpoint.calls
    assert calls == spent(first)["calls"] > 8
    assert spent(first)["prompt_tokens"] > 0
    again = run_pytest(*given, "--memfail-cache=only", "-n2")
    assert (spent(again)["calls"], spent(again)["cache_hits"]) == (0, calls)
    assert again.verdicts == first.verdicts
    assert set(first.counts()) <= {"correct", "not_retrieved", "no_answer"}  # the rule keeps every message


def test_a_budget_holds_it_too(run_pytest: Run) -> None:
    with LocalEndpoint(reply_by_rule) as endpoint:
        done = run_pytest(*SYSTEM, "--memfail-model=m", "--memfail-max-tokens=2000", env=env_of(endpoint))
    assert done.code == 6
    assert set(done.counts()) == {"error"}
    assert "budget: 2000 tokens used up" in done.output


def test_a_model_that_calls_no_tools_is_an_error_and_no_lost_memory(run_pytest: Run) -> None:
    with LocalEndpoint(lambda _: "I shall remember that.") as endpoint:
        done = run_pytest(*SYSTEM, "--memfail-model=m", env=env_of(endpoint))
    assert done.code == 6
    assert set(done.counts()) == {"error"}
    assert "3 replies of the model in a row contain no tool call that works" in done.output


def test_a_system_that_fails_on_purpose_can_wrap_it(run_pytest: Run) -> None:
    with LocalEndpoint(reply_by_rule) as endpoint:
        given = ("--memfail-system=forgetful", "--memfail-system-option=inner=md-file", *SYSTEM[1:])
        done = run_pytest(*given, "--memfail-model=m", env=env_of(endpoint))
    assert set(done.counts()) == {"not_stored"}


def test_a_kept_store_is_that_of_its_model(run_pytest: Run, tmp_path: Any) -> None:
    given = (*SYSTEM, f"--memfail-reuse-stores={tmp_path / 'shelf'}", "--memfail-cache=off")
    with LocalEndpoint(reply_by_rule) as endpoint:
        calls = []
        for model in ("a", "a", "b"):
            endpoint.reset_counters()
            run_pytest(*given, f"--memfail-system-option=model={model}", env=env_of(endpoint))
            calls.append(endpoint.calls)
    assert calls[0] == calls[2] > 0
    assert calls[1] == 0
