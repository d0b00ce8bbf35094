"""State shared between stores is called that, not a query that writes."""

from __future__ import annotations

import pytest
from engine_fakes import Store, names, plan, question, said

from pytest_memfail.core import Conversation, Ingest, MemorySystemError, Probe


@pytest.fixture
def shared():
    """A system that keeps its memories in its class."""

    class Shared(Store):
        everywhere: list = []  # noqa: RUF012 - what is tested

        def __init__(self):
            super().__init__()
            self.texts = self.everywhere

    return Shared


def part(first, n):
    """A store of its own conversations."""
    places = range(first, first + n)
    return (*(Ingest(said(i)) for i in places), Probe(tuple(question(i) for i in places)))


def test_a_store_that_lists_what_another_was_told_is_an_error(bench, shared):
    run = bench.begin(shared, part(0, 3))
    assert names(bench.all(run)) == ["correct"] * 3
    bench.finish(run)
    for result in bench.all(bench.begin(shared, part(10, 3))):
        assert isinstance(result.error, MemorySystemError)
        assert str(result.error).startswith("get_all_memories() of the store s-2 lists 'item0 ")
        assert "which was stored in the store s-1: the stores share state; keep everything below context.path" in str(
            result.error
        )


def test_a_system_may_say_itself_how_stores_are_kept_apart(bench, shared):
    shared.isolation_advice = "put {store} into every call"
    bench.all(bench.begin(shared, part(0, 1)))
    (result,) = bench.all(bench.begin(shared, part(10, 1)))
    assert "the stores share state; put {store} into every call" in str(result.error)
    assert "class" not in str(result.error)


def test_what_another_store_adds_while_this_one_is_asked_is_named(bench, shared):
    run = bench.begin(shared, part(0, 3))
    bench.all(run)
    other = bench.begin(shared, part(10, 3))
    bench.all(other)
    report = bench.finish(run)
    assert report.changed == (3, 0)
    assert report.shared_with == "s-2"
    bench.finish(other)


def test_rewritten_entries_of_another_store_are_known_too(bench, shared):
    def rewriting(self, conversation):
        self.texts.append(f"note: {conversation.text.upper()}")

    kind = type("Rewriting", (shared,), {"store_conversation": rewriting})
    run = bench.begin(kind, part(0, 3))
    bench.all(run)
    other = bench.begin(kind, part(10, 3))
    bench.all(other)
    assert bench.finish(run).shared_with == "s-2"


def test_queries_that_write_are_no_other_store(bench):
    class Writing(Store):
        def retrieve_memories(self, query, conversation, k):
            found = super().retrieve_memories(query, conversation, k)
            self.texts.append(f"somebody asked: {query}")
            return found

    run, other = bench.begin(Writing, part(0, 3)), bench.begin(Writing, part(10, 3))
    bench.all(run)
    bench.all(other)
    report = bench.finish(run)
    assert (report.changed, report.shared_with) == ((3, 0), None)


def test_two_stores_may_be_told_the_same(bench):
    for _ in range(2):
        run = bench.begin(Store, plan(4))
        assert names(bench.all(run)) == ["correct"] * 4
        assert bench.finish(run).shared_with is None


def like(i: int) -> Conversation:
    """A conversation that reads like every other of its kind."""
    return said(i, f"The gate in yard number {i} is locked at night.")


def test_a_damaged_message_that_another_store_has_too_is_no_shared_state(bench):
    class Damaging(Store):
        def store_conversation(self, conversation):
            self.texts.append(conversation.text.replace("number 2", "number 1"))

    for i in (1, 2):
        results = bench.all(bench.begin(Damaging, (Ingest(like(i)), Ingest(said(i)), Probe((question(i),)))))
        assert names(results) == ["correct"]


def test_a_message_of_another_store_beside_the_own_one_is(bench, shared):
    bench.all(bench.begin(shared, (Ingest(said(1)), Ingest(like(1)), Probe((question(1),)))))
    (result,) = bench.all(bench.begin(shared, (Ingest(like(2)), Probe((question(2),)))))
    assert "which was stored in the store s-1: the stores share state" in str(result.error)
    shared.everywhere[:] = [like(1).text]
    (result,) = bench.all(bench.begin(shared, (Ingest(like(3)), Probe((question(3),)))))
    assert "'The gate in yard number 1 is locked at night.', which was stored in" in str(result.error)
