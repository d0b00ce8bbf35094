"""The prompts express the paper's meaning in our own words, and change only on purpose."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from model_judge_cases import CASES, question

from pytest_memfail.core import Claim, Conversation, Fact, Memory, Message, Part
from pytest_memfail.judges import prompts
from pytest_memfail.llm.test_taker import chat_prompt, graded_prompt
from pytest_memfail.suites.memfail import ANSWERS, KINDS
from pytest_memfail.suites.memfail.gold import Link, Persona, Preference, Rule, State
from pytest_memfail.suites.memfail.plan import OUTPUT_INSTRUCTION

PAPER = Path(__file__).parents[4] / "shared" / "papers" / "memfail_full.txt"
RUN = 8


def runs(text):
    """Return every run of eight words."""
    words = re.findall(r"[a-z0-9]+", text.casefold())
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


CLAIM = Claim(
    (Part("the core"), Part("a wording", wordings=("a wording", "another"))),
    owner="the entity",
    replaced=("the old value",),
    earlier="the earlier statement",
)
GOLD = {
    "rule": Rule("the behavior", "the condition"),
    "preference": Preference("the preference"),
    "persona": Persona("the value"),
    "link": Link(("one end", "the other")),
    "fact": State("the value", "the subject"),
}


def fact_of(kind, claim=CLAIM):
    return Fact("e", kind, "the text", "the source", "c", claim, GOLD[kind])


def all_prompts():
    entries = [prompts.Entry(1, Memory("x"))]
    for name, kind in KINDS.items():
        for is_composed in (False, True):
            for protocol in ("ours", "paper"):
                for check in ("stored", "storage", "summary", "retrieval"):
                    fact = Fact("e", name, "x", "x", "c", replace(CLAIM, is_composed=is_composed), GOLD.get(name))
                    yield prompts.about_entries(check, fact, entries, kind, protocol, question())
    for name, answer in ANSWERS.items():
        yield prompts.about_answer(question(name, keys={"distractor": "x"}), [CASES["rule"].evidence], "x", answer)
    yield prompts.warm_up(entries)
    yield prompts.once_more(prompts.warm_up(entries), "x", "x")
    yield graded_prompt(question(), [Memory("x")])
    yield graded_prompt(question(letter="A"), [Memory("x")])
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


SENT = {
    "rule": "98ee90c3c62ed052",
    "preference": "4e7adb456f1341c4",
    "persona": "6a00e416d0d82bda",
    "link": "ab19afb90eb93538",
    "fact": "38053a79a97b741a",
}
"""Digests of what is sent about each kind: cached replies, and every figure of a model as judge, hold for these prompts."""


def sent_about(name):
    """Return every prompt that a judge sends about a fact of this kind."""
    kind = KINDS[name]
    entries = [prompts.Entry(1, Memory("first", timestamp="2024-05-01")), prompts.Entry(2, Memory("second"))]
    facts = [fact_of(name), fact_of(name, replace(CLAIM, parts=())), fact_of(name, replace(CLAIM, is_composed=True))]
    facts += [fact_of(name, replace(CLAIM, has_ended=True))] if name == "fact" else []
    facts += [replace(facts[1], gold=None)] if name == "persona" else []
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
    asked = replace(question(), keys={"distractor": "somebody else"})
    sent = (
        prompts.about_answer(replace(asked, kind=name), [fact_of("fact")], "a reply", ANSWERS[name])
        for name in ("yes_no", "all_of", "direct", "misleading", "multiple_choice", "open")
    )
    assert digest(sent) == "01ce982f3418b664"


def digest(sent):
    return hashlib.sha256(json.dumps(list(sent)).encode()).hexdigest()[:16]
