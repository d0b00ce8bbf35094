"""Listings that cannot be what a store holds: nothing, although conversations were stored, or texts that are cut."""

from __future__ import annotations

import pytest
from engine_fakes import Store, question, said, wait

from pytest_memfail.core import Doubt, Ingest, Probe, added_up

PLAN = (*(Ingest(said(i)) for i in range(3)), Probe((question(0),)))
EMPTY = Doubt("empty", "", 0, 1, limit=0.9, least=2)


class Unlisted(Store):
    def get_all_memories(self):
        return []

    retrieve_memories = lambda self, query, conversation, k: []  # noqa: E731


def doubts(make_bench, system, plan=PLAN):
    bench = make_bench()
    run = bench.begin(system, plan)
    bench.all(run)
    return {doubt.kind: doubt for doubt in wait(run.finish()).doubts}


@pytest.mark.parametrize(
    ("attributes", "advice"),
    [({}, "offer settled() if"), ({"empty_listing": "set `settle`"}, "set `settle`")],
)
def test_a_store_that_lists_nothing_of_what_it_was_given(make_bench, attributes, advice):
    found = doubts(make_bench, type("Some", (Unlisted,), attributes))["empty"]
    assert [added_up([found] * stores)[0].is_fatal for stores in (1, 2)] == [False, True]  # one may be rightly empty
    assert found.text.startswith(
        f"the listing is empty although conversations were stored and nothing was refused: {advice}"
    )


def test_a_store_that_lists_something_is_counted(make_bench):
    assert doubts(make_bench, Store)["empty"] == EMPTY


def test_a_system_that_is_to_store_nothing_is_not_counted(make_bench):
    assert "empty" not in doubts(make_bench, type("Floor", (Unlisted,), {"loses_on_purpose": True}))


def test_refused_writes_say_it_already(make_bench):
    def refuse(self, conversation):
        return {"success": False}

    found = doubts(make_bench, type("Refusing", (Unlisted,), {"store_conversation": refuse}))
    assert {kind: doubt.affected for kind, doubt in found.items()} == {"refused writes": 3, "repeated": 0}


def test_a_store_that_was_emptied_later_held_something(make_bench):
    class Wiping(Store):
        def store_conversation(self, conversation):
            super().store_conversation(conversation)
            self.texts = [] if conversation.id == "c-2" else self.texts

    steps = [*PLAN[:2], Probe((question(1),)), *PLAN[2:]]
    assert doubts(make_bench, Wiping, steps)["empty"] == EMPTY


def test_single_empty_stores_among_full_ones_are_verdicts(make_bench):
    full, empty = (doubts(make_bench, system)["empty"] for system in (Store, Unlisted))
    assert [added_up([full] * n + [empty] * (10 - n))[0].is_fatal for n in (9, 1, 0)] == [False, False, True]


class Cut(Store):
    """Lists the first characters of each entry."""

    shown: int | None = 10
    found: int | None = None

    def _entries(self, texts, most):
        return [{"id": text, "text": text[:most]} for text in texts]

    def retrieve_memories(self, query, conversation, k):
        return self._entries(super().retrieve_memories(query, conversation, k), self.found)

    def get_all_memories(self):
        return self._entries(super().get_all_memories(), self.shown)


def test_a_listing_that_abbreviates_is_distrusted(make_bench):
    found = doubts(make_bench, Cut)["abbreviated"]
    assert (found.affected, found.of, found.unit, found.is_fatal) == (1, 1, "entry", True)
    assert found.line.endswith("(1 of 1 entry, at most 10% are trusted)")
    whole = doubts(make_bench, type("Whole", (Cut,), {"shown": None}))["abbreviated"]
    assert (whole.affected, whole.of, whole.text) == (0, 1, "")


def test_a_search_that_cuts_what_is_listed_whole_is_named(make_bench):
    found = doubts(make_bench, type("Shortened", (Cut,), {"shown": None, "found": 10}))
    assert (found["abbreviated"].affected, found["cut"].is_fatal) == (0, False)
    assert found["cut"].line == (
        "entries shown are cut: those listed under the same ids go on, and what is cut off counts as not retrieved; let the "
        "search return whole texts (1 of 1 entry)"
    )
    assert doubts(make_bench, Cut)["cut"].line == " (0 of 1 entry)"


def test_a_search_that_is_declared_to_rewrite_may_show_more(make_bench):
    assert "abbreviated" not in doubts(make_bench, type("Rewriting", (Cut,), {"search_rewrites": True}))


@pytest.mark.parametrize(("text", "n"), [("Error: rate limit exceeded", 2), ("Errors are human", 0), ("Rate: 3", 0)])
def test_entries_that_repeat_a_text_of_an_error_are_named(make_bench, text, n):
    class Storing(Store):
        def store_conversation(self, conversation):
            super().store_conversation(conversation)
            self.texts[-1] = self.texts[-1] if conversation.id == "c-0" else text

    found = doubts(make_bench, Storing, [*PLAN[:3], Probe((question(0),)), Probe((question(1),))])["stored errors"]
    assert (found.affected, found.of, found.is_fatal) == (n, 3, False)
    assert not n or found.line == (
        "entries have the text of an error, 'Error: rate limit exceeded', in place of what was said: see which reply is stored "
        "as a text, and raise an exception there (2 of 3 entries)"
    )


def test_a_single_text_of_an_error_may_have_been_said(make_bench):
    class Once(Store):
        def get_all_memories(self):
            return [*super().get_all_memories(), "Error: rate limit exceeded"]

    assert doubts(make_bench, Once)["stored errors"].affected == 0


@pytest.mark.parametrize(
    ("text", "n", "sign"),
    [
        ("I&#x27;m by the ferry", 1, "&#x27;"),
        ("Tea &amp; rum", 1, "&amp;"),
        ("A &quot;pub&quot;", 1, "&quot;"),
        ("R&D; or AT&T", 0, ""),
    ],
)
def test_entries_escaped_for_html_are_named(make_bench, text, n, sign):
    class Escaping(Store):
        def get_all_memories(self):
            return [*super().get_all_memories(), text]

    found = doubts(make_bench, Escaping)["escaped"]
    assert (found.affected, found.of, found.is_fatal) == (n, 4, False)
    assert not n or found.line == (
        f"entries are escaped for HTML, such as {sign!r}, so their words are not those said: store the text as it is "
        "(1 of 4 entries)"
    )


def test_a_few_entries_may_tell_of_html(make_bench):
    class Coding(Store):
        def get_all_memories(self):
            return [*super().get_all_memories(), *map(str, range(6)), "Write &lt; for a less-than sign"]

    assert doubts(make_bench, Coding)["escaped"].affected == 0
