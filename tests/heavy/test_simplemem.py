"""SimpleMem: each trap of it, with the remedy in place."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest
from heavy_stores import MAY, TOWNS, Open, named, said, store_at_once, texts, towns, watched_for_overlap

from pytest_memfail.systems import built_in_system
from pytest_memfail.testing import LocalEndpoint, check_memory_system


@pytest.fixture(autouse=True)
def _packages(minilm: str) -> None:
    pytest.importorskip("simplemem")


@pytest.mark.usefixtures("endpoint")
def test_it_keeps_its_contract(minilm: str) -> None:
    factory = built_in_system("simplemem", lambda _: pytest.fail("wraps nothing"))
    check_memory_system(factory, options={"embedding": minilm})


def test_every_conversation_is_there_when_it_is_stored(open_system: Open, minilm: str) -> None:
    simplemem = open_system("simplemem", embedding=minilm)
    for count, conversation in enumerate(towns(3), 1):
        simplemem.store_conversation(conversation)  # left alone, it would wait for forty turns
        assert len(simplemem.get_all_memories()) == count


def test_parallel_writes_store_each_turn_once(open_system: Open, minilm: str) -> None:
    simplemem = open_system("simplemem", embedding=minilm)
    assert simplemem.concurrent_writes == 1
    simplemem._memory.finalize, met = watched_for_overlap(simplemem._memory.finalize)
    store_at_once(simplemem, towns(4))
    assert not met()
    assert sorted(texts(simplemem.get_all_memories())) == sorted(f"Ada saw a heron at {town}." for town in TOWNS[:4])


def test_a_restore_puts_nothing_of_before_into_the_next_conversation(
    open_system: Open, endpoint: LocalEndpoint, minilm: str, tmp_path: Path
) -> None:
    simplemem = open_system("simplemem", embedding=minilm)
    (snapshot := tmp_path / "snapshot").mkdir()
    simplemem.store_conversation(towns(1)[0])
    simplemem.snapshot(snapshot)
    simplemem.store_conversation(said("c-x", "The password is xylophone."))
    simplemem.restore(snapshot)
    assert named(simplemem.get_all_memories()) == {TOWNS[0]}
    simplemem.store_conversation(towns(2)[1])
    assert "xylophone" not in endpoint.requests[-1]["messages"][-1]["content"]


def test_the_model_is_told_the_time(open_system: Open, endpoint: LocalEndpoint, minilm: str) -> None:
    open_system("simplemem", embedding=minilm).store_conversation(said("c", "Ada bakes rye bread."))
    assert f"[{MAY.isoformat()}] User: Ada bakes rye bread." in endpoint.requests[-1]["messages"][-1]["content"]


def test_a_dead_endpoint_is_an_error_not_a_conversation_dropped(
    open_system: Open, endpoint: LocalEndpoint, minilm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)  # it waits longer and longer between its attempts
    simplemem = open_system("simplemem", embedding=minilm)
    endpoint.die()
    with pytest.raises(Exception, match=r"[Cc]onnection"):
        simplemem.store_conversation(towns(1)[0])


def test_a_folder_named_like_a_package_that_its_database_looks_for_is_no_obstacle(
    open_system: Open, minilm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rows" / "datasets").mkdir(parents=True)
    monkeypatch.delitem(sys.modules, "datasets", raising=False)
    monkeypatch.setattr("sys.path", [str(tmp_path / "rows"), *sys.path])
    scannable = import_module("lancedb.scannable")
    monkeypatch.setattr(scannable, "_registered_modules", set())
    simplemem = open_system("simplemem", embedding=minilm)
    simplemem.store_conversation(towns(1)[0])
    assert named(simplemem.get_all_memories()) == {TOWNS[0]}
