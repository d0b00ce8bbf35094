"""The order in which rows are stored and asked."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

from pytest_memfail.core import Ingest, Probe
from pytest_memfail.suites.memfail import plan as layout
from pytest_memfail.suites.memfail.rows import Rows
from pytest_memfail.suites.sampling import by_digest

NAMES = [f"row-{i}" for i in range(50)]


def test_by_digest_is_the_same_order_whatever_the_order_given():
    turned = NAMES[::-1]
    assert by_digest(NAMES, 42, NAMES) == by_digest(turned, 42, turned)


def test_by_digest_moves_no_other_row_when_one_is_left_out():
    whole = by_digest(NAMES, 42, NAMES)
    for gone in NAMES:
        rest = [name for name in NAMES if name != gone]
        assert by_digest(rest, 42, rest) == [name for name in whole if name != gone]


def test_by_digest_does_not_sort_by_name():
    assert by_digest(NAMES, 42, NAMES) not in (NAMES, sorted(NAMES))


def test_by_digest_depends_on_the_seed():
    assert by_digest(NAMES, 1, NAMES) != by_digest(NAMES, 2, NAMES)


def test_by_digest_sorts_by_the_key_and_returns_the_items():
    assert sorted(by_digest(range(50), 42, NAMES)) == list(range(50))
    assert [NAMES[i] for i in by_digest(range(50), 42, NAMES)] == by_digest(NAMES, 42, NAMES)


def test_the_published_shuffle_goes_on_with_the_same_generator():
    order, rng = layout.paper_rows(10, 42)
    expected = random.Random(42)
    rows = list(range(10))
    expected.shuffle(rows)
    assert order == rows
    assert rng.random() == expected.random()


def test_a_conversation_has_texts_and_days_but_does_not_reveal_its_key():
    made = layout.conversation("secret-task:row", ["a", "b"], 3)
    assert [m.content for m in made.messages] == ["a", "b"]
    assert {m.role for m in made.messages} == {"user"}
    assert made.timestamp == layout.FIRST_DAY + timedelta(days=3)
    assert made.messages[0].timestamp < made.messages[1].timestamp
    assert made.timestamp.tzinfo is not None
    assert "secret" not in made.id
    assert "row" not in made.id


def test_a_conversation_without_a_day_has_no_time_at_all():
    made = layout.conversation("key", ["a"], None)
    assert made.timestamp is None
    assert made.messages[0].timestamp is None


def test_conversations_of_different_keys_have_different_ids():
    assert layout.conversation("a", ["x"], 0).id != layout.conversation("b", ["x"], 0).id


def test_a_single_store_is_filled_before_it_is_asked():
    conversations = [layout.conversation(key, [key], 0) for key in "ab"]
    (store,) = layout.Plan("s", Rows(Path("rows.csv"), "", (), (), ())).task(conversations, (), "").stores
    assert [type(step) for step in store.steps] == [Ingest, Ingest, Probe]
