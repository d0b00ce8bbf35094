"""`sqlite-hybrid`: BM25 and static embeddings over one file."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from functools import partial

import pytest
from system_stores import NOON, NOWHERE, found, said

from pytest_memfail.core import MemorySystem, UsageError
from pytest_memfail.systems.bm25 import BM25, FILE
from pytest_memfail.systems.sqlite_hybrid import FACTORY, fused
from pytest_memfail.systems.static_embeddings import embed
from pytest_memfail.testing import check_memory_system


@pytest.fixture
def make(open_store):
    return partial(open_store, FACTORY)


@pytest.fixture
def hybrid(make):
    return make()


def test_it_is_a_memory_system_that_says_how_it_embeds(hybrid):
    assert isinstance(hybrid, MemorySystem)
    assert hybrid.describe() == {
        "system": "sqlite-hybrid",
        "sqlite": sqlite3.sqlite_version,
        "embeddings": "ngrams",
    }


def test_a_misspelt_word_is_found_that_words_alone_do_not_find(hybrid, open_store):
    words = open_store(BM25, "words")
    for system in (hybrid, words):
        system.store_conversation(said("c-1", "I water the rhododendron", "The tram is late", "Ada bakes bread"))
    assert found(words, "rododendrons") == []
    assert found(hybrid, "rododendrons")[0] == "I water the rhododendron"


def test_what_both_rankings_find_comes_first(hybrid):
    hybrid.store_conversation(said("c-1", "bred", "bread and butter", "butter", "nothing of it"))
    assert found(hybrid, "bread")[0] == "bread and butter"


def test_entries_keep_their_ids_and_times_and_scores_fall(hybrid):
    hybrid.store_conversation(said("c-1", "red apple pie", "apple tree", "pear", timestamp=NOON))
    entries = hybrid.retrieve_memories("red apple pie", NOWHERE, 3)
    assert entries[0]["id"] == "c-1-0"
    assert {entry["timestamp"] for entry in entries} == {NOON.isoformat()}
    scores = [entry["score"] for entry in entries]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "query",
    [
        '"',
        '""" OR',
        "NEAR(bread, 2)",
        "text: bread",
        "bread*",
        "^bread",
        "a AND NOT",
        "(",
        "-bread",
        "'; drop table x",
        "{bread}",
    ],
)
def test_the_syntax_of_the_index_is_only_text(hybrid, query):
    hybrid.store_conversation(said("c-1", "bread"))
    assert set(found(hybrid, query)) <= {"bread"}
    assert found(hybrid, "bread") == ["bread"]


@pytest.mark.parametrize("query", ["", "   ", "!?", "_", "\0", "\ud800"])
def test_a_query_without_words_finds_nothing(hybrid, query):
    hybrid.store_conversation(said("c-1", "bread", "!!"))
    assert found(hybrid, query) == []


@pytest.mark.parametrize("text", ["Ζωή ζει στην Αθήνα", "猫は魚が好きです", "मेरी बिल्ली", "naïve café", "🦊 den"])
def test_any_script_is_found(hybrid, text):
    hybrid.store_conversation(said("c-1", "something else", text))
    assert found(hybrid, text, 1) == [text]


def test_a_part_of_a_text_without_spaces_is_found(hybrid):
    hybrid.store_conversation(said("c-1", "tram", "猫は魚が好きです", "bread"))
    assert found(hybrid, "魚が好き", 1) == ["猫は魚が好きです"]


def test_vectors_lie_in_the_file_and_are_read_again(make, tmp_path):
    make().store_conversation(said("c-1", "I water the rhododendron"))
    assert found(make(), "rododendrons") == ["I water the rhododendron"]
    assert (tmp_path / "store" / FILE).is_file()


def test_what_is_stored_after_a_question_is_found_by_the_next(hybrid):
    hybrid.store_conversation(said("c-1", "tulip"))
    assert found(hybrid, "rododendrons") == []
    hybrid.store_conversation(said("c-2", "rhododendron"))
    assert found(hybrid, "rododendrons") == ["rhododendron"]


def test_a_conversation_without_content_leaves_nothing(hybrid):
    hybrid.store_conversation(said("c-1"))
    hybrid.store_conversation(said("c-2", "", " "))
    assert hybrid.get_all_memories() == []


def test_a_snapshot_replaces_vectors_too(make, tmp_path):
    first, second = make("first"), make("second")
    first.store_conversation(said("c-1", "rhododendron"))
    second.store_conversation(said("c-2", "tulip", "tram"))
    assert found(second, "tulips") == ["tulip"]
    (tmp_path / "kept").mkdir()
    first.snapshot(tmp_path / "kept")
    second.restore(tmp_path / "kept")
    assert found(second, "rododendrons") == ["rhododendron"]
    assert found(second, "tulips") == []


def test_a_snapshot_without_this_embeddings_vectors_is_refused(make, open_store, tmp_path):
    (tmp_path / "kept").mkdir()
    open_store(BM25, "words").snapshot(tmp_path / "kept")
    with pytest.raises(ValueError, match="has no vectors of ngrams"):
        make().restore(tmp_path / "kept")
    with pytest.raises(FileNotFoundError, match="no snapshot"):
        make().restore(tmp_path)


def test_fusion_prefers_what_several_rankings_name():
    assert [row for row, _ in fused([1, 2, 3], [4, 2])] == [2, 1, 4, 3]
    assert fused([], []) == []


def test_vectors_are_of_length_one_and_the_same_in_every_process():
    rows = embed("ngrams", ["bread", "breads", "tram", "!"])
    assert rows.shape == (4, 2048)
    assert [round(float(row @ row), 4) for row in rows] == [1, 1, 1, 0]
    assert rows[0] @ rows[1] > 0.5 > rows[0] @ rows[2]
    assert rows[0].nonzero()[0].tolist()[:3] == embed("ngrams", ["Bread"])[0].nonzero()[0].tolist()[:3]


def test_an_impossible_setting_is_one_line():
    with pytest.raises(UsageError, match="embeddings of sqlite-hybrid: got 'glove', expected ngrams or wordllama"):
        FACTORY.check_options({"embeddings": "glove"})


def test_a_missing_package_is_one_line_and_no_key_is_asked_for(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    FACTORY.check_options({})
    monkeypatch.setattr("pytest_memfail.systems.sqlite_hybrid.WORDLLAMA", "no-such-package>=1")
    with pytest.raises(
        UsageError, match=r"needs no-such-package>=1, which is not installed; run: pip install '.*sqlite-hybrid"
    ):
        FACTORY.check_options({"embeddings": "wordllama"})


@pytest.mark.heavy
def test_wordllama_finds_a_synonym_and_keeps_the_contract(make):
    pytest.importorskip("wordllama")
    hybrid = make(embeddings="wordllama")
    hybrid.store_conversation(said("c-1", "The doctor is on holiday", "A tram is late", "Ada bakes bread"))
    assert found(hybrid, "physician", 1) == ["The doctor is on holiday"]
    assert "wordllama" in hybrid.describe()
    assert check_memory_system(FACTORY, options={"embeddings": "wordllama"}).failed == ()


@pytest.mark.heavy
def test_wordllama_leaves_the_log_of_the_process_alone():
    pytest.importorskip("wordllama")
    code = "import logging; from pytest_memfail.systems.static_embeddings import embed; embed('wordllama', ['bread'])"
    shown = "root = logging.getLogger(); print(root.level, root.handlers)"
    done = subprocess.run([sys.executable, "-c", f"{code}; {shown}"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("30 []\n", "")
