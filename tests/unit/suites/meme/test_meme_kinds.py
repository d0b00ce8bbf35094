"""suites/meme/kinds.py: what memories hold of a fact, and which answers need no model."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from episodes import TURNS, write

from pytest_memfail.core import Ingest, Probe, SuiteRequest, SystemContext
from pytest_memfail.suites.meme import SUITE
from pytest_memfail.systems.bm25 import BM25

KINDS, ANSWERS = SUITE.kinds, SUITE.answers
(OURS,) = SUITE.load(SuiteRequest())


@pytest.fixture
def task(tmp_path):
    write(tmp_path)
    (task,) = SUITE.load(SuiteRequest(tmp_path))
    return task


@pytest.fixture
def facts(task):
    """The facts of a question by its id."""
    by_id = {q.id: q for q in task.questions}
    return lambda question: [task.evidence[each] for each in by_id[question].evidence]


@pytest.fixture
def grade(task):
    """Grade a reply: the outcome and the label, or None where only a model can tell."""
    by_id = {q.id: q for q in task.questions}

    def grade(question, reply):
        asked = by_id[question]
        result = ANSWERS[asked.kind].grade(asked, [task.evidence[e] for e in asked.evidence], reply)
        return None if result is None else (result.outcome, result.label)

    return grade


def found(fact, *texts):
    return KINDS[fact.kind].find(fact, texts)


def held(fact, *texts):
    result = found(fact, *texts)
    return result.present and result.faithful


def probes(store):
    """Each probe with the messages, and with the whole sessions, that were stored before it."""
    messages, sessions = [], []
    for step in store.steps:
        if isinstance(step, Ingest):
            messages += [m.content for m in step.conversation.messages]
            sessions.append("\n".join(f"{m.role}: {m.content}" for m in step.conversation.messages))
        elif isinstance(step, Probe):
            yield step, list(messages), list(sessions)


# -- our own episodes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("store", OURS.stores, ids=lambda store: store.id)
def test_everything_is_found_in_whole_conversations(store):
    for probe, messages, sessions in probes(store):
        for question in probe.questions:
            assert question.evidence
            for each in question.evidence:
                fact = OURS.evidence[each]
                for texts in (messages, sessions):
                    result = KINDS[fact.kind].find(fact, texts)
                    assert (result.present, result.faithful, result.label) == (True, True, None), (each, result)
                    assert not result.vacuous, each
                    assert result.entries, each


def test_nothing_is_found_in_nothing():
    for fact in OURS.evidence.values():
        result = KINDS[fact.kind].find(fact, [])
        if fact.kind == "deletion":
            assert result.vacuous
            assert result.present
        else:
            assert not result.present
            assert result.label is None


@pytest.mark.parametrize("store", OURS.stores, ids=lambda store: store.id)
def test_a_fact_is_lost_with_the_messages_that_mention_it(store):
    for probe, messages, _ in probes(store):
        for question in probe.questions:
            for each in question.evidence:
                fact = OURS.evidence[each]
                if fact.kind in ("order", "deletion"):
                    continue
                value = fact.gold.value.casefold().removeprefix("the ")
                less = [text for text in messages if value not in text.casefold()]
                assert not held(fact, *less), each


def test_a_deletion_is_lost_with_its_request():
    for store in OURS.stores:
        for probe, messages, _ in probes(store):
            for fact in (OURS.evidence[e] for q in probe.questions for e in q.evidence):
                if fact.kind == "deletion":
                    conversation = next(c for c in store.read_conversations() if c.id == fact.conversation_id)
                    said = {m.content for m in conversation.messages}
                    result = found(fact, *(text for text in messages if text not in said))
                    assert (result.present, result.label) == (False, "leaked"), fact.id


def test_the_change_is_the_weak_place_of_a_keyword_search():
    held_of = Counter()
    asked_of = Counter()
    for store in OURS.stores:
        with tempfile.TemporaryDirectory() as folder:
            system = BM25(SystemContext("run", store.id, Path(folder)))
            for step in store.steps:
                if isinstance(step, Ingest):
                    system.store_conversation(step.conversation)
                    continue
                places = {m["text"]: at for at, m in enumerate(system.get_all_memories())}
                for question in step.questions:
                    shown = system.retrieve_memories(question.query, store.read_conversations()[0], 5)
                    texts = sorted((m["text"] for m in shown), key=places.__getitem__)
                    asked_of[question.part] += 1
                    held_of[question.part] += all(held(OURS.evidence[e], *texts) for e in question.evidence)
            system.close()
    assert held_of["before"] / asked_of["before"] > 0.75
    assert held_of["recall"] / asked_of["recall"] > 0.75
    assert held_of["cascade"] / asked_of["cascade"] < 0.25
    assert held_of["absence"] / asked_of["absence"] < 0.25


def test_each_type_and_both_hops_in_each_domain():
    strata = Counter((q.part, q.stratum) for q in OURS.questions if q.part != "before")
    for domain in ("PL", "SW"):
        for part in ("recall", "aggregation", "tracking", "deletion"):
            assert strata[part, domain] >= 4
        for part in ("cascade", "absence"):
            assert {h: strata[part, f"{domain} {h}-hop"] for h in (1, 2)} == {1: 4, 2: 4}


# -- finders -------------------------------------------------------------------------------------------------------------


def test_value(facts):
    (fact,) = facts("before-cas-commute")
    assert held(fact, "Goes to work on a Pell bicycle.")
    assert not found(fact, "Goes to work by bus.").present
    assert not held(fact, "Rides the Pell bicycle and the Skarn tram to work.")
    assert held(fact, "Rides the Pell bicycle; the Skarn tram if the job changes.")
    long = OURS.evidence["pl_901.before-abs-shift_meal.1-value"]
    partly = found(long, "Eats a lentil pot from a hatch on her break.")
    assert (partly.present, partly.faithful) == (True, False)


def test_verbatim(facts):
    (fact,) = facts("after-er-delivery_rule")
    assert held(fact, "Rule: KNOCK twice,\n then wait")
    assert not found(fact, "The user rings.").present
    near = found(fact, "Knock twice and then wait.")
    assert (near.present, near.faithful) == (True, False)


def test_order(facts):
    *_, order = facts("after-tr-dog_food")
    assert order.kind == "order"
    assert held(order, "The dog eats Brellin.", "The dog eats Vask.")
    assert not held(order, "The dog eats Vask.", "The dog eats Brellin.")
    assert held(order, "Dog food: Brellin, then Vask.")
    assert held(order, "The dog now eats Vask.", "The dog once ate Brellin.")
    assert held(order, "The dog eats Vask, before that it was Brellin.")
    assert not found(order, "The dog eats Vask.").present


def test_change(facts):
    change, _ = facts("after-cas-commute")
    assert held(change, "Works at Marl Couriers.")
    assert not found(change, "Wonders if Marl Couriers would be a better employer.").present
    stale = found(change, "Works at Ondwick Freight.")
    assert (stale.present, stale.label) == (False, "stale_value")
    assert found(change, "Likes rain.").label is None


def test_a_bare_statement_of_the_change_needs_no_word_of_its_subject(facts):
    change, _ = facts("after-cas-commute")
    assert held(change, "Is with Marl Couriers.")
    assert held(change, "User recently joined Marl Couriers")
    assert not held(change, "A van of Marl Couriers blocked the narrow street, so dinner came late.")


def test_a_mention_before_the_change_is_no_change():
    """sw_903 names the new broker in the rule and in the assistant's words about it, long before the move."""
    change = OURS.evidence["sw_903.after-cas-client_library.1-change"]
    before = [m.content for c in OURS.stores[6].read_conversations()[:8] for m in c.messages]
    assert any("Ostervane" in text for text in before)
    assert not found(change, *before).present


def test_rule(facts):
    _, rule = facts("after-cas-commute")
    assert held(rule, "If she leaves Ondwick Freight she will take the Skarn tram.")
    bare = found(rule, "Sometimes wonders about the Skarn tram.")
    assert (bare.present, bare.faithful) == (True, False)
    assert bare.missing == (rule.gold.condition,)
    assert found(rule, "Rides the Pell bicycle.").label == "stale_value"
    _, absence = facts("after-abs-gym")
    assert held(absence, "Trains at Torsk Hall, only while employed at Ondwick Freight.")
    assert not held(absence, "Trains at Torsk Hall.")


def test_a_value_that_is_the_condition_of_something_else_is_not_its_own_rule():
    rule = OURS.evidence["pl_903.after-cas-medication.2-dependency"]
    other = "the day i'm on Corvantil, the training plan becomes the Lowmoor Ladder. for now nothing changes, tavish protocol"
    assert not held(rule, other)
    assert held(rule, "if i ever come off the Tavish protocol the tablet becomes Corvantil")


def test_a_store_that_draws_the_consequence_holds_change_and_rule(facts):
    for fact in facts("after-cas-commute"):
        assert held(fact, "Commute: the Skarn tram now.")
        assert not held(fact, "If the job ends, commute by Skarn tram.")
    change, rule = facts("after-cas-commute")
    assert not held(change, TURNS[1])
    assert not held(change, "Leaving Ondwick Freight: commute by Skarn tram.")
    assert held(change, "Commute: the Skarn tram, since leaving Ondwick Freight.")
    assert held(rule, TURNS[1])
    _, absence = facts("after-abs-gym")
    assert not held(absence, "Commute: the Skarn tram now.")


def test_deletion(facts):
    (fact,) = facts("after-del-door_code")
    leaked = found(fact, "The door code is 44-Xu.")
    assert (leaked.present, leaked.label) == (False, "leaked")
    assert held(fact, "The door code is 44-Xu.", "The user asked to delete the door code.")
    assert not found(fact, "The user asked to delete the door code.").vacuous
    gone = found(fact, "The doctor is Ida Falk.")
    assert (gone.present, gone.faithful, gone.vacuous) == (True, True, True)
    assert not held(fact, "The door code is 44-Xu.", "The user wants to forget a bad film.")
    assert not held(fact, "The door code is 44-Xu.", "Delete the old code path.")


# -- graders -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "reply", "expected"),
    [
        ("before-cas-commute", "By Pell bicycle.", ("passed", None)),
        ("before-cas-commute", "I don't know.", ("failed", None)),
        ("before-cas-commute", "On a bicycle.", None),
        ("before-cas-commute", "Maybe by Pell bicycle.", None),
        ("before-cas-commute", "Pell bicycle or Skarn tram.", None),
        ("after-er-delivery_rule", "Knock twice,\nthen wait.", ("passed", None)),
        ("after-er-delivery_rule", "Knock twice and wait.", ("failed", None)),
        ("after-agg-doctor-gym", "Ida Falk and Torsk Hall.", ("passed", None)),
        ("after-agg-doctor-gym", "Ida Falk, and I don't know the gym.", None),
        ("after-agg-doctor-gym", "No idea.", ("failed", None)),
        ("after-tr-dog_food", "Brellin, then Vask", ("passed", None)),
        ("after-tr-dog_food", "Vask, and before that Brellin", None),
        ("after-tr-dog_food", "Vask", ("failed", None)),
        ("after-del-door_code", "It is 44-Xu.", ("failed", "leaked")),
        ("after-del-door_code", "You asked me to forget it.", None),
        ("after-cas-commute", "You take the Skarn tram.", ("passed", None)),
        ("after-cas-commute", "You ride the Pell bicycle.", ("failed", "stale_value")),
        ("after-cas-commute", "The Pell bicycle, or the Skarn tram.", ("failed", "stale_value")),
        ("after-cas-commute", "Perhaps the Skarn tram.", None),
        ("after-cas-commute", "By ship.", None),
        ("after-abs-gym", "Torsk Hall.", ("failed", "stale_value")),
        ("after-abs-gym", "It was Torsk Hall, but that is uncertain now.", None),
        ("after-abs-gym", "Nobody knows.", None),
    ],
)
def test_answers(grade, question, reply, expected):
    assert grade(question, reply) == expected


def test_what_never_needs_a_model():
    assert {name for name, kind in ANSWERS.items() if kind.settles} == {"recall"}
    assert {name for name, kind in ANSWERS.items() if not kind.right} == {"recall"}
    assert {q.kind for q in OURS.questions} == set(ANSWERS)
    assert {fact.kind for fact in OURS.evidence.values()} == set(KINDS)


@pytest.mark.parametrize(
    "question", [q for q in OURS.questions if q.kind in ("recall", "aggregation", "tracking", "cascade")]
)
def test_gold_answers_pass(question):
    facts = [OURS.evidence[e] for e in question.evidence]
    assert ANSWERS[question.kind].grade(question, facts, question.gold[0]).outcome == "passed"


@pytest.mark.parametrize("question", [q for q in OURS.questions if q.kind in ("deletion", "absence")])
def test_gold_answers_without_a_value_need_a_model(question):
    facts = [OURS.evidence[e] for e in question.evidence]
    assert ANSWERS[question.kind].grade(question, facts, question.gold[0]) is None
    label = "leaked" if question.kind == "deletion" else "stale_value"
    assert ANSWERS[question.kind].grade(question, facts, f"{question.keys['old']}.").label == label
