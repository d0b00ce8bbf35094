"""Verdicts that were once plainly wrong, as labelled cases. What the rules cannot do is expected to fail; the next judge must."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from pytest_memfail.calibration import judge_cases, read_cases
from pytest_memfail.core import Listing, Memory
from pytest_memfail.judges import RulesJudge
from pytest_memfail.systems.failing import careless_summary
from pytest_memfail.tasks import TaskRequest, load_tasks

CASES = Path(__file__).with_name("named_faults.jsonl")
BEYOND_THE_RULES = {
    ("named-co-2", 0): "a word for a person in a list of keywords is taken for the owner",
    ("named-cf-2", 0): "a behaviour without the name is taken for not stored",
}
LINKING = frozenset("a an the of to with for in on at by from and or is are her his my their it i".split())


@cache
def judged():
    return {judged.case.id: judged for judged in judge_cases(RulesJudge(), read_cases([CASES]))}


def facts():
    for case in read_cases([CASES]):
        for i in range(len(case.labels)):
            reason = BEYOND_THE_RULES.get((case.id, i))
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
            yield pytest.param(case.id, i, marks=marks, id=f"{case.id}-{i + 1}")


@pytest.mark.parametrize(("case", "at"), list(facts()))
def test_a_named_fault(case, at):
    found = judged()[case]
    assert found.predictions[at] in found.case.labels[at].accepted, found.reasons[at]


def lossy(name):
    """A task, and its whole store as a system keeps it that notes keywords."""
    (task,) = load_tasks(TaskRequest((name,)))
    return task, Listing("s", tuple(Memory(careless_summary(c.text)) for c in task.stores[0].conversations))


def words(text):
    return set(re.findall(r"\w+", text.casefold())) - LINKING


@pytest.mark.xfail(reason="among many entries the rules do not find a link whose words are out of order", strict=True)
def test_a_link_of_which_every_word_is_in_one_entry_is_stored_in_some_form():
    task, store = lossy("long_hop")
    judge = RulesJudge()
    whole = [
        fact for fact in task.evidence.values() if words(" ".join(fact.anchors)) <= words(careless_summary(fact.source))
    ]
    assert len(whole) >= 20
    assert [fact.id for fact in whole if judge.storage(fact, store).outcome == "failed"] == []


@pytest.mark.parametrize("name", ["coexisting_facts", "conditional_facts_easy", "conditional_facts_hard"])
def test_no_reason_names_an_owner_that_is_none_or_an_entry_that_has_every_word(name):
    task, store = lossy(name)
    judge = RulesJudge()
    reasons = {stage(fact, store).reason for fact in task.evidence.values() for stage in (judge.storage, judge.summary)}
    assert len(reasons) > 10
    assert [reason for reason in reasons if "somebody else" in reason or "has 100% of its words" in reason] == []
