"""What a system returns is read on the thread of its calls, within their limit."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import threading

import pytest
from engine_fakes import PATIENCE, AsyncStore, Store, names, plan
from test_added import STEPS

from pytest_memfail.core import MemorySystemError, TimedOutError, WrongTypeError
from pytest_memfail.hosting import Limits


class Rows:
    """An iterable that is no iterator, such as the result of a query."""

    def __init__(self, read):
        self.read = read

    def __iter__(self):
        return iter(self.read())


@pytest.fixture
def release():
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("base", [Store, AsyncStore])
@pytest.mark.parametrize("method", ["get_all_memories", "retrieve_memories", "extracted_since"])
def test_rows_that_never_come_cost_their_limit(make_bench, release, base, method):
    def hang():
        release.wait(PATIENCE)
        return []

    def lazy(self, *args):
        return Rows(hang)

    async def lazy_async(self, *args):
        return Rows(hang)

    kind = type("Lazy", (base,), {method: lazy if base is Store else lazy_async})
    bench = make_bench(limits=Limits(0.1, 0.1))
    asked = STEPS[:2] if method == "extracted_since" else plan(1)
    for result in bench.all(bench.begin(kind, asked)):
        assert isinstance(result.error, TimedOutError)
        assert str(result.error).startswith(f"{method}() of the store s-1 did not return within 0.1 s")


def test_a_description_that_is_never_read_to_its_end_costs_its_limit(make_bench, release):
    class Endless(dict):
        def items(self):
            release.wait(PATIENCE)
            return super().items()

    bench = make_bench(limits=Limits(0.1, 0.1))
    (result,) = bench.all(bench.begin(type("Slow", (Store,), {"describe": lambda self: Endless(a=1)}), plan(1)))
    assert str(result.error).startswith("describe() of the store s-1 did not return within 0.1 s")


def test_a_listing_without_end_is_an_error(bench, monkeypatch):
    monkeypatch.setattr("pytest_memfail.core.entries.MAX_K", 1000)
    kind = type("Endless", (Store,), {"get_all_memories": lambda self: Rows(lambda: itertools.repeat("again"))})
    (result,) = bench.all(bench.begin(kind, plan(1)))
    assert isinstance(result.error, WrongTypeError)
    assert str(result.error) == "get_all_memories() returned more than 1,000 entries; expected a list that ends"


class Database(Store):
    """Texts in SQLite, whose connection serves one thread; rows are read when they are iterated."""

    def __init__(self):
        super().__init__()
        self.db = sqlite3.connect(":memory:")
        self.db.execute("create table texts (text)")

    def store_conversation(self, conversation):
        self.db.execute("insert into texts values (?)", (conversation.text,))

    def retrieve_memories(self, query, conversation, k):
        return Rows(lambda: (text for (text,) in self.db.execute("select text from texts") if query in text))

    def get_all_memories(self):
        return Rows(lambda: (text for (text,) in self.db.execute("select text from texts")))

    def close(self):
        self.db.close()


def test_lazy_rows_are_read_on_the_thread_of_their_connection(bench):
    run = bench.begin(Database, plan(3))
    assert names(bench.all(run)) == ["correct"] * 3
    bench.finish(run)


def test_an_entry_is_read_on_that_thread_too(bench):
    class Entry:
        def __init__(self, text):
            self._text, self._thread = text, threading.get_ident()

        @property
        def text(self):
            assert threading.get_ident() == self._thread
            return self._text

    class Bound(Store):
        def get_all_memories(self):
            return [Entry(text) for text in self.texts]

    run = bench.begin(Bound, plan(2))
    assert names(bench.all(run)) == ["correct"] * 2


def test_a_mixed_system_over_sqlite_is_told_what_to_do(bench):
    class Mixed(Database):
        async def retrieve_memories(self, query, conversation, k):
            return [text for (text,) in self.db.execute("select text from texts")]

    (result,) = bench.all(bench.begin(Mixed, plan(1)))
    assert isinstance(result.error, MemorySystemError)
    assert "raised ProgrammingError: SQLite objects created in a thread" in str(result.error)
    assert "make all methods sync or all async, or connect with check_same_thread=False" in str(result.error)


def test_a_client_of_another_loop_is_told_what_to_do(bench):
    class OtherLoop(AsyncStore):
        def __init__(self):
            super().__init__()
            loop = asyncio.new_event_loop()
            self.answer = loop.create_future()
            loop.close()

        async def retrieve_memories(self, query, conversation, k):
            return await self.answer

    (result,) = bench.all(bench.begin(OtherLoop, plan(1)))
    assert "different loop (all async methods run on one event loop: make the client in one of them)" in str(
        result.error
    )


@pytest.mark.parametrize("how", ["stop", SystemExit, KeyboardInterrupt])
def test_a_system_that_ends_the_loop_ends_nothing(make_bench, how):
    class Stopping(AsyncStore):
        async def retrieve_memories(self, query, conversation, k):
            loop = asyncio.get_running_loop()
            if how == "stop":
                loop.stop()
            else:
                self.task = loop.create_task(self.leave())
                await asyncio.sleep(0)
            return await super().retrieve_memories(query, conversation, k)

        async def leave(self):
            raise how

    bench = make_bench()
    run = bench.begin(Stopping, plan(5))
    assert names(bench.all(run)) == ["correct"] * 5
    bench.finish(run)
    bench.engine.close()
    assert not bench.engine._thread.is_alive()


def test_a_joined_string_is_one_short_error(bench):
    class Joined(Store):
        def retrieve_memories(self, query, conversation, k):
            return "\n".join(self.texts * 1000)

    for result in bench.all(bench.begin(Joined, plan(3))):
        assert isinstance(result.error, WrongTypeError)
        assert "retrieve_memories() returned str 'item0 " in str(result.error)
        assert len(str(result.error)) < 220
