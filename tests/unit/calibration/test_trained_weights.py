"""The shipped weights belong to the shipped data and reach the documented accuracy on the dev split."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_memfail.calibration import (
    cases_folder,
    data_hash,
    judge_cases,
    measure,
    mutation_score,
    planted_cases,
    read_cases,
    shipped_cases,
)
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.judges.encoder import FOLDER, NAMES, weights_digest
from pytest_memfail.judges.offline.features import MEANINGS
from pytest_memfail.judges.offline.model import shipped_model
from pytest_memfail.report import model_card
from pytest_memfail.suites import TaskRequest, load_tasks
from pytest_memfail.suites.memfail import MEMFAIL_TASKS, SUITE as MEMFAIL
from pytest_memfail.suites.memfail.plants import PLANTS

REPOSITORY = Path(__file__).parents[3]
CARD = REPOSITORY / "docs" / "model_card.md"
PAGE = REPOSITORY / "docs" / "judges.md"
FLOORS = {
    "conditional_facts_easy": 0.7,
    "conditional_facts_hard": 0.59,
    "coexisting_facts": 0.66,
    "persona_retrieval": 0.76,
    "long_hop": 0.6,
    "updated_facts": 0.66,
    "points": 0.52,
}
"""The minimum share of accepted labels on dev, a few points below the measured one."""
LEAST_BY_STYLE = 0.45
LEAST = 0.67
PLANTED = 0.92


@pytest.fixture(scope="module")
def dev():
    return measure(judge_cases(OfflineJudge(), read_cases(MEMFAIL, shipped_cases(MEMFAIL, ("dev",)))))


@pytest.mark.parametrize("encoder", [False, True])
def test_the_weights_were_fitted_on_this_data(encoder):
    if not (cases_folder(MEMFAIL) / "train.jsonl").is_file():
        pytest.skip("a wheel has no train.jsonl")
    assert shipped_model(encoder=encoder).header["data"] == data_hash(cases_folder(MEMFAIL)), "run tools/train_judge.py"


def test_the_weights_take_the_features_that_there_are():
    assert shipped_model().features == tuple(MEANINGS)
    assert shipped_model(encoder=True).features == (*MEANINGS, *NAMES)


def test_the_weights_were_fitted_with_this_encoder():
    assert shipped_model(encoder=True).header["encoder"] == weights_digest()
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 25e6


def test_dev_floors_by_task(dev):
    found = {task: dev["tasks"][task]["accepted"] for task in FLOORS}
    assert {task: share for task, share in found.items() if share < FLOORS[task]} == {}
    assert dev["overall"]["accepted"] >= LEAST


def test_dev_floors_by_style(dev):
    assert {style: row["accepted"] for style, row in dev["styles"].items() if row["accepted"] < LEAST_BY_STYLE} == {}


def test_the_model_card_says_what_is_measured(dev):
    again = model_card(shipped_model().header, {"dev": dev})
    section = again[again.index("## dev") :].strip()
    assert section in CARD.read_text(encoding="utf-8")


def test_a_run_says_of_unsure_verdicts_what_is_measured(dev):
    said = json.loads((REPOSITORY / "pytest_memfail" / "report" / "unsure.json").read_bytes())
    assert said["offline"] == dev["unsure"], "run tools/train_judge.py --card"


def test_the_figures_of_the_page_are_those_of_the_model_card():
    _, of_test = re.split(r"^## test\b", CARD.read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE)
    card = set(of_test.partition("\n## ")[0].splitlines())
    page = PAGE.read_text(encoding="utf-8")
    table = re.search(r"<!-- figures of test -->\n(.*?)<!-- end -->", page, re.DOTALL)
    assert table is not None
    rows = [line for line in table[1].splitlines() if line.startswith("| ")]
    assert len(rows) >= 9
    assert [row for row in rows if row not in card] == []


@pytest.mark.parametrize("every", [pytest.param(25, marks=pytest.mark.slow), 150])
def test_planted_faults_on_shipped_rows_are_named(every):
    tasks = load_tasks(TaskRequest(MEMFAIL_TASKS))
    judged = judge_cases(OfflineJudge(), planted_cases(PLANTS, tasks, every=every))
    score = mutation_score(judged)
    assert score is not None
    assert score >= PLANTED
