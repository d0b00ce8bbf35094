"""The prompts express the paper's meaning in our own words, and change only on purpose."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from model_judge_cases import CASES, question

from pytest_memfail.core import Conversation, Detail, Fact, Memory, Message
from pytest_memfail.judges import prompts
from pytest_memfail.llm.test_taker import chat_prompt, graded_prompt
from pytest_memfail.suites import MEMFAIL_ANSWERS, MEMFAIL_KINDS
from pytest_memfail.suites.memfail.long_hop import OUTPUT_INSTRUCTION

PAPER = Path(__file__).parents[4] / "shared" / "papers" / "memfail_full.txt"
RUN = 8


def runs(text):
    """Return every run of eight words."""
    words = re.findall(r"[a-z0-9]+", text.casefold())
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


def all_prompts():
    entries = [prompts.Entry(1, Memory("x"))]
    for name, kind in MEMFAIL_KINDS.items():
        for is_composed in (False, True):
            for protocol in ("ours", "paper"):
                for check in ("stored", "storage", "summary", "retrieval"):
                    fact = Fact(
                        "e", name, "t", "x", "x", "c", value="y", details=(Detail(("x",)),), is_composed=is_composed
                    )
                    yield prompts.about_entries(check, fact, entries, kind, protocol, question())
    for name, answer in MEMFAIL_ANSWERS.items():
        yield prompts.about_answer(question(name), [CASES["rule"].evidence], "x", answer)
    yield prompts.warm_up(entries)
    yield prompts.once_more(prompts.warm_up(entries), "x", "x")
    yield graded_prompt(question(), [Memory("x")])
    yield graded_prompt(question(answer_format="letter"), [Memory("x")])
    yield graded_prompt(question(reply_tokens=10), [Memory("x")])
    yield chat_prompt(Conversation("c", ()), [Message("user", "x")])
    yield [{"content": OUTPUT_INSTRUCTION}]


def test_no_prompt_repeats_the_paper():
    if not PAPER.is_file():
        pytest.skip("the paper is not here")
    paper = runs(PAPER.read_text(encoding="utf-8"))
    shared = {run for messages in all_prompts() for message in messages for run in runs(message["content"]) & paper}
    assert not shared


def test_the_criteria_are_short():
    longest = max(sum(len(message["content"].split()) for message in messages) for messages in all_prompts())
    assert longest < 320


FULL = Fact(
    id="e",
    kind="",
    task="t",
    text="the text",
    source="the source",
    conversation_id="c",
    entity="the entity",
    behavior="the behavior",
    condition="the condition",
    preference="the preference",
    category="the category",
    siblings=("a sibling",),
    anchors=("one end", "the other"),
    value="the value",
    asked="the question?",
    telling=("a sentence.",),
    stale_values=("the old value",),
    decoys=("a decoy",),
    subject="the subject",
    earlier="the earlier statement",
    endings=("an ending",),
    details=(Detail(("a wording", "another"), "detail"),),
)
SENT = {
    "rule": "3f531cb3101aa153",
    "preference": "b87ae51059dba4fe",
    "persona": "0e620b8f065f3835",
    "link": "029d272df1159040",
    "fact": "ad8415c380727ca1",
}
"""Digests of what is sent about each kind: cached replies, and every figure of a model as judge, hold for these prompts."""


def sent_about(name):
    """Return every prompt that a judge sends about a fact of this kind."""
    kind = MEMFAIL_KINDS[name]
    entries = [prompts.Entry(1, Memory("first", timestamp="2024-05-01")), prompts.Entry(2, Memory("second"))]
    fact = replace(FULL, kind=name)
    facts = [fact, replace(fact, value=None, telling=(), details=()), replace(fact, is_composed=True)]
    facts += [replace(fact, taken_back=True)] if name == "fact" else []
    for one in facts:
        yield prompts.about_entries("stored", one, entries, kind)
        yield prompts.about_entries("retrieval", one, entries, kind, "ours", question())
        yield prompts.about_entries("storage", one, entries, kind, "paper")
        yield prompts.about_entries("summary", one, entries, kind, "paper")
        yield prompts.about_entries("retrieval", one, entries, kind, "paper", question())
        if kind.needed:
            yield prompts.about_entries("summary", one, entries, kind)


@pytest.mark.parametrize("name", SENT)
def test_a_prompt_about_a_fact_changes_only_on_purpose(name):
    assert digest(sent_about(name)) == SENT[name]


def test_a_prompt_about_an_answer_changes_only_on_purpose():
    asked = replace(question(), metadata={"distractor": "somebody else"})
    sent = (
        prompts.about_answer(replace(asked, kind=name), [replace(FULL, kind="fact")], "a reply", kind)
        for name, kind in MEMFAIL_ANSWERS.items()
    )
    assert digest(sent) == "01ce982f3418b664"


def digest(sent):
    return hashlib.sha256(json.dumps(list(sent)).encode()).hexdigest()[:16]
