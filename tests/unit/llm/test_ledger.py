"""The ledger and the budget."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from llm_asker import Asker, good, run
from llm_upstream import Upstream, completed

from pytest_memfail.core import UsageError
from pytest_memfail.llm import BudgetError, Completion, Ledger, Price, Prices, ResponseCache, Usage
from pytest_memfail.testing import Fault, LocalEndpoint

PRICES = Prices({"m": Price(input=1.0, cached_input=0.5, output=10.0)})


def test_calls_are_booked_by_stage_and_model() -> None:
    with LocalEndpoint(answer=good, faults=[Fault(status=500)]) as endpoint:
        asker = Asker(endpoint, ledger=Ledger(prices=PRICES))

        async def work() -> None:
            await asker.ask(stage="storage")
            await asker.ask(stage="summary")
            await asker.ask(stage="summary", model="other")

        run(asker, work)
    totals = asker.ledger.totals()
    assert [(row.stage, row.model, row.calls) for row in totals.rows] == [
        ("storage", "m", 1),
        ("summary", "m", 1),
        ("summary", "other", 1),
    ]
    assert [row.failures for row in totals.rows] == [1, 0, 0]
    first = totals.rows[0]
    assert first.cost == pytest.approx((first.prompt_tokens * 1.0 + first.completion_tokens * 10.0) / 1e6)
    assert first.seconds > 0
    assert totals.calls == 3
    assert totals.prompt_tokens == 3 * first.prompt_tokens


def test_the_cost_is_unknown_when_one_price_is() -> None:
    ledger = Ledger(prices=PRICES)
    ledger.record_call("s", "m", Usage(1_000_000, 100_000, 400_000), 1.0)
    assert ledger.totals().cost == pytest.approx(0.6 + 0.2 + 1.0)
    ledger.record_hit("s", "free of charge")
    assert ledger.totals().cost == pytest.approx(1.8)
    ledger.record_call("s", "nobody knows", Usage(10, 10), 1.0)
    assert ledger.totals().cost is None
    assert ledger.totals().prompt_tokens == 1_000_010


def test_an_empty_ledger_cost_nothing() -> None:
    assert Ledger().totals().cost == 0
    assert Ledger().totals().rows == ()


@pytest.mark.parametrize("budget", [{"max_tokens": 600}, {"max_cost": 0.0035}], ids=["tokens", "cost"])
def test_no_call_beyond_the_budget(budget: dict[str, float]) -> None:
    with LocalEndpoint(answer=good, latency_seconds=0.01) as endpoint:
        asker = Asker(endpoint, ledger=Ledger(prices=PRICES, **budget), concurrency=16)
        replies = run(asker, lambda: asker.ask_all(100))
    errors = [reply for reply in replies if not isinstance(reply, Completion)]
    assert errors
    assert {type(error) for error in errors} == {BudgetError}
    assert all(str(error).startswith("budget: ") for error in errors)
    totals = asker.ledger.totals()
    assert endpoint.calls == totals.calls == 100 - len(errors)
    assert totals.calls > 5
    assert totals.prompt_tokens + totals.completion_tokens <= budget.get("max_tokens", 1e9)
    assert totals.cost is not None
    assert totals.cost <= budget.get("max_cost", 1e9)


def test_calls_in_flight_are_waited_for_before_the_budget_counts_as_used_up() -> None:
    # one call is expected to use about 260 tokens but uses 20: in parallel they would not fit
    with LocalEndpoint(answer=good, latency_seconds=0.01) as endpoint:
        asker = Asker(endpoint, ledger=Ledger(max_tokens=600), concurrency=16)
        replies = run(asker, lambda: asker.ask_all(12))
    assert [type(reply) for reply in replies] == [Completion] * 12
    assert endpoint.peak_in_flight <= 2


def test_once_used_up_the_budget_stays_so(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger", max_tokens=100)
    with pytest.raises(BudgetError):
        ledger.reserve("m", Usage(101), seconds=60)
    with pytest.raises(BudgetError):
        Ledger(tmp_path / "ledger", max_tokens=100).reserve("m", Usage(1), seconds=60)
    # a run that continues with a larger budget
    assert Ledger(tmp_path / "ledger", max_tokens=200).reserve("m", Usage(101), seconds=60) is not None


def test_a_reservation_is_given_back_or_lapses() -> None:
    ledger = Ledger(max_tokens=100)
    held = ledger.reserve("m", Usage(60), seconds=60)
    assert held is not None
    assert ledger.reserve("m", Usage(60), seconds=60) is None
    ledger.release(held)
    assert ledger.reserve("m", Usage(60), seconds=-1) is not None  # as of a killed process
    assert ledger.reserve("m", Usage(60), seconds=60) is not None


def test_a_cancelled_call_gives_its_reservation_back() -> None:
    with LocalEndpoint(answer=good, faults=[Fault("hang")]) as endpoint:
        asker = Asker(endpoint, ledger=Ledger(max_tokens=400))

        async def work() -> Completion:
            hung = asyncio.create_task(asker.ask())
            while not endpoint.calls:
                await asyncio.sleep(0.01)
            hung.cancel()
            return await asker.ask()

        assert run(asker, work).parsed is not None


@pytest.mark.parametrize("body", [completed("ok"), {"detail": "overloaded"}], ids=["reply", "no reply"])
def test_a_reply_without_usage_is_charged_what_was_reserved(body: dict[str, Any]) -> None:
    with Upstream(body) as upstream:
        asker = Asker(upstream.url, ledger=Ledger(max_tokens=1000))
        asked = lambda: asker.ask_all(8, schema=None, parameters={"max_tokens": 200})  # noqa: E731
        replies = run(asker, asked)
    (row,) = asker.ledger.totals().rows
    assert (row.calls, row.estimated, row.completion_tokens) == (4, 4, 800)
    assert any(isinstance(reply, BudgetError) for reply in replies)


def test_the_cache_needs_no_budget(tmp_path: Path) -> None:
    with LocalEndpoint(answer=good) as endpoint:
        first = Asker(endpoint, cache=ResponseCache(tmp_path / "cache"))
        run(first, first.ask)
        second = Asker(endpoint, cache=ResponseCache(tmp_path / "cache"), ledger=Ledger(max_tokens=0))

        async def work() -> Completion:
            with pytest.raises(BudgetError):
                await second.ask("Something new?")
            return await second.ask()

        assert run(second, work).from_cache


def test_a_budget_in_usd_needs_prices() -> None:
    with pytest.raises(UsageError, match=r"price of 'llama3' is unknown .*give its USD"):
        Ledger(max_cost=1.0).check_prices(["gpt-5-mini", "llama3"])
    Ledger(max_cost=1.0, prices=Prices({"llama3": {"input": 0, "output": 0}})).check_prices(["llama3"])
    Ledger(max_tokens=1).check_prices(["llama3"])


@pytest.mark.parametrize("budget", [{"max_cost": -1.0}, {"max_tokens": -1}, {"max_cost": float("nan")}])
def test_what_is_no_budget_is_refused(budget: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="0 or more"):
        Ledger(**budget)  # type: ignore[arg-type]


def test_a_file_that_is_no_ledger_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("hello" * 1000)
    with pytest.raises(UsageError, match="not usable as a ledger"):
        Ledger(tmp_path / "file")
    ResponseCache(tmp_path / "cache")
    with pytest.raises(UsageError, match="not a ledger of model calls"):
        Ledger(tmp_path / "cache")


WORKER = """
import asyncio, sys
from pytest_memfail.llm import BudgetError, Ledger, ModelClient

async def main(url, ledger):
    client = ModelClient(base_url=url, api_key="k", ledger=Ledger(ledger, max_tokens=1000))
    asks = [
        client.ask(model="m", messages=[{"role": "user", "content": f"question {i}"}], stage="s") for i in range(80)
    ]
    replies = await asyncio.gather(*asks, return_exceptions=True)
    refused = [reply for reply in replies if isinstance(reply, Exception)]
    assert all(isinstance(error, BudgetError) for error in refused), refused
    await client.close()

asyncio.run(main(*sys.argv[1:]))
"""


def test_processes_share_one_budget(tmp_path: Path) -> None:
    with LocalEndpoint(answer=lambda _: "word " * 10) as endpoint:
        command = [sys.executable, "-c", WORKER, endpoint.url, str(tmp_path / "ledger")]
        workers = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
        errors = [worker.communicate()[1] for worker in workers]
    assert errors == [b"", b""]
    totals = Ledger(tmp_path / "ledger").totals()
    assert totals.calls == endpoint.calls
    assert 500 < totals.prompt_tokens + totals.completion_tokens <= 1000
