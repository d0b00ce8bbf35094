"""Whatever class an exception is of, it costs its own question or store: one line, one of our errors."""

from __future__ import annotations

import asyncio
import concurrent.futures

import pytest
from engine_fakes import AsyncStore, ExactJudge, Store, fact, names, plan

from pytest_memfail.core import JudgeError, MemfailError, MemorySystemError, Reply
from pytest_memfail.hosting import TokenRules


class Panic(BaseException):
    """What a library in another language raises."""


class Mute(Exception):
    """Cannot even say what is wrong."""

    def __str__(self):
        raise Panic("no words")


KINDS = [
    Panic,
    GeneratorExit,
    asyncio.CancelledError,
    concurrent.futures.CancelledError,
    concurrent.futures.TimeoutError,
    asyncio.InvalidStateError,
    KeyboardInterrupt,
    SystemExit,
    StopIteration,
    StopAsyncIteration,
    RecursionError,
    OverflowError,
    MemoryError,
    Mute,
]


# Python itself turns a StopIteration in a coroutine into a RuntimeError
ASYNC_KINDS = [kind for kind in KINDS if kind is not StopIteration]
BASES = [*((Store, kind) for kind in KINDS), *((AsyncStore, kind) for kind in ASYNC_KINDS)]


def costs_one(results, *, what, kind, error_type):
    """The second question is an error, the others are judged."""
    assert names([result for i, result in enumerate(results) if i != 1]) == ["correct"] * (len(results) - 1)
    error = results[1].error
    assert type(error) is error_type
    assert str(error).startswith(f"{what} raised {kind.__name__}")
    assert "\n" not in str(error)
    assert isinstance(error.__cause__, kind)


@pytest.mark.parametrize(("base", "kind"), BASES)
def test_raised_while_retrieving(bench, base, kind):
    broken = kind("gone")

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

    run = bench.begin(Breaking, plan(6))
    costs_one(bench.all(run), what="retrieve_memories()", kind=kind, error_type=MemorySystemError)
    assert bench.finish(run).conversations == 6


@pytest.mark.parametrize(("base", "kind"), BASES)
def test_raised_while_storing(bench, base, kind):
    broken = kind("gone")

    if base is Store:

        class Breaking(Store):
            def store_conversation(self, conversation):
                raise broken

    else:

        class Breaking(AsyncStore):
            async def store_conversation(self, conversation):
                raise broken

    for result in bench.all(bench.begin(Breaking, plan(3))):
        assert type(result.error) is MemorySystemError
        assert str(result.error).startswith(f"store_conversation() raised {kind.__name__}")
        assert str(result.error).endswith("(conversation 1 of 3)")
    assert names(bench.all(bench.begin(Store, plan(3)))) == ["correct"] * 3


def test_a_task_that_the_system_has_cancelled_is_its_own_affair(bench):
    class Cancelling(AsyncStore):
        async def retrieve_memories(self, query, conversation, k):
            if query == fact(1):
                asyncio.current_task().cancel()
                await asyncio.sleep(0)
            return await super().retrieve_memories(query, conversation, k)

    results = bench.all(bench.begin(Cancelling, plan(6)))
    costs_one(results, what="retrieve_memories()", kind=asyncio.CancelledError, error_type=MemorySystemError)


@pytest.mark.parametrize(
    ("how", "kind"),
    [(how, kind) for how in ("inline", "thread", "async") for kind in (ASYNC_KINDS if how == "async" else KINDS)],
)
def test_raised_by_the_judge(make_bench, how, kind):
    broken_at = {"storage": 1, "retrieval": 3, "answer": 4}

    def deciding(stage, number):
        judge_method, broken = getattr(ExactJudge, stage), kind("gone")

        def decide(self, *args):
            if getattr(args[0], "id", None) in (f"e-{number}", f"q-{number}"):
                raise broken
            return judge_method(self, *args)

        async def decide_later(self, *args):
            return decide(self, *args)

        return decide_later if how == "async" else decide

    stages = {stage: deciding(stage, number) for stage, number in broken_at.items()}
    bench = make_bench(judge=type("Odd", (ExactJudge,), {**stages, "inline": how == "inline"})())
    results = bench.all(bench.begin(Store, plan(6)))
    for stage, number in broken_at.items():
        others = [result for i, result in enumerate(results) if i not in broken_at.values()]
        costs_one(
            [others[0], results[number], *others[1:]], what=f"the judge's {stage}()", kind=kind, error_type=JudgeError
        )


@pytest.mark.parametrize("kind", ASYNC_KINDS)
def test_raised_while_the_judge_warms_up(make_bench, kind):
    async def warm(self, listing):
        raise kind("gone")

    bench = make_bench(judge=type("Cold", (ExactJudge,), {"warm": warm})())
    for result in bench.all(bench.begin(Store, plan(2))):
        assert type(result.error) is JudgeError
        assert str(result.error).startswith(f"the judge's warm() raised {kind.__name__}")


@pytest.mark.parametrize(
    ("is_async", "kind"), [*((False, kind) for kind in KINDS), *((True, kind) for kind in ASYNC_KINDS)]
)
def test_raised_by_the_test_taker(make_bench, is_async, kind):
    broken = kind("gone")

    class Sync:
        def answer(self, question, shown):
            if question.id == "q-1":
                raise broken
            return Reply("yes")

    class Async:
        async def answer(self, question, shown):
            return Sync().answer(question, shown)

    bench = make_bench(test_taker=Async() if is_async else Sync())
    results = bench.all(bench.begin(Store, plan(6)))
    costs_one(results, what="the test-taker's answer()", kind=kind, error_type=MemfailError)
    if kind is not Mute:
        assert str(results[1].error) == f"the test-taker's answer() raised {kind.__name__}: gone (question q-1)"


def test_an_outcome_of_the_test_runner_passes_through(make_bench):
    bench = make_bench(outcomes=(Panic,))

    class Skipping(Store):
        def retrieve_memories(self, query, conversation, k):
            if query == fact(1):
                raise Panic("not today")
            return super().retrieve_memories(query, conversation, k)

    results = bench.all(bench.begin(Skipping, plan(3)))
    assert type(results[1].error) is Panic
    assert names([results[0], results[2]]) == ["correct"] * 2


# -- what is returned and breaks as it is read ------------------------------------------------------------------------


class Text:
    """An entry whose parts are computed as they are read."""

    def __init__(self, raises):
        self.raises = raises

    @property
    def text(self):
        raise self.raises


@pytest.mark.parametrize("kind", [Panic, GeneratorExit, asyncio.CancelledError, RecursionError, OverflowError])
def test_an_entry_that_raises_as_it_is_read(bench, kind):
    class Lazy(Store):
        def retrieve_memories(self, query, conversation, k):
            return [Text(kind("gone"))] if query == fact(1) else super().retrieve_memories(query, conversation, k)

    results = bench.all(bench.begin(Lazy, plan(6)))
    costs_one(results, what="reading what retrieve_memories() returned", kind=kind, error_type=MemorySystemError)
    assert str(results[1].error).endswith("(question q-1)")


@pytest.mark.parametrize("score", [10**400, -(10**400), "1e5 points", object()])
def test_a_score_that_is_no_float(bench, score):
    class Odd(Store):
        def retrieve_memories(self, query, conversation, k):
            return [{"text": "a", "score": score}]

    (result,) = bench.all(bench.begin(Odd, plan(1)))
    assert isinstance(result.error, MemorySystemError)
    assert "retrieve_memories() returned the score" in str(result.error)
    assert "expected a number (higher is better) or None (question q-0)" in str(result.error)
    assert len(str(result.error)) < 300


def test_a_listing_that_recurses_names_the_method(bench):
    nested: list[object] = []
    nested.append(nested)

    class Odd(Store):
        def get_all_memories(self):
            return nested

    (result,) = bench.all(bench.begin(Odd, plan(1)))
    assert isinstance(result.error, MemorySystemError)
    assert "get_all_memories() returned list" in str(result.error)


@pytest.mark.parametrize("found", [None, 5, "version 1"])
def test_a_description_that_is_no_mapping(bench, found):
    factory = type("Odd", (Store,), {"describe": lambda self: found})
    (result,) = bench.all(bench.begin(factory, plan(1)))
    assert str(result.error) == f"describe() returned {type(found).__name__}; expected a mapping of names to texts"


@pytest.mark.parametrize("name", ["concurrent_stores", "concurrent_reads", "concurrent_writes"])
def test_a_width_that_is_none(bench, name):
    (result,) = bench.all(bench.begin(type("Odd", (Store,), {name: "many"}), plan(1)))
    assert str(result.error) == f"the system's {name} is 'many'; expected a whole number of at least 1"


def test_tokens_that_cannot_be_counted_are_one_line(make_bench):
    def count(texts):
        raise OverflowError("too long")

    bench = make_bench(tokens=TokenRules(count, lambda text, n: text, lambda text, n: text))
    (result,) = bench.all(bench.begin(Store, plan(1)))
    assert isinstance(result.error, MemfailError)
    assert str(result.error).endswith("raised OverflowError: too long")
