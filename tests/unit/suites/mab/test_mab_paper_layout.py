"""suites/mab/paper_layout.py: chunks as the paper's code has them, and one line where something for them is missing."""

from __future__ import annotations

import sys

import pytest
from mab_rows import FACTS, row, write

from pytest_memfail.core import Ingest, SuiteRequest, UsageError
from pytest_memfail.grading import sentences
from pytest_memfail.llm import count_tokens
from pytest_memfail.suites import mab
from pytest_memfail.suites.mab import paper_layout
from pytest_memfail.suites.mab.paper_layout import KEPT, packed


def load(folder, *rows, name="Conflict_Resolution.json"):
    write(folder, *rows, name=name)
    (task,) = mab.SUITE.load(SuiteRequest(folder, "all", "paper"))
    return task


@pytest.mark.parametrize(
    ("size", "chunks"),
    [
        (2, ["aa", "b b", "cc c c", "d"]),
        (3, ["aa b b", "cc c c", "d"]),
        (4, ["aa b b", "cc c c d"]),
        (9, ["aa b b cc c c d"]),
    ],
)
def test_sentences_stay_whole_and_fill_a_chunk(size, chunks):
    assert list(packed(["aa", "b b", "cc c c", "d"], lambda text: len(text.split()), size)) == chunks


def test_nothing_makes_no_chunk():
    assert list(packed([], len, 4)) == []


def test_without_nltk(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk.tokenize", None)
    with pytest.raises(
        UsageError, match=r"^--memfail-protocol=paper: the suite mab splits sentences with nltk .*punkt_tab$"
    ):
        load(tmp_path, row())


def test_without_the_table_of_the_encoding(tmp_path, monkeypatch):
    tokenize = pytest.importorskip("nltk.tokenize")
    monkeypatch.setattr(tokenize, "sent_tokenize", sentences)  # its data is not part of the package
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(UsageError, match=r"^--memfail-protocol=paper: the suite mab counts tokens of o200k_base"):
        load(tmp_path, row())


@pytest.fixture
def tools(monkeypatch):
    """Sentences and tokens as `ours` has them, because the data of the paper's tools is downloaded by hand."""

    def found():
        return lambda text: sentences(text.replace("\n", " ")), lambda text: count_tokens([text])

    monkeypatch.setattr(paper_layout, "paper_tools", found)
    monkeypatch.setattr(mab, "paper_tools", found)


def test_a_chunk_is_handed_over_in_an_exchange(tmp_path, tools):
    task = load(tmp_path, row())
    (store,) = task.stores
    assert not any(step.conversation.messages for step in store.steps if isinstance(step, Ingest))
    for conversation in store.read_conversations():
        said, kept = conversation.messages
        assert (said.role, kept.role, kept.content) == ("user", "assistant", KEPT)
    (question,) = task.questions
    fact = task.evidence[question.evidence[0]]
    homes = {conversation.id: conversation.text for conversation in store.read_conversations()}
    assert "The capital of Selm is Ostry" in homes[fact.conversation_id]
    assert mab.SUITE.kinds[fact.kind].find(fact, list(homes.values())).faithful


@pytest.mark.parametrize(
    ("source", "name", "is_whole"),
    [
        ("factconsolidation_sh_6k", "Conflict_Resolution.json", False),
        ("ruler_qa1_197K", "Accurate_Retrieval.json", False),
        ("eventqa_full", "Accurate_Retrieval.json", True),
        ("icl_nlu_8296shot_balance", "Test_Time_Learning.json", True),
        ("infbench_sum_eng_shots2", "Long_Range_Understanding.json", True),
    ],
)
def test_what_is_searched_with(tmp_path, tools, source, name, is_whole):
    (question,) = load(tmp_path, row(source, FACTS), name=name).questions
    assert (question.query == question.text) is is_whole
