"""suites/longmemeval/measures.py and kinds.py: accuracies by hand, and the published way to read a grade."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from pytest_memfail.core import Question
from pytest_memfail.suites.longmemeval import SUITE
from pytest_memfail.suites.longmemeval.files import TYPES
from pytest_memfail.suites.longmemeval.kinds import ANSWERS, ROLES

MEASURES = {measure.name: measure.of for measure in SUITE.measures}


def asked(kind: str, right: bool | None, *, name: str = "lme_plain", verdict: str = "correct"):
    """Return the fields of a finished question that the measures read."""
    outcome = {True: "passed", False: "failed", None: "not_reached"}[right]
    return SimpleNamespace(
        part=kind.replace("-", "_"),
        kind=name,
        verdict=verdict if right is not None else "ungraded",
        credited=right,
        answer=SimpleNamespace(outcome=outcome),
        facts=(),
        memory_held=None,
        reply=None if right is None else "reply",
        k=10,
    )


def test_accuracies_over_all_by_type_and_of_abstention():
    questions = [
        *[asked("multi-session", True)] * 3,
        asked("multi-session", False, verdict="not_stored"),
        asked("knowledge-update", True, name="lme_update"),
        asked("knowledge-update", False, name="lme_abstention"),
        asked("temporal-reasoning", True, name="lme_abstention_paper"),
        asked("temporal-reasoning", False, name="lme_temporal", verdict="error"),
    ]
    found = {name: of(questions) for name, of in MEASURES.items()}
    # the error is neither right nor wrong
    assert (found["accuracy"].value, found["accuracy"].n) == (5 / 7, 7)
    assert found["mean_of_types"].value == pytest.approx((3 / 4 + 1 / 2 + 1) / 3)
    assert found["mean_of_types"].note == "of 3 types"
    assert (found["abstention"].value, found["abstention"].note) == (1 / 2, "of 2")
    assert found["accuracy_multi_session"].value == 3 / 4
    assert found["accuracy_single_session_user"].lacks == "no question of single-session-user has a result"


def test_an_answer_that_was_not_graded_leaves_no_figure():
    questions = [asked(kind, True) for kind in TYPES] + [asked(TYPES[0], None)]
    for name in ("accuracy", "mean_of_types", "accuracy_single_session_user"):
        assert MEASURES[name](questions).value is None
        assert "needs" in MEASURES[name](questions).lacks
    assert MEASURES["accuracy_multi_session"](questions).value == 1.0


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("yes", "passed"),
        ("Yes, it does", "passed"),
        ("no", "failed"),
        ("No. (yesterday is wrong)", "passed"),
        ("", "failed"),
    ],
)
def test_under_paper_a_yes_anywhere_counts(said, outcome):
    shown = {}

    async def ask_model(criteria, material, reply, check=None):
        shown.update(material, criteria=criteria)
        return reply(verdict=said)

    question = Question("q", "longmemeval", "What?", "What?", ("red",), (), "lme_plain_paper")
    result = asyncio.run(ANSWERS["lme_plain_paper"].ask(ask_model, question, [], "It is red."))
    assert result.outcome == outcome
    assert shown["reply"] == ["It is red."]
    assert (shown["asked"], shown["right_answer"]) == (["What?"], ["red"])
    assert ROLES["lme_plain"] in shown["criteria"]
