"""Requests with tools: what is sent, read, cached and refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from llm_asker import Asker, run

from pytest_memfail.core import SEARCHING, ToolCall, UsageError
from pytest_memfail.llm import ReplyError, ResponseCache, SystemChat
from pytest_memfail.testing import LocalEndpoint, Reply, ToolCall as Called

TOOL = {"type": "function", "function": {"name": "note", "parameters": {"type": "object", "properties": {}}}}
CALLING = Reply("", tool_calls=(Called("note", {"text": "tea"}), Called("note", '{"text":')))
WANTED = (ToolCall("call-1-0", "note", '{"text": "tea"}'), ToolCall("call-1-1", "note", '{"text":'))


def test_tools_are_sent_and_calls_come_back_as_the_model_wrote_them() -> None:
    with LocalEndpoint(lambda _: CALLING) as endpoint:
        asker = Asker(endpoint)
        reply = run(asker, lambda: asker.ask(schema=None, tools=[TOOL]))
    assert endpoint.requests[0]["tools"] == [TOOL]
    assert (reply.text, reply.calls) == ("", WANTED)


def test_a_cached_reply_has_its_calls(tmp_path: Path) -> None:
    with LocalEndpoint(lambda _: CALLING) as endpoint:
        replies = []
        for _ in range(2):
            asker = Asker(endpoint, cache=ResponseCache(tmp_path / "kept"))
            replies.append(run(asker, lambda asker=asker: asker.ask(schema=None, tools=[TOOL])))
        asker = Asker(endpoint, cache=ResponseCache(tmp_path / "kept"))
        run(asker, lambda: asker.ask(schema=None, tools=[TOOL, TOOL]))
    assert [reply.from_cache for reply in replies] == [False, True]
    assert [reply.calls for reply in replies] == [WANTED, WANTED]
    assert endpoint.calls == 2  # other tools make another request


def test_without_tools_a_reply_that_only_calls_some_is_empty() -> None:
    with LocalEndpoint(lambda _: CALLING) as endpoint:
        asker = Asker(endpoint)
        with pytest.raises(ReplyError, match="the reply is empty"):
            run(asker, lambda: asker.ask(schema=None))


def test_tools_are_no_parameter_of_the_user() -> None:
    asker = Asker("http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="tools"):
        run(asker, lambda: asker.ask(parameters={"tools": []}))


def test_a_memory_system_asks_the_model_it_names_or_that_of_the_run() -> None:
    with LocalEndpoint(lambda _: "yes") as endpoint:
        asker = Asker(endpoint)

        async def work() -> None:
            messages = [{"role": "user", "content": "tea \ud800"}]
            chat = SystemChat(asker.client, "of-the-run", {"temperature": 0})
            assert (await chat(messages)).text == "yes"
            await chat(messages, model="its-own")
            token = SEARCHING.set(True)  # as while the system is asked for memories
            await chat(messages, model="to-search")
            SEARCHING.reset(token)
            with pytest.raises(UsageError, match="none is named; give --memfail-model"):
                await SystemChat(asker.client)(messages)

        run(asker, work)
    assert [request["model"] for request in endpoint.requests] == ["of-the-run", "its-own", "to-search"]
    assert endpoint.requests[0]["temperature"] == 0
    assert [row.stage for row in asker.ledger.totals().rows] == ["memory", "memory", "memory search"]
