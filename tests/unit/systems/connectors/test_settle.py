"""`settle:` over the example service, which stores with a lag."""

from __future__ import annotations

import asyncio

import pytest
from test_http import serve, service  # noqa: F401 - fixtures

from pytest_memfail.core import MemorySystemError, UsageError
from pytest_memfail.systems import yaml_system

LAG = 0.3
WAYS = {
    "status": "settle: {call: {method: GET, path: /status}, done: 'waiting == `0`', timeout: 20}",
    "listing": "settle: {unchanged: 0.6, timeout: 20}",
}


async def stored_and_listed(system, talk):
    await system.store_conversation(talk("a", "The boat is blue."))
    looks = 1
    while not await system.settled():
        looks += 1
        await asyncio.sleep(0.02)
    return looks, [entry["text"] for entry in await system.get_all_memories()]


@pytest.mark.parametrize("way", WAYS)
def test_what_comes_late_is_waited_for(service, serve, use, talk, way):  # noqa: F811
    text = f"{serve(service.Notes(LAG))}\n{WAYS[way]}"
    looks, listed = use(text, lambda system: stored_and_listed(system, talk))
    assert looks > 1
    assert listed == ["The boat is blue."]


@pytest.mark.parametrize("way", WAYS)
def test_waiting_too_long_is_an_error(service, serve, use, talk, way):  # noqa: F811
    text = f"{serve(service.Notes(60))}\n{WAYS[way]}".replace("timeout: 20", "timeout: 0.1").replace("0.6", "50")
    with pytest.raises(
        MemorySystemError, match=r"did not settle within 0\.1 s: (`waiting == `0`` is not true|its listing)"
    ):
        use(text, lambda system: stored_and_listed(system, talk))


def test_without_it_nobody_waits(serve, use):  # noqa: F811
    async def work(system):
        return hasattr(system, "settled")

    assert not use(serve(), work)


@pytest.mark.parametrize("settle", ["{}", "{unchanged: 1, done: a}", "{done: a}", "{call: {path: /s}}"])
def test_a_way_that_is_half_given(describe, settle):
    calls = "write: {path: /w}\nsearch: {path: /s}\nlist: {path: /l}"
    with pytest.raises(UsageError, match=r"settle: got .*, expected either `unchanged`, or `call` with `done`"):
        yaml_system(describe(f"kind: http\nurl: http://127.0.0.1:1\n{calls}\nsettle: {settle}"))
