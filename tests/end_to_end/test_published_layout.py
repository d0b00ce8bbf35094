"""Conformance: the published rows, laid out as the published harness lays them out (`--memfail-protocol=paper`)."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from pytest_memfail.suites import TaskRequest, load_tasks, validate
from pytest_memfail.suites.memfail import MEMFAIL_TASKS
from pytest_memfail.suites.memfail.plan import TASKS

DATA = Path(__file__).parents[3] / "shared" / "data" / "memfail"

pytestmark = pytest.mark.skipif(
    not (DATA / "layout_seed42.json").is_file(),
    reason=f"the published MemFail rows are not redistributed with this project; looked in {DATA}",
)

LAYOUT_NAMES = {
    "conditional_facts_easy": "conditional_easy",
    "conditional_facts_hard": "conditional_hard",
    "coexisting_facts": "coexisting",
    "persona_retrieval": "persona",
    "long_hop": "long_hop",
}


@pytest.fixture(scope="module")
def layouts():
    return json.loads((DATA / "layout_seed42.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tasks():
    return {task.name: task for task in load_tasks(TaskRequest(data=DATA, protocol="paper", seed=42))}


@pytest.fixture(scope="module")
def rows():
    return {name: TASKS[name].read(DATA / f"{name}.csv") for name in MEMFAIL_TASKS}


def stored_texts(task):
    return [
        [message.content for message in conversation.messages] for conversation in task.stores[0].read_conversations()
    ]


def test_all_questions_are_there(tasks):
    assert [len(tasks[name].questions) for name in MEMFAIL_TASKS] == [100, 100, 100, 300, 92]
    assert sum(len(task.questions) for task in tasks.values()) == 692


@pytest.mark.parametrize("name", MEMFAIL_TASKS)
def test_every_task_is_one_store_filled_before_it_is_asked(tasks, layouts, name):
    (store,) = tasks[name].stores
    groups = layouts[LAYOUT_NAMES[name]]
    expected = groups["storage_convs"] if name != "coexisting_facts" else sum(map(len, groups["storage_rows"]))
    assert len(store.read_conversations()) == expected
    assert len(store.steps) == len(store.read_conversations()) + 1


@pytest.mark.parametrize("name", ["conditional_facts_easy", "conditional_facts_hard", "persona_retrieval"])
def test_essays_are_stored_in_the_published_order(tasks, layouts, rows, name):
    expected = [rows[name].rows[row].entity_facts for (row,) in layouts[LAYOUT_NAMES[name]]["storage_rows"]]
    assert stored_texts(tasks[name]) == expected


@pytest.mark.parametrize("name", ["conditional_facts_easy", "conditional_facts_hard", "coexisting_facts"])
def test_questions_are_asked_in_the_published_order(tasks, layouts, rows, name):
    order = layouts[LAYOUT_NAMES[name]]["question_rows"]
    assert [q.id for q in tasks[name].questions] == [rows[name].ids[row] for row in order]
    assert [q.text for q in tasks[name].questions] == [rows[name].rows[row].question for row in order]


def test_statements_are_stored_one_by_one_in_the_published_order(tasks, layouts, rows):
    """The published layout is of ten statements to a conversation, taken in this order: pack ours alike and compare."""
    stored = stored_texts(tasks["coexisting_facts"])
    assert all(len(texts) == 1 for texts in stored)
    row_of = {fact: i for i, row in enumerate(rows["coexisting_facts"].rows) for fact in row.preference_facts}
    groups = []
    for (text,) in stored:
        for group in groups:
            if len(group) < 10 and row_of[text] not in map(row_of.get, group):
                group.append(text)
                break
        else:
            groups.append([text])
    assert groups == [
        [rows["coexisting_facts"].rows[row].preference_facts[fact] for row, fact in group]
        for group in layouts["coexisting"]["storage_rows"]
    ]


def test_persona_questions_are_asked_in_the_published_order(tasks, layouts, rows):
    essays = rows["persona_retrieval"].rows
    expected = [essays[row].questions[i].text for row, i in layouts["persona"]["question_rows"]]
    assert [q.text for q in tasks["persona_retrieval"].questions] == expected


def test_links_are_stored_one_by_one_in_the_published_order(tasks, layouts, rows):
    chains = dict(zip(rows["long_hop"].ids, rows["long_hop"].rows, strict=True))
    expected = [
        [chains[row_id].facts[fact] for row_id, fact in group] for group in layouts["long_hop"]["storage_items"]
    ]
    assert stored_texts(tasks["long_hop"]) == expected


def test_chains_are_asked_in_the_published_order(tasks, layouts):
    assert [q.id for q in tasks["long_hop"].questions] == layouts["long_hop"]["question_ids"]


@pytest.mark.parametrize("name", MEMFAIL_TASKS)
def test_the_files_hash_is_in_the_task(tasks, name):
    assert tasks[name].data_hash == hashlib.sha256((DATA / f"{name}.csv").read_bytes()).hexdigest()


KNOWN_FAULTS = [
    ("conditional_facts_easy", None, r"unbalanced: 32 yes, 68 no; always answering no scores 68%"),
    ("conditional_facts_easy", int, r"is 'yes', but the ground truth begins with 'No'"),
    ("conditional_facts_hard", int, r"is 'no', but the ground truth begins with 'Yes'"),
    ("conditional_facts_hard", int, r"is 'yes', but the ground truth begins with 'No'"),
    ("conditional_facts_hard", int, r"a hard essay uses the connective 'whenever'"),
    ("conditional_facts_hard", int, r"a hard essay uses the connective 'only when'"),
    ("conditional_facts_hard", None, r"the essay never states the condition's number in 36 of 54 rows with one"),
    ("conditional_facts_hard", None, r"the essay states no exclusivity in \d+ of \d+ rows"),
    ("conditional_facts_hard", None, r"easy and hard are not paired: 0 of 100 rules .*, 0 behaviours"),
    ("persona_retrieval", None, r"137 of 157 misleading questions name someone who has an essay in the same store"),
    ("persona_retrieval", None, r"141 of 143 direct questions .* several essays \(27 names for 100 essays\)"),
    ("persona_retrieval", None, r"20 of 157 misleading questions name a person none of whose names is in the store"),
    ("persona_retrieval", None, r"a single word in the question alone give 73% of who is misled"),
    ("persona_retrieval", None, r"naive Bayes\) in the question alone give 74% of who is misled"),
    ("long_hop", int, r"does not contain its anchor 'talks rapidly'"),
    ("long_hop", int, r"does not contain its anchor 'loses her voice'"),
    ("long_hop", int, r"does not contain its anchor 'handwrites letters'"),
    ("long_hop", None, r"choosing an option that the store holds about the person asked about is right in 91%"),
    ("long_hop", None, r"choosing an option that the store holds is right in 87%"),
    ("long_hop", None, r"choosing the option that is offered least often is right in 35%"),
]
"""File, whether a line is named, and the message."""


@pytest.fixture(scope="module")
def findings():
    return validate(DATA)


@pytest.mark.parametrize(("name", "line", "message"), KNOWN_FAULTS)
def test_a_known_fault_is_reported_once(findings, name, line, message):
    found = [f for f in findings if f.file == str(DATA / f"{name}.csv") and re.search(message, f.problem)]
    assert len(found) == 1
    assert not found[0].is_error
    assert isinstance(found[0].line, line or type(None))


def test_nothing_else_is_reported(findings):
    unknown = [str(f) for f in findings if not any(re.search(message, f.problem) for _, _, message in KNOWN_FAULTS)]
    assert unknown == []
    assert len(findings) == len(KNOWN_FAULTS)
