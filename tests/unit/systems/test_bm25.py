"""`bm25`: everything verbatim in a file."""

from __future__ import annotations

import sqlite3
import string
from functools import partial

import pytest
from system_stores import NOON, NOWHERE, found, listed, said

from pytest_memfail.core import Conversation, MemorySystem, Message
from pytest_memfail.systems.bm25 import BM25, FILE


@pytest.fixture
def make(open_store):
    return partial(open_store, BM25)


@pytest.fixture
def bm25(make):
    return make()


def test_it_is_a_memory_system(bm25):
    assert isinstance(bm25, MemorySystem)


def test_what_is_stored_is_listed_word_for_word_in_order(bm25):
    bm25.store_conversation(said("c-1", "  Ada bakes,\nrye — bread! ", "second"))
    bm25.store_conversation(said("c-2", "third"))
    assert listed(bm25) == ["  Ada bakes,\nrye — bread! ", "second", "third"]


def test_entries_have_ids_and_times(bm25):
    bm25.store_conversation(said("c-1", "bread", "butter", timestamp=NOON))
    bm25.store_conversation(Conversation("c-2", (Message("user", "jam", NOON),)))
    bm25.store_conversation(said("c-3", "tea"))
    entries = bm25.get_all_memories()
    assert [entry["id"] for entry in entries] == ["c-1-0", "c-1-1", "c-2-0", "c-3-0"]
    assert [entry["timestamp"] for entry in entries] == [NOON.isoformat()] * 3 + [None]


def test_retrieved_and_listed_entries_have_the_same_ids(bm25):
    bm25.store_conversation(said("c-1", "bread", "butter"))
    (entry,) = bm25.retrieve_memories("butter", NOWHERE, 5)
    assert (entry["id"], entry["text"]) == ("c-1-1", "butter")


def test_empty_messages_are_not_stored(bm25):
    bm25.store_conversation(said("c-1", "", "  \n", "bread"))
    assert listed(bm25) == ["bread"]


def test_it_is_a_real_file_that_another_connection_can_read(bm25, tmp_path):
    bm25.store_conversation(said("c-1", "bread"))
    with sqlite3.connect(tmp_path / "store" / FILE) as other:
        assert other.execute("select text from memories").fetchall() == [("bread",)]
    other.close()


def test_the_file_is_found_again_by_another_process(make):
    first = make()
    first.store_conversation(said("c-1", "bread"))
    first.close()
    assert listed(make()) == ["bread"]


def test_two_stores_do_not_see_each_other(make):
    one, two = make("one"), make("two")
    one.store_conversation(said("c-1", "bread"))
    assert listed(two) == []


def test_rarer_and_more_shared_words_rank_first(bm25):
    bm25.store_conversation(
        said("c-1", "the cat sat", "the dog sat on the mat", "the cat ate the dog food", "the the the")
    )
    assert found(bm25, "the cat and the dog food")[0] == "the cat ate the dog food"


def test_scores_fall_from_the_best(bm25):
    bm25.store_conversation(said("c-1", "red apple pie", "apple tree", "apple apple apple", "pear", "plum"))
    scores = [entry["score"] for entry in bm25.retrieve_memories("red apple pie", NOWHERE, 5)]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 3


def test_forms_of_a_word_are_found(bm25):
    bm25.store_conversation(said("c-1", "She bakes breads"))
    assert found(bm25, "baking bread") == ["She bakes breads"]


def test_entries_that_rank_alike_keep_their_order(bm25):
    bm25.store_conversation(said("c-1", "apple one", "apple two", "apple six"))
    assert found(bm25, "apple") == ["apple one", "apple two", "apple six"]


@pytest.mark.parametrize("k", [0, 1, 3, 10, 1000])
def test_k_is_the_most_that_is_returned(bm25, k):
    bm25.store_conversation(said("c-1", *(f"apple {i}" for i in range(10))))
    assert len(found(bm25, "apple", k)) == min(k, 10)


def test_a_query_that_shares_no_word_finds_nothing(bm25):
    bm25.store_conversation(said("c-1", "bread"))
    assert found(bm25, "zeppelin") == []


HOSTILE = [
    "",
    "   ",
    '"',
    '""',
    'apple" OR "pear',
    "apple AND",
    "NOT apple",
    "apple NEAR(pear, 2)",
    "text: apple",
    "-apple",
    "^apple",
    "apple*",
    "(apple",
    "{text id}: apple",
    "'; drop table memories; --",
    "apple\0pear",
    "\0",
    "\ud800",
    "\ud800 apple",
    "___",
    "_ apple",
    "²³ ½",
    "🍎",
    "苹果",
    "a" * 100_000,
    string.punctuation,
    "\u0301\u0301",
    "OR OR OR",
]


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_no_query_breaks_it(bm25, query):
    bm25.store_conversation(said("c-1", "an apple a day", "a pear"))
    texts = found(bm25, query)
    assert set(texts) <= {"an apple a day", "a pear"}
    assert ("an apple a day" in texts) == ("apple" in query)
    assert listed(bm25) == ["an apple a day", "a pear"]


def test_a_query_of_thousands_of_words_is_answered(bm25):
    bm25.store_conversation(said("c-1", "needle", "hay"))
    query = " ".join(f"w{i}" for i in range(20_000)) + " needle"
    assert found(bm25, query) == ["needle"]


@pytest.mark.parametrize(
    "text", ['don\'t "quote"', "'; drop table memories; --", "🍎 苹果", "a\r\nb\tc", "x" * 200_000]
)
def test_hostile_texts_are_kept(bm25, text):
    bm25.store_conversation(said("c-1", text))
    assert listed(bm25) == [text]


@pytest.mark.parametrize(("text", "kept"), [("a \ud800 b", "a ? b"), ("a\0b apple", "a b apple")])
def test_what_sqlite_cannot_hold_is_replaced(bm25, text, kept):
    bm25.store_conversation(said("c-1", text))
    assert listed(bm25) == [kept]


def test_a_word_after_a_nul_is_found(bm25):
    bm25.store_conversation(said("c-1", "a\0apple"))
    assert found(bm25, "apple") == ["a apple"]


def test_a_snapshot_is_restored_elsewhere(make, tmp_path):
    one, two = make("one"), make("two")
    one.store_conversation(said("c-1", "bread", timestamp=NOON))
    (tmp_path / "snapshot").mkdir()
    one.snapshot(tmp_path / "snapshot")
    two.store_conversation(said("c-9", "to be replaced"))
    two.restore(tmp_path / "snapshot")
    assert two.get_all_memories() == one.get_all_memories()
    assert found(two, "bread") == ["bread"]


def test_a_snapshot_does_not_change_with_the_store(make, tmp_path):
    one, two = make("one"), make("two")
    one.store_conversation(said("c-1", "bread"))
    (tmp_path / "snapshot").mkdir()
    one.snapshot(tmp_path / "snapshot")
    one.store_conversation(said("c-2", "butter"))
    two.restore(tmp_path / "snapshot")
    two.store_conversation(said("c-3", "jam"))
    assert (listed(one), listed(two)) == (["bread", "butter"], ["bread", "jam"])


def test_a_newer_snapshot_replaces_the_older_one(make, tmp_path):
    one, two = make("one"), make("two")
    (tmp_path / "snapshot").mkdir()
    for name in ("bread", "butter"):
        one.store_conversation(said(name, name))
        one.snapshot(tmp_path / "snapshot")
    two.restore(tmp_path / "snapshot")
    assert listed(two) == ["bread", "butter"]


def test_it_may_be_closed_twice(make):
    system = make()
    system.close()
    system.close()
    with pytest.raises(sqlite3.ProgrammingError):
        system.get_all_memories()


def test_it_describes_itself(bm25):
    assert bm25.describe() == {"system": "bm25", "sqlite": sqlite3.sqlite_version}
