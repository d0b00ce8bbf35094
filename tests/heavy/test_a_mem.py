"""A-MEM: each trap of it, with the remedy in place."""

from __future__ import annotations

import pytest
from heavy_stores import MAY, NOWHERE, TOWNS, Open, named, said, store_at_once, texts, towns, watched_for_overlap

from pytest_memfail.systems import built_in_system
from pytest_memfail.testing import LocalEndpoint, check_memory_system


@pytest.fixture(autouse=True)
def _packages(monkeypatch: pytest.MonkeyPatch, minilm: str) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it may be imported here for the first time
    pytest.importorskip("agentic_memory.memory_system")


@pytest.mark.usefixtures("endpoint")
def test_it_keeps_its_contract(minilm: str) -> None:
    factory = built_in_system("a-mem", lambda _: pytest.fail("wraps nothing"))
    check_memory_system(factory, options={"embedding": minilm})


def test_what_is_found_has_its_text_and_the_nearest_the_highest_score(open_system: Open, minilm: str) -> None:
    a_mem = open_system("a-mem", embedding=minilm)
    for text in ("Ada bakes rye bread every Sunday.", "Bo repairs clocks in a lighthouse."):
        a_mem.store_conversation(said("c", text))
    # the search gives ids and distances, of which the lowest is the best
    found = a_mem.retrieve_memories("Who bakes bread?", NOWHERE, 2)
    assert texts(found) == ["user: Ada bakes rye bread every Sunday.", "user: Bo repairs clocks in a lighthouse."]
    assert found[0]["score"] > found[1]["score"]


def test_an_empty_store_finds_and_lists_nothing(open_system: Open, minilm: str) -> None:
    a_mem = open_system("a-mem", embedding=minilm)
    assert a_mem.retrieve_memories("bread", NOWHERE, 3) == a_mem.get_all_memories() == []


def test_a_listed_time_is_that_of_the_conversation(open_system: Open, minilm: str) -> None:
    a_mem = open_system("a-mem", embedding=minilm)
    a_mem.store_conversation(said("c", "Ada bakes rye bread."))
    (memory,) = a_mem.get_all_memories()
    assert memory["timestamp"] == MAY.replace(tzinfo=None).isoformat()


def test_it_can_be_opened_again_where_it_was_closed(open_system: Open, minilm: str) -> None:
    a_mem = open_system("a-mem", embedding=minilm)
    a_mem.store_conversation(towns(1)[0])
    a_mem.close()
    assert named(open_system("a-mem", embedding=minilm).get_all_memories()) == {TOWNS[0]}


def test_writes_take_turns(open_system: Open, minilm: str) -> None:
    a_mem = open_system("a-mem", embedding=minilm)
    assert a_mem.concurrent_writes == 1
    a_mem._memory.add_note, met = watched_for_overlap(a_mem._memory.add_note)
    store_at_once(a_mem, towns(4))
    assert not met()
    assert named(a_mem.get_all_memories()) == set(TOWNS[:4])


def test_a_dead_endpoint_is_an_error_not_a_note_without_annotations(
    open_system: Open, endpoint: LocalEndpoint, minilm: str
) -> None:
    a_mem = open_system("a-mem", embedding=minilm)
    endpoint.die()
    with pytest.raises(Exception, match=r"[Cc]onnection"):
        a_mem.store_conversation(towns(1)[0])
