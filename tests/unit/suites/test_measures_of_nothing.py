"""The measures of all suites: of no question, or of errors alone, there is a reason and no number."""

from __future__ import annotations

import pytest

from pytest_memfail.core import ErrorRecord, QuestionRecord, TaskPart
from pytest_memfail.suites.load import BUILT_IN, built_in_suite

LATE = ErrorRecord(type="TimedOutError", message="too late")


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("errors", [False, True])
def test_no_measure_of_nothing_is_a_number(name: str, errors: bool) -> None:
    suite = built_in_suite(name)
    asked = [
        QuestionRecord(
            id=f"{task}::{part.name}", task=task, store="s", question=part.name, k=5, kind="open", stratum="", text="?",
            gold=(), part=part.name, row=None, cluster="s", verdict="error", error=LATE,
        )
        for task, parts in suite.parts.items()
        for part in parts or [TaskPart("", "")] * suite.stands_alone
    ]  # fmt: skip
    assert asked or not suite.stands_alone
    for measure in (*suite.measures, *suite.paper_measures):
        score = measure.of(asked if errors else [])
        assert (score.value, bool(score.lacks)) == (None, True), measure.name
