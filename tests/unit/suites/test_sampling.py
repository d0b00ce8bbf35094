"""Samples of tasks whose questions stand in the middle of a stream."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from pytest_memfail.core import Conversation, Ingest, Message, Probe, Question, StorePlan, Task
from pytest_memfail.suites import keep_questions, sample_stores


def question(name: str, part: str, needs: tuple[str, ...] = ()) -> Question:
    return Question(name, "t", "?", "?", ("x",), (), "open", part=part, stratum=name[0], needs=needs)


def store(name: str) -> StorePlan:
    talks = [Ingest(Conversation(f"{name}{i}", (Message("user", "hello"),))) for i in range(3)]
    before = Probe((question("a-before", "before"), question("b-before", "before")))
    after = Probe((question("a-after", "after", ("a-before",)), question("b-after", "after")))
    return StorePlan(name, (talks[0], before, talks[1], after, talks[2]))


@pytest.fixture
def task() -> Task:
    return Task("t", (), tuple(map(store, "pqrs")), {}, "MIT", "0", suite="s")


def test_each_part_gets_its_questions_from_as_few_stores_as_that_takes(task):
    found = sample_stores(task, 3, 42)
    assert Counter(q.part for q in found.questions) == {"before": 3, "after": 3}
    assert len(found.stores) == 2


def test_a_larger_limit_keeps_what_a_smaller_one_chose(task):
    chosen = [{(s.id, q.id) for s in sample_stores(task, n, 42).stores for q in s.questions} for n in (1, 2, 4, 8)]
    assert all(small <= large for small, large in pairwise(chosen))
    assert len(chosen[-1]) == 16


def test_another_seed_chooses_other_stores(task):
    assert len({sample_stores(task, 2, seed).stores[0].id for seed in range(12)}) > 1


def test_a_chosen_store_keeps_its_conversations_up_to_its_last_question(task):
    (found,) = sample_stores(task, 1, 42).stores
    assert [c.id[1:] for c in found.read_conversations()] == ["0", "1"]


def test_a_question_that_another_needs_stays_hidden(task):
    found = keep_questions(task, [("p", "a-after")])
    assert [q.id for q in found.questions] == ["a-after"]
    asked = [q for step in found.stores[0].steps if isinstance(step, Probe) for q in step.questions]
    assert [(q.id, q.hidden) for q in asked] == [("a-before", True), ("a-after", False)]


def test_what_nobody_needs_is_not_asked_and_its_probe_stays(task):
    found = keep_questions(task, [("p", "b-after")])
    assert [len(step.questions) for step in found.stores[0].steps if isinstance(step, Probe)] == [0, 1]


def test_nothing_stays_after_the_last_question(task):
    found = keep_questions(task, [("p", "a-before")])
    assert [q.id for q in found.stores[0].steps[-1].questions] == ["a-before"]


def test_a_store_without_questions_is_left_out(task):
    assert [s.id for s in keep_questions(task, [("r", "b-before")]).stores] == ["r"]
