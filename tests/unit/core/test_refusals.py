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
        ({"message": "error: busy"}, "{'message': 'error: busy'}"),
        (False, "False"),
        ((False, "db locked"), "(False, 'db locked')"),
        ([False, "db locked"], "[False, 'db locked']"),
        (RuntimeError("db locked"), "RuntimeError('db locked')"),
        ((None, RuntimeError("db locked")), "RuntimeError('db locked')"),
        ("<html>502 Bad Gateway</html>", "'<html>502 Bad Gateway</html>'"),
        ("\n<!DOCTYPE html>\n<p>Sorry</p>", "'\\n<!DOCTYPE html>\\n<p>Sorry</p>'"),
        ("Internal Server Error", "'Internal Server Error'"),
        ("502 Bad Gateway", "'502 Bad Gateway'"),
        ({"code": 500, "detail": "Internal server error"}, "'Internal server error'"),
        ({"message": "internal error, try again"}, "{'message': 'internal error, try again'}"),
        (
            {"message": "Could not reach the index, please try again"},
            "{'message': 'Could not reach the index, please try again'}",
        ),
        ({"ids": [], "message": "Request timed out"}, "{'ids': [], 'message': 'Request timed out'}"),
        ({"id": None, "detail": "Rate limit exceeded"}, "{'id': None, 'detail': 'Rate limit exceeded'}"),
        ({"added": 0, "message": "2 messages failed"}, "{'added': 0, 'message': '2 messages failed'}"),
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
        True,
        0,
        [],
        (True, "stored"),
        [False, True],
        {"results": [False, True]},
        7,
        object(),
        {"id": 1, "error": None, "errors": [], "success": True, "isError": False, "status": "ok"},
        {"content": "Error handling in Go is explicit.", "memory": "error"},
        {"content": [{"type": "text", "text": '{"id": 1}'}, {"type": "image"}, "x"]},
        ToolResult(),
        {"error": Raising()},
        {"results": []},
        {"accepted": 0},
        "<htmlnotes> are stored",
        {"id": 4, "message": "My request timed out, so I had to try again."},
        {"data": {"message": "My request timed out, so I had to try again."}},
        {"message": {"content": "The bus is unavailable."}},
        {"message": "stored, 0 failed"},
        {"message": "Stored without any error."},
        {"message": "No errors"},
        {"message": "Memory created"},
        {"message": "queued, failures: 0"},
        {"message": "x" * 200 + " failed"},
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
        ({"results": [], "message": "timeout"}, True),
        ({"results": [], "total": 0, "detail": "The index is temporarily unavailable"}, True),
        ({"results": [], "message": "No results within the limit"}, False),
        ({"results": [], "message": "limit 10"}, False),
        ({"results": [], "message": "Nothing found before the timeout"}, False),
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
