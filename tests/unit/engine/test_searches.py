"""What a search returns: entries of its own store only, all that is listed, and the same after a store is restored."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from random import Random

import pytest
from engine_fakes import AsyncStore, ExactJudge, Store, fact, names, plan, question, said, wait

from pytest_memfail.core import Ingest, MemorySystemError, Probe
from pytest_memfail.hosting import Shelf, StoredTexts, kept_in


def store_of(*numbers):
    return (*(Ingest(said(i)) for i in numbers), Probe(tuple(question(i) for i in numbers)))


# -- entries of other stores -------------------------------------------------------------------------------------------


@pytest.fixture
def leaking():
    """A system whose search sees every store, best word overlap first; its listing is its own."""

    class Leaking(Store):
        everywhere: list = []  # noqa: RUF012 - what is tested

        def store_conversation(self, conversation):
            super().store_conversation(conversation)
            self.everywhere.append(self.entry(conversation.text))

        def entry(self, text):
            return text

        def retrieve_memories(self, query, conversation, k):
            shared = {text: len(set(query.split()) & set(text.split())) for text in self.everywhere}
            return sorted(shared, key=lambda text: -shared[text])[:k]

    return Leaking


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("rewrites", [True, False])
def test_a_question_that_is_shown_a_text_of_another_store_is_an_error(bench, leaking, is_open, rewrites):
    leaking.search_rewrites = rewrites  # a text of another store is one all the same
    first = bench.begin(leaking, store_of(0, 1))
    assert names(bench.all(first)) == ["correct"] * 2
    if not is_open:
        assert bench.finish(first).doubts == []
    second = bench.begin(leaking, store_of(7, 8))
    results = bench.all(second)
    for i, result in zip((7, 8), results, strict=True):
        assert isinstance(result.error, MemorySystemError)
        assert str(result.error).startswith("retrieve_memories() of the store s-2 returns 'item")
        assert "which was stored in the store s-1: the stores share state" in str(result.error)
        assert str(result.error).endswith(f"(question q-{i})")
    (doubt,) = bench.finish(second).doubts
    assert doubt.is_fatal
    assert doubt.line.endswith("entries that are not listed (2 of 2 questions)")


def test_an_entry_of_another_process_is_one_that_is_not_listed(make_bench, leaking):
    class Noted(leaking):  # no text as it was stored, as a model would write it
        def entry(self, text):
            return f"note: {text.upper()}"

        def get_all_memories(self):
            return [self.entry(text) for text in self.texts]

        def retrieve_memories(self, query, conversation, k):
            return super().retrieve_memories(query.upper(), conversation, k)

    one, two = make_bench(), make_bench()  # they know nothing of each other
    one.all(one.begin(Noted, store_of(0)))
    run = two.begin(Noted, store_of(7))
    (result,) = two.all(run)
    assert "returns 'note: ITEM0 " in str(result.error)
    assert "which get_all_memories() does not list: if it is of another store, keep everything below" in str(
        result.error
    )
    assert "set search_rewrites to true" in str(result.error)
    assert [(doubt.affected, doubt.of) for doubt in two.finish(run).doubts] == [(1, 1)]


@pytest.mark.parametrize("rewritten", ["[2024-05-01] user: {}", "{} (again)", "> {}!"])
def test_an_entry_with_a_prefix_or_a_mark_is_listed(bench, rewritten):
    class Marking(Store):
        def retrieve_memories(self, query, conversation, k):
            return [rewritten.format(text) for text in super().retrieve_memories(query, conversation, k)]

    run = bench.begin(Marking, plan(3))
    assert names(bench.all(run)) == ["correct"] * 3
    assert bench.finish(run).doubts == []


@pytest.mark.parametrize("how", ["id", "declared"])
def test_an_entry_may_have_another_text_if_its_id_is_listed_or_the_system_says_so(bench, how):
    class Summary(Store):
        search_rewrites = how == "declared"

        def get_all_memories(self):
            return [{"text": text, "id": text[:5]} if how == "id" else text for text in self.texts]

        def retrieve_memories(self, query, conversation, k):
            return [{"text": "in short, all of it is true of the things that were said", "id": query[:5]}]

    run = bench.begin(Summary, plan(2))
    assert [result.error for result in bench.all(run)] == [None, None]
    assert bench.finish(run).doubts == []


def test_an_entry_that_came_after_the_listing_is_no_leak(bench):
    class Late(Store):
        def retrieve_memories(self, query, conversation, k):
            self.texts.append(note := f"asked before: {len(self.texts)} things of quite another kind")
            return [*super().retrieve_memories(query, conversation, k), note]

    run = bench.begin(Late, plan(3))
    assert names(bench.all(run)) == ["correct"] * 3


def test_a_store_at_a_server_is_asked_for_a_text_of_a_closed_one(bench):
    texts = StoredTexts()
    for name, i in (("a", 0), ("b", 1), ("c", 2)):
        texts.add(name, [said(i)])
    texts.listed("a", [])
    texts.forget("a")
    texts.listed("b", [])
    assert texts.sentinels_of_others("c", [said(2)]) == [(fact(1), "b"), (fact(0), "a")]


# -- a search that lags ------------------------------------------------------------------------------------------------


class Naming(ExactJudge):
    """Names the entries that hold a fact, as the judges of the package do."""

    def storage(self, evidence, store):
        places = tuple(i for i, memory in enumerate(store.memories) if evidence.text in memory.text)
        return replace(super().storage(evidence, store), entries=places)


class Lagging(Store):
    """Lists at once; its search finds a text only after some searches."""

    after = 2
    partly = False

    def __init__(self):
        super().__init__()
        self.searches = 0

    def retrieve_memories(self, query, conversation, k):
        self.searches += 1
        if self.searches > self.after:
            return super().retrieve_memories(query, conversation, k)
        return self.texts[-1:] if self.partly else []


@pytest.mark.parametrize("partly", [True, False])
@pytest.mark.parametrize("base", [Store, AsyncStore])
def test_a_search_that_finds_more_at_the_end_lags(make_bench, partly, base):
    bench = make_bench(judge=Naming())
    kind = type("Kind", (Lagging,), {"partly": partly})
    if base is AsyncStore:

        class Later(AsyncStore):
            def __init__(self):
                self.inner = kind()

        run = bench.begin(Later, plan(6))
    else:
        run = bench.begin(kind, plan(6))
    assert names(bench.all(run)) == ["not_retrieved"] * 2 + ["correct"] * 4
    (doubt,) = bench.finish(run).doubts
    assert doubt.is_fatal
    assert doubt.text.startswith("the search lags by at least 0.")
    assert doubt.text.endswith(" s behind the listing: set settle, or offer settled()")
    assert (doubt.affected, doubt.of) == (2, 2)


def test_a_system_that_had_settled_is_told_that_it_had_not(bench):
    kind = type("Kind", (Lagging,), {"settled": lambda self: True})
    run = bench.begin(kind, plan(4))
    bench.all(run)
    (doubt,) = bench.finish(run).doubts
    assert doubt.text.endswith("behind the listing: its settled() is true too early")


class Varying(Store):
    """Its search misses one time in `every`, whatever was asked before."""

    every = 20
    partly = False

    def retrieve_memories(self, query, conversation, k):
        self.log.append("search")
        is_missed = Random(f"{self.log.count('search')}").random() < 1 / self.every
        return self.texts[:1] * self.partly if is_missed else super().retrieve_memories(query, conversation, k)


@pytest.mark.parametrize("partly", [True, False])
@pytest.mark.parametrize("every", [3, 20])
def test_a_search_that_varies_at_random_does_not_lag(make_bench, partly, every):
    bench = make_bench(judge=Naming())
    run = bench.begin(type("Kind", (Varying,), {"partly": partly, "every": every}), plan(100))
    assert 0 < names(bench.all(run)).count("not_retrieved") < 60
    (doubt,) = bench.finish(run).doubts
    assert not doubt.is_fatal
    assert doubt.text.startswith("the same search returns different entries: ")
    assert 1 <= doubt.affected <= doubt.of <= 4 + 40
    assert doubt.unit == "repeated question"


def test_a_store_with_one_question_repeats_it_more_often(bench):
    class Hidden(Store):
        def retrieve_memories(self, query, conversation, k):
            self.log.append("search")
            return [] if self.log.count("search") in (1, 9) else super().retrieve_memories(query, conversation, k)

    run = bench.begin(Hidden, plan(1))
    assert names(bench.all(run)) == ["not_retrieved"]
    (doubt,) = bench.finish(run).doubts
    assert doubt.line.startswith("the same search returns different entries: ")
    assert doubt.line.endswith(" (1 of 1 repeated question)")


def test_few_searches_are_repeated_to_tell_a_lag_from_variation(make_bench):
    systems = []
    run = make_bench(judge=Naming()).begin(lambda context: systems.append(Lagging()) or systems[-1], plan(300))
    for ask in run.job.asks:
        wait(run.result(ask.key))
    (doubt,) = (one for one in wait(run.finish()).doubts if one.affected)
    assert doubt.text.startswith("the search lags")
    assert systems[0].searches <= 300 + 2 + 2 * (2 + 40)


@pytest.mark.parametrize("found", [[], ["last"]])
def test_a_search_that_never_finds_does_not_lag(make_bench, found):
    bench = make_bench(judge=Naming())

    class Blind(Store):
        def retrieve_memories(self, query, conversation, k):
            self.log.append("search")
            return self.texts[-1:] if found else []

    systems = []
    run = bench.begin(lambda context: systems.append(Blind()) or systems[-1], plan(8))
    assert names(bench.all(run))[:7] == ["not_retrieved"] * 7
    assert bench.finish(run).doubts == []
    assert systems[0].log.count("search") == 8 + 2  # the first and the last that missed something


def test_nothing_is_asked_again_where_nothing_was_missed(bench):
    systems = []
    run = bench.begin(lambda context: systems.append(Store()) or systems[-1], plan(4))
    assert names(bench.all(run)) == ["correct"] * 4
    bench.finish(run)
    assert sum(line.startswith("retrieve") for line in systems[0].log) == 4


def test_what_an_earlier_probe_missed_is_not_asked_of_a_fuller_store(bench):
    class Fuller(Store):
        def retrieve_memories(self, query, conversation, k):
            return self.texts if len(self.texts) > 1 else []

    steps = [Ingest(said(0)), Probe((question(0),)), Ingest(said(1)), Probe((question(1),))]
    run = bench.begin(Fuller, steps)
    assert names(bench.all(run)) == ["not_retrieved", "correct"]
    assert bench.finish(run).doubts == []


def test_a_search_that_breaks_when_asked_again_changes_nothing(bench):
    class Breaking(Store):
        def retrieve_memories(self, query, conversation, k):
            self.log.append("search")
            if self.log.count("search") > 2:
                raise OSError("gone")
            return []

    run = bench.begin(Breaking, plan(2))
    assert names(bench.all(run)) == ["not_retrieved"] * 2
    assert bench.finish(run).doubts == []


# -- kept stores of other settings -------------------------------------------------------------------------------------


class Embedded(Store):
    """Finds by a vector of its `model`; vectors of different models have nothing in common."""

    retries = 0
    model = "a"
    fault: type[Exception] | None = None

    def __init__(self):
        super().__init__()
        self.vectors = []

    def vector(self, text):
        return {f"{self.model} {word}" for word in text.split()}

    def store_conversation(self, conversation):
        super().store_conversation(conversation)
        self.vectors.append(sorted(self.vector(conversation.text)))

    def retrieve_memories(self, query, conversation, k):
        near = [len(self.vector(query) & set(vector)) for vector in self.vectors]
        if self.fault is not None and not any(near):
            raise self.fault("dimensions differ")
        found = sorted((i for i, n in enumerate(near) if n), key=lambda i: -near[i])
        return [self.texts[i] for i in found][:k]

    def snapshot(self, path):
        (path / "store.json").write_text(json.dumps([self.texts, self.vectors]), encoding="utf-8")

    def restore(self, path):
        self.log.append("restore")
        self.texts, self.vectors = json.loads((path / "store.json").read_text(encoding="utf-8"))

    def close(self):
        self.log.append("close")


@pytest.mark.parametrize("fault", [None, ValueError])
def test_a_store_that_was_kept_with_another_embedder_is_filled_again(make_bench, tmp_path, fault):
    shelf = Shelf(tmp_path / "kept", "embedded", {})
    ended = []
    for model in "aabba":
        made = []

        def make(context, made=made, model=model):
            made.append(Embedded())
            made[-1].model, made[-1].fault = model, fault
            return made[-1]

        bench = make_bench()
        run = bench.begin(make, TWO_PROBES, shelf=shelf)
        assert names(bench.all(run)) == ["correct"] * 3
        report = bench.finish(run)
        ended.append((report.restored, len(report.doubts), len(made), made[0].log[-1]))
        for doubt in report.doubts:
            assert not doubt.is_fatal
            assert doubt.line.startswith("a kept store was filled with other settings")
    assert [(restored, doubts, systems) for restored, doubts, systems, _ in ended] == [
        (False, 0, 1),
        (True, 0, 1),
        (False, 1, 2),  # filled once for both probes
        (True, 0, 1),
        (False, 1, 2),
    ]
    assert {last for *_, last in ended} == {"close"}
    assert kept_in(shelf.folder) == len(list(shelf.folder.iterdir())) == 2


TWO_PROBES = (
    *(Ingest(said(i)) for i in range(4)),
    Probe((question(0), question(1))),
    *(Ingest(said(i)) for i in range(4, 8)),
    Probe((question(5),)),
)


def test_one_entry_in_three_may_differ_after_restoring(make_bench, tmp_path):
    """Entries of equal score have no order, so the last of those shown is another one after restoring."""
    shelf = Shelf(tmp_path / "kept", "ties", {})
    for is_restored in (False, True):

        class Ties(Embedded):
            def retrieve_memories(self, query, conversation, k, is_restored=is_restored):
                hits = [text for text in self.texts if query in text]
                others = sorted((text for text in self.texts if text not in hits), reverse=is_restored)
                return [*hits, *self.texts[:3], others[0]]

        bench = make_bench()
        run = bench.begin(Ties, plan(8), shelf=shelf)
        assert names(bench.all(run)) == ["correct"] * 8
        report = bench.finish(run)
        assert (report.restored, report.doubts) == (is_restored, [])


def test_a_lag_is_counted_from_the_end_of_the_fill(bench):
    class Slow(Lagging):
        after = 1

        def store_conversation(self, conversation):
            super().store_conversation(conversation)
            self.began = time.time()

    run = bench.begin(Slow, plan(3))
    bench.all(run)
    (doubt,) = bench.finish(run).doubts
    said_seconds = float(doubt.text.split("at least ")[1].split(" s")[0])
    assert said_seconds < 5


def test_listed_times_that_cannot_be_read_are_counted(bench):
    class Timed(Store):
        def get_all_memories(self):
            times = [None, "2024-05-18", "05/18/2024 02:00 PM", "05/19/2024 02:00 PM"]
            return [{"text": text, "timestamp": when} for text, when in zip(self.texts, times, strict=True)]

    run = bench.begin(Timed, plan(4))
    bench.all(run)
    (doubt,) = bench.finish(run).doubts
    assert not doubt.is_fatal
    assert doubt.line == (
        "timestamps like '05/18/2024 02:00 PM' cannot be read and count as no time: give ISO 8601, such as 2024-05-18T14:00:00Z, "
        "or seconds since 1970 (2 of 3 timestamps)"
    )
