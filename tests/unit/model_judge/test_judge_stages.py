"""Every stage of every kind of fact, in both protocols, over real HTTP."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from dataclasses import replace

import pytest
from model_judge_cases import CASES, block, cascade, listing, question, run, stored

from pytest_memfail.core import Claim, Fact, Memory, Part, Reply, fact_verdict
from pytest_memfail.llm import ReplyError
from pytest_memfail.suites.memfail.gold import Persona, State

KINDS = sorted(CASES)
PROTOCOLS = ("ours", "paper")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_store_that_keeps_the_fact_passes_storage_and_summary(kind, protocol):
    case = CASES[kind]
    store = listing(case.kept, fillers=4)

    async def work(judge):
        return await judge.storage(case.evidence, store), await judge.summary(case.evidence, store)

    storage, summary = run(work, protocol=protocol).result
    assert (storage.outcome, summary.outcome) == ("passed", "passed")
    assert storage.entries == summary.entries == (4,)
    assert storage.reason
    assert summary.missing == ()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_store_without_the_fact_fails_storage(kind, protocol):
    store = listing(fillers=4)
    storage = run(lambda judge: judge.storage(CASES[kind].evidence, store), protocol=protocol).result
    assert storage.outcome == "failed"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("fact", "essay")])
def test_a_damaged_fact_passes_storage_and_fails_summary(kind):
    case = CASES[kind]
    store = listing(case.damaged, fillers=4)

    async def work(judge):
        return await judge.storage(case.evidence, store), await judge.summary(case.evidence, store)

    storage, summary = run(work).result
    assert (storage.outcome, summary.outcome) == ("passed", "failed")
    assert summary.missing or kind == "link"


def test_only_the_replaced_state_is_not_stored_and_labelled():
    case = CASES["fact"]
    storage = run(lambda judge: judge.storage(case.evidence, listing(case.damaged))).result
    assert (storage.outcome, storage.label) == ("failed", "stale_value")


def test_times_are_told_only_of_states_that_replace_one_another():
    store = listing(fillers=1)
    store = type(store)("s", (Memory("Ines moved to Bergen in March.", timestamp="2025-03-04"),))
    asked = run(lambda judge: judge.storage(CASES["fact"].evidence, store))
    assert block(asked.requests[0], "times") == '1 "2025-03-04"'
    asked = run(lambda judge: judge.storage(CASES["rule"].evidence, store))
    assert "2025-03-04" not in asked.prompts[0]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", KINDS)
def test_retrieval_is_about_the_shown_entries_alone(kind, protocol):
    case = CASES[kind]
    for text, outcome in ((case.kept, "passed"), ("Perpetua grows quinces.", "failed")):
        shown = [Memory("Ottoline collects brass buttons."), Memory(text)]
        asked = run(lambda judge, shown=shown: judge.retrieval(case.evidence, question(), shown), protocol=protocol)
        assert asked.result.outcome == outcome
        assert asked.shown == [[1, 2]]
        if outcome == "passed":
            assert asked.result.entries == (1,)


def test_nothing_shown_fails_retrieval_without_a_call():
    asked = run(lambda judge: judge.retrieval(CASES["rule"].evidence, question(), []))
    assert asked.result.outcome == "failed"
    assert asked.requests == []


def test_an_empty_store_fails_storage_without_a_call():
    asked = run(lambda judge: judge.storage(CASES["rule"].evidence, listing()))
    assert asked.result.outcome == "failed"
    assert asked.requests == []


# -- one call where one is enough --------------------------------------------------------------------------------------


async def _both(judge, evidence, store):
    return await asyncio.gather(judge.storage(evidence, store), judge.summary(evidence, store))


@pytest.mark.parametrize(("protocol", "calls"), [("ours", 1), ("paper", 2)])
def test_storage_and_summary_are_one_call_under_ours_and_two_under_paper(protocol, calls):
    case = CASES["rule"]
    store = listing(case.kept, fillers=3)
    asked = run(lambda judge: _both(judge, case.evidence, store), protocol=protocol)
    assert len(asked.requests) == calls


def test_a_fact_is_checked_once_per_listing():
    case = CASES["preference"]
    first, second = listing(case.kept), listing(case.kept)

    async def work(judge):
        await asyncio.gather(*(judge.storage(case.evidence, first) for _ in range(5)))
        await judge.storage(case.evidence, first)
        await judge.storage(case.evidence, second)

    assert len(run(work).requests) == 2


def test_a_failed_check_is_not_kept():
    case = CASES["preference"]
    store = listing(case.kept)
    replies = iter(["no JSON"] * 3)

    async def work(judge):
        failed = await asyncio.gather(judge.storage(case.evidence, store), return_exceptions=True)
        return failed[0], await judge.storage(case.evidence, store)

    failed, passed = run(work, lambda request: next(replies, stored(True, True, [1]))).result
    assert isinstance(failed, ReplyError)
    assert passed.outcome == "passed"


def test_a_judged_listing_is_not_kept_alive():
    case = CASES["rule"]

    async def work(judge):
        store = listing(case.kept, fillers=40)
        await _both(judge, case.evidence, store)
        gone = weakref.ref(store)
        del store
        gc.collect()
        return gone()

    assert run(work).result is None


def test_an_essay_is_checked_once_for_all_its_questions():
    direct, misleading = CASES["persona"].evidence, CASES["essay"].evidence
    store = listing(CASES["essay"].kept, fillers=2)

    async def work(judge):
        return await asyncio.gather(judge.summary(direct, store), judge.summary(misleading, store))

    asked = run(work)
    assert [result.outcome for result in asked.result] == ["passed", "passed"]
    assert len(asked.requests) == 1


def test_what_the_answer_does_not_need_is_reported_and_fails_nobody():
    case = CASES["persona"]
    store = listing(CASES["essay"].damaged + " She never drinks milk, because it gave her hives as a child.", fillers=2)
    asked = run(lambda judge: judge.summary(case.evidence, store))
    assert asked.result.outcome == "passed"
    assert any("reservoir" in detail for detail in asked.result.reported)
    needs = [json.loads(block(request, "fact")).get("needed") for request in asked.requests]
    assert needs == [None, case.evidence.gold.needed]


def test_of_a_misleading_question_what_it_borrows_is_needed():
    fact = replace(CASES["essay"].evidence, gold=Persona("never drinks milk"))
    store = listing(CASES["essay"].damaged + " She never drinks milk, because it gave her hives as a child.", fillers=2)

    async def work(judge):
        summary = await judge.summary(fact, store)
        return summary, await judge.retrieval(fact, question(), [Memory("Odalys Pruitt repairs church organs.")])

    asked = run(work)
    assert [result.outcome for result in asked.result] == ["passed", "failed"]
    needs = [json.loads(block(request, "fact")).get("needed") for request in asked.requests]
    assert needs == [None, "never drinks milk", "never drinks milk"]


def test_questions_about_one_essay_share_its_check():
    fact = CASES["essay"].evidence
    store = listing(CASES["essay"].kept, fillers=2)

    async def work(judge):
        asking = ("What does Wim repair?", "Where does Wim swim?")
        claims = [replace(fact.claim, parts=(Part(text), Part(text, "topic"))) for text in asking]
        return await asyncio.gather(*(judge.summary(replace(fact, id=c.parts[0].text, claim=c), store) for c in claims))

    assert len(run(work).requests) == 1


def test_retrieval_needs_no_call_when_all_that_keeps_the_fact_was_shown():
    case = CASES["rule"]
    store = listing(case.kept, fillers=3)
    shown = [Memory("Perpetua grows quinces."), Memory(case.kept)]

    async def work(judge):
        await judge.summary(case.evidence, store)
        return await judge.retrieval(case.evidence, question(), shown)

    asked = run(work)
    assert (asked.result.outcome, asked.result.entries) == ("passed", (1,))
    assert len(asked.requests) == 1
    assert len(run(work, protocol="paper").requests) == 2


def test_the_retrieval_of_a_state_that_replaced_another_is_always_asked_for():
    case = CASES["fact"]

    async def work(judge):
        await judge.summary(case.evidence, listing(case.kept))
        return await judge.retrieval(case.evidence, question(), [Memory(case.kept), Memory(case.damaged)])

    assert len(run(work).requests) == 2


# -- the two protocols -------------------------------------------------------------------------------------------------


def _hard(evidence):
    return replace(evidence, claim=replace(evidence.claim, is_composed=True))


def test_only_paper_reads_easy_and_hard_rules_differently():
    easy = CASES["rule"].evidence
    store = listing(CASES["rule"].kept)
    for protocol, differ in (("ours", False), ("paper", True)):
        prompts = [
            run(lambda judge, fact=fact: judge.storage(fact, store), protocol=protocol).prompts[0]
            for fact in (easy, _hard(easy))
        ]
        assert (prompts[0] != prompts[1]) is differ


def test_only_ours_forgives_what_was_never_said():
    store = listing(CASES["rule"].damaged)
    for protocol, forgives in (("ours", True), ("paper", False)):
        asked = run(lambda judge: judge.summary(CASES["rule"].evidence, store), protocol=protocol)
        assert ('What "said" does not state is not missing' in asked.prompts[0]) is forgives


def test_an_unknown_protocol_is_refused():
    with pytest.raises(ValueError, match="expected one of ours, paper"):
        raise run(lambda judge: judge, protocol="theirs").result


# -- the last stage ----------------------------------------------------------------------------------------------------


def answered(kind, reply, answer=None, evidence=("rule",), **gold):
    facts = [CASES[name].evidence for name in evidence]
    options = {} if answer is None else {"answer": answer}
    asked = question(kind, **gold)
    return run(lambda judge: judge.answer(asked, facts, None if reply is None else Reply(reply)), **options)


@pytest.mark.parametrize(
    ("kind", "gold", "right", "wrong"),
    [
        ("yes_no", ("No, his stress is too low.",), "Answer: No.", "Answer: Yes, surely."),
        ("all_of", ("tote bag", "backpack"), "A backpack and a tote bag.", "A backpack."),
        ("direct", ("No milk: it gave her hives.",), "No milk, she got hives from it.", "Anything she likes."),
        ("open", ("Bergen",), "She lives in Bergen.", "She lives in Oslo."),
    ],
)
def test_an_answer_is_judged_by_the_gold(kind, gold, right, wrong):
    assert answered(kind, right, gold=gold).result.outcome == "passed"
    assert answered(kind, wrong, gold=gold).result.outcome == "failed"


def test_what_an_answer_does_not_cover_is_named():
    asked = answered("all_of", "A backpack.", gold=("tote bag", "backpack"))
    assert asked.result.missing == ("tote bag",)


def test_an_answer_about_somebody_else_is_wrong_only_with_borrowed_details():
    gold = {"text": "What does Yuki Tanaka drink?", "keys": {"distractor": "Yuki Tanaka"}, "evidence": ("essay",)}
    assert answered("misleading", "I know nothing about Yuki Tanaka.", **gold).result.outcome == "passed"
    assert answered("misleading", "Most people drink coffee or tea.", **gold).result.outcome == "passed"
    borrowed = answered("misleading", "No milk: it gave her hives as a child, she counts pipes in Welsh.", **gold)
    assert borrowed.result.outcome == "failed"
    facts = json.loads(block(borrowed.requests[0], "facts"))
    assert (facts["distractor"], facts["entity"]) == ("Yuki Tanaka", "Odalys Pruitt")
    assert "gold" not in facts


@pytest.mark.parametrize(
    ("reply", "outcome"), [('{"selected_choice": "B"}', "passed"), ("C", "failed"), ("?", "failed")]
)
def test_a_letter_is_read_without_a_call(reply, outcome):
    asked = answered("multiple_choice", reply, letter="B")
    assert asked.result.outcome == outcome
    assert asked.requests == []


@pytest.mark.parametrize(("reply", "outcome"), [(None, "ungraded"), (" \n", "failed")])
def test_no_reply_is_judged_without_a_call(reply, outcome):
    asked = answered("yes_no", reply)
    assert asked.result.outcome == outcome
    assert asked.requests == []


# -- the cascade -------------------------------------------------------------------------------------------------------


def _cascaded(sure, reply="Answer: No."):
    case = CASES["rule"]
    store = listing(case.kept, fillers=3)

    async def work(model):
        judge = cascade(model, sure)
        await judge.warm(store)
        return [
            await judge.storage(case.evidence, store),
            await judge.summary(case.evidence, store),
            await judge.retrieval(case.evidence, question(), [Memory("Perpetua grows quinces.")]),
            await judge.answer(question("yes_no", gold=("No",)), [case.evidence], Reply(reply)),
            await judge.answer(question("multiple_choice", letter="A"), [case.evidence], Reply("A")),
        ]

    return run(work)


def test_the_cascade_asks_the_model_only_what_the_rules_cannot_tell():
    asked = _cascaded(sure=0.0)
    assert [result.outcome for result in asked.result] == ["passed", "passed", "failed", "passed", "passed"]
    assert ["<facts>" in prompt for prompt in asked.prompts] == [True]


def test_the_cascade_asks_the_model_all_that_the_rules_are_unsure_of():
    asked = _cascaded(sure=1.1)
    assert [result.outcome for result in asked.result] == ["passed", "passed", "failed", "passed", "passed"]
    assert [json.loads(block(request, "fact"))["check"] for request in asked.requests[:-1]] == ["stored", "retrieval"]
    assert len(asked.requests) == 3


def test_the_cascade_asks_the_model_what_the_rules_cannot_read():
    evidence = Fact("e", "fact", "Isst gern Rüben.", "Meine Schwester isst jeden Abend gern Rüben.", "c")
    store = listing("Abends gibt es für die Schwester oft Rüben.", "Der Nutzer sucht eine neue Wohnung.")

    async def work(model):
        judge = cascade(model)
        return [
            await judge.storage(evidence, store),
            await judge.summary(evidence, store),
            await judge.storage(evidence, listing(evidence.source)),
        ]

    asked = run(work, lambda request: stored(True, True, [1], outdated=False))
    assert [result.outcome for result in asked.result] == ["passed"] * 3
    assert len(asked.requests) == 1  # the third states it word for word


def test_a_cascade_of_two_protocols_is_refused():
    from pytest_memfail.judges import OfflineJudge
    from pytest_memfail.judges.cascade import CascadeJudge

    async def work(model):
        return CascadeJudge(OfflineJudge("paper"), model)

    assert "expected the same" in str(run(work).result)


TAKEN_BACK = Fact(
    "e",
    "fact",
    "I don't keep cash in the tea caddy any more.",
    "I don't keep cash in the tea caddy any more.",
    "c",
    Claim(
        (Part("I don't keep cash in the tea caddy any more."), Part("the cash in the tea caddy", "topic")),
        earlier="I keep £200 in the tea caddy.",
        replaced=("£200 in the tea caddy",),
        has_ended=True,
        endings=("no longer", "don't keep cash"),
    ),
    State(None, "the cash in the tea caddy"),
)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("stored", "shown", "name", "vacuous"),
    [
        ([], [], "correct", True),
        (["The user collects stamps."], ["The user collects stamps."], "correct", True),
        (["The user collects stamps."], [], "correct", True),
        ([TAKEN_BACK.source], [TAKEN_BACK.source], "correct", False),
        ([TAKEN_BACK.source], ["The user collects stamps."], "not_retrieved", False),
        ([TAKEN_BACK.source], [], "not_retrieved", False),
        ([TAKEN_BACK.claim.earlier], [TAKEN_BACK.claim.earlier], "not_stored", False),
    ],
)
def test_a_state_that_was_taken_back(stored, shown, name, vacuous, protocol):
    store = listing(*stored)

    async def work(judge):
        stages = [await judge.storage(TAKEN_BACK, store)]
        if stages[0].outcome == "passed":
            stages.append(await judge.summary(TAKEN_BACK, store))
            stages.append(await judge.retrieval(TAKEN_BACK, question(), [Memory(text) for text in shown]))
        return fact_verdict("e", *stages)

    fact = run(work, protocol=protocol).result
    assert (fact.name, fact.vacuous) == (name, vacuous)
