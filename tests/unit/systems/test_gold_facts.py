"""`gold-facts`: each question is shown the facts it needs, and no others, on the rows of every suite."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from system_stores import NOWHERE, listed

from pytest_memfail.core import (
    Conversation,
    Fact,
    Ingest,
    MemorySystemError,
    Message,
    Probe,
    Question,
    StorePlan,
    SystemContext,
    UsageError,
)
from pytest_memfail.systems import built_in_system, for_store

MAY, JUNE = (datetime(2025, month, 1, tzinfo=timezone.utc) for month in (5, 6))


def talk(name, text, when):
    return Conversation(name, (Message("user", text, when),), when)


def asked(name, query, *evidence, part=""):
    return Question(name, "t", query, query, ("yes",), evidence, "open", part=part)


FACTS = {
    "old": Fact("old", "fact", "Ada lives in Turku.", "I live in Turku.", "c-1"),
    "new": Fact("new", "fact", "Ada lives in Bergen.", "I moved to Bergen.", "c-2"),
    "trap": Fact("trap", "fact", "Ada keeps a llama.", "Llamas spit.", "c-2", is_distractor=True),
    "order": Fact("order", "order", "home, in order: Turku, Bergen", "I live in Turku.\nI moved to Bergen.", "c-2"),
    "rule": Fact("rule", "rule", "Ada bakes if it rains.", "Ada bakes only if it rains.", "c-1"),
}
WHERE = "Where does Ada live?"
PLAN = StorePlan(
    "s",
    (
        Ingest(talk("c-1", "I live in Turku.", MAY)),
        Probe((asked("q-1", WHERE, "old"), asked("q-2", "When does Ada bake?", "rule"))),
        Ingest(talk("c-2", "I moved to Bergen.", JUNE)),
        Probe(
            (
                asked("q-3", WHERE, "old", "new", "order"),
                asked("q-4", "Does Ada keep a llama?", "trap"),
                asked("q-5", "What would Ada say?", part="opinions"),
            )
        ),
    ),
)


@pytest.fixture
def gold(tmp_path):
    return for_store(built_in_system("gold-facts", lambda _: None), PLAN, FACTS)(SystemContext("r", "s", tmp_path))


def shown(gold, query):
    return [(entry["text"], entry["timestamp"]) for entry in gold.retrieve_memories(query, NOWHERE, 1)]


def test_the_same_question_is_shown_what_it_needs_at_each_time(gold):
    first, second = (step.conversation for step in PLAN.steps if isinstance(step, Ingest))
    gold.store_conversation(first)
    assert shown(gold, WHERE) == [("I live in Turku.", MAY.isoformat())]
    gold.store_conversation(second)
    assert shown(gold, WHERE) == [("I live in Turku.", MAY.isoformat()), ("I moved to Bergen.", JUNE.isoformat())]
    assert sorted(listed(gold)) == ["Ada bakes if it rains.", "I live in Turku.", "I moved to Bergen."]


def test_a_fact_that_no_single_message_says_is_shown_in_gold_words(gold):
    gold.store_conversation(PLAN.read_conversations()[0])
    assert shown(gold, "When does Ada bake?") == [("Ada bakes if it rains.", MAY.isoformat())]


def test_an_order_that_only_repeats_other_facts_is_not_given_away(gold):
    for conversation in PLAN.read_conversations():
        gold.store_conversation(conversation)
    assert "home, in order: Turku, Bergen" not in [text for text, _ in shown(gold, WHERE)]


def test_what_must_not_be_stored_is_not_and_another_query_finds_nothing(gold):
    for conversation in PLAN.read_conversations():
        gold.store_conversation(conversation)
    assert shown(gold, "Does Ada keep a llama?") == []
    assert shown(gold, "the text of a sentinel") == []


def test_questions_whose_rows_name_no_facts_are_an_error(gold):
    with pytest.raises(MemorySystemError, match="the rows name no facts for the questions of opinions"):
        shown(gold, "What would Ada say?")


def test_outside_a_run_it_says_so(tmp_path):
    with pytest.raises(UsageError, match="run pytest --memfail-system=gold-facts"):
        built_in_system("gold-facts", lambda _: None)(SystemContext("r", "s", tmp_path))


def test_no_other_factory_is_given_gold_data():
    def factory(context):
        raise AssertionError(context)

    assert for_store(factory, PLAN, FACTS) is factory
