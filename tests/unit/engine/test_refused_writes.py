"""Writes and requests to forget whose replies look like refusals: counted for each store, and never kept for a later run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine_fakes import Store, question, said, wait

from pytest_memfail.core import Doubt, Ingest, Probe, added_up
from pytest_memfail.hosting import Shelf, kept_in

PLAN = (*(Ingest(said(i)) for i in range(4)), Probe((question(0),)))


class Refusing(Store):
    reply: object = {"success": False}

    def store_conversation(self, conversation):
        if conversation.id in ("c-1", "c-2"):
            return self.reply
        return super().store_conversation(conversation)

    def snapshot(self, path):
        (path / "texts").write_text("\n".join(self.texts))

    def restore(self, path):
        self.texts = (path / "texts").read_text().split("\n")


def doubts(make_bench, system, shelf=None):
    bench = make_bench()
    run = bench.begin(system, PLAN, shelf=shelf)
    bench.all(run)
    return [doubt for doubt in wait(run.finish()).doubts if doubt.kind.startswith("refused")]


@pytest.mark.parametrize("reply", [{"success": False}, "Error: database is locked", False, (False, "locked")])
def test_refusals_are_counted_and_the_reply_is_quoted(make_bench, reply):
    [doubt] = doubts(make_bench, type("Sync", (Refusing,), {"reply": reply}))
    assert (doubt.kind, doubt.affected, doubt.of, doubt.unit, doubt.is_fatal) == ("refused writes", 2, 4, "write", True)
    assert doubt.text == (
        f"writes were answered with what looks like a refusal ({reply!r}): raise an exception in store_conversation(), "
        "or return None if nothing failed"
    )


def test_the_replies_of_async_systems_count_and_they_may_say_what_to_do(make_bench):
    class Async(Refusing):
        refusal_advice = "declare `ok` of `{call}`"

        async def store_conversation(self, conversation):
            return [None, super().store_conversation(conversation)]

    [doubt] = doubts(make_bench, Async)
    assert doubt.affected == 2
    assert doubt.text.endswith("({'success': False}): declare `ok` of `write`")


def test_without_refusals_the_writes_count(make_bench):
    assert doubts(make_bench, Store) == [Doubt("refused writes", "", 0, 4, "write", 0.1)]


def test_requests_to_forget_are_counted_apart(make_bench):
    class Keeping(Store):
        def forget(self, text):
            return "Error: not permitted"

    bench = make_bench()
    forget = replace(said(1), forgets="item0")
    run = bench.begin(Keeping, (Ingest(said(0)), Ingest(forget), Probe((question(0),))))
    bench.all(run)
    writes, forgets = [doubt for doubt in wait(run.finish()).doubts if doubt.kind.startswith("refused")]
    assert (writes.line, writes.of) == (" (0 of 1 write)", 1)
    assert forgets.is_fatal
    assert forgets.line == (
        "requests to forget were answered with what looks like a refusal ('Error: not permitted'): raise an exception in "
        "forget(), or return None if nothing failed (1 of 1 request, at most 10% are trusted)"
    )


def test_a_request_to_forget_that_answers_false_may_have_found_nothing(make_bench):
    class Bare(Store):
        def forget(self, text):
            return False

    bench = make_bench()
    run = bench.begin(Bare, (Ingest(said(0)), Ingest(replace(said(1), forgets="item0")), Probe((question(0),))))
    bench.all(run)
    assert [doubt.line for doubt in wait(run.finish()).doubts if doubt.affected] == []


def test_what_the_other_user_says_counts(make_bench):
    bench = make_bench()
    run = bench.begin(Refusing, PLAN, beside=[said(2)])
    bench.all(run)
    assert added_up(wait(run.finish()).doubts)[0].line.endswith("(3 of 5 writes, at most 10% are trusted)")


def test_a_store_with_refused_writes_is_not_kept(make_bench, tmp_path):
    shelf = Shelf(tmp_path / "kept", "refusing", {})
    for _ in range(2):
        assert [doubt.affected for doubt in doubts(make_bench, Refusing, shelf)] == [2]
    assert kept_in(shelf.folder) == 0
    doubts(make_bench, type("Calm", (Refusing,), {"reply": None}), shelf)
    assert kept_in(shelf.folder) == 1
