"""A call of the memory system that does not return costs its question, or has its store filled once more."""

from __future__ import annotations

import asyncio
import threading

import pytest
from engine_fakes import PATIENCE, AsyncStore, Store, fact, names, plan, question, said, wait

from pytest_memfail.core import Ingest, MemorySystemError, Probe, TimedOutError
from pytest_memfail.hosting import Limits

SOON = Limits(store=0.1, retrieve=0.1)


@pytest.fixture
def release():
    """Set at the end, so that no thread of a test stays behind."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def bench(make_bench):
    return make_bench(limits=SOON)


def stores(release, *, hangs, method="retrieve_memories", times=99):
    """A factory of sync systems in which a call of the method hangs if `hangs(first argument)`; and what it made."""
    made, left = [], [times]
    original = getattr(Store, method, lambda self, *args: None)

    def hanging(self, *args):
        if left[0] and hangs(*args[:1]):
            left[0] -= 1
            release.wait(PATIENCE)
        return original(self, *args)

    kind = type("Hanging", (Store,), {method: hanging})

    def factory(context):
        made.append(kind())
        made[-1].context = context
        made[-1].thread = threading.current_thread()
        return made[-1]

    return factory, made


def test_a_sync_question_that_hangs_costs_itself_and_the_rest_is_asked_of_a_new_store(bench, release):
    factory, made = stores(release, hangs=lambda query: query == fact(3))
    run = bench.begin(factory, plan(8))
    results = bench.all(run)
    assert names([result for i, result in enumerate(results) if i != 3]) == ["correct"] * 7
    assert type(results[3].error) is TimedOutError
    assert str(results[3].error) == (
        "retrieve_memories() of the store s-1 did not return within 0.1 s; --memfail-timeout sets the limit (question q-3)"
    )
    first, second = made
    assert first.texts == second.texts
    assert first.thread is not second.thread
    assert second.thread.daemon
    assert first.context.path != second.context.path
    assert first.context.store_id != second.context.store_id
    report = bench.finish(run)
    assert report.conversations == 8
    assert len(report.listings) == 1
    assert not second.context.path.exists()


def test_no_question_is_answered_twice(bench, release):
    factory, made = stores(release, hangs=lambda query: query == fact(3))
    bench.all(bench.begin(factory, plan(8)))
    asked = [line for system in made for line in system.log if line.startswith("retrieve")]
    assert sorted(asked) == sorted(f"retrieve item{i}" for i in range(8) if i != 3)


def test_the_second_time_the_remaining_questions_are_errors(bench, release):
    factory, made = stores(release, hangs=lambda query: query in (fact(2), fact(5)))
    results = bench.all(bench.begin(factory, plan(8)))
    assert len(made) == 2
    assert names(results[:2] + results[3:5]) == ["correct"] * 4
    assert "(question q-2)" in str(results[2].error)
    assert "(question q-5)" in str(results[5].error)
    for result in results[6:]:
        assert isinstance(result.error, TimedOutError)
        assert "the store was already filled a second time, and is not filled again" in str(result.error)
        assert "(question q-5)" in str(result.error)


def test_a_fill_that_hangs_is_begun_again(bench, release):
    factory, made = stores(
        release, method="store_conversation", hangs=lambda conversation: conversation.id == "c-2", times=1
    )
    run = bench.begin(factory, plan(4))
    assert names(bench.all(run)) == ["correct"] * 4
    assert len(made) == 2
    assert bench.finish(run).conversations == 4


def test_a_fill_that_hangs_twice_is_the_error_of_every_question(bench, release):
    factory, made = stores(release, method="store_conversation", hangs=lambda conversation: conversation.id == "c-2")
    for result in bench.all(bench.begin(factory, plan(4))):
        assert isinstance(result.error, TimedOutError)
        assert str(result.error).startswith("store_conversation() of the store s-1 did not return within 0.1 s; ")
        assert "(conversation 3 of 4)" in str(result.error)
    assert len(made) == 2


@pytest.mark.parametrize("method", ["get_all_memories", "flush", "describe"])
def test_other_calls_have_the_limit_of_storing(make_bench, release, method):
    bench = make_bench(limits=Limits(store=0.1, retrieve=0))
    factory, made = stores(release, method=method, hangs=lambda *args: True)
    (result,) = bench.all(bench.begin(factory, plan(1)))
    assert isinstance(result.error, TimedOutError)
    assert str(result.error).startswith(f"{method}() of the store s-1 did not return within 0.1 s")
    assert len(made) == 2


def test_a_factory_that_hangs(bench, release):
    def factory():
        release.wait(PATIENCE)

    run = bench.begin(factory, plan(1))
    (result,) = bench.all(run)
    assert str(result.error).startswith("the factory of the store s-1 did not return within 0.1 s")
    assert run.is_unopened


def test_a_close_that_hangs_is_an_error_of_the_end(bench, release):
    factory, _ = stores(release, method="close", hangs=lambda *args: True)
    run = bench.begin(factory, plan(2))
    assert names(bench.all(run)) == ["correct"] * 2
    with pytest.raises(TimedOutError, match=r"^close\(\) of the store s-1 did not return within 0\.1 s"):
        bench.finish(run)
    assert names(bench.all(bench.begin(Store, plan(2)))) == ["correct"] * 2


def test_a_hang_before_a_later_probe(bench, release):
    factory, made = stores(release, hangs=lambda query: query == fact(0), times=1)
    steps = [Ingest(said(0)), Probe((question(0), question(5, [0]))), Ingest(said(1)), Probe((question(1),))]
    results = bench.all(bench.begin(factory, steps))
    assert isinstance(results[0].error, TimedOutError)
    assert [result.verdict.name for result in results[1:]] == ["not_retrieved", "correct"]
    # asked when only the first conversation was stored, as planned
    assert made[1].log.index("retrieve item5") < made[1].log.index("store c-1")


def test_the_last_question_hangs_and_nothing_is_filled_for_it(bench, release):
    factory, made = stores(release, hangs=lambda query: query == fact(2))
    run = bench.begin(factory, plan(3))
    results = bench.all(run)
    assert names(results[:2]) == ["correct"] * 2
    assert isinstance(results[2].error, TimedOutError)
    assert len(made) == 1
    assert bench.finish(run).conversations == 3


def test_several_reads_at_once_and_one_hangs(make_bench, release):
    bench = make_bench(limits=Limits(store=60, retrieve=1))  # on a busy machine the others take longer than usual
    factory, made = stores(release, hangs=lambda query: query == fact(3), times=1)

    def wide(context):
        system = factory(context)
        system.concurrent_reads = 4
        return system

    results = bench.all(bench.begin(wide, plan(20)))
    assert names([result for i, result in enumerate(results) if i != 3]) == ["correct"] * 19
    assert len(made) == 1  # meanwhile the others were answered


def test_a_question_beyond_the_window_is_asked_of_the_new_store(make_bench, release):
    bench = make_bench(limits=SOON, concurrency=4)
    n = bench.engine.resources.window + 10
    factory, _ = stores(release, hangs=lambda query: query == fact(n - 12), times=1)
    results = bench.all(bench.begin(factory, plan(n)))
    assert sum(result.error is not None for result in results) == 1


def test_a_rerun_that_hangs_is_an_error_of_its_own(bench, release):
    hang = []
    factory, made = stores(release, hangs=lambda query: bool(hang))
    run = bench.begin(factory, plan(2))
    assert names(bench.all(run)) == ["correct"] * 2
    hang.append(True)
    assert isinstance(bench.get(run, "q-0@5").error, TimedOutError)
    assert isinstance(bench.get(run, "q-1@5").error, TimedOutError)
    assert len(made) == 1
    bench.finish(run)


# -- async systems ----------------------------------------------------------------------------------------------------


class Sleepy(AsyncStore):
    """Never answers the question 3."""

    made = 0

    def __init__(self):
        super().__init__()
        type(self).made += 1

    async def retrieve_memories(self, query, conversation, k):
        if query == fact(3):
            await asyncio.Event().wait()
        return await super().retrieve_memories(query, conversation, k)


def test_an_async_question_that_hangs_costs_itself_only(bench):
    kind = type("One", (Sleepy,), {"made": 0})
    results = bench.all(bench.begin(kind, plan(8)))
    assert names([result for i, result in enumerate(results) if i != 3]) == ["correct"] * 7
    assert isinstance(results[3].error, TimedOutError)
    assert "(question q-3)" in str(results[3].error)
    assert kind.made == 1


def test_an_async_fill_that_hangs_is_begun_again(bench):
    made = []

    class Slow(AsyncStore):
        async def store_conversation(self, conversation):
            if len(made) == 1 and conversation.id == "c-2":
                await asyncio.Event().wait()
            await super().store_conversation(conversation)

    def factory():
        made.append(Slow())
        return made[-1]

    assert names(bench.all(bench.begin(factory, plan(4)))) == ["correct"] * 4
    assert len(made) == 2


def test_without_a_limit_it_waits(make_bench, release):
    bench = make_bench(limits=Limits(0, 0))
    hanging = threading.Event()

    def hangs(query):
        hanging.set()
        return True

    factory, _ = stores(release, hangs=hangs, times=1)
    run = bench.begin(factory, plan(1))
    assert hanging.wait(PATIENCE)
    assert not run.result("q-0@5").done()
    release.set()
    assert names([wait(run._results["q-0@5"])]) == ["correct"]


def test_a_hung_store_does_not_hold_up_its_end(make_bench, release):
    bench = make_bench(limits=SOON)
    factory, _ = stores(release, hangs=lambda query: True)
    run = bench.begin(factory, plan(3))
    assert all(isinstance(result.error, MemorySystemError) for result in bench.all(run))
    bench.finish(run)
    assert not release.is_set()
