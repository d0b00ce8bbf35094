"""The response cache: what it stores, shares between processes, and refuses."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from llm_asker import GOOD, Asker, Finding, good, run

from pytest_memfail.core import UsageError
from pytest_memfail.llm import CacheMissError, Completion, ReplyError, ResponseCache
from pytest_memfail.testing import Fault, LocalEndpoint


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sub" / "replies.sqlite"


def test_a_second_run_makes_no_call(path: Path) -> None:
    with LocalEndpoint(answer=good) as endpoint:
        first = Asker(endpoint, cache=ResponseCache(path))
        before = run(first, lambda: first.ask_all(20))
        second = Asker(endpoint, cache=ResponseCache(path))
        after = run(second, lambda: second.ask_all(20))
    assert endpoint.calls == 20
    assert [reply.from_cache for reply in before] == [False] * 20
    assert [reply.from_cache for reply in after] == [True] * 20
    assert [(r.text, r.parsed, r.usage) for r in after] == [(r.text, r.parsed, r.usage) for r in before]
    assert (second.ledger.totals().calls, second.ledger.totals().cache_hits) == (0, 20)


def test_only_replays_without_endpoint_and_key(path: Path) -> None:
    with LocalEndpoint(answer=good) as endpoint:
        recorder = Asker(endpoint, cache=ResponseCache(path))
        run(recorder, recorder.ask)
    replayer = Asker(endpoint, cache=ResponseCache(path, "only"), api_key=None)
    assert run(replayer, replayer.ask).parsed == Finding(**GOOD)


def test_only_fails_on_a_miss(path: Path) -> None:
    with LocalEndpoint(answer=good) as endpoint:
        ResponseCache(path)
        asker = Asker(endpoint, cache=ResponseCache(path, "only"))
        with pytest.raises(CacheMissError, match="no reply of 'm'"):
            run(asker, asker.ask)
    assert endpoint.calls == 0


def test_only_without_a_file_is_refused(path: Path) -> None:
    with pytest.raises(UsageError, match="no such response cache"):
        ResponseCache(path, "only")


def test_off_reads_and_writes_nothing(path: Path) -> None:
    with LocalEndpoint(answer=good) as endpoint:
        asker = Asker(endpoint, cache=ResponseCache(path, "off"))

        async def work() -> None:
            await asker.ask()
            await asker.ask()

        run(asker, work)
    assert endpoint.calls == 2
    assert not path.exists()
    with pytest.raises(UsageError, match="is off"):
        ResponseCache(path, "off").summary()


class Other(Finding):
    """Another schema."""


@pytest.mark.parametrize(
    "change",
    [
        {"model": "other"},
        {"parameters": {"temperature": 1}},
        {"text": "Another question?"},
        {"schema": Other},
        {"schema": None},
        {"repeat": 1},
    ],
    ids=["model", "parameters", "messages", "schema", "no schema", "repeat"],
)
def test_what_decides_the_reply_is_in_the_key(path: Path, change: dict[str, Any]) -> None:
    with LocalEndpoint(answer=good) as endpoint:
        asker = Asker(endpoint, cache=ResponseCache(path))

        async def work() -> Completion:
            await asker.ask()
            return await asker.ask(**change)

        assert not run(asker, work).from_cache


def test_another_endpoint_has_its_own_replies(path: Path) -> None:
    with LocalEndpoint(answer=good) as one, LocalEndpoint(answer=good) as other:
        for endpoint in (one, other):
            asker = Asker(endpoint, cache=ResponseCache(path))
            run(asker, asker.ask)
    assert (one.calls, other.calls) == (1, 1)
    asker = Asker("http://127.0.0.1:9/v1", cache=ResponseCache(path, "only"))
    with pytest.raises(
        CacheMissError, match=r"or use OPENAI_BASE_URL=http://127\.0\.0\.1:\d+/v1, which its replies are of"
    ):
        run(asker, asker.ask)


def test_the_stage_and_the_credentials_are_not_in_the_key(path: Path) -> None:
    with LocalEndpoint(answer=good) as endpoint:
        first = Asker(endpoint, cache=ResponseCache(path))
        run(first, lambda: first.ask(stage="storage"))
        second = Asker(endpoint.url.replace("//", "//me:pass@") + "/", cache=ResponseCache(path), api_key="another")
        assert run(second, lambda: second.ask(stage="summary")).from_cache


def test_a_reply_that_cannot_be_used_is_not_kept(path: Path) -> None:
    with LocalEndpoint(answer=good, faults=[Fault("wrong_schema")] * 3) as endpoint:
        asker = Asker(endpoint, cache=ResponseCache(path))

        async def work() -> Completion:
            with pytest.raises(ReplyError):
                await asker.ask()
            return await asker.ask()

        assert not run(asker, work).from_cache


def test_kept_thoughts_without_an_answer_are_asked_again(path: Path) -> None:
    with LocalEndpoint(answer=lambda _: "Yes.") as endpoint:
        asker = Asker(endpoint, cache=ResponseCache(path))
        run(asker, lambda: asker.ask(schema=None))
        with sqlite3.connect(path) as database:
            database.execute("UPDATE replies SET text = '<think>Yes.</think>'")
        again = Asker(endpoint, cache=ResponseCache(path))
        reply = run(again, lambda: again.ask(schema=None))
    assert (reply.text, reply.from_cache) == ("Yes.", False)


def test_identical_calls_in_flight_are_one(path: Path) -> None:
    with LocalEndpoint(answer=good, latency_seconds=0.05) as endpoint:
        asker = Asker(endpoint, cache=ResponseCache(path))

        async def work() -> list[Completion]:
            return await asyncio.gather(*(asker.ask() for _ in range(10)))

        replies = run(asker, work)
    assert endpoint.calls == 1
    assert sorted(reply.from_cache for reply in replies) == [False] + [True] * 9
    assert (asker.ledger.totals().calls, asker.ledger.totals().cache_hits) == (1, 9)


def test_one_who_gives_up_does_not_take_the_reply_from_the_others(path: Path) -> None:
    with LocalEndpoint(answer=good, latency_seconds=0.1) as endpoint:
        asker = Asker(endpoint, cache=ResponseCache(path))

        async def work() -> Completion:
            first = asyncio.create_task(asker.ask())
            second = asyncio.create_task(asker.ask())
            await asyncio.sleep(0.02)
            first.cancel()
            return await second

        assert run(asker, work).parsed == Finding(**GOOD)
    assert endpoint.calls == 1


def test_a_call_nobody_waits_for_is_given_up(path: Path) -> None:
    with LocalEndpoint(answer=good, faults=[Fault("hang")]) as endpoint:
        asker = Asker(endpoint, cache=ResponseCache(path))

        async def work() -> Completion:
            first = asyncio.create_task(asker.ask())
            while not endpoint.calls:
                await asyncio.sleep(0.01)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            return await asker.ask()

        assert run(asker, work).parsed == Finding(**GOOD)
    assert endpoint.calls == 2


def test_all_who_share_a_failed_call_get_its_error(path: Path) -> None:
    with LocalEndpoint(answer=good, faults=[Fault("wrong_schema", every=1)]) as endpoint:
        asker = Asker(endpoint, cache=ResponseCache(path))

        async def work() -> list[Completion | BaseException]:
            return await asyncio.gather(*(asker.ask() for _ in range(3)), return_exceptions=True)

        assert [type(error) for error in run(asker, work)] == [ReplyError] * 3
    assert endpoint.calls == 3


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_damaged_file_is_a_usage_error(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(UsageError, match="not usable as a response cache") as caught:
        ResponseCache(path)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


def test_a_file_damaged_amid_a_run_is_a_usage_error(path: Path) -> None:
    cache = ResponseCache(path)
    with sqlite3.connect(path) as other:
        other.execute("DROP TABLE replies")
    other.close()
    with pytest.raises(UsageError, match="not usable as a response cache"):
        cache.get("0")


def test_another_programs_database_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(UsageError, match="another program's database"):
        ResponseCache(path)
    assert path.read_bytes() == before


def test_a_folder_is_no_cache(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be opened"):
        ResponseCache(tmp_path)


def test_an_unknown_mode_is_refused(path: Path) -> None:
    with pytest.raises(UsageError, match="expected on, off, only"):
        ResponseCache(path, "maybe")  # type: ignore[arg-type]


def test_a_cache_can_be_shown_and_pruned(path: Path) -> None:
    cache = ResponseCache(path)
    with LocalEndpoint(answer=good) as endpoint:
        asker = Asker(endpoint, cache=cache)

        async def work() -> None:
            await asker.ask_all(5)
            await asker.ask_all(3, model="other")

        run(asker, work)
    shown = cache.summary()
    assert (shown.entries, dict(shown.models)) == (8, {"m": 5, "other": 3})
    assert shown.bytes > 0
    assert shown.oldest is not None
    assert shown.newest is not None
    assert shown.oldest <= shown.newest
    assert cache.prune(older_than_seconds=3600) == 0
    assert cache.prune() == 8
    assert cache.summary().entries == 0


WORKER = """
import asyncio, sys
from pytest_memfail.llm import Ledger, ModelClient, ResponseCache

async def main(url, cache, ledger):
    client = ModelClient(base_url=url, api_key="k", cache=ResponseCache(cache), ledger=Ledger(ledger))
    for i in range(40):
        text = (await client.ask(model="m", messages=[{"role": "user", "content": str(i)}], stage="s")).text
        assert text == f"reply to {i}", text
    await client.close()

asyncio.run(main(*sys.argv[1:]))
"""


def test_processes_share_the_replies_and_the_books(tmp_path: Path) -> None:
    from pytest_memfail.llm import Ledger

    cache, ledger = tmp_path / "cache", tmp_path / "ledger"
    with LocalEndpoint(answer=lambda request: "reply to " + request["messages"][0]["content"]) as endpoint:
        command = [sys.executable, "-c", WORKER, endpoint.url, str(cache), str(ledger)]
        workers = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
        errors = [worker.communicate()[1] for worker in workers]
    assert errors == [b""] * 2
    assert ResponseCache(cache).summary().entries == 40
    totals = Ledger(ledger).totals()
    assert totals.calls == endpoint.calls
    assert totals.calls + totals.cache_hits == 80
