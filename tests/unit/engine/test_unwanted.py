"""What memory must not hold: what the user asked to forget, and what another user said."""

from __future__ import annotations

from collections import defaultdict

import pytest
from engine_fakes import Store, names

from pytest_memfail.core import MemorySystemError, SystemContext
from pytest_memfail.engine import Ask, StoreJob
from pytest_memfail.judges.offline import OfflineJudge
from pytest_memfail.suites import read_custom
from pytest_memfail.suites.own import SUITE

ALLERGY = """\
conversations:
  - I'm allergic to penicillin.
  - My van is on level 3.
  - forget: I'm allergic to penicillin.
question: Which antibiotic must I not be given?
must_not_hold: [penicillin]
"""
VAN = "expected: [{fact: My van is on level 3., conversation: 2}]\nanswer: not known\n"
NEIGHBOURS = """\
conversations: [My van is on level 3.]
other_user: [My van is on level 5.]
question: Where is my van?
answer: on level 3
expected: [{fact: My van is on level 3.}]
must_not_hold: [{fact: My van is on level 5.}]
"""


class Whole(Store):
    """Shows everything."""

    def retrieve_memories(self, query, conversation, k):
        return list(self.texts)


class Forgetting(Whole):
    def forget(self, text):
        self.log.append(f"forget {text}")
        self.texts = [entry for entry in self.texts if text not in entry]


class Hiding(Whole):
    """Lists no more what its search still returns."""

    hidden = ""

    def forget(self, text):
        self.hidden = text

    def get_all_memories(self):
        return [entry for entry in self.texts if entry != self.hidden]


class Deaf(Whole):
    def store_conversation(self, conversation):
        self.texts += [m.content for m in conversation.messages if "penicillin" not in m.content]


class Wiping(Whole):
    def forget(self, text):
        self.texts = []


class Service:
    """One service for all users: `apart` says whether it tells them apart when it lists, and when it searches."""

    def __init__(self, *apart):
        self.apart, self.held = apart, defaultdict(list)

    def __call__(self, context: SystemContext):
        return Client(self, context.store_id)


class Client:
    def __init__(self, service, user):
        self.service, self.user = service, user

    def store_conversation(self, conversation):
        self.service.held[self.user] += [message.content for message in conversation.messages]

    def _visible(self, what):
        held = self.service.held
        return list(held[self.user]) if what in self.service.apart else [text for user in held for text in held[user]]

    def retrieve_memories(self, query, conversation, k):
        return self._visible("search")

    def get_all_memories(self):
        return self._visible("list")


def judged(make_bench, tmp_path, text, factory):
    path = tmp_path / "case.memfail.yaml"
    path.write_text(text, encoding="utf-8")
    task = read_custom([path], tmp_path)
    (plan,) = task.stores
    bench = make_bench(judge=OfflineJudge(kinds=SUITE.kinds, answers=SUITE.answers))
    (tmp_path / "store").mkdir()
    context = SystemContext("run", "s", tmp_path / "store")
    asks = tuple(Ask(question.id, question, 5) for question in plan.questions)
    run = bench.engine.begin(
        StoreJob(id="s", task="custom", plan=plan, evidence=task.evidence, factory=factory, context=context, asks=asks)
    )
    (result,) = bench.all(run)
    names([result])
    bench.finish(run)
    return result.verdict


@pytest.mark.parametrize(
    ("factory", "name", "vacuous", "stage"),
    [
        (Forgetting, "correct", False, "retrieval"),
        (Whole, "wrongly_held", False, "storage"),  # the request to forget repeats it
        (Hiding, "wrongly_held", False, "retrieval"),
        (Deaf, "correct", True, "retrieval"),
        (Wiping, "correct", True, "retrieval"),  # it has lost the van as well
    ],
)
def test_what_was_to_be_forgotten(make_bench, tmp_path, factory, name, vacuous, stage):
    verdict = judged(make_bench, tmp_path, ALLERGY, factory)
    (fact,) = verdict.facts
    assert (verdict.name, verdict.vacuous, fact.decided_by) == (name, vacuous, stage)
    assert fact.is_distractor
    assert verdict.memory_held is None
    if name == "wrongly_held":
        assert "penicillin" in fact.deciding.reason


@pytest.mark.parametrize(
    ("factory", "name"),
    [(Forgetting, "no_answer"), (Whole, "wrongly_held"), (Wiping, "not_stored"), (Deaf, "no_answer")],
)
def test_a_memory_that_forgets_all_loses_what_it_should_keep(make_bench, tmp_path, factory, name):
    verdict = judged(make_bench, tmp_path, ALLERGY + VAN, factory)
    assert (verdict.name, verdict.vacuous) == (name, False)
    assert verdict.memory_held is (factory is not Wiping)


def test_a_memory_that_held_nothing_else_may_be_empty_afterwards(make_bench, tmp_path):
    text = ALLERGY.replace("  - My van is on level 3.\n", "")
    verdict = judged(make_bench, tmp_path, text, Wiping)
    assert (verdict.name, verdict.vacuous) == ("correct", False)


def test_a_system_without_forget_is_told(make_bench, tmp_path):
    made = []

    def factory():
        made.append(Whole())
        return made[-1]

    judged(make_bench, tmp_path, ALLERGY, factory)
    assert made[0].texts[-1] == "Please forget this: I'm allergic to penicillin."


@pytest.mark.parametrize(
    ("apart", "name", "stage"),
    [
        (("list", "search"), "no_answer", "retrieval"),  # no model answers
        ((), "wrongly_held", "storage"),
        (("list",), "wrongly_held", "retrieval"),
        (("search",), "wrongly_held", "storage"),
    ],
)
def test_what_another_user_of_the_service_said(make_bench, tmp_path, apart, name, stage):
    service = Service(*apart)
    verdict = judged(make_bench, tmp_path, NEIGHBOURS, service)
    own, other = verdict.facts
    assert (verdict.name, other.decided_by) == (name, stage)
    assert own.verdict == "correct"
    assert sorted(len(texts) for texts in service.held.values()) == [1, 1]


def test_a_system_with_one_open_store_cannot_have_two_users(make_bench, tmp_path):
    class Single(Whole):
        concurrent_stores = 1

    with pytest.raises(MemorySystemError, match="needs the stores of two users at once"):
        judged(make_bench, tmp_path, NEIGHBOURS, Single)
