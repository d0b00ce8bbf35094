"""`settle:` over the example service, which stores with a lag."""

from __future__ import annotations

import asyncio
import time

import pytest
from test_http import serve, service  # noqa: F401 - fixtures

from pytest_memfail.core import MemorySystemError, UsageError
from pytest_memfail.systems import yaml_system
from pytest_memfail.systems.connectors.settle import Settle, Settling

LAG = 0.3
LAGGING = '''\
"""A memory whose search lags behind its listing."""
import json, sys, time
notes = []
for line in sys.stdin:
    request = json.loads(line)
    reply = {"id": request["id"]}
    if request["method"] == "store":
        notes += [(time.monotonic() + float(sys.argv[1]), m["content"]) for m in request["conversation"]["messages"]]
    elif request["method"] in ("list", "retrieve"):
        late = time.monotonic() if request["method"] == "retrieve" else float("inf")
        reply["memories"] = [{"text": note} for due, note in notes if due <= late]
    print(json.dumps(reply), flush=True)
'''
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


def late_search(service, lag):  # noqa: F811
    """Notes whose listing is current at once, and whose search lags behind; it finds what is older."""

    class LateSearch(service.Notes):
        def search(self, user, query, limit):
            now = time.monotonic() - lag
            return [note for note in super().search(user, query, 99) if self.added[note["memory"]] <= now][:limit]

        def add(self, user, messages, when):
            super().add(user, messages, when)
            self.added = {**getattr(self, "added", {}), **{m["content"]: time.monotonic() for m in messages}}

    return LateSearch()


async def stored_and_found(system, talk):
    await system.store_conversation(talk("a", "The boat is blue, and the car is red.", "Ok!"))
    while not await system.settled():
        await asyncio.sleep(0.02)
    return [entry["text"] for entry in await system.retrieve_memories("Which boat?", talk("q"), 5)]


@pytest.mark.parametrize("way", [*WAYS, "command"])
def test_a_search_that_lags_is_waited_for(service, serve, use, talk, tmp_path, way):  # noqa: F811
    (tmp_path / "lagging.py").write_text(LAGGING)
    lagging = f"kind: command\ncommand: [PYTHON, lagging.py, '{LAG}']\nsettle: {{unchanged: 0.05, timeout: 20}}"
    text = f"{serve(late_search(service, LAG))}\n{WAYS.get(way, '')}".replace("unchanged: 0.6", "unchanged: 0.05")
    found = use(lagging if way == "command" else text, lambda system: stored_and_found(system, talk))
    assert found[0] == "The boat is blue, and the car is red."


def test_a_search_that_never_finds_what_is_listed_is_an_error(service, serve, use, talk):  # noqa: F811
    text = f"{serve(late_search(service, 60))}\nsettle: {{unchanged: 0.05, timeout: 0.3}}"
    with pytest.raises(
        MemorySystemError, match=r"not settle within 0\.3 s: a search for the entry 'The boat.*search_rewrites: true"
    ):
        use(text, lambda system: stored_and_found(system, talk))
    assert use(f"{text}\nsearch_rewrites: true", lambda system: stored_and_found(system, talk)) == []


NEWEST = {
    "as it was said": (
        [{"text": "a"}, {"text": "10:00 user: The boat is blue."}, "z"],
        ["10:00 user: The boat is blue."],
    ),
    "in other words": ([{"memory": "A blue boat"}, " ", "b", {"content": "A car"}], ["A blue boat", "A car"]),
    "only one": (["A blue boat"], ["A blue boat"]),
    "empty": ([], []),
}


@pytest.mark.parametrize("case", NEWEST)
def test_the_newest_entries_are_searched_for(talk, case):
    entries, expected = NEWEST[case]
    searched = []

    async def list_all():
        return entries

    async def search(query, k):
        searched.append(query)
        return [{"text": f"found: {query}", "id": 1}] if len(query) > 19 else [query]

    settling = Settling(Settle(unchanged=1e-9), list_all, list_all, search)
    settling.stored(talk("a", "The boat is blue.", "Ok!"))
    assert asyncio.run(settling.settled())
    assert searched == expected


def test_without_it_nobody_waits(serve, use):  # noqa: F811
    async def work(system):
        return hasattr(system, "settled")

    assert not use(serve(), work)


@pytest.mark.parametrize("settle", ["{}", "{unchanged: 1, done: a}", "{done: a}", "{call: {path: /s}}"])
def test_a_way_that_is_half_given(describe, settle):
    calls = "write: {path: /w}\nsearch: {path: /s}\nlist: {path: /l}"
    with pytest.raises(UsageError, match=r"settle: got .*, expected either `unchanged`, or `call` with `done`"):
        yaml_system(describe(f"kind: http\nurl: http://127.0.0.1:1\n{calls}\nsettle: {settle}"))
