"""The pairs of look-alike facts: their stores, their faults, and the share that leaks."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_memfail.core import Fact, Probe, StageResult, SuiteRequest, distractor_verdict
from pytest_memfail.suites.isolation import SUITE
from pytest_memfail.suites.load import DEFAULT, TaskRequest, choose_suites, load_tasks, with_named
from pytest_memfail.suites.shipped import shipped_sample

PAIR = {
    "id": "van",
    "question": "Where is my van?",
    "users": [
        {"said": "My van is on level 3.", "answer": ["level 3"]},
        {"said": "My van is on level 5.", "answer": ["level 5"]},
    ],
}
(MEASURE,) = SUITE.measures


def written(tmp_path, *pairs):
    path = tmp_path / "isolation.jsonl"
    path.write_text("\n".join(map(json.dumps, pairs)), encoding="utf-8")
    return tmp_path


def test_each_user_has_a_store_with_the_other_beside_it():
    (task,) = SUITE.load(SuiteRequest())
    first, second = task.stores
    assert len(task.questions) == 2 * 46
    assert {c.text for c in first.read_conversations()} == {c.text for c in second.beside}
    assert {c.text for c in second.read_conversations()} == {c.text for c in first.beside}
    for store in task.stores:
        assert isinstance(store.steps[-1], Probe)
        for question in store.questions:
            own, other = (task.evidence[name] for name in question.evidence)
            assert (own.is_distractor, other.is_distractor) == (False, True)
            assert own.conversation_id in {c.id for c in store.read_conversations()}
            assert other.conversation_id in {c.id for c in store.beside}


def test_a_run_has_the_pairs_only_if_it_names_them():
    assert "isolation" not in {task.name for task in load_tasks(TaskRequest())}
    assert with_named(DEFAULT, ("long_hop",)) == DEFAULT
    suites = choose_suites(with_named(DEFAULT, ("isolation",)))
    assert [task.name for task in load_tasks(TaskRequest(("isolation",), suites=suites))] == ["isolation"]


def test_our_pairs_have_no_fault():
    assert list(map(str, SUITE.faults(shipped_sample("isolation")))) == []


@pytest.mark.parametrize(
    ("user", "change", "said"),
    [
        (0, {"answer": ["level 9"]}, "users.0.answer: got ['level 9'], expected a wording that the user says"),
        (
            1,
            {"said": "Not on level 3, my van is on level 5."},
            "users.0.answer: got ['level 3'], which the other user says too",
        ),
        (1, {"colour": "red"}, "users.1.colour: "),
    ],
)
def test_a_value_is_of_one_user_alone(tmp_path, user, change, said):
    users = [*PAIR["users"]]
    users[user] = {**users[user], **change}
    faults = list(map(str, SUITE.faults(written(tmp_path, {**PAIR, "users": users}))))
    assert len(faults) == 1
    assert said in faults[0]


def test_an_id_is_used_once(tmp_path):
    assert [fault.place for fault in SUITE.faults(written(tmp_path, PAIR, PAIR))] == ["pair van: id"] * 2


def asked(*facts):
    class Asked:
        pass

    Asked.facts = facts
    return Asked


FACT = Fact("x", "unwanted", "a", "a", "c", is_distractor=True, may_hold_part=True)
HELD, LOST = StageResult("passed"), StageResult("failed")
LISTED = distractor_verdict(FACT, HELD, HELD)
SHOWN = distractor_verdict(FACT, LOST, HELD, HELD)
APART = distractor_verdict(FACT, LOST, HELD, LOST)
EMPTY = distractor_verdict(FACT, LOST, HELD, LOST, proves_nothing=True)
OWN = replace(LISTED, is_distractor=False)


@pytest.mark.parametrize(
    ("facts", "value", "note"),
    [
        ([LISTED, SHOWN, APART, APART], 0.5, "2 of 4: 1 listed, 1 only shown"),
        ([APART, EMPTY], 0.0, "0 of 1"),
        ([EMPTY], None, "the stores are empty"),
        ([distractor_verdict(FACT, StageResult("ungraded"), HELD)], None, "no question was judged"),
    ],
)
def test_the_share_of_leaks(facts, value, note):
    score = MEASURE.of([asked(OWN, fact) for fact in facts])
    assert (score.value, score.lacks or score.note) == (value, note)
