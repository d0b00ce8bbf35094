"""LangMem: each trap of it, with the remedy in place."""

from __future__ import annotations

from pathlib import Path

import pytest
from heavy_stores import MAY, NOWHERE, TOWNS, Open, named, said, texts, towns

from pytest_memfail.systems import built_in_system
from pytest_memfail.testing import LocalEndpoint, check_memory_system


@pytest.fixture(autouse=True)
def _packages() -> None:
    for package in ("langmem", "langchain_openai"):
        pytest.importorskip(package)


@pytest.mark.usefixtures("endpoint")
def test_it_keeps_its_contract() -> None:
    check_memory_system(built_in_system("langmem", lambda _: pytest.fail("wraps nothing")))


def test_a_listing_is_more_than_its_default_page_of_10(open_system: Open) -> None:
    langmem = open_system("langmem")
    for conversation in towns():
        langmem.store_conversation(conversation)
    assert named(langmem.get_all_memories()) == set(TOWNS)
    assert len(langmem.retrieve_memories("zymurgy", NOWHERE, 25)) == 25


def test_its_store_in_memory_is_listed_into_a_snapshot_and_put_back(open_system: Open, tmp_path: Path) -> None:
    first, second = open_system("langmem", "a"), open_system("langmem", "b")
    for conversation in towns(12):
        first.store_conversation(conversation)
    second.store_conversation(said("c-x", "The password is xylophone."))
    (snapshot := tmp_path / "snapshot").mkdir()
    first.snapshot(snapshot)
    second.restore(snapshot)

    def entries(memories: list[dict[str, object]]) -> set[tuple[object, ...]]:
        return {(memory["id"], memory["text"], memory["timestamp"]) for memory in memories}

    assert entries(second.get_all_memories()) == entries(first.get_all_memories())
    assert texts(second.retrieve_memories(f"heron {TOWNS[3]}", NOWHERE, 1)) == [f"Ada saw a heron at {TOWNS[3]}."]


def test_the_model_is_told_the_time_and_the_listing_has_it(open_system: Open, endpoint: LocalEndpoint) -> None:
    langmem = open_system("langmem")
    langmem.store_conversation(said("c-1", "Ada bakes rye bread."))
    assert "[2024-05-01 09:30] Ada bakes rye bread." in endpoint.requests[0]["messages"][-1]["content"]
    assert [memory["timestamp"] for memory in langmem.get_all_memories()] == [MAY.isoformat()]


def test_a_memory_that_is_rewritten_has_the_time_of_the_rewriting(open_system: Open) -> None:
    langmem = open_system("langmem")
    langmem.store_conversation(towns(1)[0])
    (memory,) = langmem.get_all_memories()
    rewritten = {"kind": "Memory", "content": {"content": "Ada saw two herons."}}
    langmem._manager.invoke = lambda _: [{"key": memory["id"], "value": rewritten}]
    langmem.store_conversation(towns(2)[1])
    assert langmem.get_all_memories()[0]["timestamp"] == "2024-05-01T09:31:00+00:00"


def test_writes_are_declared_one_at_a_time(open_system: Open) -> None:
    assert open_system("langmem").concurrent_writes == 1


def test_a_dead_endpoint_is_an_error(open_system: Open, endpoint: LocalEndpoint) -> None:
    langmem = open_system("langmem")
    endpoint.die()
    with pytest.raises(Exception, match=r"[Cc]onnection"):
        langmem.store_conversation(towns(1)[0])
