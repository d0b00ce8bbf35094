"""A store is filled in order, asked ahead, and reported on."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import threading
from dataclasses import replace
from datetime import datetime, timezone

import pytest
from engine_fakes import PATIENCE, AsyncStore, ExactJudge, Meeting, Peak, Store, fact, names, plan, question, said, wait

from pytest_memfail.core import (
    STAGES,
    Conversation,
    Ingest,
    Memory,
    MemorySystemError,
    Message,
    Probe,
    Reply,
    StageResult,
    WrongTypeError,
)
from pytest_memfail.hosting import CURRENT, TokenRules


def test_a_store_is_filled_in_order_flushed_listed_asked_listed_again_and_closed(bench):
    class Logged(Store):
        def flush(self):
            self.log.append("flush")

        def close(self):
            self.log.append("close")

    system = Logged()
    run = bench.begin(lambda: system, [Ingest(said(0)), Ingest(said(1)), Probe((question(0),))])
    assert names(bench.all(run)) == ["correct"]
    bench.finish(run)
    assert system.log == ["store c-0", "store c-1", "flush", "list", "retrieve item0", "list", "close"]


def test_flush_comes_before_every_probe_that_is_asked(bench):
    class Lazy(Store):
        """Stores nothing until it is told to."""

        def __init__(self):
            super().__init__()
            self.waiting = []

        def store_conversation(self, conversation):
            self.waiting.append(conversation)

        def flush(self):
            for conversation in self.waiting:
                super().store_conversation(conversation)
            self.waiting = []

    steps = [Ingest(said(0)), Probe((question(0),)), Ingest(said(1)), Probe((question(1),))]
    assert names(bench.all(bench.begin(Lazy, steps))) == ["correct", "correct"]


def test_every_store_gets_a_fresh_system(bench):
    made = []

    def factory():
        made.append(Store())
        return made[-1]

    runs = [bench.begin(factory, plan(2)) for _ in range(3)]
    for run in runs:
        assert names(bench.all(run)) == ["correct"] * 2
    assert [len(system.texts) for system in made] == [2, 2, 2]


def test_the_factory_is_handed_the_context_or_nothing(bench):
    handed = []

    class Told(Store):
        def __init__(self, context):
            super().__init__()
            handed.append(context)

    run = bench.begin(Told, plan(1))
    names(bench.all(run))
    assert replace(handed[0], clock=None) == replace(run.job.context, clock=None)
    assert names(bench.all(bench.begin(Store, plan(1)))) == ["correct"]


@pytest.mark.parametrize("writes", [1, 2])
def test_the_clock_shows_the_time_of_the_conversation_being_stored(bench, writes):
    times = {f"c-{i}": datetime(2025, 1, 1 + i, tzinfo=timezone.utc) for i in range(4)}
    seen = {}
    meeting = Meeting(writes)

    class Stamping(AsyncStore):
        concurrent_writes = writes

        def __init__(self, context):
            super().__init__()
            self.clock = context.clock

        async def store_conversation(self, conversation):
            await meeting.attend()
            seen[conversation.id] = self.clock()
            await super().store_conversation(conversation)

    steps = [*(Ingest(replace(said(i), timestamp=times[f"c-{i}"])) for i in range(4)), Probe((question(0),))]
    assert names(bench.all(bench.begin(Stamping, steps))) == ["correct"]
    assert seen == times


def test_the_clock_of_data_without_times_is_the_real_one(bench):
    seen = []

    class Stamping(Store):
        def __init__(self, context):
            super().__init__()
            self.clock = context.clock

        def store_conversation(self, conversation):
            seen.append(self.clock())
            super().store_conversation(conversation)

    before = datetime.now(timezone.utc)
    names(bench.all(bench.begin(Stamping, plan(1))))
    assert before <= seen[0] <= datetime.now(timezone.utc)


def test_a_factory_may_be_async(bench):
    async def factory(context):
        await asyncio.sleep(0)
        return AsyncStore()

    assert names(bench.all(bench.begin(factory, plan(3)))) == ["correct"] * 3


def test_progress_counts_the_conversations(make_bench):
    seen = []
    bench = make_bench(on_progress=lambda *counts: seen.append(counts))
    names(bench.all(bench.begin(Store, plan(3))))
    assert seen == [("s-1", 1, 3), ("s-1", 2, 3), ("s-1", 3, 3)]


def test_filled_is_done_when_the_questions_are_being_asked(bench):
    release = threading.Event()

    class Slow(Store):
        def store_conversation(self, conversation):
            assert release.wait(PATIENCE)
            super().store_conversation(conversation)

    run = bench.begin(Slow, plan(1))
    assert not run.filled.done()
    release.set()
    assert wait(run.filled) is None


# -- probes between conversations -------------------------------------------------------------------------------------


MID_STREAM = [
    Ingest(said(0)),
    Probe((question(0), question(1, [0, 1]))),
    Ingest(said(1)),
    Probe((question(2, [0, 1]), question(3, [0]))),
]


class Growing(Store):
    """Retrieves everything it holds."""

    def retrieve_memories(self, query, conversation, k):
        return list(self.texts)


@pytest.mark.parametrize(
    "order", [["q-0", "q-1", "q-2", "q-3"], ["q-3", "q-2", "q-1", "q-0"], ["q-2", "q-0", "q-3", "q-1"]], ids="-".join
)
def test_a_probe_sees_only_what_was_stored_before_it_whatever_is_waited_for_first(bench, order):
    run = bench.begin(Growing, MID_STREAM)
    results = {name: bench.get(run, f"{name}@5") for name in order}
    shown = {name: len(result.trace.shown) for name, result in results.items()}
    assert shown == {"q-0": 1, "q-1": 1, "q-2": 2, "q-3": 2}
    assert {name: len(result.listing.memories) for name, result in results.items()} == shown
    assert {name: result.verdict.name for name, result in results.items()} == {
        "q-0": "correct",
        "q-1": "not_stored",
        "q-2": "correct",
        "q-3": "correct",
    }


def test_the_next_conversation_is_stored_only_after_the_probe_has_retrieved(bench):
    order = []

    class Dawdling(AsyncStore):
        async def store_conversation(self, conversation):
            order.append(conversation.id)
            await super().store_conversation(conversation)

        async def retrieve_memories(self, query, conversation, k):
            await asyncio.sleep(0.02)
            order.append("retrieved")
            return await super().retrieve_memories(query, conversation, k)

    names(bench.all(bench.begin(Dawdling, MID_STREAM)))
    assert order == ["c-0", "retrieved", "retrieved", "c-1", "retrieved", "retrieved"]


def test_a_later_conversation_is_not_stored_where_no_question_needs_it(bench):
    systems = []

    def factory():
        systems.append(Growing())
        return systems[-1]

    run = bench.begin(factory, MID_STREAM, selected=lambda q: q.id == "q-0")
    assert names(bench.all(run)) == ["correct"]
    assert bench.finish(run).conversations == 1
    assert systems[0].texts == [fact(0)]


@pytest.mark.parametrize(
    ("expected", "stages", "listed"),
    [([0], STAGES, [1, 2]), ([1], STAGES, [2]), ([0], ("retrieval", "answer"), [2])],
    ids=["told-before-it", "told-after-it", "storage-not-asked"],
)
def test_a_probe_without_a_selected_question_is_listed_only_if_a_later_one_expects_what_was_told_before_it(
    bench, expected, stages, listed
):
    steps = [*MID_STREAM[:3], Probe((question(4, expected, stages=stages),))]
    run = bench.begin(Growing, steps, selected=lambda q: q.id == "q-4")
    assert names(bench.all(run)) == ["correct"]
    assert [len(listing.memories) for listing in bench.finish(run).listings] == listed


def test_the_report_has_a_listing_for_every_probe(bench):
    run = bench.begin(Growing, MID_STREAM)
    bench.all(run)
    assert [len(listing.memories) for listing in bench.finish(run).listings] == [1, 2]


# -- threads and loops ------------------------------------------------------------------------------------------------


class Embedded:
    """A default sqlite3 connection refuses every thread but the one that made it."""

    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("create table memories (text)")
        self.closed = False

    def store_conversation(self, conversation):
        self.db.execute("insert into memories values (?)", (conversation.text,))

    def retrieve_memories(self, query, conversation, k):
        return [text for (text,) in self.db.execute("select text from memories where text = ?", (query,))]

    def get_all_memories(self):
        return [text for (text,) in self.db.execute("select text from memories")]

    def flush(self):
        self.db.commit()

    def describe(self):
        return {"rows": str(self.db.execute("select count(*) from memories").fetchone()[0])}

    def close(self):
        self.db.close()
        self.closed = True


def test_a_sync_system_lives_on_one_thread(bench):
    systems = []

    def factory():
        systems.append(Embedded())
        return systems[-1]

    run = bench.begin(factory, plan(20))
    assert names(bench.all(run)) == ["correct"] * 20
    assert bench.finish(run).described == {"rows": "0"}
    assert systems[0].closed


def test_a_lazy_iterable_of_a_sync_system_is_read_on_its_thread(bench):
    class Generating(Embedded):
        def retrieve_memories(self, query, conversation, k):
            for (text,) in self.db.execute("select text from memories where text = ?", (query,)):
                yield text

        def get_all_memories(self):
            return (text for (text,) in self.db.execute("select text from memories"))

    run = bench.begin(Generating, plan(3))
    assert names(bench.all(run)) == ["correct"] * 3
    bench.finish(run)


def test_a_sync_system_does_not_run_on_the_loop(bench):
    threads = set()

    class Watching(Store):
        def retrieve_memories(self, query, conversation, k):
            threads.add(threading.current_thread().name)
            return super().retrieve_memories(query, conversation, k)

    names(bench.all(bench.begin(Watching, plan(3))))
    assert threads
    assert not threads & {"memfail-loop", threading.main_thread().name}


def test_all_calls_of_an_async_system_run_on_one_loop(bench):
    loops = []

    class Watching(AsyncStore):
        async def store_conversation(self, conversation):
            loops.append(asyncio.get_running_loop())
            await super().store_conversation(conversation)

        async def retrieve_memories(self, query, conversation, k):
            loops.append(asyncio.get_running_loop())
            return await super().retrieve_memories(query, conversation, k)

        async def get_all_memories(self):
            loops.append(asyncio.get_running_loop())
            return await super().get_all_memories()

        async def flush(self):
            loops.append(asyncio.get_running_loop())

        async def close(self):
            loops.append(asyncio.get_running_loop())

    async def factory():
        loops.append(asyncio.get_running_loop())
        return Watching()

    for _ in range(2):
        run = bench.begin(factory, plan(5))
        assert names(bench.all(run)) == ["correct"] * 5
        bench.finish(run)
    assert len(loops) == 2 * (1 + 5 + 1 + 1 + 5 + 1 + 1)
    assert len(set(map(id, loops))) == 1


# -- how much at once -------------------------------------------------------------------------------------------------


def meeting_store(meeting):
    class Meeting(AsyncStore):
        async def retrieve_memories(self, query, conversation, k):
            await meeting.attend()
            return await super().retrieve_memories(query, conversation, k)

    return Meeting


def test_an_async_system_is_read_by_eight_at_once(bench):
    meeting = Meeting(8)
    assert names(bench.all(bench.begin(meeting_store(meeting), plan(40)))) == ["correct"] * 40
    assert meeting.peak.peak == 8


@pytest.mark.parametrize("reads", [1, 3, 20])
def test_an_async_system_may_declare_how_many_reads_are_safe(bench, reads):
    meeting = Meeting(reads)
    factory = meeting_store(meeting)
    factory.concurrent_reads = reads
    assert names(bench.all(bench.begin(factory, plan(40)))) == ["correct"] * 40
    assert meeting.peak.peak == reads


def test_a_sync_system_is_read_by_one_at_a_time(bench):
    peak = Peak()

    class Watched(Store):
        def retrieve_memories(self, query, conversation, k):
            with peak.counted():
                return super().retrieve_memories(query, conversation, k)

    assert names(bench.all(bench.begin(Watched, plan(40)))) == ["correct"] * 40
    assert peak.peak == 1
    assert len(peak.threads) == 1


def test_a_sync_system_may_declare_how_many_reads_are_safe(bench):
    peak, barrier = Peak(), threading.Barrier(4)

    class Watched(Store):
        concurrent_reads = 4

        def retrieve_memories(self, query, conversation, k):
            with peak.counted():
                barrier.wait(PATIENCE)
                return super().retrieve_memories(query, conversation, k)

    assert names(bench.all(bench.begin(Watched, plan(40)))) == ["correct"] * 40
    assert peak.peak == 4


def test_the_engines_concurrency_limits_the_questions_in_flight(make_bench):
    meeting = Meeting(2)
    factory = meeting_store(meeting)
    factory.concurrent_reads = 100
    bench = make_bench(concurrency=2)
    assert names(bench.all(bench.begin(factory, plan(20)))) == ["correct"] * 20
    assert meeting.peak.peak == 2


@pytest.mark.parametrize(("declared", "expected"), [(None, 1), (3, 3)])
def test_writes_happen_one_at_a_time_unless_more_are_declared_safe(bench, declared, expected):
    meeting = Meeting(expected)

    class Watched(AsyncStore):
        async def store_conversation(self, conversation):
            await meeting.attend()
            await super().store_conversation(conversation)

    if declared is not None:
        Watched.concurrent_writes = declared
    run = bench.begin(Watched, plan(6))
    assert names(bench.all(run)) == ["correct"] * 6
    assert meeting.peak.peak == expected
    assert bench.finish(run).conversations == 6


def test_a_sync_system_that_declares_concurrent_writes_gets_them(bench):
    barrier = threading.Barrier(3)

    class Watched(Store):
        concurrent_writes = 3

        def store_conversation(self, conversation):
            barrier.wait(PATIENCE)
            super().store_conversation(conversation)

    assert names(bench.all(bench.begin(Watched, plan(6)))) == ["correct"] * 6


@pytest.mark.parametrize("name", ["concurrent_reads", "concurrent_writes"])
@pytest.mark.parametrize("value", [0, -1, "8", 2.5, None])
def test_a_declared_number_that_is_none_is_named(bench, name, value):
    factory = type("Odd", (Store,), {name: value})
    error = bench.all(bench.begin(factory, plan(1)))[0].error
    assert isinstance(error, WrongTypeError)
    assert name in str(error)
    assert repr(value) in str(error)


@pytest.mark.parametrize("factory", [Store, AsyncStore])
def test_the_results_of_many_questions_belong_to_their_questions(make_bench, factory):
    bench = make_bench(concurrency=8)
    run = bench.begin(factory, plan(200))
    results = bench.all(run)
    assert names(results) == ["correct"] * 200
    assert [result.ask.key for result in results] == [f"q-{i}@5" for i in range(200)]
    assert [result.trace.shown for result in results] == [(Memory(fact(i)),) for i in range(200)]


def test_results_may_be_waited_for_in_any_order(make_bench):
    bench = make_bench(concurrency=4)
    run = bench.begin(Store, plan(200))
    for i in reversed(range(200)):
        assert bench.get(run, f"q-{i}@5").trace.question.id == f"q-{i}"


# -- asking ahead -----------------------------------------------------------------------------------------------------


def test_questions_are_asked_ahead_of_who_waits_but_no_more_than_the_window(make_bench):
    asked, enough = [], threading.Event()

    class Watched(Store):
        def retrieve_memories(self, query, conversation, k):
            asked.append(query)
            if len(asked) >= window:
                enough.set()
            return super().retrieve_memories(query, conversation, k)

    bench = make_bench(concurrency=2)
    window = bench.engine.resources.window
    run = bench.begin(Watched, plan(window + 30))
    assert enough.wait(PATIENCE)
    other = bench.begin(Store, plan(5))  # the loop goes on with other work, and the first store stays where it is
    assert names(bench.all(other)) == ["correct"] * 5
    assert len(asked) == window
    assert names(bench.all(run)) == ["correct"] * (window + 30)
    assert len(asked) == window + 30


def test_a_question_waited_for_comes_before_the_others(make_bench):
    asked, begun, release = [], threading.Event(), threading.Event()

    class Watched(Store):
        def retrieve_memories(self, query, conversation, k):
            begun.set()
            assert release.wait(PATIENCE)
            asked.append(query)
            return super().retrieve_memories(query, conversation, k)

    bench = make_bench(concurrency=1)
    run = bench.begin(Watched, plan(30))
    assert begun.wait(PATIENCE)
    wanted = run.result("q-29@5")
    release.set()
    wait(wanted)
    assert asked.index(fact(29)) <= 2  # one was being asked, one more was about to be


def test_several_stores_are_worked_on_at_once(bench):
    barrier = threading.Barrier(2)

    class Meeting(Store):
        def store_conversation(self, conversation):
            barrier.wait(PATIENCE)
            super().store_conversation(conversation)

    runs = [bench.begin(Meeting, plan(2)) for _ in range(2)]
    for run in runs:
        assert names(bench.all(run)) == ["correct"] * 2


# -- reruns -----------------------------------------------------------------------------------------------------------


def test_a_key_taken_again_is_asked_again(bench):
    class Learning(Store):
        calls = 0

        def retrieve_memories(self, query, conversation, k):
            self.calls += 1
            return super().retrieve_memories(query, conversation, k) if self.calls > 1 else []

    run = bench.begin(Learning, plan(1))
    verdicts = [bench.get(run, "q-0@5").verdict.name for _ in range(3)]
    assert verdicts == ["not_retrieved", "correct", "correct"]


def test_a_key_taken_again_at_once_is_never_cancelled(bench):
    """The first answer must be wholly done with the key when it hands over its result."""
    run = bench.begin(Store, plan(1))
    assert names([bench.get(run, "q-0@5") for _ in range(200)]) == ["correct"] * 200


def test_a_rerun_is_judged_by_the_listing_of_its_probe(bench):
    run = bench.begin(Store, plan(2))
    first, second = bench.get(run, "q-0@5"), bench.get(run, "q-0@5")
    assert first is not second
    assert first.listing is second.listing


def test_a_question_of_an_earlier_probe_cannot_be_asked_again(bench):
    run = bench.begin(Growing, MID_STREAM)
    bench.all(run)
    again = bench.get(run, "q-0@5")
    assert isinstance(again.error, MemorySystemError)
    assert "cannot be asked again" in str(again.error)
    assert bench.get(run, "q-2@5").verdict.name == "correct"


def test_a_closed_store_cannot_be_asked_again(bench):
    run = bench.begin(Store, plan(1))
    bench.all(run)
    bench.finish(run)
    assert "closed" in str(bench.get(run, "q-0@5").error)


# -- suspects ---------------------------------------------------------------------------------------------------------


def watched_store(overlaps, in_flight, begun=None, turns=10):
    """Notes which calls were in flight together with each question's."""

    class Watched(AsyncStore):
        async def retrieve_memories(self, query, conversation, k):
            name = query.partition(" ")[0]
            in_flight.add(name)
            if begun is not None:
                begun.set()
            seen = overlaps.setdefault(name, set())
            for _ in range(turns):
                seen |= in_flight
                await asyncio.sleep(0.01)
            in_flight.remove(name)
            return await super().retrieve_memories(query, conversation, k)

    return Watched


def test_a_suspect_runs_alone(bench):
    overlaps = {}
    run = bench.begin(watched_store(overlaps, set()), plan(30), suspects=["q-7@5", "q-8@5"])
    assert names(bench.all(run)) == ["correct"] * 30
    assert overlaps["item7"] == {"item7"}
    assert overlaps["item8"] == {"item8"}
    assert max(map(len, overlaps.values())) > 1


def test_a_suspect_runs_alone_among_all_stores(bench):
    overlaps, in_flight, begun = {}, set(), threading.Event()
    steps = [Ingest(said(0)), Probe((question(0),))]
    first = bench.begin(watched_store(overlaps, in_flight, begun, turns=40), steps, suspects=["q-0@5"])
    suspect = first.result("q-0@5")
    assert begun.wait(PATIENCE)
    steps = [Ingest(said(1)), Probe((question(1),))]
    second = bench.begin(watched_store(overlaps, in_flight), steps)
    assert names([wait(suspect), bench.get(second, "q-1@5")]) == ["correct"] * 2
    assert overlaps["item0"] == {"item0"}


def test_a_suspect_asked_again_runs_alone_again(bench):
    overlaps = {}
    run = bench.begin(watched_store(overlaps, set()), plan(100), suspects=["q-0@5"])
    assert names([bench.get(run, "q-0@5")]) == ["correct"]
    rest = [run.result(f"q-{i}@5") for i in reversed(range(100))]
    assert names([wait(future) for future in rest]) == ["correct"] * 100
    assert overlaps["item0"] == {"item0"}


def test_a_suspect_is_asked_only_when_waited_for(bench):
    asked = []

    class Watched(Store):
        def retrieve_memories(self, query, conversation, k):
            asked.append(query)
            return super().retrieve_memories(query, conversation, k)

    run = bench.begin(Watched, plan(4), suspects=["q-1@5"])
    assert names([bench.get(run, f"q-{i}@5") for i in (0, 2, 3)]) == ["correct"] * 3
    other = bench.begin(Store, plan(5))
    names(bench.all(other))
    assert fact(1) not in asked
    assert names([bench.get(run, "q-1@5")]) == ["correct"]
    assert asked[-1] == fact(1)


# -- judging ----------------------------------------------------------------------------------------------------------


def test_a_fact_is_judged_once_against_a_store_however_many_questions_and_k_share_it(bench):
    steps = [Ingest(said(0)), Ingest(said(1)), Probe(tuple(question(i, [0, 1]) for i in range(5)))]
    names(bench.all(bench.begin(Growing, steps, k=(1, 5, 10))))
    asked = bench.judge.asked
    assert {(stage, name): n for (stage, name), n in asked.items() if stage in ("storage", "summary")} == {
        (stage, name): 1 for stage in ("storage", "summary") for name in ("e-0", "e-1")
    }
    assert asked["retrieval", "e-0"] == 15


def test_a_fact_is_judged_anew_where_the_store_was_filled_further(bench):
    names(bench.all(bench.begin(Growing, MID_STREAM)))
    assert bench.judge.asked["storage", "e-1"] == 2


def test_the_stages_stop_at_the_first_failure(bench):
    steps = [Ingest(said(0)), Probe((question(0, [1]),))]
    assert names(bench.all(bench.begin(Store, steps))) == ["not_stored"]
    assert set(bench.judge.asked) == {("storage", "e-1")}


class Waiting(ExactJudge):
    """Sync methods that wait for each other: they need threads."""

    inline = False

    def __init__(self):
        super().__init__()
        self.barrier = threading.Barrier(4)

    def storage(self, evidence, store):
        self.barrier.wait(PATIENCE)
        return super().storage(evidence, store)


def test_a_sync_judge_runs_on_threads_of_its_own(make_bench):
    bench = make_bench(judge=Waiting(), concurrency=4)
    assert names(bench.all(bench.begin(Store, plan(8)))) == ["correct"] * 8


class AsyncJudge(ExactJudge):
    inline = False

    async def storage(self, evidence, store):
        await asyncio.sleep(0)
        return super().storage(evidence, store)

    async def retrieval(self, evidence, question, shown):
        await asyncio.sleep(0)
        return super().retrieval(evidence, question, shown)


def test_a_judge_may_be_async_in_part(make_bench):
    bench = make_bench(judge=AsyncJudge())
    assert names(bench.all(bench.begin(Store, plan(5)))) == ["correct"] * 5


class Lettered(ExactJudge):
    def answer(self, question, evidence, reply):
        super().answer(question, evidence, reply)
        if reply is None:
            return StageResult("ungraded")
        return StageResult("passed" if reply.text == "A" else "failed")


class Taker:
    def __init__(self, text):
        self.text = text

    def answer(self, question, shown):
        return Reply(self.text)


@pytest.mark.parametrize(("letter", "credited"), [("A", True), ("B", False)])
def test_the_raw_letter_is_recorded_even_where_a_fact_failed(make_bench, letter, credited):
    bench = make_bench(judge=Lettered(), test_taker=Taker(letter))
    lost = question(0, [1], kind="multiple_choice", letter="A")
    (result,) = bench.all(bench.begin(Store, [Ingest(said(0)), Probe((lost,))]))
    assert (result.verdict.name, result.verdict.credited) == ("not_stored", credited)


def test_without_a_test_taker_no_letter_is_credited(make_bench):
    bench = make_bench(judge=Lettered())
    asked = question(0, kind="multiple_choice", letter="A")
    (result,) = bench.all(bench.begin(Store, [Ingest(said(0)), Probe((asked,))]))
    assert (result.verdict.name, result.verdict.credited) == ("no_answer", None)


def test_the_test_taker_is_shown_what_was_retrieved(make_bench):
    seen = []

    class Attentive:
        async def answer(self, question, shown):
            seen.append((question.id, tuple(memory.text for memory in shown)))
            return Reply("yes", 10, 2)

    bench = make_bench(test_taker=Attentive())
    (result,) = bench.all(bench.begin(Store, plan(1)))
    assert seen == [("q-0", (fact(0),))]
    assert result.trace.reply == Reply("yes", 10, 2)
    assert set(result.trace.seconds) == {"retrieve", "answer", "judge"}


def test_a_sync_test_taker_does_not_hold_up_the_loop(make_bench):
    barrier = threading.Barrier(2)

    class Slow:
        def answer(self, question, shown):
            barrier.wait(PATIENCE)
            return Reply("yes")

    bench = make_bench(test_taker=Slow())
    assert names(bench.all(bench.begin(Store, plan(2)))) == ["correct"] * 2


def test_a_question_that_must_not_use_its_fact_passes_vacuously_where_it_is_gone(bench):
    asked = question(0, [1], must_not_use=True)
    (result,) = bench.all(bench.begin(Store, [Ingest(said(0)), Probe((asked,))]))
    assert (result.verdict.name, result.verdict.vacuous) == ("correct", True)


class NothingThere(ExactJudge):
    """Finds nothing of a state that was taken back."""

    def storage(self, evidence, store):
        return StageResult("passed", "nothing of it is there", vacuous=True)

    summary = storage

    def retrieval(self, evidence, question, shown):
        return StageResult("passed", "nothing of it is there", vacuous=True)


def test_a_state_that_was_taken_back_and_is_gone_passes_without_its_answer_being_judged(make_bench):
    judge = NothingThere()
    bench = make_bench(judge=judge)
    (result,) = bench.all(bench.begin(Store, plan(1)))
    assert (result.verdict.name, result.verdict.vacuous, result.verdict.memory_held) == ("correct", True, None)
    assert not judge.asked["answer", "q-0"]


# -- what is shown ----------------------------------------------------------------------------------------------------


def words(texts):
    return sum(len(text.split()) for text in texts)


def first_words(text, n):
    return " ".join(text.split()[:n])


def last_words(text, n):
    return " ".join(text.split()[::-1][:n][::-1])


LONGER = ("one", "two words", "three long words", "and four words here")


class Ranked(Store):
    """Returns everything it holds, the shortest first."""

    def retrieve_memories(self, query, conversation, k):
        return [{"text": text, "id": str(i)} for i, text in enumerate(sorted(self.texts, key=words_of))]


def words_of(text):
    return len(text.split())


def shown(make_bench, limit, k=5, factory=Ranked):
    bench = make_bench(tokens=TokenRules(words, first_words, last_words, limit))
    steps = [*(Ingest(said(i, text)) for i, text in enumerate(LONGER)), Probe((question(0),))]
    (result,) = bench.all(bench.begin(factory, steps, k=(k,)))
    return result.trace


@pytest.mark.parametrize(
    ("limit", "texts", "tokens"),
    [
        (None, LONGER, 10),
        (10, LONGER, 10),
        (100, LONGER, 10),
        (9, (*LONGER[:3], "and four words"), 9),
        (6, LONGER[:3], 6),
        (5, (*LONGER[:2], "three long"), 5),
        (1, LONGER[:1], 1),
    ],
)
def test_whole_entries_are_shown_up_to_a_number_of_tokens(make_bench, limit, texts, tokens):
    trace = shown(make_bench, limit)
    assert tuple(memory.text for memory in trace.shown) == texts
    assert [memory.id for memory in trace.shown] == [str(i) for i in range(len(texts))]
    assert (trace.shown_tokens, trace.store_tokens, trace.cut) == (tokens, 10, 0)


def test_k_and_the_tokens_limit_what_is_shown_together(make_bench):
    trace = shown(make_bench, 5, k=2)
    assert ([memory.text for memory in trace.shown], trace.cut, trace.shown_tokens) == (["one", "two words"], 2, 3)
    assert [memory.text for memory in shown(make_bench, 2, k=2).shown] == ["one", "two"]


def test_the_tokens_limit_what_a_system_shows_that_shows_everything(make_bench):
    trace = shown(make_bench, 4, k=1, factory=type("Whole", (Ranked,), {"unlimited_k": True}))
    assert ([memory.text for memory in trace.shown], trace.cut) == (["one", "two words", "three"], 0)


@pytest.mark.parametrize(
    ("limit", "texts"),
    [
        (None, LONGER),
        (10, LONGER),
        (9, LONGER[1:]),
        (8, ("words", *LONGER[2:])),
        (4, LONGER[3:]),
        (2, ("words here",)),
    ],
)
def test_a_limit_drops_the_oldest_of_what_comes_in_the_order_of_storing(make_bench, limit, texts):
    trace = shown(
        make_bench, limit, k=1, factory=type("Window", (Ranked,), {"unlimited_k": True, "oldest_first": True})
    )
    assert tuple(memory.text for memory in trace.shown) == texts
    assert trace.shown_tokens == (limit or 10)


def test_each_text_is_counted_once(make_bench):
    counted = []

    def count(texts):
        counted.extend(texts)
        return words(texts)

    bench = make_bench(tokens=TokenRules(count, first_words, last_words))
    run = bench.begin(Store, plan(20), k=(1, 5))
    bench.all(run)
    bench.finish(run)
    assert sorted(counted) == sorted({fact(i) for i in range(20)})


def test_what_is_shown_is_cut_to_k(bench):
    steps = [*(Ingest(said(i)) for i in range(6)), Probe((question(0),))]
    results = bench.all(bench.begin(Growing, steps, k=(1, 3, 10)))
    assert [len(result.trace.shown) for result in results] == [1, 3, 6]
    assert [result.trace.k for result in results] == [1, 3, 10]
    assert results[1].trace.shown == tuple(Memory(fact(i)) for i in range(3))


def test_the_system_is_told_k_and_an_empty_conversation(bench):
    told = []

    class Told(Store):
        def retrieve_memories(self, query, conversation, k):
            told.append((query, conversation.messages, k))
            return super().retrieve_memories(query, conversation, k)

    bench.all(bench.begin(Told, plan(1), k=(7,)))
    assert told == [(fact(0), (), 7)]


def test_a_system_of_unlimited_k_shows_everything(bench):
    factory = type("Whole", (Growing,), {"unlimited_k": True})
    steps = [*(Ingest(said(i)) for i in range(6)), Probe((question(0),))]
    (result,) = bench.all(bench.begin(factory, steps, k=(2,)))
    assert len(result.trace.shown) == 6


# -- the end of a store -----------------------------------------------------------------------------------------------


def test_close_is_called_once(bench):
    class Closing(Store):
        closed = 0

        def close(self):
            type(self).closed += 1

    run = bench.begin(Closing, plan(2))
    bench.all(run)
    bench.finish(run)
    bench.engine.close()
    assert Closing.closed == 1


def test_an_async_close_is_awaited(bench):
    closed = []

    class Closing(AsyncStore):
        async def close(self):
            await asyncio.sleep(0)
            closed.append(True)

    run = bench.begin(Closing, plan(1))
    bench.all(run)
    bench.finish(run)
    assert closed == [True]


def test_a_store_that_failed_to_fill_is_closed(bench):
    closed = []

    class Closing(Store):
        def store_conversation(self, conversation):
            raise ValueError("full")

        def close(self):
            closed.append(True)

    run = bench.begin(Closing, plan(1))
    assert bench.all(run)[0].error is not None
    bench.finish(run)
    assert closed == [True]


def test_a_close_that_raises_is_the_error_of_the_finish(bench):
    class Stuck(Store):
        def close(self):
            raise OSError("disk gone")

    run = bench.begin(Stuck, plan(1))
    assert names(bench.all(run)) == ["correct"]
    with pytest.raises(MemorySystemError, match=r"close\(\) raised OSError: disk gone"):
        bench.finish(run)


def test_a_close_that_raises_after_a_failed_fill_is_no_second_error(bench):
    class Refused(Store):
        def store_conversation(self, conversation):
            raise OSError("key refused")

        def close(self):
            raise OSError("key refused again")

    run = bench.begin(Refused, plan(1))
    assert "key refused" in str(bench.all(run)[0].error)
    bench.finish(run)


def test_a_store_can_be_finished_before_all_its_questions_were_waited_for(bench):
    asked = []

    class Watched(Store):
        def retrieve_memories(self, query, conversation, k):
            asked.append(query)
            return super().retrieve_memories(query, conversation, k)

    run = bench.begin(Watched, plan(bench.engine.resources.window + 50))
    assert bench.get(run, "q-0@5").verdict.name == "correct"
    assert bench.finish(run).conversations == bench.engine.resources.window + 50
    assert len(asked) < bench.engine.resources.window + 50


def test_a_retrieval_that_writes_is_reported(bench):
    class Writing(Store):
        def retrieve_memories(self, query, conversation, k):
            found = super().retrieve_memories(query, conversation, k)
            self.texts.append(f"asked for {query}")
            return found

    run = bench.begin(Writing, plan(3))
    bench.all(run)
    assert bench.finish(run).changed == (3, 0)


def test_a_retrieval_that_forgets_is_reported(bench):
    class Wearing(Store):
        def retrieve_memories(self, query, conversation, k):
            found = super().retrieve_memories(query, conversation, k)
            self.texts.remove(query)
            self.texts.append("worn")
            return found

    run = bench.begin(Wearing, plan(3))
    bench.all(run)
    assert bench.finish(run).changed == (3, 3)


def test_a_store_that_is_only_read_did_not_change(bench):
    run = bench.begin(Store, plan(3))
    bench.all(run)
    assert bench.finish(run).changed == (0, 0)


def test_the_report_says_what_the_system_says_of_itself(bench):
    class Described(Store):
        def describe(self):
            return {"version": 3, "model": "none"}

    run = bench.begin(Described, plan(1))
    bench.all(run)
    report = bench.finish(run)
    assert report.described == {"version": "3", "model": "none"}
    assert (report.id, report.task, report.conversations) == ("s-1", "t", 1)


def test_the_tokens_of_the_last_listing_are_counted(make_bench):
    bench = make_bench(tokens=TokenRules(words, first_words, last_words))
    run = bench.begin(Growing, MID_STREAM)
    bench.all(run)
    assert bench.finish(run).tokens == 8


def test_without_a_counter_the_tokens_are_unknown(bench):
    run = bench.begin(Store, plan(1))
    bench.all(run)
    assert bench.finish(run).tokens is None


@pytest.mark.parametrize(("declared", "expected"), [(None, 2), (1, 1)])
def test_a_filled_store_tells_how_many_stores_may_be_open(bench, declared, expected):
    factory = Store if declared is None else type("Single", (Store,), {"concurrent_stores": declared})
    run = bench.begin(factory, plan(1))
    wait(run.filled)
    assert run.concurrent_stores == expected


# -- prints and journal -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_calls_know_what_they_run_for(bench, kind):
    if kind == "sync":

        class Speaking(Store):
            def store_conversation(self, conversation):
                CURRENT.get().output.append(conversation.id)
                super().store_conversation(conversation)

            def retrieve_memories(self, query, conversation, k):
                CURRENT.get().output.append(query)
                return super().retrieve_memories(query, conversation, k)

    else:

        class Speaking(AsyncStore):
            async def store_conversation(self, conversation):
                CURRENT.get().output.append(conversation.id)
                await super().store_conversation(conversation)

            async def retrieve_memories(self, query, conversation, k):
                CURRENT.get().output.append(query)
                return await super().retrieve_memories(query, conversation, k)

    run = bench.begin(Speaking, plan(5))
    assert [result.captured.output for result in bench.all(run)] == [[fact(i)] for i in range(5)]
    assert bench.finish(run).captured.output == [f"c-{i}" for i in range(5)]


class Journal:
    def __init__(self):
        self.lines = []

    def fill_started(self, store):
        self.lines.append(f"fill {store}")

    def fill_ended(self, store):
        self.lines.append(f"filled {store}")

    def question_started(self, key):
        self.lines.append(f"ask {key}")

    def question_ended(self, key):
        self.lines.append(f"asked {key}")


def test_the_journal_is_told_what_begins_and_ends(make_bench):
    journal = Journal()
    bench = make_bench(journal=journal, concurrency=1)
    names(bench.all(bench.begin(Store, plan(2))))
    assert journal.lines[0] == "fill s-1"
    rest = journal.lines[journal.lines.index("filled s-1") :]
    assert rest == ["filled s-1", "ask q-0@5", "asked q-0@5", "ask q-1@5", "asked q-1@5"]
    assert set(journal.lines) == {"fill s-1", *rest}


def test_the_journal_knows_that_a_failed_fill_has_ended(make_bench):
    journal = Journal()

    class Full(Store):
        def store_conversation(self, conversation):
            raise ValueError("full")

    bench = make_bench(journal=journal)
    bench.all(bench.begin(Full, plan(1)))
    assert journal.lines[-1] == "filled s-1"


def test_texts_are_read_when_a_store_begins_and_dropped_when_it_ends(bench):
    """Stores that are open one after the other need the memory of one."""
    gc.collect()
    gc.freeze()  # what was there before is not looked at again and again

    def alive():
        gc.collect()
        return sum(isinstance(one, Conversation) and one.id == "c-0" and bool(one.messages) for one in gc.get_objects())

    class Forgetful(Store):
        def store_conversation(self, conversation):
            self.log.append(conversation.text)

        def get_all_memories(self):
            return list(self.log)

    steps = [Ingest(Conversation("c-0", ())), Probe((question(0),))]
    before, opened = alive(), []

    def opens():
        opened.append(alive())
        return {"c-0": said(0)}

    for _ in range(5):
        run = bench.begin(Forgetful, steps, opens=opens)
        bench.all(run)
        bench.finish(run)
        del run
    assert max(opened) - before <= 1  # the store that has just ended may still be on its way out


DAY = datetime(2025, 3, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize(("times", "seen"), [((DAY, None, None), ["2025-03-01", None, None]), ([None] * 3, [None] * 3)])
def test_an_answer_sees_when_memories_are_from_but_no_time_after_the_rows(make_bench, times, seen):
    class Stamped(Store):
        def retrieve_memories(self, query, conversation, k):
            stamps = "2025-03-01", "2026-11-29T08:44:00+00:00", None  # of the row, of the machine, none
            return [{"text": text, "timestamp": stamp} for text, stamp in zip(self.texts, stamps, strict=True)]

    taker = Recorded()
    bench = make_bench(test_taker=taker)
    said_at = [Conversation(f"c-{i}", (Message("user", fact(i)),), when) for i, when in enumerate(times)]
    (result,) = bench.all(bench.begin(Stamped, [*map(Ingest, said_at), Probe((question(0),))]))
    assert [memory.timestamp for memory in taker.shown] == seen
    assert result.trace.shown[1].timestamp == "2026-11-29T08:44:00+00:00"  # the record has what the system returned


class Recorded:
    """A test-taker that keeps what it was shown."""

    def answer(self, question, shown):
        self.shown = shown
        return Reply("yes")
