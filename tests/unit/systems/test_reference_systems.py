"""The systems without dependencies, and their names."""

from __future__ import annotations

from pathlib import Path

import pytest
from system_stores import NOWHERE, said

from pytest_memfail.core import MemorySystem, SystemContext, UsageError
from pytest_memfail.systems import BUILT_IN, built_in_system
from pytest_memfail.systems.full_context import FullContext
from pytest_memfail.systems.no_memory import NoMemory

OFFLINE = [name for name in BUILT_IN if name not in ("md-file", "memory-tool", "dense", "gold-facts")]
"""The systems that need neither a model nor a run's rows; the others have test files of their own."""


def factory_of(name):
    return built_in_system(name, factory_of)


@pytest.mark.parametrize("name", OFFLINE)
def test_every_built_in_name_makes_a_memory_system_that_describes_itself(tmp_path, name):
    system = factory_of(name)(SystemContext("run", "store", tmp_path))
    assert isinstance(system, MemorySystem)
    assert all(isinstance(value, str) for value in system.describe().values())
    if hasattr(system, "close"):
        system.close()


@pytest.mark.parametrize("name", OFFLINE)
def test_every_factory_makes_a_fresh_system(tmp_path, name):
    contexts = [SystemContext("run", part, tmp_path / part) for part in "ab"]
    for context in contexts:
        context.path.mkdir()
    first, second = map(factory_of(name), contexts)
    first.store_conversation(said("c-1", "bread"))
    assert list(second.get_all_memories()) == []
    for system in (first, second):
        if hasattr(system, "close"):
            system.close()


def test_another_name_is_a_key_error():
    with pytest.raises(KeyError):
        factory_of("bm52")


@pytest.fixture
def full():
    return FullContext(SystemContext("run", "store", Path()))


def test_full_context_shows_everything_in_the_order_stored_whatever_is_asked(full):
    full.store_conversation(said("c-1", "one", "two"))
    full.store_conversation(said("c-2", "three"))
    assert [entry["text"] for entry in full.retrieve_memories("nothing", NOWHERE, 1)] == ["one", "two", "three"]
    assert full.unlimited_k
    assert full.oldest_first


def test_full_context_lists_everything_in_the_order_stored(full):
    full.store_conversation(said("c-1", "one", "two"))
    full.store_conversation(said("c-2", "three", " "))
    assert [entry["text"] for entry in full.get_all_memories()] == ["one", "two", "three"]
    assert [entry["id"] for entry in full.get_all_memories()] == ["c-1-0", "c-1-1", "c-2-0"]


def test_changing_what_full_context_returned_changes_nothing(full):
    full.store_conversation(said("c-1", "one"))
    full.get_all_memories().clear()
    full.retrieve_memories("", NOWHERE, 5)[0]["text"] = "changed"
    assert [entry["text"] for entry in full.get_all_memories()] == ["one"]


def test_no_memory_keeps_nothing():
    system = NoMemory(SystemContext("run", "store", Path()))
    system.store_conversation(said("c-1", "one"))
    assert system.get_all_memories() == system.retrieve_memories("one", NOWHERE, 5) == []


@pytest.mark.parametrize("name", ["full-context", "gold-facts", "no-memory"])
def test_an_option_of_a_system_without_options_is_refused(name):
    factory = built_in_system(name, lambda _: None)
    factory.check_options({})
    with pytest.raises(UsageError, match=rf"^unknown --memfail-system-option of {name} 'rate'\. Known: none$"):
        factory.check_options({"rate": "0.3"})
