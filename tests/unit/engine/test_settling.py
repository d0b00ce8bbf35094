"""Systems that store in the background, and leaks that only a search shows."""

from __future__ import annotations

import threading

import pytest
from engine_fakes import Store, names, plan, question, said

from pytest_memfail.core import Ingest, MemorySystemError, Probe
from pytest_memfail.hosting import StoredTexts


class Lagging(Store):
    """Lists and finds a conversation only after `waits` looks; without `settled()` nobody looks."""

    waits = 3

    def __init__(self):
        super().__init__()
        self.pending: list[str] = []
        self.looks = 0

    def store_conversation(self, conversation):
        self.pending.append(conversation.text)

    def arrive(self):
        self.texts, self.pending = [*self.texts, *self.pending], []


class Settling(Lagging):
    def settled(self):
        self.looks += 1
        if self.looks >= self.waits:
            self.arrive()
        return not self.pending


def test_questions_wait_until_a_system_has_settled(bench):
    run = bench.begin(Settling, plan(3))
    assert names(bench.all(run)) == ["correct"] * 3
    assert bench.finish(run).late == 0


def test_a_system_that_was_asked_too_early_is_reported(bench):
    class Early(Lagging):
        def retrieve_memories(self, query, conversation, k):
            self.looks += 1
            if self.looks > 3:  # those before are the check of the listing
                self.arrive()
            return super().retrieve_memories(query, conversation, k)

    run = bench.begin(Early, plan(3))
    assert "correct" not in names(bench.all(run))
    report = bench.finish(run)
    assert (report.changed, report.late) == ((3, 0), 3)


def test_an_entry_that_a_search_rewrites_was_not_listed_late(bench):
    class Counting(Store):
        def retrieve_memories(self, query, conversation, k):
            found = super().retrieve_memories(query, conversation, k)
            self.texts = [f"{text} (seen)" if text in found else text for text in self.texts]
            return found

    run = bench.begin(Counting, plan(3))
    bench.all(run)
    report = bench.finish(run)
    assert report.changed[0] == report.changed[1] > 0
    assert report.late == 0


def test_a_system_that_never_settles_is_an_error(make_bench):
    from pytest_memfail.hosting import Limits

    class Never(Store):
        def settled(self):
            return False

    bench = make_bench(limits=Limits(0.2, 0.2))
    (result,) = bench.all(bench.begin(Never, plan(1)))
    assert isinstance(result.error, MemorySystemError)
    assert "settled() of the store s-1 was still false after 0.2 s" in str(result.error)


@pytest.mark.parametrize("remote", [True, False])
def test_a_search_that_sees_another_store_is_an_error_that_names_both(bench, remote):
    class Leaking(Store):
        everything: list = []  # noqa: RUF012 - what is tested
        lock = threading.Lock()

        def store_conversation(self, conversation):
            super().store_conversation(conversation)
            self.everything.append(conversation.text)

        def retrieve_memories(self, query, conversation, k):
            return [text for text in self.everything if query in text][:k]

    Leaking.remote = remote
    first = bench.begin(Leaking, (Ingest(said(0)), Probe((question(0),))))
    assert names(bench.all(first)) == ["correct"]
    second = bench.begin(Leaking, (Ingest(said(7)), Probe((question(7),))))
    (result,) = bench.all(second)
    if remote:
        assert str(result.error).startswith("retrieve_memories() of the store s-2 returns 'item0 ")
        assert "which was stored in the store s-1: the stores share state" in str(result.error)
    else:  # the search of other systems is not asked for what nobody asks
        assert result.error is None
    bench.finish(first)


def test_a_text_of_another_store_within_an_entry_is_a_leak_too(bench):
    class Shared(Store):
        everywhere: list = []  # noqa: RUF012 - what is tested

        def __init__(self):
            super().__init__()
            self.texts = self.everywhere

        def store_conversation(self, conversation):
            self.texts.append(f"[12:00] user: {conversation.text}")

    first = bench.begin(Shared, (Ingest(said(0)), Probe((question(0),))))
    bench.all(first)
    (result,) = bench.all(bench.begin(Shared, (Ingest(said(7)), Probe((question(7),)))))
    assert str(result.error).startswith("get_all_memories() of the store s-2 lists 'item0 ")
    bench.finish(first)


@pytest.mark.parametrize("leak", ["listing", "search"])
def test_a_leak_between_processes_is_an_error_that_names_both(make_bench, tmp_path, leak):
    class Shared(Store):
        everywhere: list = []  # noqa: RUF012 - what is tested
        remote = True

        def store_conversation(self, conversation):
            super().store_conversation(conversation)
            self.everywhere.append(conversation.text)

        def retrieve_memories(self, query, conversation, k):
            return [text for text in self.everywhere if query in text][:k]

        def get_all_memories(self):
            return list(self.everywhere if leak == "listing" else self.texts)

    one, two = make_bench(shared=tmp_path), make_bench(shared=tmp_path)
    assert names(one.all(one.begin(Shared, (Ingest(said(0)), Probe((question(0),)))))) == ["correct"]
    two.begin(Store, ())  # another name for the next
    (result,) = two.all(two.begin(Shared, (Ingest(said(7)), Probe((question(7),)))))
    method = (
        "get_all_memories() of the store s-2 lists"
        if leak == "listing"
        else "retrieve_memories() of the store s-2 returns"
    )
    assert str(result.error).startswith(f"{method} 'item0 ")
    assert "which was stored in the store s-1: the stores share state" in str(result.error)


def test_stores_that_two_processes_fill_at_the_same_time_find_each_other(tmp_path):
    here, there = StoredTexts(tmp_path), StoredTexts(tmp_path)
    here.add("a", [said(0)])
    there.add("b", [said(7)])
    both = [said(0).text, said(7).text]
    here.announce("a")
    there.announce("b")  # neither has looked yet
    assert here.of_another("a", both, [said(0)]) == (said(7).messages[0].content, "b")
    assert there.of_another("b", both, [said(7)]) == (said(0).messages[0].content, "a")
