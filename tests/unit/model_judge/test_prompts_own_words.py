"""The prompts express the paper's meaning in our own words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from model_judge_cases import CASES, question

from pytest_memfail.core import Conversation, Detail, Evidence, Memory, Message
from pytest_memfail.judges import prompts
from pytest_memfail.llm.test_taker import chat_prompt, graded_prompt
from pytest_memfail.suites.memfail.long_hop import OUTPUT_INSTRUCTION

PAPER = Path(__file__).parents[4] / "shared" / "papers" / "memfail_full.txt"
RUN = 8


def runs(text):
    """Return every run of eight words."""
    words = re.findall(r"[a-z0-9]+", text.casefold())
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


def all_prompts():
    entries = [prompts.Entry(1, Memory("x"))]
    for case in CASES.values():
        for task in ("conditional_facts_easy", "conditional_facts_hard"):
            for protocol in ("ours", "paper"):
                for check in ("stored", "storage", "summary", "retrieval"):
                    kind, value = case.evidence.kind, case.evidence.value
                    fact = Evidence("e", kind, task, "x", "x", "c", value=value, details=(Detail(("x",)),))
                    yield prompts.about_entries(check, fact, entries, protocol, question())
    for kind in ("yes_no", "all_of", "direct", "misleading", "open"):
        yield prompts.about_answer(question(kind), [CASES["rule"].evidence], "x")
    yield prompts.warm_up(entries)
    yield prompts.once_more(prompts.warm_up(entries), "x", "x")
    yield graded_prompt(question(), [Memory("x")])
    yield graded_prompt(question(answer_format="letter"), [Memory("x")])
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
