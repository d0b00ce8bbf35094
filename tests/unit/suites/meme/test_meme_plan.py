"""suites/meme/plan.py: what is stored, what is asked when, and the facts that each question needs."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from episodes import EPISODE, TURNS, episode, write

from pytest_memfail.core import Ingest, Probe, SuiteRequest
from pytest_memfail.suites.meme import SUITE


@pytest.fixture
def task(tmp_path):
    write(tmp_path)
    (task,) = SUITE.load(SuiteRequest(tmp_path))
    return task


def facts(task, question):
    (found,) = (q for q in task.questions if q.id == question)
    return [task.evidence[each] for each in found.evidence]


def test_the_probes_come_after_their_sessions(task):
    (store,) = task.stores
    kinds = ["S" if isinstance(step, Ingest) else "P" for step in store.steps]
    assert "".join(kinds) == "SSSSPSSSP"
    before, after = (step for step in store.steps if isinstance(step, Probe))
    assert [q.id for q in before.questions] == ["before-cas-commute", "before-abs-gym", "before-del-door_code"]
    assert [q.part for q in after.questions] == [
        "recall",
        "aggregation",
        "tracking",
        "deletion",
        "cascade",
        "absence",
    ]
    assert {q.asked_at for q in after.questions} == {datetime(2023, 3, 20, 20, 0, tzinfo=timezone.utc)}


def test_messages_have_the_time_of_their_session(task):
    conversation = task.stores[0].read_conversations()[1]
    assert {m.timestamp for m in conversation.messages} == {conversation.timestamp}
    assert [m.role for m in conversation.messages] == ["user", "assistant"]
    assert all(
        "cas" not in c.id and "evidence" not in c.id and "pl_" not in c.id for c in task.stores[0].read_conversations()
    )


def test_questions(task):
    by_id = {q.id: q for q in task.questions}
    cascade = by_id["after-cas-commute"]
    assert (cascade.stratum, cascade.cluster, cascade.kind) == ("PL 1-hop", "pl_001", "cascade")
    assert cascade.needs == ("before-cas-commute",)
    assert cascade.keys == {"values": ["Skarn tram"], "old": "Pell bicycle"}
    assert by_id["after-abs-gym"].keys["old"] == "Torsk Hall"
    assert by_id["after-agg-doctor-gym"].needs == ()
    assert by_id["before-cas-commute"].part == "before"
    assert by_id["after-er-delivery_rule"].stratum == "PL"
    assert len(by_id) == 9
    assert len(set(task.evidence)) == sum(len(q.evidence) for q in task.questions)


def test_kinds_of_facts(task):
    kinds = {q.id: [task.evidence[e].kind for e in q.evidence] for q in task.questions}
    assert kinds == {
        "before-cas-commute": ["value"],
        "before-abs-gym": ["value"],
        "before-del-door_code": ["value"],
        "after-er-delivery_rule": ["verbatim"],
        "after-agg-doctor-gym": ["value", "value"],
        "after-tr-dog_food": ["value", "value", "order"],
        "after-del-door_code": ["deletion"],
        "after-cas-commute": ["change", "dependency"],
        "after-abs-gym": ["change", "dependency"],
    }


def test_a_cascade(task):
    change, rule = facts(task, "after-cas-commute")
    assert (change.gold.value, change.source, change.claim.owner) == ("Marl Couriers", TURNS[5], "employer")
    assert change.claim.replaced == ("Ondwick Freight", "Pell bicycle")
    assert (rule.gold.value, rule.source) == ("Skarn tram", TURNS[1])
    assert rule.gold.condition == "If the user ever leaves Ondwick Freight, the user takes the Skarn tram."
    assert "Ondwick Freight" in rule.gold.depends_on
    assert rule.gold.derived == ("Skarn tram",)
    assert change.text == "The user now works at Marl Couriers. What follows of commute: Skarn tram."


def test_an_absence(task):
    _, rule = facts(task, "after-abs-gym")
    assert (rule.gold.value, rule.gold.derived, rule.source) == ("Torsk Hall", (), TURNS[2])


def test_a_deletion_comes_from_its_request(task):
    (deletion,) = facts(task, "after-del-door_code")
    assert deletion.source == TURNS[6]
    assert deletion.claim.replaced == ("44-Xu",)
    assert deletion.claim.has_ended
    assert deletion.conversation_id == task.stores[0].read_conversations()[6].id


def test_what_is_not_told_before_the_probe_is_no_fact_of_it(task):
    (value,) = facts(task, "before-cas-commute")
    assert (value.gold.value, value.gold.others) == ("Pell bicycle", ("Skarn tram",))


def test_ids_are_stable_and_independent_of_other_episodes(tmp_path, task):
    write(tmp_path, episode(episode_id="sw_002", domain="software"), EPISODE)
    (both,) = SUITE.load(SuiteRequest(tmp_path))
    assert set(task.evidence) <= set(both.evidence)
    assert task.stores[0].read_conversations() == both.stores[1].read_conversations()


def without_facts(made):
    for session in made["sessions"]:
        session["gold_facts"] = None
    return made


def test_facts_are_found_without_annotations(tmp_path):
    """The published file may file a fact otherwise: then the words of the user decide."""
    write(tmp_path, without_facts(episode()))
    (task,) = SUITE.load(SuiteRequest(tmp_path))
    change, rule = facts(task, "after-cas-commute")
    assert (change.source, rule.source) == (TURNS[5], TURNS[1])
    (deletion,) = facts(task, "after-del-door_code")
    assert deletion.source == TURNS[6]
    assert facts(task, "after-er-delivery_rule")[0].source == TURNS[0]


def test_two_hops(tmp_path):
    made = episode()
    turn = "If I take the Skarn tram, my lunch becomes Onk soup. Now it is Relle bread."
    made["sessions"][2]["conversation"].append({"role": "user", "content": turn})
    made["sessions"][2]["gold_facts"] += [
        {"entity": "lunch", "value": "Relle bread", "fact_text": "Lunch is Relle bread.", "conveyed_in_turn": 2},
        {"entity": "lunch", "value": "Onk soup", "fact_text": "If the user takes the Skarn tram, lunch is Onk soup."},
    ]
    made["dependency_edges_used"].append({"source": "commute", "target": "lunch", "hop": 2})
    item = {"task_type": "Cas", "entity": "lunch", "question": "What is my lunch?", "hop": 2}
    made["before_questions"]["questions"].append(item | {"expected_answer": "Relle bread"})
    made["after_questions"]["questions"].append(item | {"gold_answer": "Onk soup"})
    write(tmp_path, made)
    (task,) = SUITE.load(SuiteRequest(tmp_path))
    found = facts(task, "after-cas-lunch")
    assert [(f.kind, f.gold.value) for f in found] == [
        ("change", "Marl Couriers"),
        ("dependency", "Onk soup"),
        ("dependency", "Skarn tram"),
    ]
    assert found[2].gold.derived == ("Onk soup", "Skarn tram")
