"""Memories are anybody's text: whatever one holds, everything that reads it comes to an end without an exception."""

from __future__ import annotations

import asyncio
import json
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_memfail.core import (
    FAILURES,
    Conversation,
    FactVerdict,
    Listing,
    Memory,
    Message,
    StageResult,
    Trace,
    WrongTypeError,
    is_listed,
)
from pytest_memfail.engine import Grader
from pytest_memfail.hosting import DaemonPool, memories_from
from pytest_memfail.hosting.listing import changes, truncation_message, unlisted_sentinels
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.llm import count_tokens
from pytest_memfail.records import Header, from_json, question_record, write_record
from pytest_memfail.report import details, failure, headline, verdict_table, write_reports
from pytest_memfail.report.excerpts import excerpt, mark, stored_excerpt
from pytest_memfail.results import load_record
from pytest_memfail.suites import TaskRequest, load_tasks
from pytest_memfail.suites.memfail import TASK_NAMES

HEADER = from_json(
    Header,
    {
        "type": "header",
        "schema_version": 1,
        "memfail": "0",
        "started": "2025-01-06T09:00:00+00:00",
        "system": "toy",
        "system_options": {},
        "judge": "offline",
        "test_taker": None,
        "model_options": {},
        "protocol": "ours",
        "k": [5],
        "seed": 42,
        "limit": None,
        "tasks": {},
        "stores": {},
    },
)
# derandomised: a change is judged by the same texts as the change before it
FEW = settings(
    max_examples=30, deadline=None, database=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
SPECIAL = (
    *("1:2:3", "12:", "9:75", "0:0", "²:³", "1.2.3", "1,2,3", "½", "9" * 400, "1e999", "-0", "٣:١٥", "10 p.m.", "2.5k "),
    *("half", "past", "quarter to", "noon", "a.m.", "%", "per cent", "£", "°F", "18th century", "1700s", "out of", "scale of"),
    *("not", "never", "no longer", "only", "unless", "n't", "none of", "nobody", "except", "instead of", "used to", "until"),
    *("'", "'s", '"', "“", "(", "[", "]", "{", "\\", "\\d+", "*", "|", "- ", "\n", "\r", "\t", "\0", "\x1b]0;t\x07", "\ud800"),
    *("user:", "[2025-01-06 09:00]", "2025-13-45", "9999-12-31", "é", "e\u0301", "İ", "ß", "ﬁ", "中文", "\u202e", "🏳️‍🌈"),
)  # fmt: skip
"""What some reader of texts takes for more than a word."""


@cache
def of_each_kind():
    """By name a fact of each kind of evidence, and one that was taken back, with a question of each."""
    found = {}
    for task in load_tasks(TaskRequest()):
        for question in task.questions:
            name = "a deletion" if question.stratum == "deletion" else task.name
            found.setdefault(name, (task.evidence[question.evidence[0]], question))
    return found


@cache
def texts(beside: str = "Ada bakes bread only when it rains.") -> st.SearchStrategy[str]:
    """Arbitrary text, with pieces that mean something among it, and words of the text beside it."""
    words = st.sampled_from(sorted(set(beside.split())))
    pieces = st.one_of(st.sampled_from(SPECIAL), st.text(max_size=6), words, words)
    return st.builds(lambda parts, by: by.join(parts), st.lists(pieces, max_size=14), st.sampled_from((" ", "", ". ")))


def entries_about(name: str) -> st.SearchStrategy[list[str]]:
    """What a store may hold of the fact."""
    fact, question = of_each_kind()[name]
    return st.lists(texts(f"{fact.text} {question.text}"), max_size=3)


KINDS = [*TASK_NAMES, "a deletion"]


@given(entries=st.lists(texts(), max_size=4), name=st.sampled_from(("text", "memory", "content")), identity=texts())
@FEW
def test_normalising_keeps_a_text_as_it_is(entries, name, identity):
    assert [memory.text for memory in memories_from(entries, "m")] == entries
    mapped = memories_from([{name: entry, "id": identity, "timestamp": identity} for entry in entries], "m")
    assert [(memory.text, memory.id) for memory in mapped] == [(entry, identity) for entry in entries]


@given(score=st.one_of(st.none(), st.floats(), st.integers(), texts(), st.just(10**400)))
@FEW
def test_a_score_is_read_or_refused(score):
    try:
        (memory,) = memories_from([{"text": "a", "score": score}], "retrieve_memories")
    except WrongTypeError:
        return
    assert memory.score is None or isinstance(memory.score, float)


@given(entries=st.lists(texts(), max_size=4), said=texts())
@FEW
def test_the_listing_check_reads_any_text(entries, said):
    listing = Listing("s", tuple(map(Memory, entries)))
    conversation = Conversation("c", (Message("user", said),))
    assert unlisted_sentinels([conversation], listing) in ([], [conversation])
    assert all(is_listed(memory, listing) for memory in listing.memories if memory.text)
    assert changes(listing, listing) == (0, 0)
    assert "\n" not in truncation_message(Memory(said), listing)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("text", ["gravel 1:2:3.", "²:³", ":", "9" * 400 + " metres", "1e999", ""])
def test_the_offline_judge_reads_this(name, text):
    fact, question = of_each_kind()[name]
    judged(fact, question, [text])


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
@FEW
def test_the_offline_judge_reads_any_text(name, data):
    fact, question = of_each_kind()[name]
    entries = data.draw(entries_about(name))
    for result in judged(fact, question, entries):
        assert all(0 <= i < len(entries) for i in result.entries)
        assert "\n" not in result.reason


def judged(fact, question, entries) -> list[StageResult]:
    memories, judge = tuple(map(Memory, entries)), OfflineJudge()
    listing = Listing("s", memories)
    stages = (judge.storage(fact, listing), judge.summary(fact, listing), judge.retrieval(fact, question, memories))
    assert all(isinstance(stage, StageResult) for stage in stages)
    return list(stages)


@given(text=texts(), near=texts(), detail=texts())
@FEW
def test_an_excerpt_is_made_of_any_text(text, near, detail):
    for source in (text, 40 * f"{text}. "):
        shown = excerpt(source, [detail], near)
        assert "\n" not in mark(shown, [detail, near])
        damaged = StageResult("failed", found=(near,), missing=(detail,))
        fact = FactVerdict("e", "summary_error", StageResult("passed"), damaged, text=near, source=source)
        assert "\n" not in stored_excerpt(fact, text)


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
@settings(FEW, max_examples=8)  # three reports are made of each
def test_a_question_over_any_text_reaches_every_report(name, data, tmp_path_factory):
    fact, question = of_each_kind()[name]
    memories = tuple(map(Memory, data.draw(entries_about(name))))
    listing, pool = Listing("s", memories), DaemonPool(1, "judge")
    verdict = asyncio.run(Grader(OfflineJudge(), pool).grade(question, [fact], listing, memories, None))
    pool.stop()
    trace = Trace(question, 5, memories)
    line = question_record("memfail/t::q", "s", question, 5, trace=trace, verdict=verdict, listing=listing)
    folder = tmp_path_factory.mktemp("any")
    write_record(folder / "r.jsonl", [HEADER, line])
    record = load_record(folder / "r.jsonl")
    (read,) = record.questions
    assert read == line
    if verdict.name in FAILURES:
        assert all("\n" not in row for row in failure(read, "pytest"))
        assert headline(read)
    assert details(record.summary(), full=True)
    assert list(verdict_table(record.summary()))
    for ending in (".html", ".md", ".json"):
        assert [why for _, why in write_reports([folder / f"x{ending}"], [record])] == [None]
        assert (folder / f"x{ending}").stat().st_size
    json.loads((folder / "x.json").read_text(encoding="utf-8"))


@given(entries=st.lists(texts(), max_size=3))
@FEW
def test_tokens_of_any_text_are_counted(entries):
    assert count_tokens(entries) == sum(count_tokens([entry]) for entry in entries)
