"""The stages that a question asks, what an earlier listing held, and when a question is asked."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import replace
from datetime import datetime, timezone

import pytest
from engine_fakes import FAILED, PASSED, PATIENCE, ExactJudge, Store, evidence, fact, names, question, said

from pytest_memfail.core import STAGES, Claim, Ingest, Listing, Memory, Probe, Reply, StageResult
from pytest_memfail.engine import Grader
from pytest_memfail.hosting import DaemonPool, Shelf

ONE = [Ingest(said(0))]


class Taker:
    """Counts the answers it is asked for."""

    def __init__(self):
        self.asked = []

    def answer(self, question, shown):
        self.asked.append(question.id)
        return Reply("yes")


def asked_stages(judge):
    return {stage for stage, _ in judge.asked}


@pytest.mark.parametrize("left_out", STAGES)
def test_a_stage_that_is_not_asked_counts_as_passed_and_is_not_called(make_bench, left_out):
    judge, taker = ExactJudge(), Taker()
    bench = make_bench(judge=judge, test_taker=taker)
    stages = tuple(stage for stage in STAGES if stage != left_out)
    run = bench.begin(Store, [*ONE, Probe((question(0, stages=stages),))])
    (result,) = bench.all(run)
    assert result.verdict.name == "correct"
    assert asked_stages(judge) == set(stages)
    assert taker.asked == ([] if left_out == "answer" else ["q-0"])
    of_fact, answer = result.verdict.facts[0], result.verdict.answer
    results = {"storage": of_fact.storage, "summary": of_fact.summary, "retrieval": of_fact.retrieval, "answer": answer}
    assert results[left_out] == StageResult("passed", "this stage is not asked")


def test_the_store_is_judged_while_the_test_taker_answers(make_bench):
    class Judge(ExactJudge):
        inline = False

        async def storage(self, evidence, store):
            self.began.set()
            return super().storage(evidence, store)

    class Patient:
        async def answer(self, question, shown):
            await asyncio.wait_for(judge.began.wait(), 10)
            return Reply("yes")

    judge = Judge()
    judge.began = asyncio.Event()
    bench = make_bench(judge=judge, test_taker=Patient())
    assert names(bench.all(bench.begin(Store, [*ONE, Probe((question(0),))]))) == ["correct"]
    assert [times for (stage, _), times in judge.asked.items() if stage == "storage"] == [1]


def test_the_error_of_a_judge_whom_nobody_waits_for_any_more_is_not_logged():
    class Failing(ExactJudge):
        inline = False

        async def storage(self, evidence, store):
            began.set()
            await goes_on.wait()
            raise RuntimeError("the judge is out of order")

    async def run():
        logged = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context))
        held = Listing("s-1", (Memory("item0"),))
        grading = Grader(Failing(), DaemonPool(1, "judge")).grade(question(0), [*evidence(1).values()], held, (), None)
        judging = asyncio.get_running_loop().create_task(grading)
        await asyncio.wait_for(began.wait(), PATIENCE)
        judging.cancel()
        goes_on.set()
        with pytest.raises(asyncio.CancelledError):
            await judging
        for _ in range(10):  # the judge fails
            await asyncio.sleep(0)
        gc.collect()
        return logged

    began, goes_on = asyncio.Event(), asyncio.Event()
    assert asyncio.run(run()) == []


def test_a_question_about_the_store_alone_retrieves_nothing(make_bench):
    systems = []

    def factory():
        systems.append(Store())
        return systems[-1]

    bench = make_bench(test_taker=Taker())
    run = bench.begin(
        factory, [*ONE, Probe((question(0, stages=("storage", "summary")), question(1, stages=("storage",))))]
    )
    held, missing = bench.all(run)
    assert (held.verdict.name, missing.verdict.name) == ("correct", "not_stored")
    assert (held.trace.shown, held.trace.reply) == ((), None)
    assert systems[0].log == ["store c-0", "list"]


def test_a_failed_stage_decides_although_later_ones_are_not_asked(make_bench):
    class Lossy(ExactJudge):
        def summary(self, evidence, store):
            return FAILED

    bench = make_bench(judge=Lossy())
    (result,) = bench.all(bench.begin(Store, [*ONE, Probe((question(0, stages=("summary",)),))]))
    assert result.verdict.name == "summary_error"


@pytest.mark.parametrize("stages", [STAGES, ("storage", "summary", "answer"), ("retrieval", "answer")])
def test_a_state_that_left_no_trace_stays_vacuous_whatever_stages_are_asked(make_bench, stages):
    gone = StageResult("passed", "nothing of it", vacuous=True)

    class Nothing(ExactJudge):
        def storage(self, evidence, store):
            return gone

        def retrieval(self, evidence, question, shown):
            return gone

    bench = make_bench(judge=Nothing())
    (result,) = bench.all(bench.begin(Store, [*ONE, Probe((question(0, stages=stages),))]))
    assert (result.verdict.name, result.verdict.vacuous) == ("correct", True)


def test_a_question_without_facts_is_judged_by_its_answer(make_bench):
    judge = ExactJudge()
    bench = make_bench(judge=judge, test_taker=Taker())
    (result,) = bench.all(bench.begin(Store, [*ONE, Probe((question(0, []),))]))
    assert result.verdict.name == "correct"
    assert result.verdict.memory_held is None


# -- answers that are settled without a model --------------------------------------------------------------------------


class Settling(ExactJudge):
    """Settles questions of the kind `exact`."""

    def settles(self, question):
        return question.kind == "exact"


@pytest.mark.parametrize("right", [True, False])
def test_an_answer_that_the_judge_settles_is_credited_whatever_the_facts_say(make_bench, right):
    class Graded(Settling):
        def answer(self, question, evidence, reply):
            super().answer(question, evidence, reply)
            return PASSED if right else FAILED

    bench = make_bench(judge=(judge := Graded()), test_taker=Taker())
    lost = [question(0, [1], kind="exact"), question(1, [1]), question(2, [1], letter="A")]
    results = bench.all(bench.begin(Store, [*ONE, Probe(tuple(lost))]))
    assert [result.verdict.name for result in results] == ["not_stored"] * 3
    assert [result.verdict.credited for result in results] == [right, None, None]  # this judge settles no letter
    assert {name for stage, name in judge.asked if stage == "answer"} == {"q-0"}


def test_nothing_is_credited_without_a_reply_or_a_grade(make_bench):
    class Open(Settling):
        def answer(self, question, evidence, reply):
            return StageResult("ungraded", "cannot tell")

    for options in ({"judge": Open(), "test_taker": Taker()}, {"judge": Settling()}):
        bench = make_bench(**options)
        (result,) = bench.all(bench.begin(Store, [*ONE, Probe((question(0, [1], kind="exact"),))]))
        assert result.verdict.credited is None


def test_a_judge_that_does_not_say_settles_option_letters(make_bench):
    bench = make_bench(test_taker=Taker())
    lost = (question(0, [1], letter="A"), question(1, [1]))
    results = bench.all(bench.begin(Store, [*ONE, Probe(lost)]))
    assert [result.verdict.credited for result in results] == [True, None]


# -- facts lost since an earlier listing -------------------------------------------------------------------------------


class Forgetting(Store):
    """Drops the first conversation when the third is stored."""

    def store_conversation(self, conversation):
        super().store_conversation(conversation)
        if conversation.id == "c-2":
            self.texts.remove(fact(0))

    def snapshot(self, path):
        (path / "texts").write_text("\n".join(self.texts))

    def restore(self, path):
        self.texts = (path / "texts").read_text().split("\n")


STREAM = [
    Ingest(said(0)),
    Probe((question(0),)),
    Ingest(said(1)),
    Probe((question(1),)),
    Ingest(said(2)),
    Probe((question(2, [0]), question(3, [2]), question(4, [0, 5]), question(5))),
]


@pytest.mark.parametrize("alone", [False, True])
def test_a_fact_that_an_earlier_listing_held_was_lost_later(bench, alone):
    run = bench.begin(Forgetting, STREAM, selected=lambda q: not alone or q.id == "q-2")
    result = bench.get(run, "q-2@5")
    assert (result.verdict.name, result.verdict.label) == ("not_stored", "lost_later")
    assert result.verdict.facts[0].storage == StageResult(
        "failed", "lost; an earlier listing had it", label="lost_later"
    )


def test_what_is_stored_or_never_was_is_not_labelled(bench):
    results = {result.ask.question.id: result.verdict for result in bench.all(bench.begin(Forgetting, STREAM))}
    assert {name: verdict.label for name, verdict in results.items()} == {
        "q-0": None,
        "q-1": None,
        "q-2": "lost_later",
        "q-3": None,
        "q-4": "lost_later",
        "q-5": None,
    }
    assert [fact.storage.label for fact in results["q-4"].facts] == ["lost_later", None]


def test_earlier_listings_are_judged_newest_first_and_only_if_storage_failed(make_bench):
    seen = []

    class Watched(ExactJudge):
        def storage(self, evidence, store):
            seen.append((evidence.id, len(store.memories)))
            return super().storage(evidence, store)

    bench = make_bench(judge=Watched())
    names(bench.all(bench.begin(Forgetting, STREAM, selected=lambda q: q.id in ("q-2", "q-3", "q-5"))))
    # e-0 was told before both earlier listings; e-2 and e-5 after them, or never
    assert seen == [("e-0", 2), ("e-0", 2), ("e-2", 2), ("e-5", 2)]


def test_a_judge_that_fails_at_an_earlier_listing_changes_no_verdict(make_bench):
    class Fragile(ExactJudge):
        def storage(self, evidence, store):
            if any(fact(0) in memory.text for memory in store.memories):
                raise RuntimeError("broken")
            return super().storage(evidence, store)

    bench = make_bench(judge=Fragile())
    result = bench.get(bench.begin(Forgetting, STREAM, selected=lambda q: q.id == "q-2"), "q-2@5")
    assert (result.verdict.name, result.verdict.label) == ("not_stored", None)


def test_an_earlier_listing_that_only_mentioned_nothing_held_nothing(make_bench):
    class Vacuous(ExactJudge):
        def storage(self, evidence, store):
            found = super().storage(evidence, store)
            return StageResult("passed", vacuous=True) if found.outcome == "passed" else found

    bench = make_bench(judge=Vacuous())
    result = bench.get(bench.begin(Forgetting, STREAM, selected=lambda q: q.id == "q-2"), "q-2@5")
    assert result.verdict.label is None


def test_a_kept_store_is_listed_at_earlier_probes_if_it_is_kept_there(make_bench, tmp_path):
    shelf = Shelf(tmp_path / "shelf", "forgetting", {})
    shelf.folder.mkdir()
    labels = []
    for selected in (lambda q: q.id == "q-2", lambda _: True, lambda q: q.id == "q-2"):
        bench = make_bench()
        run = bench.begin(Forgetting, STREAM, selected=selected, shelf=shelf)
        labels.append(bench.get(run, "q-2@5").verdict.label)
        bench.finish(run)
    assert labels == [None, "lost_later", "lost_later"]  # the first fills the store for its own probe alone


# -- the time of a question ----------------------------------------------------------------------------------------


def test_the_conversation_of_a_query_has_the_time_at_which_it_is_asked(bench):
    seen = {}

    class Watched(Store):
        def retrieve_memories(self, query, conversation, k):
            seen[query] = (conversation.messages, conversation.timestamp)
            return super().retrieve_memories(query, conversation, k)

    when = datetime(2023, 5, 30, 23, 40, tzinfo=timezone.utc)
    names(bench.all(bench.begin(Watched, [*ONE, Probe((question(0, asked_at=when), question(1, [0])))])))
    assert seen == {fact(0): ((), when), fact(1): ((), None)}


@pytest.mark.parametrize(
    ("times", "name"),
    [(("2024-03-11", "2024-06-02"), "correct"), (("1970", "1970"), "summary_error"), ((None, None), "correct")],
)
def test_a_fact_whose_entries_have_wrong_times_is_not_kept(times, name):
    moved = replace(evidence(2)["e-1"], claim=Claim(earlier=fact(0), is_dated=True))
    held = Listing("s", tuple(Memory(fact(i), timestamp=when) for i, when in enumerate(times)))
    grader = Grader(ExactJudge(), DaemonPool(1, "test"))
    verdict = asyncio.run(grader.grade(question(1), [moved], held, held.memories, None))
    assert verdict.name == name
    if name == "summary_error":
        assert verdict.label == "wrong_time"
        assert verdict.facts[0].summary.reason == (
            "its times put the earlier state last: 1970 for the earlier, 1970 for the current one"
        )
