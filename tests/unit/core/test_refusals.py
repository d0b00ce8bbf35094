"""Which replies look like a refusal, or like a search that failed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_memfail.core import failed_search, refusal


@dataclass
class ToolResult:
    content: list[Any] = field(default_factory=list)
    isError: bool = False  # noqa: N815 - as MCP names it


class Raising:
    def __bool__(self):
        raise RuntimeError("no truth value")


BLOCK = {"type": "text", "text": "❌ Error: database is locked"}


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("Error storing memory: database is locked", "'Error storing memory: database is locked'"),
        ("ERROR", "'ERROR'"),
        ("**Failed** to store", "'**Failed** to store'"),
        ({"error": {"code": 429}}, "{'error': {'code': 429}}"),
        ({"written": False, "conflict": True, "id": 3}, "{'written': False}"),
        ({"success": False, "message": "quota"}, "{'success': False, 'message': 'quota'}"),
        ({"status": "ERROR"}, "{'status': 'ERROR'}"),
        ({"isError": True, "content": []}, "{'isError': True}"),
        ({"content": [BLOCK]}, repr(BLOCK["text"])),
        ({"result": {"results": [{"id": 1}, {"error": "no"}]}}, "{'error': 'no'}"),
        (["ok", {"success": False}], "{'success': False}"),
        (ToolResult(isError=True), "{'isError': True}"),
        (ToolResult([BLOCK]), repr(BLOCK["text"])),
        ({"message": "error: busy"}, "'error: busy'"),
    ],
)
def test_a_refusal_is_shown(reply, shown):
    assert refusal(reply) == shown


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "",
        "ok",
        "Stored without error",
        "Errors: 0",
        False,
        7,
        object(),
        {"id": 1, "error": None, "errors": [], "success": True, "isError": False, "status": "ok"},
        {"content": "Error handling in Go is explicit.", "memory": "error"},
        {"content": [{"type": "text", "text": '{"id": 1}'}, {"type": "image"}, "x"]},
        ToolResult(),
        {"error": Raising()},
    ],
)
def test_what_is_no_refusal(reply):
    assert refusal(reply) is None


@pytest.mark.parametrize(
    ("reply", "failed"),
    [
        ({"results": [], "error": "index unavailable"}, True),
        ({"results": [], "success": False}, True),
        ({"items": [], "message": "Error: no route to host"}, True),
        ({"results": []}, False),
        ({"results": [], "error": None, "success": True}, False),
        ({"results": [], "success": False, "message": "No memories found."}, False),
        ({"results": [], "error": "nothing was found"}, False),
        ({"results": [], "message": "Failed to find any matching memory"}, False),
        ({"results": [], "error": "no relevant results"}, False),
    ],
)
def test_what_is_a_failed_search(reply, failed):
    assert bool(failed_search(reply)) is failed


def test_a_reply_that_holds_itself_is_read_to_a_depth():
    reply: dict[str, Any] = {}
    reply["result"] = reply
    assert refusal(reply) is None


def test_a_long_reply_is_cut():
    assert len(refusal("Error " + "x" * 10_000) or "") == 120
