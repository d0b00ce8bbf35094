"""The shipped cases: rows are unique, splits are disjoint, and size and balance match the README."""

from __future__ import annotations

import csv
import json
from collections import Counter

import pytest

from pytest_memfail.calibration import STYLES, Case, balance, cases_folder, read_cases, shipped_cases
from pytest_memfail.report import data_report
from pytest_memfail.suites import shipped_data
from pytest_memfail.suites.memfail import SUITE as MEMFAIL, TASK_NAMES

FOLDER = cases_folder(MEMFAIL)
needs_train = pytest.mark.skipif(not (FOLDER / "train.jsonl").is_file(), reason="a wheel has no train.jsonl")


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return read_cases(MEMFAIL, shipped_cases(MEMFAIL, ("train", "dev", "test")))


def shipped_ids() -> set[str]:
    found = set()
    for task in TASK_NAMES:
        with (shipped_data() / f"{task}.csv").open(encoding="utf-8", newline="") as file:
            found |= {row["id"] for row in csv.DictReader(file)}
    return found


@needs_train
def test_every_row_stands_once_and_is_used(cases: list[Case]) -> None:
    rows = [json.loads(line) for line in (FOLDER / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    ids = [row["id"] for row in rows]
    assert len(ids) == len(set(ids))
    assert len({json.dumps(row["row"], sort_keys=True) for row in rows}) == len(rows)
    assert set(ids) == {case.row for case in cases if case.author != "shipped"}


@needs_train
def test_cases_on_shipped_rows_are_in_dev_alone(cases: list[Case]) -> None:
    shipped = shipped_ids()
    assert {case.split for case in cases if case.row in shipped} == {"dev"}


@needs_train
def test_no_row_and_no_annotator_is_in_two_splits(cases: list[Case]) -> None:
    for of in (lambda case: (case.task, case.row), lambda case: case.author):
        splits = {}
        for case in cases:
            splits.setdefault(of(case), set()).add(case.split)
        assert all(len(found) == 1 for found in splits.values())


@needs_train
def test_there_is_as_much_as_was_asked_for(cases: list[Case]) -> None:
    whole = balance(cases)[-1]
    assert whole.facts >= 6000
    assert whole.rows >= 1200
    assert whole.domains >= 40
    kinds = Counter(evidence.kind for case in cases for evidence in case.evidence)
    assert all(kinds[kind] >= 800 for kind in ("rule", "preference", "persona", "link", "fact", "point"))
    invented = {case.row for case in cases if case.author != "shipped"}
    assert len(invented) >= 2 * whole.rows / 3
    assert whole.with_details <= whole.rows / 3
    assert set(whole.styles) == {*STYLES, ""}
    assert sum(len(case.labels) for case in cases if case.split == "test") >= 1200


@needs_train
def test_each_new_row_is_written_up_in_two_styles_or_more(cases: list[Case]) -> None:
    styles: dict[str, set[str]] = {}
    for case in cases:
        if case.style:
            styles.setdefault(case.row, set()).add(case.style)
    once = [row for row, found in styles.items() if len(found) < 2]
    assert len(once) <= 0.02 * len(styles)


def test_the_report_has_a_column_for_each_split() -> None:
    lines = list(data_report(balance(read_cases(MEMFAIL, shipped_cases(MEMFAIL, ("dev",))))))
    assert lines[0].split() == ["dev"]
    assert any(line.startswith("facts by label") for line in lines)
    assert max(map(len, lines)) <= 100
