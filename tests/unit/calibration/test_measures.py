"""The measures of agreement, compared with values computed by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pytest_memfail.calibration import Judged, Label, measure, mutation_score
from pytest_memfail.core import Fact


def judged(pairs, task="long_hop", *, confidence=0.9, error=None, kind=""):
    """Return a result with one fact per pair of label(s) and prediction."""
    labels = tuple(Label(label=given.split("|")[0], accept=tuple(given.split("|")), kind=kind) for given, _ in pairs)
    evidence = tuple(Fact(str(i), "link", "text", "source", "c") for i, _ in enumerate(pairs))
    about = {"split": None, "style": "", "row": "", "is_of_question": False}
    case = SimpleNamespace(id="case", task=task, labels=labels, evidence=evidence, **about)
    if error:
        return Judged(case, (), error=error)
    n = len(pairs)
    return Judged(case, tuple(said for _, said in pairs), ("because",) * n, (confidence,) * n, 0.002)


PAIRS = [
    ("ok", "ok"),
    ("ok", "ok"),
    ("ok", "summary_error"),
    ("not_stored|summary_error", "summary_error"),
    ("not_stored", "not_stored"),
    ("not_retrieved", "ok"),
]


def test_agreement_by_hand():
    found = measure([judged(PAIRS)])["overall"]
    assert found["facts"] == 6
    assert found["accuracy"] == pytest.approx(3 / 6)
    assert found["accepted"] == pytest.approx(4 / 6, abs=1e-4)
    assert found["ok_versus_failure"] == pytest.approx(4 / 6, abs=1e-4)
    # ok: 2*2/(3+3); not_stored: 2*1/(2+1); not_retrieved: 0; summary_error never is the label
    assert found["macro_f1"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3, abs=1e-4)
    # agreed 3/6; by chance (3*3 + 2*1 + 1*0) / 36
    assert found["kappa"] == pytest.approx((3 / 6 - 11 / 36) / (1 - 11 / 36), abs=1e-4)
    assert found["confusion"]["ok"] == {"ok": 2, "not_stored": 0, "summary_error": 1, "not_retrieved": 0}
    assert found["median_ms"] == 2.0


def test_a_case_that_the_judge_failed_on_counts_neither_as_right_nor_as_wrong():
    found = measure([judged([("ok", "ok")]), judged([("ok", "")], error="the judge's storage() raised")])
    assert found["overall"]["facts"] == 1
    assert found["overall"]["accuracy"] == 1.0
    assert found["errors"] == [{"case_id": "case", "error": "the judge's storage() raised"}]


def test_an_ungraded_fact_agrees_with_no_label():
    found = measure([judged([("ok", "ungraded")])])["overall"]
    assert found["accepted"] == 0.0
    assert found["confusion"]["ok"]["ungraded"] == 1


def test_bands_of_confidence():
    found = measure([judged([("ok", "ok")], confidence=0.97), judged([("ok", "not_stored")], confidence=0.6)])
    assert [(band["from"], band["facts"], band["accepted"]) for band in found["bands"]] == [
        (0.95, 1, 1.0),
        (0.0, 1, 0.0),
    ]


def test_a_judge_that_gives_no_confidence_has_no_bands():
    assert measure([judged(PAIRS, confidence=None)])["bands"] == []


def test_disagreements_say_what_was_expected_and_why():
    (one, other) = measure([judged(PAIRS)])["disagreements"]
    assert (one["fact"], one["label"], one["predicted"], one["reason"]) == (2, "ok", "summary_error", "because")
    assert other["label"] == "not_retrieved"


def test_tasks_apart():
    found = measure([judged([("ok", "ok")], "long_hop"), judged([("ok", "not_stored")], "persona_retrieval")])
    assert {task: row["accuracy"] for task, row in found["tasks"].items()} == {
        "long_hop": 1.0,
        "persona_retrieval": 0.0,
    }


def test_the_mutation_score_leaves_out_what_has_no_fault():
    assert mutation_score([judged([("ok", "not_stored"), ("not_stored", "not_stored")])]) == 1.0
    assert mutation_score([judged([("ok", "ok")])]) is None


def test_no_case_is_no_number():
    found = measure([])["overall"]
    assert found["facts"] == 0
    assert {found[key] for key in ("accuracy", "accepted", "macro_f1", "kappa", "median_ms")} == {None}
