"""The values of the domain model."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pytest_memfail import core
from pytest_memfail.core import (
    Conversation,
    Ingest,
    Listing,
    Memory,
    MemorySystem,
    Message,
    Probe,
    Question,
    StorePlan,
    SystemContext,
    Task,
    rank_of,
)

VALUES = [kind for name in core.__all__ if isinstance(kind := getattr(core, name), type) and is_dataclass(kind)]


def question(name: str) -> Question:
    return Question(name, "t", name, name, (), (), "open")


def test_values_are_frozen():
    assert [kind for kind in VALUES if not kind.__dataclass_params__.frozen] == []


def test_values_are_slotted():
    for kind in VALUES:
        if kind is not Listing:
            slots = {name for base in kind.__mro__ for name in getattr(base, "__slots__", ())}
            assert slots == {field.name for field in fields(kind)}, kind


def test_a_value_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Memory("a").text = "b"


def test_listings_are_compared_by_identity():
    first, second = Listing("s", ()), Listing("s", ())
    assert first != second
    assert len({first, second}) == 2


def test_the_text_of_a_conversation_is_its_messages_line_by_line():
    assert Conversation("c", (Message("user", "a"), Message("assistant", "b"))).text == "a\nb"


def test_a_plan_gives_its_conversations_and_questions_in_the_order_of_its_steps():
    one, two = Conversation("1", ()), Conversation("2", ())
    plan = StorePlan("s", (Ingest(one), Probe((question("a"), question("b"))), Ingest(two), Probe((question("c"),))))
    assert plan.read_conversations() == (one, two)
    assert [q.id for q in plan.questions] == ["a", "b", "c"]


def test_a_task_gives_the_questions_of_all_its_stores():
    stores = tuple(StorePlan(name, (Probe((question(name),)),)) for name in "ab")
    assert [q.id for q in Task("t", (), stores, {}, "", "").questions] == ["a", "b"]


def test_rank_of_compares_ids_if_both_have_one():
    shown = [Memory("same", "1"), Memory("other", "2")]
    assert rank_of(Memory("same", "2"), shown) == 2


def test_rank_of_compares_texts_if_an_id_is_missing():
    assert rank_of(Memory("b"), [Memory("a", "1"), Memory("b", "2")]) == 2


def test_rank_of_an_entry_not_shown_is_none():
    assert rank_of(Memory("c", "3"), [Memory("a", "1"), Memory("c", "4")]) is None


def test_a_system_needs_the_three_methods_and_no_base_class():
    class Whole:
        def store_conversation(self, conversation): ...
        def retrieve_memories(self, query, conversation, k): ...
        def get_all_memories(self): ...

    class Part:
        def store_conversation(self, conversation): ...

    assert isinstance(Whole(), MemorySystem)
    assert not isinstance(Part(), MemorySystem)


def test_the_context_renders_roles_and_times():
    day = datetime(2025, 1, 6, 9, 0, tzinfo=timezone.utc)
    later = datetime(2025, 1, 6, 9, 5, tzinfo=timezone.utc)
    stored = Conversation("c", (Message("user", "hello"), Message("assistant", "hi", later)), day)
    context = SystemContext("run", "store", Path())
    assert context.render(stored) == "[2025-01-06 09:00] user: hello\n[2025-01-06 09:05] assistant: hi"


def test_the_context_renders_no_time_where_there_is_none():
    assert SystemContext("r", "s", Path()).render(Conversation("c", (Message("user", "hello"),))) == "user: hello"
