"""SimpleMem: each trap of it, with the remedy in place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from heavy_stores import MAY, TOWNS, Open, named, said, store_at_once, texts, towns, watched_for_overlap

from pytest_memfail.core import UsageError
from pytest_memfail.systems import built_in_system
from pytest_memfail.systems.adapters import simplemem as adapter
from pytest_memfail.testing import LocalEndpoint, check_memory_system


def has_plain_datasets(place: str) -> bool:
    return (Path(place) / "datasets").is_dir() and not (Path(place) / "datasets" / "__init__.py").is_file()


@pytest.fixture(autouse=True)
def _packages(monkeypatch: pytest.MonkeyPatch, minilm: str) -> None:
    # a checkout of this repository has such a folder, which lancedb takes for a package
    monkeypatch.setattr("sys.path", [place for place in sys.path if not has_plain_datasets(place)])
    monkeypatch.delitem(sys.modules, "datasets", raising=False)
    pytest.importorskip("simplemem")


@pytest.fixture
def obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _packages: None) -> Path:
    """A folder of rows, say, on the path."""
    (folder := tmp_path / "rows" / "datasets").mkdir(parents=True)
    monkeypatch.setattr("sys.path", [*sys.path, str(folder.parent)])
    return folder


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


@pytest.mark.usefixtures("endpoint")
def test_a_folder_named_like_a_package_that_its_database_looks_for_is_told_before_anything_is_stored(
    obstacle: Path,
) -> None:
    with pytest.raises(UsageError) as failure:
        adapter.FACTORY.check_options({})
    assert str(failure.value).startswith(f"--memfail-system=simplemem finds the folder {obstacle} where lancedb looks")
