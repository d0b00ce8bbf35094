"""`dense`: vectors of a real endpoint, cached, counted and ranked by cosine."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from functools import partial

import pytest
from system_stores import NOON, NOWHERE, said

from pytest_memfail.core import SystemContext, UsageError
from pytest_memfail.llm import CacheMissError, EndpointError, Ledger, ModelClient, ReplyError, ResponseCache, SystemChat
from pytest_memfail.systems.dense import FACTORY
from pytest_memfail.testing import LocalEndpoint, check_memory_system
from pytest_memfail.testing.embeddings import package_vectors


@pytest.fixture
def use(tmp_path):
    """Run work with an open system; return its result, what was spent, and the requests."""

    def use(work, *, vectors=None, cache=None, name="store", endpoint=None, **options):
        async def main(endpoint):
            ledger = Ledger()
            client = ModelClient(
                ledger=ledger, base_url=endpoint.url, api_key="any", backoff_seconds=0.002, cache=cache
            )
            (tmp_path / name).mkdir(exist_ok=True)
            system = FACTORY(SystemContext("run", name, tmp_path / name, options, chat=SystemChat(client)))
            try:
                return await work(system), ledger.totals()
            finally:
                await system.close()
                await client.close()
                ledger.close()

        chosen = {} if vectors is None else {"vectors": vectors}
        with nullcontext(endpoint) if endpoint else LocalEndpoint(**chosen) as serving:
            serving.embedding_requests.clear()
            result, totals = asyncio.run(main(serving))
            return result, totals, list(serving.embedding_requests)

    return use


async def fill(system, *texts):
    for i, text in enumerate(texts):
        await system.store_conversation(said(f"c-{i}", text, timestamp=NOON))
    await system.flush()


async def found(system, query, k=5):
    return [entry["text"] for entry in await system.retrieve_memories(query, NOWHERE, k)]


def test_texts_are_embedded_in_batches_and_all_of_it_is_counted(use):
    async def work(system):
        await fill(system, *(f"Bee number {i} likes clover." for i in range(7)), "The tram is late.")
        return await found(system, "tram", 1)

    result, totals, requests = use(work, batch="3", embedding="m-embed")
    assert result == ["The tram is late."]
    assert sorted(len(request["input"]) for request in requests) == [1, 2, 3, 3]
    assert {request["model"] for request in requests} == {"m-embed"}
    (row,) = totals.rows
    assert (row.stage, row.model, row.calls, row.completion_tokens, row.estimated) == ("memory", "m-embed", 4, 0, 0)
    assert row.prompt_tokens > 0


def test_entries_come_with_id_time_and_cosine_best_first(use):
    async def work(system):
        await fill(system, "apple pie", "apple", "pear")
        return await system.retrieve_memories("apple", NOWHERE, 2)

    (first, second), *_ = use(work)
    assert (first["id"], first["text"], first["timestamp"]) == ("c-1-0", "apple", NOON.isoformat())
    assert first["score"] == pytest.approx(1, abs=1e-5)
    assert 0 < second["score"] < 1


def test_cached_vectors_cost_nothing_whatever_the_batches(use, tmp_path):
    async def work(system):
        await fill(system, "apple", "pear", "plum")
        return await found(system, "plum", 1)

    with LocalEndpoint() as endpoint:
        again = partial(use, endpoint=endpoint)
        first, spent, asked = again(work, cache=ResponseCache(tmp_path / "kept"), name="one", batch="2")
        second, unspent, unasked = again(work, cache=ResponseCache(tmp_path / "kept"), name="two")
        assert first == second == ["plum"]
        assert (len(asked), unasked) == (2, [])  # "plum" is a text, and later a query
        assert (spent.calls, spent.cache_hits, unspent.calls, unspent.cache_hits) == (2, 1, 0, 2)
        assert again(work, cache=ResponseCache(tmp_path / "kept", "only"), name="three")[0] == ["plum"]
        with pytest.raises(CacheMissError, match=r"has no reply of 'text-embedding-3-small'.*memory request"):
            again(lambda system: fill(system, "cherry"), cache=ResponseCache(tmp_path / "kept", "only"), name="four")


@pytest.mark.parametrize(
    ("vectors", "said_of_it"),
    [
        (lambda texts, _: [[1.0]] * (len(texts) + 1), "got 3 vectors of"),
        (lambda texts, _: [[1.0], [1.0, 2.0]], "expected 2 of one length"),
        (lambda texts, _: [[]] * len(texts), "expected 2 of one length"),
        (lambda texts, _: [[float("nan")]] * len(texts), "not finite"),
        (lambda texts, _: [[1e300]] * len(texts), "not finite"),
        (lambda texts, _: [[10**400]] * len(texts), "not a reply to /embeddings"),
        (lambda texts, _: [["a"]] * len(texts), "not a reply to /embeddings"),
    ],
)
def test_vectors_that_cannot_be_used_are_an_error(use, vectors, said_of_it):
    with pytest.raises(ReplyError, match=said_of_it):
        use(lambda system: fill(system, "apple", "pear"), vectors=vectors)


def test_an_endpoint_without_the_route_is_an_error_not_an_empty_memory(tmp_path):
    async def main():
        ledger = Ledger()
        client = ModelClient(ledger=ledger, base_url="http://127.0.0.1:9/v1", api_key="any", max_retries=0)
        system = FACTORY(SystemContext("run", "s", tmp_path, chat=SystemChat(client)))
        try:
            with pytest.raises(EndpointError):
                await fill(system, "apple")
        finally:
            await system.close()
            await client.close()
            ledger.close()

    asyncio.run(main())


def test_a_snapshot_brings_the_vectors_and_asks_for_none_again(use, tmp_path):
    async def work(system):
        await fill(system, "apple", "pear")
        (tmp_path / "kept").mkdir()
        await system.snapshot(tmp_path / "kept")
        await fill(system, "plum")
        await system.restore(tmp_path / "kept")
        return await found(system, "plum pear")

    result, _, requests = use(work)
    assert result == ["pear"]
    assert [len(request["input"]) for request in requests] == [2, 1, 1]


def test_sessions_and_dates_are_entries_as_for_bm25(use):
    async def work(system):
        await system.store_conversation(said("c-1", "apple", "pear", timestamp=NOON))
        return await system.get_all_memories()

    (entry,), *_ = use(work, unit="session", header="date")
    assert (entry["id"], entry["text"]) == ("c-1", "[2025-01-06] user: apple\nuser: pear")


def test_it_keeps_the_contract(monkeypatch):
    with LocalEndpoint() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        assert check_memory_system(FACTORY).failed == ()


def test_without_an_endpoint_and_with_impossible_settings_it_says_so_in_one_line(tmp_path):
    with pytest.raises(UsageError, match="dense asks a model for vectors, and this run has none"):
        FACTORY(SystemContext("run", "s", tmp_path))
    with pytest.raises(UsageError, match="batch of dense: got '0', expected a whole number"):
        FACTORY.check_options({"batch": "0"})
    assert FACTORY.models({"embedding": "nomic"}, "gpt") == ("nomic",)


def test_vectors_of_a_package_find_a_synonym_that_words_do_not(use):
    pytest.importorskip("wordllama", reason="the package wordllama, which has real vectors, is not installed")
    texts = ("The doctor is on holiday.", "A tram is late.", "Ada bakes bread.", "My bicycle was stolen.")

    async def work(system, query):
        await fill(system, *texts)
        return await found(system, query, 1)

    queries = {"physician": texts[0], "railway": texts[1], "loaf": texts[2], "theft of a bike": texts[3]}
    by_words = [use(partial(work, query=query), name=query)[0] for query in queries]
    by_meaning = [use(partial(work, query=query), name=f"{query} 2", vectors=package_vectors)[0] for query in queries]
    assert by_meaning == [[text] for text in queries.values()]
    assert by_words != by_meaning
