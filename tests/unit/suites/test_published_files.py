"""A clone of the published repository: its rows are found below any of its folders, and nothing else is taken for rows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from row_files import coexisting, conditional, folder, long_hop, persona, write

from pytest_memfail.cli import main
from pytest_memfail.core import Folders, RowError, UsageError
from pytest_memfail.suites import HaystackFinder, TaskRequest, load_tasks, validate
from pytest_memfail.suites.memfail import MEMFAIL_TASKS

DATA = Path(__file__).parents[4] / "shared" / "data" / "memfail"
PLACES = {
    "conditional_facts_easy": "conditional_facts/easy/conditional_facts_dataset_easy.csv",
    "conditional_facts_hard": "conditional_facts/hard/conditional_facts_dataset_hard.csv",
    "coexisting_facts": "coexisting_facts/coexisting_facts_dataset.csv",
    "persona_retrieval": "custom_persona_retrieval/persona_dataset.csv",
    "long_hop": "long_hop/long_hop_chains.csv",
}
RAW = (
    "conditional_facts/easy/conditional_facts_dataset_raw.csv",
    "conditional_facts/hard/conditional_facts_dataset_raw.csv",
    "coexisting_facts/coexisting_facts_dataset_raw.csv",
    "custom_persona_retrieval/misleading_persona_dataset_raw.csv",
)
ROWS = {"conditional_facts": conditional, "coexisting_facts": coexisting, "custom_persona_retrieval": persona}


def laid_out(clone, source):
    """Lay the files of a flat folder out as the published repository does, beside raw rows and files that are no rows."""
    rows = clone / "datasets"
    for name, place in PLACES.items():
        (rows / place).parent.mkdir(parents=True)
        shutil.copy(source / f"{name}.csv", rows / place)
    for place in RAW:
        write(rows / place, ROWS[place.partition("/")[0]](99))
    (rows / "long_hop" / "long_hop_chains_meta.json").write_text(json.dumps({"hop_count": 3}))
    (rows / "README.md").write_text("How the rows were made.\n")
    (clone / "results.csv").write_text("system,k,success\nmem0,5,0.35\n")
    return clone


@pytest.fixture
def flat(tmp_path):
    (tmp_path / "flat").mkdir()
    rows = folder(tmp_path / "flat")
    (rows / "updated_facts.csv").unlink()
    return rows


@pytest.fixture
def clone(tmp_path, flat):
    return laid_out(tmp_path / "memfail", flat)


def content(data):
    return {task.name: (task.data_hash, [q.id for q in task.questions]) for task in load_tasks(TaskRequest(data=data))}


@pytest.mark.parametrize("place", ["memfail", "memfail/datasets", "."])
def test_the_published_layout_is_read_as_the_flat_one(tmp_path, flat, clone, place):
    wanted = content(flat)
    shutil.rmtree(flat)
    assert tuple(wanted) == MEMFAIL_TASKS
    assert content(tmp_path / place) == wanted


@pytest.mark.parametrize("place", ["memfail", "memfail/datasets"])
def test_it_is_validated_as_the_flat_one(tmp_path, flat, clone, place, capsys):
    def findings(data):
        return sorted((finding.is_error, finding.line or 0, finding.problem) for finding in validate(data))

    assert findings(tmp_path / place) == findings(flat) != []
    assert main(["validate", str(tmp_path / place)]) == 0
    assert PLACES["conditional_facts_hard"] in capsys.readouterr().out


def test_one_of_its_folders_holds_one_task(clone):
    assert list(content(clone / "datasets" / "long_hop")) == ["long_hop"]
    assert list(content(clone / "datasets" / "conditional_facts" / "hard")) == ["conditional_facts_hard"]


def test_published_names_in_one_folder(tmp_path, flat):
    for name, place in PLACES.items():
        (flat / f"{name}.csv").rename(flat / Path(place).name)
    assert tuple(content(flat)) == MEMFAIL_TASKS


def test_files_with_the_names_of_tasks_take_precedence(flat, clone):
    shutil.copy(flat / "long_hop.csv", clone / "datasets" / "long_hop.csv")
    assert list(content(clone)) == ["long_hop"]


def test_two_files_of_a_task_are_named(clone):
    again = write(clone / "datasets" / "long_hop" / "chains_v2.csv", long_hop(7))
    for read in (content, validate):
        with pytest.raises(
            UsageError, match=r"got two files for long_hop, .*; name the right one long_hop\.csv"
        ) as error:
            read(clone)
        assert str(again) in str(error.value)
        assert "\n" not in str(error.value)


def test_easy_or_hard_must_be_said(tmp_path):
    path = write(tmp_path / "rules.csv", conditional())
    with pytest.raises(UsageError, match=r"conditional_facts_easy and .*_hard, expected 'easy' or 'hard' in its name"):
        content(tmp_path)
    path.rename(tmp_path / "rules_hard.csv")
    assert list(content(tmp_path)) == ["conditional_facts_hard"]


def test_a_file_that_lacks_a_column_is_not_left_out(clone):
    row = coexisting()
    del row["question"]
    write(clone / "datasets" / PLACES["coexisting_facts"], row)
    with pytest.raises(RowError, match=r"coexisting_facts_dataset\.csv:1: question: no such column"):
        content(clone)


def test_only_raw_rows_are_no_rows(tmp_path):
    write(tmp_path / "coexisting_facts_dataset_raw.csv", coexisting())
    with pytest.raises(UsageError, match=r"no rows of the task"):
        content(tmp_path)


def test_a_haystack_comes_from_there(clone):
    found = HaystackFinder(Folders(clone)).find("long_hop", clone)
    assert found.data_hash == content(clone)["long_hop"][0]


@pytest.mark.skipif(not DATA.is_dir(), reason="the published rows are not beside this repository")
@pytest.mark.parametrize("place", ["memfail", "memfail/datasets"])
def test_the_published_rows(tmp_path, place):
    laid_out(tmp_path / "memfail", DATA)
    assert content(tmp_path / place) == content(DATA)
    assert len(validate(tmp_path / place)) == len(validate(DATA)) > 0
