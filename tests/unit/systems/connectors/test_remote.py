"""Kinds `http` and `mcp`: replies to a search or a listing that report a failure beside an empty result."""

from __future__ import annotations

import asyncio

import pytest

from pytest_memfail.core import MemorySystemError, SystemContext
from pytest_memfail.systems.connectors.http_service import HttpMemory
from pytest_memfail.systems.connectors.remote import RemoteSystem

OFFLINE = {"results": [], "error": "index offline"}
FOUND = {"results": [{"text": "The boat is blue."}], "error": "one shard is offline"}


class Replies:
    """A connection that answers with one reply after the other."""

    def __init__(self, *replies):
        self.replies = list(replies)

    async def call(self, what, call, values):
        return self.replies.pop(0)


@pytest.fixture
def ask(tmp_path):
    """`ask(key, *replies, **changes)` makes a call with these keys, and returns the number of memories."""

    def run(key, *replies, **changes):
        call = {"pick": "results", **changes}
        config = HttpMemory.model_validate(
            {"kind": "http", "url": "http://127.0.0.1", "write": {}, "search": call, "list": call}
        )
        system = RemoteSystem(SystemContext("run", "s", tmp_path), config, Replies(*replies))
        work = system._search("boat", 5) if key == "search" else system.get_all_memories()
        return len(asyncio.run(work))

    return run


@pytest.mark.parametrize("key", ["search", "list"])
def test_nothing_beside_an_error_is_an_error(ask, key):
    with pytest.raises(MemorySystemError) as caught:
        ask(key, OFFLINE)
    assert str(caught.value) == (
        f"{key}: got {OFFLINE}, expected no error beside an empty result: see why it failed; if it did not, declare with the key "
        f"`ok` of `{key}` what is true in this reply"
    )


@pytest.mark.parametrize("key", ["search", "list"])
def test_what_was_found_or_is_declared_is_none(ask, key):
    assert ask(key, FOUND) == 1
    assert ask(key, {"results": [], "success": False, "message": "No memories found"}) == 0
    assert ask(key, OFFLINE, ok="`true`") == 0


def test_an_error_beyond_the_last_numbered_page_ends_the_listing(ask):
    assert ask("list", FOUND, OFFLINE, pages={"size": 1}) == 1
    with pytest.raises(MemorySystemError, match="index offline"):
        ask("list", {**FOUND, "next": "b"}, OFFLINE, pages={"cursor": "next"})
