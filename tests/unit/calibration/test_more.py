"""The further cases and pairs, on which the judges were trained and measured."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from pytest_memfail.calibration import cases_folder, read_cases, shipped_cases
from pytest_memfail.suites import built_in_suite

MEMFAIL = built_in_suite("memfail")
MORE = cases_folder(MEMFAIL) / "more"
pytestmark = pytest.mark.skipif(not MORE.is_dir(), reason="a wheel has no more/")


@pytest.fixture(scope="module")
def cases():
    """Return the cases of each file."""
    return {name: read_cases(MEMFAIL, [MORE / f"{name}.jsonl"]) for name in ("train", "test2", "test3")}


@pytest.fixture(scope="module")
def fitted():
    """Return the cases that the judge was fitted on first."""
    return read_cases(MEMFAIL, shipped_cases(MEMFAIL, ("train",)))


def test_the_figures_of_the_page_are_those_of_the_files(cases):
    page = (MORE / "README.md").read_text(encoding="utf-8")
    facts = {name: sum(len(case.labels) for case in some) for name, some in cases.items()}
    rows = {name: len({case.row for case in some}) for name, some in cases.items()}
    assert f"{facts['train']:,} labelled facts on {rows['train']:,} rows" in page
    for name in ("test2", "test3"):
        assert f"{facts[name]} facts on {rows[name]} rows" in page


def test_no_row_and_no_writer_is_in_two_splits(cases, fitted):
    measured = read_cases(MEMFAIL, shipped_cases(MEMFAIL, ("dev", "test")))
    for of in (lambda case: case.row, lambda case: case.author):
        train, test2, test3 = (set(map(of, cases[name])) for name in ("train", "test2", "test3"))
        assert test3.isdisjoint(test2)
        assert (test2 | test3).isdisjoint(map(of, [*fitted, *measured]))
        assert train.isdisjoint([*test2, *test3, *map(of, measured)])


@pytest.mark.parametrize(
    ("name", "called", "most"), [("pairs", "contrast pairs", 2), ("near", "pairs of near copies", 1)]
)
def test_each_pair_edits_what_a_case_of_train_keeps(cases, fitted, name, called, most):
    of_train = {case.id: case for case in [*fitted, *cases["train"]]}
    lines = [json.loads(line) for line in (MORE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    page = (MORE / "README.md").read_text(encoding="utf-8")
    assert f"{len(lines):,} {called}" in page
    of_a_fact = Counter((line["case"], line["fact"]) for line in lines)
    assert max(of_a_fact.values()) == most
    if most == 2:
        assert f"{sum(n == 2 for n in of_a_fact.values()):,} facts have a second pair" in page
    for line in lines:
        case = of_train[line["case"]]
        texts = [memory.text for memory in case.listing.memories]
        shown = {memory.text for memory in case.shown}
        label = case.labels[line["fact"]].label
        before = [texts[edit["entry"]] for edit in line["edits"]]
        assert label == "not_retrieved" or (label == "ok" and shown.issuperset(before))
        damaged, same = ([edit[form] for edit in line["edits"]] for form in ("damaged", "same"))
        assert before != damaged != same != before
