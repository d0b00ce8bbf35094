"""The rule-based endpoint, as memory systems and the command line see it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from typing import Any

import pytest

from pytest_memfail.core import Conversation, Message
from pytest_memfail.systems.note_tools import SCHEMAS
from pytest_memfail.systems.tool_loop import transcript
from pytest_memfail.testing import Reply, ToolCall, reply_by_rule


def asked(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


def test_mem0_keeps_every_message_of_the_user_without_its_time() -> None:
    messages = "user: [2024-05-01 09:30] Ada bakes.\nShe is 7.\nassistant: Fine.\nuser: And: Bo too.\n"
    reply = reply_by_rule(asked(f"## New Messages\n{messages}\n\n## Observation Date\n2026-11-21\n\n# Output:"))
    assert [fact["text"] for fact in json.loads(str(reply))["memory"]] == ["Ada bakes.\nShe is 7.", "And: Bo too."]


def test_langmem_gets_a_tool_call_for_each_message_of_the_user() -> None:
    session = "=== Human Message ===\n\nAda bakes.\n\n=== Ai Message ===\n\nFine.\n\n=== Human Message ===\n\nBo too."
    tools = [{"type": "function", "function": {"name": "Memory"}}]
    reply = reply_by_rule(asked(f"<session_0a-1>\n{session}\n</session_0a-1>", tools=tools))
    assert isinstance(reply, Reply)
    assert [call.arguments for call in reply.tool_calls] == [{"content": "Ada bakes."}, {"content": "Bo too."}]


def test_a_mem_gets_keywords_and_no_evolution() -> None:
    note = json.loads(str(reply_by_rule(asked("Content for analysis:\n user: Ada bakes rye bread"))))
    assert note["keywords"] == ["bakes", "bread"]
    evolution = json.loads(
        str(reply_by_rule(asked("You are an AI memory evolution agent. The number of neighbors is 2.")))
    )
    assert evolution["should_evolve"] is False
    assert len(evolution["new_context_neighborhood"]) == 2


@pytest.mark.parametrize("stamp", ["", "[2024-05-01T09:30:00] "])
def test_simplemem_gets_a_statement_for_each_message_of_the_user(stamp: str) -> None:
    window = f"{stamp}User: Ada bakes.\nShe is 7.\n{stamp}Assistant: Fine.\n{stamp}User: Bo too."
    example = "[2025-11-15T14:30:00] Alice: not this"
    reply = reply_by_rule(asked(f"[Current Window Dialogues]\n{window}\n\n[Requirements]\n...\n{example}"))
    entries = json.loads(str(reply))
    assert [entry["lossless_restatement"] for entry in entries] == ["Ada bakes.\nShe is 7.", "Bo too."]
    assert {entry["timestamp"] for entry in entries} == {stamp.strip("[] ") or None}


def test_md_file_gets_a_tool_call_for_each_message_of_the_user_and_then_an_end() -> None:
    shown = transcript(Conversation("c", (Message("user", "one\ntwo\u2028<b>"), Message("assistant", "ok"))))
    assert calls_for(asked(shown, tools=SCHEMAS)) == (ToolCall("append_line", {"text": "one\ntwo\u2028<b>"}),)
    assert calls_for({"messages": [{"role": "tool", "content": "ok"}], "tools": SCHEMAS}) == ()
    nothing = transcript(Conversation("c", (Message("assistant", "ok"),)))
    assert calls_for(asked(nothing, tools=SCHEMAS)) == (ToolCall("keep_nothing", {}),)


def calls_for(request: dict[str, Any]) -> tuple[ToolCall, ...]:
    reply = reply_by_rule(request)
    assert isinstance(reply, Reply)
    return reply.tool_calls


@pytest.mark.parametrize(
    ("shown", "reply"),
    [
        ("", {"extracted_entities": [{"name": "user", "entity_type_id": 0, "episode_indices": [0]}]}),
        (
            '<ENTITIES>\n[{"id": 0, "name": "user"}]\n</ENTITIES>',
            {"entity_resolutions": [{"id": 0, "name": "user", "duplicate_candidate_id": -1}]},
        ),
        ("", {"duplicate_facts": [], "contradicted_facts": []}),
        ("", {"valid_at": None, "invalid_at": None}),
        ("", {"summaries": []}),
    ],
)
def test_graphiti_gets_what_fills_its_schemas(shown: str, reply: dict[str, object]) -> None:
    assert json.loads(graphiti(shown, *reply)) == reply


def test_graphiti_gets_an_edge_for_each_message_of_the_user() -> None:
    shown = "<CURRENT_MESSAGE>\nuser: I drink tea.\nassistant: Noted.\nuser: one\ntwo\n</CURRENT_MESSAGE>"
    edges = json.loads(graphiti(shown, "edges"))["edges"]
    assert [edge["fact"] for edge in edges] == ["I drink tea.", "one\ntwo"]
    assert len({edge["target_entity_name"] for edge in edges}) == 2


def graphiti(shown: str, *properties: str) -> str:
    schema = {"schema": {"properties": {name: {} for name in properties}}}
    return str(reply_by_rule(asked(shown, response_format={"type": "json_schema", "json_schema": schema})))


def test_anything_else_is_answered_as_for_the_judge_and_the_test_taker() -> None:
    assert reply_by_rule(asked("Hello")) == "Thank you, I will remember that."


def serve(port: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pytest_memfail.testing", "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_serves_from_the_command_line_until_it_is_stopped() -> None:
    with serve(0) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("OPENAI_BASE_URL=http://127.0.0.1:")
        port = int(line.split(":")[2].partition("/")[0])
        with socket.create_connection(("127.0.0.1", port)):
            pass
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_a_port_that_is_taken_is_a_wrong_call() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, serve(taken.getsockname()[1]) as process:
        told = process.communicate(timeout=20)[1]
    assert process.returncode == 4
    assert told.startswith("--port: cannot listen on ")
    assert len(told.splitlines()) == 1
