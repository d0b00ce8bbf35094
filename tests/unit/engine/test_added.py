"""What a conversation added: as the system says, or as its listing changed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from engine_fakes import ExactJudge, Store, fact, names, question, said

from pytest_memfail.core import SEARCHING, Ingest, Probe, StageResult
from pytest_memfail.hosting import Shelf


class AddedJudge(ExactJudge):
    """Remembers the memories that it is asked about, by question; none may hold "false"."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def added(self, question, added):
        self.seen[question.id] = [memory.text for memory in added]
        is_backed = not any("false" in memory.text for memory in added)
        return StageResult("passed" if is_backed else "failed", label=None if is_backed else "fabricated")


def asked(i):
    """What conversation i added."""
    return question(100 + i, [], stages=("added",), keys={"conversation": f"c-{i}"})


STEPS = (
    Ingest(said(0)),
    Probe((asked(0),)),
    Ingest(said(1, "noise")),
    Probe(()),
    Ingest(said(2, "false")),
    Probe((asked(2),)),
)


class Telling(Store):
    def extracted_since(self, conversation):
        self.log.append(f"extracted {conversation.id}")
        return [f"told of {conversation.id}"]


class Keeping(Telling):
    retries = 0

    def snapshot(self, path):
        (path / "texts.json").write_text(json.dumps(self.texts), encoding="utf-8")

    def restore(self, path):
        self.texts = json.loads((path / "texts.json").read_text(encoding="utf-8"))


class Rewriting(Store):
    def store_conversation(self, conversation):
        super().store_conversation(conversation)
        self.texts[0] = f"summary after {len(self.texts)}"


def run(make_bench, system, **more):
    judge = AddedJudge()
    bench = make_bench(judge=judge)
    begun = bench.begin(system, STEPS, **more)
    found = names(bench.all(begun))
    report = bench.finish(begun)
    return found, judge.seen, report


def test_additions_are_read_from_the_listings_around_a_conversation(make_bench):
    found, seen, report = run(make_bench, Store)
    assert found == ["correct", "summary_error"]
    assert seen == {"q-100": [said(0).text], "q-102": ["false"]}
    assert [listing.number for listing in report.listings] == [0, 1, 2]


def test_an_entry_whose_text_changed_counts_as_added(make_bench):
    _, seen, _ = run(make_bench, Rewriting)
    assert seen == {"q-100": ["summary after 1"], "q-102": ["summary after 3", "false"]}


def test_a_system_may_say_what_a_conversation_added(make_bench):
    _, seen, _ = run(make_bench, Telling)
    assert seen == {"q-100": ["told of c-0"], "q-102": ["told of c-2"]}


def test_a_restored_system_is_not_asked_what_it_did_not_store(make_bench, tmp_path):
    shelf = Shelf(tmp_path / "kept", "keeping", {})
    _, first, _ = run(make_bench, Keeping, shelf=shelf)
    _, second, report = run(make_bench, Keeping, shelf=shelf)
    assert report.restored
    assert first["q-102"] == ["told of c-2"]
    assert second == {"q-100": [said(0).text], "q-102": ["false"]}


def test_nothing_added_passes_without_a_judge_and_proves_nothing(make_bench):
    class Empty(Store):
        def store_conversation(self, conversation):
            pass

    judge = AddedJudge()
    bench = make_bench(judge=judge)
    results = bench.all(bench.begin(Empty, STEPS))
    assert names(results) == ["correct", "correct"]
    assert all(result.verdict.vacuous for result in results)
    assert judge.seen == {}


def test_a_judge_without_the_method_leaves_it_ungraded(make_bench):
    bench = make_bench()
    (first, _) = bench.all(bench.begin(Store, STEPS))
    assert first.verdict.name == "ungraded"
    assert "give --memfail-judge a model" in first.verdict.answer.reason


@pytest.mark.parametrize("returned", [None, 3])
def test_what_is_no_list_of_memories_is_an_error(make_bench, returned):
    class Wrong(Store):
        def extracted_since(self, conversation):
            return returned

    bench = make_bench(judge=AddedJudge())
    results = bench.all(bench.begin(Wrong, STEPS))
    assert "extracted_since() returned" in str(results[0].error)


class Placing(ExactJudge):
    """Names the entry that holds a fact."""

    def storage(self, evidence, store):
        at = [place for place, memory in enumerate(store.memories) if evidence.text in memory.text]
        return StageResult("passed" if at else "failed", entries=tuple(at))


class Once(Store):
    """Stores no text twice."""

    def store_conversation(self, conversation):
        self.texts += [one.content for one in conversation.messages if one.content not in self.texts]


def said_again(**more):
    """Fact 0 is said in two conversations, and asked about after both; fact 1 only in the second."""
    again = replace(said(1), messages=(*said(0).messages, *said(1).messages))
    memory = {"stages": ("storage", "summary"), "keys": {"conversation": "c-1"}, **more}
    return Ingest(said(0)), Probe(()), Ingest(again), Probe((question(0, **memory), question(1, **memory)))


@pytest.mark.parametrize(("of_additions", "verdicts"), [(False, ["correct"] * 2), (True, ["not_stored", "correct"])])
def test_a_fact_may_be_judged_by_what_a_conversation_added_alone(make_bench, of_additions, verdicts):
    bench = make_bench(judge=Placing())
    results = bench.all(bench.begin(Once, said_again(of_additions=of_additions)))
    assert names(results) == verdicts
    assert results[0].verdict.facts[0].storage.label is None  # an earlier listing had it, which says nothing here
    # an entry keeps its place in the whole store
    assert results[1].verdict.facts[0].storage.entries == (1,)
    shown = [[memory.text for memory in result.trace.shown] for result in results]
    assert shown == ([[fact(1)]] * 2 if of_additions else [[], []])


def test_a_search_is_judged_by_what_it_found_and_not_by_what_was_added(make_bench):
    stages = ("storage", "summary", "retrieval")
    bench = make_bench(judge=Placing())
    results = bench.all(bench.begin(Once, said_again(of_additions=True, stages=stages, is_independent=True)))
    first = results[0].verdict.facts[0]
    assert (first.name, first.retrieval.outcome) == ("not_stored", "passed")
    assert [memory.text for memory in results[0].trace.shown] == [fact(0)]


def test_a_question_of_additions_that_names_no_conversation_is_an_error(make_bench):
    bench = make_bench(judge=Placing())
    results = bench.all(bench.begin(Once, said_again(of_additions=True, keys={})))
    assert "the question q-0 names no conversation of its store" in str(results[0].error)


# -- what was replaced before any listing could show it ------------------------------------------------------------------


class Replacing(Store):
    """Keeps only the last conversation, and says what each one added."""

    def store_conversation(self, conversation):
        self.texts = []
        super().store_conversation(conversation)

    def extracted_since(self, conversation):
        return [message.content for message in conversation.messages]

    def snapshot(self, path):
        (path / "texts.json").write_text(json.dumps(self.texts), encoding="utf-8")

    def restore(self, path):
        self.texts = json.loads((path / "texts.json").read_text(encoding="utf-8"))


REPLACED = (Ingest(said(0)), Ingest(said(1)), Ingest(said(2)), Probe((question(0), question(2), question(7))))


def labels(make_bench, system, **more):
    bench = make_bench()
    run = bench.begin(system, REPLACED, **more)
    found = [(result.verdict.name, result.verdict.label) for result in bench.all(run)]
    return found, bench.finish(run)


def test_a_fact_that_was_replaced_between_two_probes_was_stored_at_some_time(make_bench):
    found, report = labels(make_bench, Replacing)
    assert found == [("not_stored", "lost_later"), ("correct", None), ("not_stored", None)]
    assert [[m.text for m in one.memories] for one in report.extracted] == [[said(i).text for i in range(3)]]

    class Silent(Replacing):
        extracted_since = None

    assert labels(make_bench, Silent)[0] == [("not_stored", None), ("correct", None), ("not_stored", None)]


def test_an_addition_shows_only_facts_of_its_own_conversations(make_bench):
    """A value that was named earlier, as a possibility, was not stored before it was told."""
    steps = (Ingest(said(1, said(0).text)), Probe(()), Ingest(said(0, "x")), Ingest(said(2)), Probe((question(0),)))
    bench = make_bench()
    result = bench.get(bench.begin(Replacing, steps), "q-0@5")
    assert (result.verdict.name, result.verdict.label) == ("not_stored", None)


def test_a_restored_store_says_that_it_cannot_know_what_was_replaced(make_bench, tmp_path):
    shelf = Shelf(tmp_path / "kept", "replacing", {})
    assert labels(make_bench, Replacing, shelf=shelf)[1].doubts == []
    found, report = labels(make_bench, Replacing, shelf=shelf)
    assert report.restored
    assert found[0] == ("not_stored", None)
    assert [doubt.kind for doubt in report.doubts] == ["restored-additions"]
    assert not report.doubts[0].is_fatal


# -- what model calls are for ------------------------------------------------------------------------------------------


def test_the_calls_of_a_system_are_told_apart_by_what_it_is_asked(make_bench):
    """A system that calls models while it searches, between two fills."""
    seen = []

    class Asking(Store):
        async def store_conversation(self, conversation):
            seen.append(("store", SEARCHING.get()))
            super().store_conversation(conversation)

        async def retrieve_memories(self, query, conversation, k):
            seen.append(("search", SEARCHING.get()))
            return super().retrieve_memories(query, conversation, k)

        async def get_all_memories(self):
            return super().get_all_memories()

    steps = (Ingest(said(0)), Probe((question(0),)), Ingest(said(1)), Probe((question(1),)))
    bench = make_bench()
    names(bench.all(bench.begin(Asking, steps)))
    assert set(seen) == {("store", False), ("search", True)}
