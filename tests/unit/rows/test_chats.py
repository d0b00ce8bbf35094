"""Chats in every form that programs log and export are read alike."""

from __future__ import annotations

import json

import pytest

from pytest_memfail.core import RowError
from pytest_memfail.rows import is_chat, read_chats

PLOT, NOTED, ASKED, WRONG = "My plot is number 41.", "Noted!", "Which plot is mine?", "No idea."
START = 1767600000.5
"""2026-01-05, as ChatGPT writes it."""
MONTHS = 9e6


def turns(role="role", text="content", user="user", assistant="assistant"):
    said = [(user, PLOT), (assistant, NOTED), (user, ASKED), (assistant, WRONG)]
    return [{role: speaker, text: content} for speaker, content in said]


def node(number, role, text, when, **fields):
    """Return a node of ChatGPT's tree."""
    content = {"content_type": "text", "parts": [text]}
    message = {"author": {"role": role}, "create_time": when, "content": content, "recipient": "all", **fields}
    return {"id": str(number), "message": message, "parent": str(number - 1), "children": [str(number + 1)]}


def chatgpt():
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    first = {
        "0": {"id": "0", "message": None, "parent": None, "children": ["1"]},
        "1": node(1, "user", "You help gardeners.", None, **hidden),
        "2": node(2, "user", PLOT, START),
        "3": node(3, "assistant", "search(41)", START, recipient="python"),
        "4": {**node(4, "assistant", "An abandoned reply.", START), "parent": "3"},
        "5": {**node(5, "assistant", NOTED, START), "parent": "3"},
    }
    second = {"1": node(1, "user", ASKED, START + MONTHS), "2": node(2, "assistant", WRONG, START + MONTHS)}
    one = {"title": "a", "create_time": START, "mapping": first, "current_node": "5", "id": "c1"}
    other = {"title": "b", "create_time": START + MONTHS, "mapping": second, "current_node": "2", "id": "c2"}
    return [other, one]  # the newest comes first


def claude():
    def message(sender, text, day, parts=()):
        blocks = [*parts, {"type": "text", "text": text}]
        return {"uuid": text, "sender": sender, "text": "", "content": blocks, "created_at": f"{day}T08:00:00.123456Z"}

    thought = {"type": "thinking", "thinking": "hm"}
    early = [message("human", PLOT, "2026-01-05"), message("assistant", NOTED, "2026-01-05", [thought])]
    late = [message("human", ASKED, "2026-04-19"), message("assistant", WRONG, "2026-04-19")]
    return [{"uuid": "2", "name": "b", "chat_messages": late}, {"uuid": "1", "name": "a", "chat_messages": early}]


def langchain():
    dated = [
        {"type": {"user": "human", "assistant": "ai"}[turn["role"]], "data": {"content": turn["content"], "id": None}}
        for turn in turns()
    ]
    called = {"type": "ai", "data": {"content": [{"type": "tool_use", "name": "save", "input": {}}]}}
    system = {"type": "system", "data": {"content": "You help."}}
    return [system, *dated[:1], called, {"type": "tool", "data": {"content": "saved"}}, *dated[1:]]


def serialised():
    names = {"user": "HumanMessage", "assistant": "AIMessage"}
    return {
        "messages": [
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "schema", "messages", name],
                "kwargs": {"content": text},
            }
            for name, text in [("SystemMessage", "Hi"), *((names[t["role"]], t["content"]) for t in turns())]
        ]
    }


def sharegpt():
    said = turns("from", "value", "human", "gpt")
    return [
        {"id": "1", "conversations": [{"from": "system", "value": "x"}, *said[:2]]},
        {"id": "2", "conversations": said[2:]},
    ]


def requests():
    """Return the bodies of requests, each of which repeats the turns before."""
    said = turns()
    return [{"model": "m", "messages": said[:1]}, {"messages": said[:3]}, {"messages": said[:3]}, {"messages": said}]


def agent():
    """Return lines around turns, with a time and the id of their session."""
    return [
        {"type": turn["role"], "message": turn, "timestamp": "2026-01-05T08:00:00Z", "sessionId": "s"}
        for turn in turns()
    ]


WHOLE = [[("user", PLOT), ("assistant", NOTED), ("user", ASKED), ("assistant", WRONG)]]
PARTS = [WHOLE[0][:2], WHOLE[0][2:]]
FORMS = {
    "turns": (turns(), WHOLE, [None]),
    "chatgpt": (chatgpt(), PARTS, ["2026-01-05", "2026-04-19"]),
    "claude": (claude(), PARTS, ["2026-01-05", "2026-04-19"]),
    "langchain": (langchain(), WHOLE, [None]),
    "langchain serialised": (serialised(), WHOLE, [None]),
    "sharegpt": (sharegpt(), PARTS, [None, None]),
    "requests": (requests(), WHOLE, [None]),
    "agent": (agent(), WHOLE, ["2026-01-05"]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("by_line", [False, True])
def test_a_form_is_read(tmp_path, form, mark, by_line):
    value, said, days = FORMS[form]
    lines = value if isinstance(value, list) else [value]
    path = tmp_path / "chats"
    path.write_text(mark + ("\n".join(map(json.dumps, lines)) if by_line else json.dumps(value, indent=1)))
    found = read_chats(path)
    assert [[(turn.role, turn.text) for turn in chat.turns] for chat in found.chats] == said
    assert [None if chat.day is None else str(chat.day) for chat in found.chats] == days
    assert found.no_times == []
    assert is_chat(value)


def test_turns_of_a_log_that_nobody_said_are_counted(tmp_path):
    lines = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": PLOT},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "x"}]},
        {"role": "tool", "tool_call_id": "x", "content": "saved"},
        {"role": "user", "content": "yes"},
        {"role": "user", "content": "yes"},
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    found = read_chats(path)
    assert [turn.text for turn in found.chats[0].turns] == [PLOT, "yes", "yes"]
    assert dict(found.left_out) == {"system": 1, "empty assistant": 1, "tool": 1}


def test_a_conversation_of_two_days_becomes_one_for_each(tmp_path):
    days = ["2026-01-05T08:00:00Z", "2026-01-05", "2026-03-05T08:00:00+02:00", None]
    lines = [{"role": "user", "content": f"It is {day}.", "timestamp": day} for day in days]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(lines))
    assert [(str(chat.day), len(chat.turns)) for chat in read_chats(path).chats] == [
        ("2026-01-05", 2),
        ("2026-03-05", 2),
    ]


@pytest.mark.parametrize("when", ["yesterday", 7, 17])
def test_a_time_that_is_none_is_told(tmp_path, when):
    path = tmp_path / "log.json"
    path.write_text(json.dumps([{"role": "user", "content": PLOT, "timestamp": when}]))
    found = read_chats(path)
    assert (found.chats[0].day, found.no_times) == (None, [str(when)])


def test_half_a_character_is_replaced(tmp_path):
    path = tmp_path / "log.json"
    path.write_text('[{"role": "user", "content": "Hi \\ud83d"}, {"role": "user", "content": "\\ud83d\\ude00"}]')
    assert [turn.text for turn in read_chats(path).chats[0].turns] == ["Hi \ufffd", "\U0001f600"]


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"PK\x03\x04 and more", 1, "got a ZIP archive; unpack it and give a file in it, such as conversations.json"),
        (b"<html>", 1, "got HTML or XML, expected JSON; of an export, give its conversations.json"),
        (b'{"role": "user", "content": "Hi"}\n{"role": "Alice", "content": "Hi"}', 2, "got a turn of 'Alice', expected the role"),
        (b'{"role": "user", "content": "Hi"}\nnot json', 2, "not JSON (Expecting value at column 1)"),
        (b'[{"role": "user",\n "content": }]', 2, "not JSON (Expecting value at column 13)"),
        (b'{"level": "info"}', 1, "expected a turn with role and content, a conversation with messages, a span, or an export of"),
        (b"[" * 100_000, 1, "not JSON (nested too deeply)"),
        (b"[" * 500 + b"]" * 500, 1, "got [[[["),
        (b'{"role": "user", "content": "\xff"}', 1, "not UTF-8"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(tmp_path, content, line, problem):
    path = tmp_path / "log.json"
    path.write_bytes(content)
    with pytest.raises(RowError) as caught:
        read_chats(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [["Hi"], [{"messages": [{"user": "Hi"}]}], {"conversations": ["Hi"]}, 5, [[[]]]])
def test_conversations_of_a_case_are_no_chat(value):
    assert not is_chat(value)
