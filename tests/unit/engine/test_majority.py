"""Several verdicts on one question."""

from __future__ import annotations

import pytest

from pytest_memfail.engine.questions import majority

C, N, S, R, A, U, V = (
    "correct",
    "not_stored",
    "summary_error",
    "not_retrieved",
    "reasoning_error",
    "ungraded",
    "vacuous",
)


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ([C], C),
        ([N], N),
        ([C, C, N], C),
        ([N, C, N], N),
        ([C, N], N),
        ([S, N], N),
        ([A, R], R),
        ([R, S, S, N], S),
        # it failed more often than not, if in two ways
        ([C, C, N, S, S], S),
        ([C, C, A, R], R),
        ([C, C, C, N, S], C),
        ([U, C], U),
        ([U, C, C], C),
        ([U, U, N], U),
        ([U, C, N], U),
        ([V, C], V),
        ([V, C, C], C),
    ],
)
def test_the_majority(names, chosen):
    found = majority(names)
    assert names[found] == chosen
    assert found == names.index(chosen)
