"""The judge of the reference agrees with the offline judge on a store that keeps every message."""

from __future__ import annotations

import pytest

from pytest_memfail.core import Listing, Memory
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.judges.offline.verbatim import JudgeOfVerbatim
from pytest_memfail.suites import TaskRequest, load_tasks


@pytest.mark.parametrize("name", ["conditional_facts_easy", "updated_facts"])
def test_it_judges_a_verbatim_store_as_the_offline_judge_does(name):
    (task,) = load_tasks(TaskRequest((name,)))
    (store,) = task.stores
    said = [
        Memory(message.content, timestamp=str(message.timestamp))
        for talk in store.read_conversations()
        for message in talk.messages
    ]
    listing, judges = Listing(store.id, tuple(said)), (OfflineJudge(), JudgeOfVerbatim())
    for question in task.questions[:12]:
        fact = task.evidence[question.evidence[0]]
        shown = [memory for memory in said if fact.source in memory.text][:1]
        assert shown
        outcomes = [
            [
                judge.storage(fact, listing).outcome,
                judge.summary(fact, listing).outcome,
                judge.retrieval(fact, question, memories).outcome,
            ]
            for memories in (shown, [])
            for judge in judges
        ]
        assert outcomes[:2] == [["passed"] * 3] * 2
        assert outcomes[2] == outcomes[3]
