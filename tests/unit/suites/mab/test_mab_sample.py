"""Our own rows of the suite mab, and the published ones of 6K tokens where they are."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pytest_memfail.core import SuiteRequest, SystemContext
from pytest_memfail.llm import count_tokens
from pytest_memfail.suites.mab import SUITE, shipped_rows
from pytest_memfail.suites.mab.facts import FactList
from pytest_memfail.suites.mab.files import FORGETTING
from pytest_memfail.suites.mab.kinds import KINDS
from pytest_memfail.suites.mab.recipe import numbered_facts
from pytest_memfail.suites.mab.scores import substring_match
from pytest_memfail.systems.bm25 import BM25

PUBLISHED = Path(__file__).parents[5] / "shared" / "data" / "mab"


@pytest.fixture(scope="module")
def tasks():
    return {task.name: task for task in SUITE.load(SuiteRequest())}


def texts_of(store):
    return [conversation.text for conversation in store.read_conversations()]


def test_the_counts_are_those_of_the_data_card(tasks):
    card = json.loads((shipped_rows() / "generation_config.json").read_text(encoding="utf-8"))
    counted = {name: Counter(q.part for q in task.questions) for name, task in tasks.items()}
    assert counted == {
        "mab_retrieval": {"ruler_qa1": 12, "ruler_qa2": 4, "longmemeval": 10, "eventqa_full": 8},
        "mab_learning": {"trec_coarse": 10, "recommendation": 6},
        "mab_understanding": {"summary": 1, "detective": 6},
        "mab_forgetting": {"sh_1k": 12, "mh_1k": 8},
    }
    of_card = {part: n for counts in card["counts"].values() for part, n in counts.items()}
    assert {part: n for counts in counted.values() for part, n in counts.items()}.items() <= of_card.items()
    (facts,) = tasks[FORGETTING].stores
    assert card["counts"]["Conflict_Resolution.json"]["facts"] == len(FactList("\n".join(texts_of(facts))).lines) == 60
    documents, *_ = tasks["mab_retrieval"].stores
    assert card["counts"]["Accurate_Retrieval.json"]["documents"] == sum(
        t.count("Document ") for t in texts_of(documents)
    )
    assert {task.licence for task in tasks.values()} == {"MIT"}


def test_every_fact_is_in_its_chunk(tasks):
    for task in tasks.values():
        for store in task.stores:
            assert all(count_tokens([text]) <= 64 for text in texts_of(store))
            homes = {conversation.id: conversation.text for conversation in store.read_conversations()}
            for question in store.questions:
                for fact in (task.evidence[each] for each in question.evidence):
                    assert KINDS[fact.kind].find(fact, texts_of(store)).faithful
                    assert fact.kind == "turn" or KINDS[fact.kind].find(fact, [homes[fact.conversation_id]]).present


def test_most_questions_are_about_facts_that_were_replaced(tasks):
    assert Counter(q.stratum for q in tasks[FORGETTING].questions if q.part == "sh_1k") == {"replaced": 9, "alone": 3}


def test_the_facts_are_those_that_the_generator_draws():
    rows = json.loads((shipped_rows() / "Conflict_Resolution.json").read_text(encoding="utf-8"))
    assert rows == numbered_facts(60, 42, 12, 8)


published = pytest.mark.skipif(
    not (PUBLISHED / "Conflict_Resolution_6k.json").is_file(),
    reason=f"the published MemoryAgentBench rows are not redistributed with this project; looked in {PUBLISHED}",
)


@pytest.fixture(scope="module")
def task():
    (found,) = SUITE.load(SuiteRequest(PUBLISHED))
    return found


@published
def test_published_rows_share_one_store(task):
    (store,) = task.stores
    assert Counter(question.part for question in store.questions) == {"sh_6k": 100, "mh_6k": 100}
    facts = FactList("\n".join(texts_of(store)))
    assert (len(facts.lines), facts.gap()) == (455, None)


@published
def test_published_questions_have_their_facts(task):
    single = [(q, task.evidence[each]) for q in task.questions if q.part == "sh_6k" for each in q.evidence]
    assert len(single) == 100
    assert sum(not fact.claim.replaced for _, fact in single) == 26
    assert all(fact.gold.value.rstrip(".") in {gold.rstrip(".") for gold in q.gold} for q, fact in single)
    assert sum(len(q.evidence) for q in task.questions if q.part == "mh_6k") == 100
    # of these, a warning says how many have no conflicting fact; none has a gold that is not the latest or is missing
    (found,) = (str(fault) for fault in SUITE.faults(PUBLISHED))
    assert "26 of 100 have no conflicting fact in the context" in found


@published
def test_bm25_shows_the_gold_string_of_every_published_question(task, tmp_path):
    (store,) = task.stores
    system = BM25(SystemContext(task.name, store.id, tmp_path))
    for conversation in store.read_conversations():
        system.store_conversation(conversation)
    for question in (q for q in store.questions if q.part == "sh_6k"):
        shown = [
            entry["text"] for entry in system.retrieve_memories(question.query, store.read_conversations()[0], SUITE.k)
        ]
        assert len(shown) <= 10 < len(store.read_conversations())
        assert substring_match(question.gold, "\n".join(shown))
    system.close()
