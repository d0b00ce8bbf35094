"""A conversation that could not be stored is stored again, where the system says that this is safe."""

from __future__ import annotations

import json

import pytest
from engine_fakes import AsyncStore, Store, names, plan, question, said

from pytest_memfail.core import Ingest, MemfailError, MemorySystemError, Probe


class Flaky(Store):
    """Stores half of conversation 2 and fails, so many times."""

    fails = 1

    def __init__(self):
        super().__init__()
        self.left = self.fails

    def store_conversation(self, conversation):
        super().store_conversation(conversation)
        if conversation.id == "c-2" and self.left:
            self.left -= 1
            raise ConnectionError("try again")


class Idempotent(Flaky):
    idempotent = True

    def store_conversation(self, conversation):
        self.texts = [text for text in self.texts if text != conversation.messages[0].content]
        super().store_conversation(conversation)


class Kept(Flaky):
    """Has snapshots."""

    def snapshot(self, path):
        self.log.append("snapshot")
        (path / "texts.json").write_text(json.dumps(self.texts), encoding="utf-8")

    def restore(self, path):
        self.log.append("restore")
        self.texts = json.loads((path / "texts.json").read_text(encoding="utf-8"))


class AsyncIdempotent(AsyncStore):
    idempotent = True

    def __init__(self):
        super().__init__()
        self.inner = Idempotent()

    @property
    def texts(self):
        return self.inner.texts


@pytest.fixture
def waits():
    return []


@pytest.fixture
def bench(make_bench, waits):
    async def pause(seconds):
        waits.append(seconds)

    return make_bench(pause=pause)


def run_of(bench, kind, n=5, steps=None, **attributes):
    """The results, what was made, and the report."""
    made = []

    def factory():
        made.append(type(kind.__name__, (kind,), attributes)())
        return made[-1]

    run = bench.begin(factory, plan(n) if steps is None else steps)
    results = bench.all(run)
    return results, made, bench.finish(run)


@pytest.mark.parametrize("kind", [Idempotent, Kept, AsyncIdempotent])
def test_one_transient_error_costs_nothing(bench, waits, kind):
    results, (system,), report = run_of(bench, kind)
    assert names(results) == ["correct"] * 5
    assert report.conversations == 5
    assert len(set(system.texts)) == len(system.texts) == 5  # nothing is there twice
    assert waits == [1.0]
    (doubt,) = [doubt for doubt in report.doubts if doubt.kind == "repeated"]
    assert doubt.line == (
        "conversations were stored again after an error, the first after: store_conversation() raised ConnectionError: "
        "try again; the time to fill has the waits (1 of 5 conversations)"
    )
    assert not doubt.is_fatal


@pytest.mark.parametrize("kind", [Idempotent, Kept])
def test_the_waits_grow_and_end(bench, waits, kind):
    results, _, _ = run_of(bench, kind, fails=9)
    for result in results:
        assert type(result.error) is MemorySystemError
        assert str(result.error) == (
            "store_conversation() raised ConnectionError: try again, also in 2 retries (conversation 3 of 5)"
        )
        assert isinstance(result.error.__cause__, ConnectionError)
    assert waits == [1.0, 4.0]


def test_as_often_as_the_system_declares(bench, waits):
    results, _, _ = run_of(bench, Idempotent, fails=4, retries=4)
    assert names(results) == ["correct"] * 5
    assert waits == [1.0, 4.0, 16.0, 64.0]


@pytest.mark.parametrize(
    ("kind", "attributes", "why"),
    [
        (Flaky, {}, "the system is not declared idempotent and has no snapshot() and restore()"),
        (Idempotent, {"retries": 0}, "its retries are 0"),
        (Kept, {"retries": 0}, "its retries are 0"),
        (Kept, {"restore": None}, "the system is not declared idempotent and has no snapshot() and restore()"),
    ],
)
def test_where_it_is_not_safe_the_error_says_why_it_was_not_retried(bench, waits, kind, attributes, why):
    results, (system,), _ = run_of(bench, kind, **attributes)
    for result in results:
        assert str(result.error) == (
            f"store_conversation() raised ConnectionError: try again, not retried: {why} (conversation 3 of 5)"
        )
    assert waits == []
    assert "snapshot" not in system.log


def test_a_snapshot_that_fails_is_the_reason(bench, waits):
    def broken(self, path):
        raise OSError("disk full")

    results, _, _ = run_of(bench, Kept, snapshot=broken)
    assert "not retried: snapshot() raised OSError: disk full (conversation 3 of 5)" in str(results[0].error)
    results, _, _ = run_of(bench, Kept, snapshot=broken, fails=0)
    assert names(results) == ["correct"] * 5


def test_an_empty_snapshot_is_no_ground_to_go_back_to(bench):
    def empty(self, path):
        if self.texts:
            Kept.snapshot(self, path)

    results, (system,), _ = run_of(bench, Kept, snapshot=empty)
    assert names(results) == ["correct"] * 5
    assert len(system.texts) == 5


def test_with_a_flush_only_what_was_flushed_is_in_a_snapshot(bench):
    """A system that stores later has nothing in a snapshot yet; flushing it more often would be another run."""

    class Buffered(Kept):
        def __init__(self):
            super().__init__()
            self.waiting = []

        def store_conversation(self, conversation):
            self.log.append(f"store {conversation.id}")
            if conversation.id == "c-2" and self.left:
                self.left -= 1
                raise ConnectionError("try again")
            self.waiting += [message.content for message in conversation.messages]

        def restore(self, path):
            super().restore(path)
            self.waiting = []

        def flush(self):
            self.log.append("flush")
            self.texts += self.waiting
            self.waiting = []

    steps = [
        Ingest(said(0)),
        Probe((question(0),)),
        Ingest(said(1)),
        Ingest(said(2)),
        Probe((question(1), question(2))),
    ]
    results, (system,), _ = run_of(bench, Buffered, steps=steps)
    assert names(results) == ["correct"] * 3
    did = [line for line in system.log if line.startswith(("store", "flush", "snapshot", "restore"))]
    assert did == [
        *("snapshot", "store c-0", "flush"),
        *("snapshot", "store c-1", "store c-2", "restore", "store c-1", "store c-2", "flush"),
    ]


def test_of_a_batch_only_what_failed_is_stored_again(bench):
    results, (system,), _ = run_of(bench, AsyncIdempotent, concurrent_writes=5)
    assert names(results) == ["correct"] * 5
    assert sorted(line for line in system.inner.log if line.startswith("store")) == [
        *("store c-0", "store c-1", "store c-2", "store c-2", "store c-3", "store c-4"),
    ]


def test_our_own_errors_are_not_retried(bench, waits):
    class Broke(Idempotent):
        def store_conversation(self, conversation):
            raise MemfailError("the budget is used up")

    results, _, _ = run_of(bench, Broke)
    assert {str(result.error) for result in results} == {"the budget is used up"}
    assert waits == []


def test_a_wrong_number_of_retries_is_refused(bench):
    results, _, _ = run_of(bench, Store, retries=-1)
    assert str(results[0].error) == "the system's retries is -1; expected a whole number of at least 0"


def test_the_snapshots_are_gone_at_the_end(bench):
    folders = []

    class Watched(Kept):
        def snapshot(self, path):
            folders.append(path)
            super().snapshot(path)

    results, _, _ = run_of(bench, Watched)
    assert names(results) == ["correct"] * 5
    assert folders
    assert not any(path.exists() for path in folders)
