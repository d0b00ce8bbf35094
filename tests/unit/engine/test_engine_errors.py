"""Whatever fails is an error of its own question or store, never a verdict, and never the end of the engine."""

from __future__ import annotations

import asyncio
import math
import threading
from concurrent.futures import CancelledError, Future

import numpy as np
import pytest
from engine_fakes import (
    PASSED,
    PATIENCE,
    WORDS,
    AsyncStore,
    ExactJudge,
    Store,
    fact,
    names,
    plan,
    question,
    said,
    wait,
)

from pytest_memfail.core import (
    Conversation,
    Ingest,
    JudgeError,
    MemorySystemError,
    Message,
    Probe,
    Reply,
    StageResult,
    TruncatedListingError,
    UsageError,
    WrongTypeError,
)


def errors(results):
    assert [result.verdict for result in results] == [None] * len(results)
    return [result.error for result in results]


def still_works(bench):
    """The engine goes on with the next store."""
    return names(bench.all(bench.begin(Store, plan(3)))) == ["correct"] * 3


# -- filling ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [Store, AsyncStore])
def test_a_store_that_raises_names_the_method_the_conversation_and_the_cause(bench, base):
    broken = ValueError("quota\nexceeded")

    if base is Store:

        class Full(Store):
            def store_conversation(self, conversation):
                if conversation.id == "c-2":
                    raise broken
                super().store_conversation(conversation)

    else:

        class Full(AsyncStore):
            async def store_conversation(self, conversation):
                if conversation.id == "c-2":
                    raise broken
                await super().store_conversation(conversation)

    run = bench.begin(Full, plan(4))
    found = errors(bench.all(run))
    assert len(found) == 4
    for error in found:
        assert isinstance(error, MemorySystemError)
        assert str(error) == (
            "store_conversation() raised ValueError: quota exceeded, not retried: the system is not declared idempotent and "
            "has no snapshot() and restore() (conversation 3 of 4)"
        )
        assert error.__cause__ is broken
    assert isinstance(run.filled.exception(PATIENCE), MemorySystemError)
    assert still_works(bench)


def test_a_store_that_fails_between_probes_keeps_the_results_before(bench):
    class Full(Store):
        def store_conversation(self, conversation):
            if conversation.id == "c-1":
                raise ValueError("full")
            super().store_conversation(conversation)

    steps = [Ingest(said(0)), Probe((question(0),)), Ingest(said(1)), Probe((question(1),))]
    first, second = bench.all(bench.begin(Full, steps))
    assert first.verdict.name == "correct"
    assert "(conversation 2 of 2)" in str(second.error)


@pytest.mark.parametrize("method", ["flush", "get_all_memories", "describe"])
def test_another_method_that_raises_is_named(bench, method):
    def broken(self):
        raise OSError("disk gone")

    (error,) = errors(bench.all(bench.begin(type("Broken", (Store,), {method: broken}), plan(1))))
    assert isinstance(error, MemorySystemError)
    assert str(error) == f"{method}() raised OSError: disk gone"


def test_a_factory_that_raises_is_named(bench):
    def factory(context):
        raise RuntimeError("no server")

    (error,) = errors(bench.all(bench.begin(factory, plan(1))))
    assert isinstance(error, MemorySystemError)
    assert "the factory" in str(error)
    assert "RuntimeError: no server" in str(error)
    assert isinstance(error.__cause__, RuntimeError)
    assert still_works(bench)


def test_a_factorys_own_clear_message_is_passed_on(bench):
    def factory():
        raise UsageError("--memfail-system-option rate: got 2")

    (error,) = errors(bench.all(bench.begin(factory, plan(1))))
    assert isinstance(error, UsageError)


@pytest.mark.parametrize("made", [None, 5, "a store"])
def test_a_factory_that_gives_no_system_names_what_is_missing(bench, made):
    (error,) = errors(bench.all(bench.begin(lambda: made, plan(1))))
    assert isinstance(error, WrongTypeError)
    assert type(made).__name__ in str(error)
    assert "expected a memory system with store_conversation(), retrieve_memories(), get_all_memories()" in str(error)


@pytest.mark.parametrize("missing", ["store_conversation", "retrieve_memories", "get_all_memories"])
def test_a_missing_method_is_named(bench, missing):
    factory = type("Part", (Store,), {missing: None})
    (error,) = errors(bench.all(bench.begin(factory, plan(1))))
    assert isinstance(error, WrongTypeError)
    assert f"Part, which has no {missing}()" in str(error)


# -- wrong types ------------------------------------------------------------------------------------------------------

WRONG = [(None, "NoneType"), ("text", "str 'text'"), ({"text": "a"}, "dict"), (5, "int 5"), (b"x", "bytes")]


@pytest.mark.parametrize(("value", "got"), WRONG)
def test_a_retrieval_of_the_wrong_type_names_method_got_expected_and_question(bench, value, got):
    class Odd(Store):
        def retrieve_memories(self, query, conversation, k):
            return value if query == fact(1) else super().retrieve_memories(query, conversation, k)

    results = bench.all(bench.begin(Odd, plan(3)))
    assert names([results[0], results[2]]) == ["correct"] * 2
    error = results[1].error
    assert isinstance(error, WrongTypeError)
    assert f"retrieve_memories() returned {got}" in str(error)
    assert "expected a list of strings" in str(error)
    assert "(question q-1)" in str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("entry", "got"),
    [
        (None, "NoneType"),
        (5, "int 5"),
        ({"note": "a"}, "dict"),
        ({"text": 5}, "an entry whose text is int 5"),
        (("text", 0.5), "tuple"),
        (object, "type"),
    ],
)
def test_an_entry_of_the_wrong_type_is_named_with_its_index(bench, entry, got):
    class Odd(Store):
        def retrieve_memories(self, query, conversation, k):
            return ["fine", entry]

    (error,) = errors(bench.all(bench.begin(Odd, plan(1))))
    assert isinstance(error, WrongTypeError)
    assert f"retrieve_memories() returned {got}" in str(error)
    assert "at index 1" in str(error)


@pytest.mark.parametrize(("value", "got"), WRONG)
def test_a_listing_of_the_wrong_type_is_the_error_of_every_question(bench, value, got):
    class Odd(Store):
        def get_all_memories(self):
            return value

    for error in errors(bench.all(bench.begin(Odd, plan(2)))):
        assert isinstance(error, WrongTypeError)
        assert f"get_all_memories() returned {got}" in str(error)


def test_a_score_that_is_no_number_is_named(bench):
    class Odd(Store):
        def retrieve_memories(self, query, conversation, k):
            return [{"text": "a", "score": "high"}]

    (error,) = errors(bench.all(bench.begin(Odd, plan(1))))
    assert isinstance(error, WrongTypeError)
    assert "score 'high' at index 0" in str(error)


def test_a_generator_that_raises_is_an_error_of_the_system(bench):
    class Breaking(Store):
        def retrieve_memories(self, query, conversation, k):
            yield "one"
            raise OSError("connection lost")

    (error,) = errors(bench.all(bench.begin(Breaking, plan(1))))
    assert isinstance(error, MemorySystemError)
    assert "retrieve_memories() raised OSError: connection lost" in str(error)


# -- retrieving -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [Store, AsyncStore])
def test_a_retrieval_that_raises_costs_its_own_question_only(bench, base):
    broken = KeyError("index")

    if base is Store:

        class Breaking(Store):
            def retrieve_memories(self, query, conversation, k):
                if query == fact(1):
                    raise broken
                return super().retrieve_memories(query, conversation, k)

    else:

        class Breaking(AsyncStore):
            async def retrieve_memories(self, query, conversation, k):
                if query == fact(1):
                    raise broken
                return await super().retrieve_memories(query, conversation, k)

    results = bench.all(bench.begin(Breaking, plan(3)))
    assert names([results[0], results[2]]) == ["correct"] * 2
    assert results[1].verdict is None
    assert isinstance(results[1].error, MemorySystemError)
    assert str(results[1].error) == "retrieve_memories() raised KeyError: 'index' (question q-1)"
    assert results[1].error.__cause__ is broken


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("base", [Store, AsyncStore])
@pytest.mark.parametrize("method", ["store_conversation", "retrieve_memories", "get_all_memories"])
def test_a_system_that_asks_the_process_to_end_does_not_end_the_engine(bench, base, method, kind):
    if base is Store:

        def leave(self, *args):
            raise kind(3)

    else:

        async def leave(self, *args):
            raise kind(3)

    run = bench.begin(type("Leaving", (base,), {method: leave}), plan(2))
    for error in errors(bench.all(run)):
        assert isinstance(error, MemorySystemError)
        assert f"{method}() raised {kind.__name__}: 3" in str(error)
    assert still_works(bench)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_a_factory_that_asks_the_process_to_end_does_not_end_the_engine(bench, kind):
    def factory():
        raise kind(3)

    (error,) = errors(bench.all(bench.begin(factory, plan(1))))
    assert isinstance(error, MemorySystemError)
    assert still_works(bench)


@pytest.mark.parametrize(
    "kind", [StopIteration, StopAsyncIteration, TimeoutError, asyncio.TimeoutError, RecursionError]
)
@pytest.mark.parametrize("base", [Store, AsyncStore])
def test_exceptions_with_a_meaning_of_their_own_are_errors_too(bench, base, kind):
    """`next()` of an empty result raises StopIteration, which no future can hold."""
    if base is Store:

        class Breaking(Store):
            def retrieve_memories(self, query, conversation, k):
                raise kind("empty")

    else:

        class Breaking(AsyncStore):
            async def retrieve_memories(self, query, conversation, k):
                raise kind("empty")

    (error,) = errors(bench.all(bench.begin(Breaking, plan(1))))
    assert isinstance(error, MemorySystemError)
    assert "retrieve_memories() raised" in str(error)
    assert still_works(bench)


# -- listings that leave entries out ----------------------------------------------------------------------------------


class Paged(Store):
    """Lists a page of 20, as many clients do by default."""

    page = 20

    def get_all_memories(self):
        return super().get_all_memories()[: self.page]


def test_a_listing_cut_to_a_page_is_an_error_and_no_verdict(bench):
    for error in errors(bench.all(bench.begin(Paged, plan(60)))):
        assert isinstance(error, TruncatedListingError)
        assert "get_all_memories() lists 20 entries" in str(error)
        assert "return every entry" in str(error)


def test_a_listing_cut_to_the_last_page_is_an_error_too(bench):
    class Latest(Store):
        def get_all_memories(self):
            return super().get_all_memories()[-20:]

    assert isinstance(bench.all(bench.begin(Latest, plan(60)))[0].error, TruncatedListingError)


def test_a_listing_is_looked_through_at_the_last_probe_with_a_message_as_the_query(bench):
    asked = []

    class Rewording(Store):
        def get_all_memories(self):
            return [f"note {number}" for number, _ in enumerate(super().get_all_memories())]

        def retrieve_memories(self, query, conversation, k):
            asked.append(query)
            return self.get_all_memories()[:k]

    spoken = [
        Conversation(f"c-{i}", (Message("user", f"first of {i}"), Message("user", f"second of {i}"))) for i in range(3)
    ]
    ingests = [Ingest(one) for one in spoken]
    bench.all(bench.begin(Rewording, (ingests[0], Probe((question(0),)), *ingests[1:], Probe((question(1),)))))
    assert asked[0] == question(0).query
    assert asked[1:4] == ["first of 0", "first of 1", "first of 2"]
    assert asked[4:] == [question(1).query]


def test_a_listing_no_longer_than_the_page_is_whole(bench):
    assert names(bench.all(bench.begin(Paged, plan(20)))) == ["correct"] * 20


def test_a_system_that_really_forgets_is_not_taken_for_a_truncated_listing(bench):
    class Forgetful(Store):
        def store_conversation(self, conversation):
            if int(conversation.id[2:]) < 20:
                super().store_conversation(conversation)

        def retrieve_memories(self, query, conversation, k):
            return self.texts[:k]  # always something, whatever was asked

    results = bench.all(bench.begin(Forgetful, plan(60)))
    assert {result.verdict.name for result in results[20:]} == {"not_stored"}
    assert results[0].verdict.name == "correct"


def test_a_system_that_rewrites_what_it_stores_is_not_taken_for_a_truncated_listing(bench):
    class Summarising(Store):
        def store_conversation(self, conversation):
            self.texts.append(f"note: {conversation.text.split()[0]} and so on")

        def retrieve_memories(self, query, conversation, k):
            return [text for text in self.texts if query.split()[0] in text.split()]

    assert names(bench.all(bench.begin(Summarising, plan(30)))) == ["not_stored"] * 30


def test_a_system_that_marks_what_it_shows_is_not_taken_for_a_truncated_listing(bench):
    class Marking(Store):
        def get_all_memories(self):
            return [f"[user] {text}" for text in self.texts]

        def retrieve_memories(self, query, conversation, k):
            return [f"memory: {text}" for text in self.texts if query in text]

    assert names(bench.all(bench.begin(Marking, plan(30)))) == ["correct"] * 30


def test_the_check_of_the_listing_asks_nothing_of_a_system_that_lists_all(bench):
    systems = []

    def factory():
        systems.append(Store())
        return systems[-1]

    bench.all(bench.begin(factory, plan(5)))
    assert sum(line.startswith("retrieve") for line in systems[0].log) == 5


def test_the_words_of_the_fakes_differ():
    """Else the truncation tests would test nothing: entries alike count as the same one."""
    assert len(set(WORDS.split())) == 20
    sets = [set(fact(i).split()) for i in range(60)]
    assert all(len(a & b) <= 1 for i, a in enumerate(sets) for b in sets[:i])


# -- judges and test-takers -------------------------------------------------------------------------------------------


def judge_with(stage, method, *, inline=True):
    return type("Odd", (ExactJudge,), {stage: method, "inline": inline})()


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("stage", ["storage", "summary", "retrieval", "answer"])
def test_a_judge_that_raises_is_an_error_and_never_a_verdict(make_bench, stage, inline):
    def broken(self, *args):
        raise ConnectionError("500")

    bench = make_bench(judge=judge_with(stage, broken, inline=inline))
    for error in errors(bench.all(bench.begin(Store, plan(2)))):
        assert isinstance(error, JudgeError)
        assert str(error) == f"the judge's {stage}() raised ConnectionError: 500"
        assert isinstance(error.__cause__, ConnectionError)


def test_an_async_judge_that_raises_is_an_error(make_bench):
    async def broken(self, *args):
        await asyncio.sleep(0)
        raise ConnectionError("500")

    bench = make_bench(judge=judge_with("summary", broken, inline=False))
    assert all(isinstance(error, JudgeError) for error in errors(bench.all(bench.begin(Store, plan(3)))))


def test_a_judge_that_fails_on_one_fact_costs_the_questions_that_need_it_only(make_bench):
    def picky(self, evidence, store):
        if evidence.id == "e-1":
            raise ConnectionError("500")
        return ExactJudge.storage(self, evidence, store)

    bench = make_bench(judge=judge_with("storage", picky))
    results = bench.all(bench.begin(Store, plan(3)))
    assert names([results[0], results[2]]) == ["correct"] * 2
    assert isinstance(results[1].error, JudgeError)


class Taker:
    def answer(self, question, shown):
        return Reply("yes")


def breaking(stage, *, inline=True):
    def broken(self, *args):
        raise ConnectionError("500")

    return judge_with(stage, broken, inline=inline)


def asked_alone(bench, **changes):
    """The result of one question whose grade does not depend on its memory stages."""
    probe = Probe((question(0, is_independent=True, **changes),))
    return bench.get(bench.begin(Store, [Ingest(said(0)), probe]), "q-0@5")


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("stage", ["storage", "summary", "retrieval"])
def test_an_independent_answer_is_graded_beside_the_error_of_a_memory_stage(make_bench, stage, inline):
    result = asked_alone(make_bench(judge=breaking(stage, inline=inline), test_taker=Taker()))
    assert str(result.error) == f"the judge's {stage}() raised ConnectionError: 500"
    verdict = result.verdict
    assert (verdict.verdict, verdict.answer, verdict.facts, verdict.memory_held) == ("error", PASSED, (), None)
    assert result.trace.reply.text == "yes"


@pytest.mark.parametrize("stage", ["storage", "summary"])
def test_an_independent_search_is_graded_beside_the_error_of_the_store(make_bench, stage):
    result = asked_alone(make_bench(judge=breaking(stage)), stages=("storage", "summary", "retrieval"))
    assert isinstance(result.error, JudgeError)
    assert result.verdict.verdict == "error"
    assert [fact.retrieval for fact in result.verdict.facts] == [PASSED]


@pytest.mark.parametrize(
    ("stage", "taker", "changes"),
    [
        ("retrieval", None, {"stages": ("storage", "summary", "retrieval")}),
        ("answer", Taker(), {}),
        ("storage", None, {}),
    ],
)
def test_nothing_is_graded_beside_the_error_of_what_would_be_graded(make_bench, stage, taker, changes):
    result = asked_alone(make_bench(judge=breaking(stage), test_taker=taker), **changes)
    assert isinstance(result.error, JudgeError)
    assert result.verdict is None


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, StopIteration])
def test_a_judge_that_raises_what_no_future_can_hold_is_an_error(make_bench, kind, inline):
    def leave(self, *args):
        raise kind(3)

    bench = make_bench(judge=judge_with("storage", leave, inline=inline))
    (error,) = errors(bench.all(bench.begin(Store, plan(1))))
    assert isinstance(error, JudgeError)
    assert kind.__name__ in str(error)


@pytest.mark.parametrize(("value", "got"), [(None, "NoneType None"), (True, "bool True"), ("passed", "str 'passed'")])
def test_a_judge_that_returns_no_stage_result_is_an_error(make_bench, value, got):
    bench = make_bench(judge=judge_with("retrieval", lambda self, *args: value))
    (error,) = errors(bench.all(bench.begin(Store, plan(1))))
    assert isinstance(error, JudgeError)
    assert str(error) == f"the judge's retrieval() returned {got}; expected a StageResult"


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"outcome": "fail"}, "outcome 'fail'; expected passed, failed or ungraded"),
        ({"outcome": "not_reached"}, "outcome 'not_reached'; expected passed, failed or ungraded"),
        ({"outcome": True}, "outcome True; expected passed, failed or ungraded"),
        ({"reason": None}, "reason None; expected a text"),
        ({"entries": ("1",)}, "entries ('1',); expected a tuple of indices"),
        ({"entries": (99, -1)}, "entries (99, -1); expected indices of 1 memory, from 0"),
        ({"entries": 0}, "entries 0; expected a tuple of indices"),
        ({"missing": "abc"}, "missing 'abc'; expected a tuple of texts"),
        ({"found": (1,)}, "found (1,); expected a tuple of texts"),
        ({"confidence": 7}, "confidence 7; expected a number between 0 and 1, or None"),
        ({"confidence": math.nan}, "confidence nan; expected a number between 0 and 1, or None"),
        ({"confidence": "0.9"}, "confidence '0.9'; expected a number between 0 and 1, or None"),
        ({"score": -1}, "score -1; expected a number between 0 and 1, or None"),
        ({"label": 3}, "label 3; expected a text or None"),
        ({"vacuous": "no"}, "vacuous 'no'; expected True or False"),
        ({"metrics": {"m": "abc"}}, "metrics {'m': 'abc'}; expected a mapping of names to numbers"),
        ({"metrics": {"m": math.inf}}, "metrics {'m': inf}; expected a mapping of names to numbers"),
    ],
)
def test_a_judge_whose_stage_result_has_a_wrong_value_is_an_error(make_bench, fields, fault, inline):
    result = StageResult(**{"outcome": "passed", **fields})
    bench = make_bench(judge=judge_with("summary", lambda self, *args: result, inline=inline))
    (error,) = errors(bench.all(bench.begin(Store, plan(1))))
    assert isinstance(error, JudgeError)
    assert str(error) == f"the judge's summary() returned {fault}"


def test_numbers_of_numpy_in_a_stage_result_become_plain_ones(make_bench):
    given = StageResult(
        np.str_("passed"),
        entries=[np.int64(0)],
        found=["a"],
        confidence=np.float32(0.5),
        vacuous=np.bool_(False),
        score=np.float64(1),
        metrics={"m": np.int32(2)},
    )
    bench = make_bench(judge=judge_with("summary", lambda self, *args: given))
    (done,) = bench.all(bench.begin(Store, plan(1)))
    found = done.verdict.facts[0].summary
    assert found == StageResult("passed", "", (0,), ("a",), confidence=0.5, score=1.0, metrics={"m": 2.0})
    kinds = {
        type(value)
        for value in (
            found.outcome,
            *found.entries,
            found.confidence,
            found.vacuous,
            found.score,
            *found.metrics.values(),
        )
    }
    assert kinds == {str, int, float, bool}


@pytest.mark.parametrize("is_async", [False, True])
def test_a_test_taker_that_raises_is_an_error(make_bench, is_async):
    class Sync:
        def answer(self, question, shown):
            raise ConnectionError("500")

    class Async:
        async def answer(self, question, shown):
            raise ConnectionError("500")

    bench = make_bench(test_taker=Async() if is_async else Sync())
    (error,) = errors(bench.all(bench.begin(Store, plan(1))))
    assert "500" in str(error)
    assert still_works_with_errors(bench)


def still_works_with_errors(bench):
    return len(errors(bench.all(bench.begin(Store, plan(2))))) == 2


@pytest.mark.parametrize("value", [None, "A", {"text": "A"}])
def test_a_test_taker_that_returns_no_reply_is_an_error(make_bench, value):
    class Odd:
        def answer(self, question, shown):
            return value

    bench = make_bench(test_taker=Odd())
    (error,) = errors(bench.all(bench.begin(Store, plan(1))))
    assert type(value).__name__ in str(error)
    assert Reply.__name__ in str(error)


# -- stopping ---------------------------------------------------------------------------------------------------------


class Endless(AsyncStore):
    """Never answers."""

    def __init__(self):
        super().__init__()
        self.begun = threading.Event()

    async def retrieve_memories(self, query, conversation, k):
        self.begun.set()
        await asyncio.Event().wait()


def begun(bench, n):
    systems = []

    def factory():
        systems.append(Endless())
        return systems[-1]

    run = bench.begin(factory, plan(n))
    wait(run.filled)
    assert systems[0].begun.wait(PATIENCE)
    return run


def test_cancel_cancels_what_runs_and_what_waits(bench):
    n = bench.engine.resources.window + 5
    run = begun(bench, n)
    futures = [run.result(f"q-{i}@5") for i in range(n)]
    bench.engine.cancel()
    for future in futures:
        with pytest.raises(CancelledError):
            wait(future)


def test_cancel_during_a_fill_cancels_every_question(bench):
    filling = threading.Event()

    class Slow(AsyncStore):
        async def store_conversation(self, conversation):
            filling.set()
            await asyncio.Event().wait()

    run = bench.begin(Slow, plan(3))
    assert filling.wait(PATIENCE)
    bench.engine.cancel()
    for i in range(3):
        with pytest.raises(CancelledError):
            wait(run.result(f"q-{i}@5"))
    with pytest.raises(CancelledError):
        wait(run.filled)


def test_cancel_keeps_what_is_done(bench):
    run = bench.begin(Store, plan(3))
    results = bench.all(run)
    bench.engine.cancel()
    assert names(results) == ["correct"] * 3
    assert wait(run._results["q-0@5"]) is results[0]


def test_a_cancelled_store_is_still_closed(bench):
    closed = []

    class Closing(Endless):
        async def close(self):
            closed.append(True)

    run = bench.begin(Closing, plan(2))
    wait(run.filled)
    bench.engine.cancel()
    bench.finish(run)
    assert closed == [True]


def threads_of_the_engine():
    return {thread for thread in threading.enumerate() if thread.name.startswith("memfail-loop")}


def test_close_ends_the_loops_thread(make_bench):
    before = threads_of_the_engine()
    bench = make_bench()
    begun(bench, 3)
    (thread,) = threads_of_the_engine() - before
    bench.engine.close()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_close_cancels_what_runs_and_what_waits(make_bench):
    bench = make_bench()
    n = bench.engine.resources.window + 5
    run = begun(bench, n)
    futures = [run.result(f"q-{i}@5") for i in range(n)]
    bench.engine.close(grace=PATIENCE)
    assert [future for future in futures if not future.cancelled()] == []


def test_close_lets_the_systems_threads_end(make_bench):
    threads = []

    class Watched(Store):
        def store_conversation(self, conversation):
            threads.append(threading.current_thread())
            super().store_conversation(conversation)

    bench = make_bench()
    run = bench.begin(Watched, plan(1))
    bench.all(run)
    bench.finish(run)
    bench.engine.close()
    threads[0].join(PATIENCE)
    assert not threads[0].is_alive()


def test_close_may_be_called_twice(bench):
    bench.engine.close()
    bench.engine.close()


def test_a_system_that_hangs_does_not_keep_close_from_returning(make_bench):
    release, hanging = threading.Event(), threading.Event()

    class Hung(Store):
        def retrieve_memories(self, query, conversation, k):
            hanging.set()
            release.wait(PATIENCE)
            return []

    bench = make_bench()
    bench.begin(Hung, plan(1))
    assert hanging.wait(PATIENCE)
    bench.engine.close(grace=PATIENCE)
    assert not release.is_set()
    release.set()


def test_waiting_on_a_dead_loop_is_an_error(bench):
    bench.engine.close()
    with pytest.raises(RuntimeError, match="the background loop died"):
        bench.engine.wait(Future())


def test_wait_raises_what_the_future_holds(bench):
    future = Future()
    future.set_exception(TimeoutError("the system's own"))
    with pytest.raises(TimeoutError, match="the system's own"):
        bench.engine.wait(future)
