"""suites/mab/paper_layout.py: chunks as the paper's code has them, and one line where something for them is missing."""

from __future__ import annotations

import sys

import pytest
from mab_rows import FACTS, row, write

from pytest_memfail.core import Ingest, SuiteRequest, UsageError
from pytest_memfail.llm import count_tokens
from pytest_memfail.suites import mab
from pytest_memfail.suites.mab import SUITE, paper_layout
from pytest_memfail.suites.mab.paper_layout import KEPT, packed
from pytest_memfail.texts import sentences


def load(folder, *rows, name="Conflict_Resolution.json"):
    write(folder, *rows, name=name)
    (task,) = SUITE.load(SuiteRequest(folder, "all", "paper"))
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
    assert SUITE.kinds[fact.kind].find(fact, list(homes.values())).faithful


@pytest.mark.parametrize(
    ("source", "name", "is_whole"),
    [
        ("ruler_qa1_197K", "Accurate_Retrieval.json", False),
        ("eventqa_full", "Accurate_Retrieval.json", True),
        ("icl_nlu_8296shot_balance", "Test_Time_Learning.json", True),
        ("infbench_sum_eng_shots2", "Long_Range_Understanding.json", True),
    ],
)
def test_what_is_searched_with(tmp_path, tools, source, name, is_whole):
    (question,) = load(tmp_path, row(source, FACTS), name=name).questions
    assert (question.query == question.text) is is_whole


def test_facts_are_searched_with_a_role_a_rule_and_an_example(tmp_path, tools):
    asked = [("What is the capital of Selm?", ["Ostry"]), ("Where was goalball created?", ["Selm"])]
    queries = [question.query for question in load(tmp_path, row(asked=asked)).questions]
    for query, (text, _) in zip(queries, asked, strict=True):
        assert query.count(text) == 1
        assert query.splitlines()[-1] == "Answer:"
        # the published frame has 150 tokens around a question
        assert abs(count_tokens([query.replace(text, "")]) - 150) <= 15
    assert queries[0].replace(asked[0][0], "") == queries[1].replace(asked[1][0], "")


# arXiv 2507.05257, table 13
LIMITS = [
    ("ruler_qa1_197K", "Accurate_Retrieval.json", 50),
    ("ruler_qa2_421K", "Accurate_Retrieval.json", 50),
    ("longmemeval_s*", "Accurate_Retrieval.json", 100),
    ("eventqa_full", "Accurate_Retrieval.json", 40),
    ("eventqa_65536", "Accurate_Retrieval.json", 40),
    ("icl_banking77_5900shot_balance", "Test_Time_Learning.json", 20),
    ("icl_trec_fine_6407shot_balance", "Test_Time_Learning.json", 20),
    ("infbench_sum_eng_shots2", "Long_Range_Understanding.json", 1200),
    ("detective_qa", "Long_Range_Understanding.json", 500),
    ("factconsolidation_sh_6k", "Conflict_Resolution.json", 10),
    ("factconsolidation_mh_262k", "Conflict_Resolution.json", 10),
]


@pytest.mark.parametrize(("source", "name", "limit"), LIMITS)
def test_a_reply_is_limited_as_in_the_paper(tmp_path, tools, source, name, limit):
    write(tmp_path, row(source), name=name)
    limits = {
        protocol: SUITE.load(SuiteRequest(tmp_path, "all", protocol))[0].questions[0].reply_tokens
        for protocol in ("ours", "paper")
    }
    assert limits == {"ours": None, "paper": limit}


def test_a_recommendation_is_limited_as_in_the_paper(tmp_path, tools):
    (tmp_path / "entity2id.json").write_text('{"The Long Walk": 3}', encoding="utf-8")
    (question,) = load(
        tmp_path, row("recsys_redial_full", asked=[("Which?", ["3"])]), name="Test_Time_Learning.json"
    ).questions
    assert question.reply_tokens == 300
