"""The rows that ship with the package."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from pytest_memfail.core import UsageError
from pytest_memfail.suites import TaskRequest, load_tasks, shipped, shipped_data, validate
from pytest_memfail.suites.memfail import TASK_NAMES

PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


@pytest.fixture(scope="module", params=["ours", "paper"])
def tasks(request):
    return load_tasks(TaskRequest(protocol=request.param))


def test_all_five_tasks_are_there(tasks):
    assert tuple(task.name for task in tasks) == TASK_NAMES
    assert all(task.questions and task.description and len(task.data_hash) == 64 for task in tasks)


def test_the_counts_are_those_of_the_data_card(tasks):
    counts = json.loads((shipped_data() / "generation_config.json").read_text(encoding="utf-8"))["counts"]
    assert {f"{task.name}.csv": len(task.questions) for task in tasks} == {
        name: count["questions"] for name, count in counts.items()
    }


def test_every_question_expects_facts_that_exist(tasks):
    for task in tasks:
        for question in task.questions:
            assert question.evidence
            assert set(question.evidence) <= set(task.evidence)


def test_every_expected_fact_belongs_to_a_question(tasks):
    for task in tasks:
        assert {name for question in task.questions for name in question.evidence} == set(task.evidence)


def test_every_expected_fact_was_said_in_a_stored_conversation(tasks):
    for task in tasks:
        said = {c.id: c.text for store in task.stores for c in store.read_conversations()}
        assert [f.id for f in task.evidence.values() if f.source not in said[f.conversation_id]] == []


def test_ids_are_unique_and_can_stand_in_a_node_id_and_a_file_name(tasks):
    for task in tasks:
        ids = [q.id for q in task.questions]
        assert len(set(ids)) == len(ids)
        assert [name for name in [*ids, *(s.id for s in task.stores)] if not PLAIN.fullmatch(name)] == []


def test_the_first_wording_of_every_detail_stands_in_its_source():
    details = 0
    for task in load_tasks(TaskRequest()):
        for fact in task.evidence.values():
            for detail in fact.claim.listed:
                details += 1
                assert detail.wordings[0].casefold() in fact.source.casefold(), (fact.id, detail.wordings[0])
    assert details > 100


def test_the_rows_have_no_fault():
    assert list(map(str, validate(shipped_data()))) == []


def test_easy_and_hard_ask_the_same_of_the_same_rules():
    easy, hard = load_tasks(TaskRequest(("conditional_*",)))
    asked = sorted((q.text, q.gold) for q in easy.questions)
    assert asked
    assert asked == sorted((q.text, q.gold) for q in hard.questions)


def test_no_letter_is_right_far_more_often_than_others():
    (task,) = load_tasks(TaskRequest(("long_hop",)))
    counts = Counter(q.letter for q in task.questions)
    assert set(counts) == set("ABCDE")
    assert max(counts.values()) - min(counts.values()) <= 2


def test_an_installation_without_rows_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "__file__", str(tmp_path / "package" / "suites" / "shipped.py"))
    with pytest.raises(UsageError, match="reinstall pytest-memfail or give --memfail-data"):
        shipped_data()


def test_the_rows_inside_a_wheel_come_first(tmp_path, monkeypatch):
    for folder in (tmp_path / "package" / "_datasets", tmp_path / "datasets"):
        folder.mkdir(parents=True)
        (folder / "generation_config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(shipped, "__file__", str(tmp_path / "package" / "suites" / "shipped.py"))
    assert shipped_data() == tmp_path / "package" / "_datasets"


def test_the_data_card_names_every_file():
    card = (shipped_data() / "README.md").read_text(encoding="utf-8")
    for path in shipped_data().rglob("*"):
        inside = path.relative_to(shipped_data()).parts
        if inside[0] == "suites" and path.is_file():  # a row of the table may name several files of a suite
            rows = [line for line in card.splitlines() if line.startswith(f"| `{inside[1]}/")]
            assert any(re.search(rf"[`/]{re.escape(path.name)}`", row) for row in rows), path
        elif len(inside) == 1 and path.name != "README.md":
            assert f"`{path.name}{'/' if path.is_dir() else ''}`" in card, path
