"""The number of calls in flight: as configured, fewer after a 429, more again later."""

from __future__ import annotations

import asyncio

import pytest
from llm_asker import Asker, good, run

from pytest_memfail.core import UsageError
from pytest_memfail.llm import Completion, Ledger, ModelClient, RateLimitError
from pytest_memfail.llm.limiter import SUCCESSES_PER_STEP, Limiter
from pytest_memfail.testing import Fault, LocalEndpoint


@pytest.mark.parametrize("concurrency", [1, 4, 32])
def test_as_many_calls_in_flight_as_asked_for_and_no_more(concurrency: int) -> None:
    with LocalEndpoint(answer=good, faults=[Fault("hang", every=1)]) as endpoint:
        asker = Asker(endpoint, concurrency=concurrency)

        async def work() -> None:
            asks = [asyncio.create_task(asker.ask(f"{i}?")) for i in range(2 * concurrency + 2)]
            while endpoint.in_flight < concurrency:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            for ask in asks:
                ask.cancel()
            await asyncio.gather(*asks, return_exceptions=True)

        run(asker, work)
    assert endpoint.peak_in_flight == concurrency


def test_one_pool_of_connections_is_used_again_and_again() -> None:
    with LocalEndpoint(answer=good) as endpoint:
        asker = Asker(endpoint, concurrency=4)
        run(asker, lambda: asker.ask_all(40))
    assert endpoint.connections <= 4


def test_fewer_calls_after_429_and_more_again_later() -> None:
    with LocalEndpoint(answer=good, faults=[Fault(status=429)] * 16) as endpoint:
        asker = Asker(endpoint, concurrency=16)

        async def work() -> tuple[int, int, int]:
            replies = await asker.ask_all(16)
            assert all(isinstance(reply, Completion) for reply in replies)
            after = asker.client.concurrency_now
            endpoint.reset_counters()
            await asker.ask_all(SUCCESSES_PER_STEP)
            peak = endpoint.peak_in_flight
            await asker.ask_all(SUCCESSES_PER_STEP * 16)
            return after, peak, asker.client.concurrency_now

        after, peak, recovered = run(asker, work)
    assert after < 16
    assert peak <= after
    assert recovered == 16


def test_a_burst_of_429_counts_once() -> None:
    async def work() -> int:
        limiter = Limiter(32)

        async def refused() -> None:
            async with limiter.slot() as period:
                await asyncio.sleep(0)
                limiter.slow_down(period, 0.0)

        await asyncio.gather(*(refused() for _ in range(32)))
        return limiter.limit

    assert asyncio.run(work()) == 16


def test_at_least_one_call_is_in_flight() -> None:
    async def work() -> int:
        limiter = Limiter(4)
        for _ in range(10):
            async with limiter.slot() as period:
                limiter.slow_down(period, 0.0)
        return limiter.limit

    assert asyncio.run(work()) == 1


def test_a_cancelled_call_gives_its_slot_back() -> None:
    async def work() -> int:
        limiter = Limiter(1)

        async def hold() -> None:
            async with limiter.slot():
                await asyncio.sleep(60)

        holder = asyncio.create_task(hold())
        await asyncio.sleep(0)
        waiting = [asyncio.create_task(hold()) for _ in range(3)]
        await asyncio.sleep(0)
        holder.cancel()
        waiting[0].cancel()  # it may just have been given the slot
        waiting[1].cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        in_flight = limiter.in_flight
        waiting[2].cancel()
        await asyncio.gather(holder, *waiting, return_exceptions=True)
        assert limiter.in_flight == 0
        return in_flight

    assert asyncio.run(work()) == 1


def test_retry_after_is_waited_for() -> None:
    with LocalEndpoint(answer=good, faults=[Fault(status=429, retry_after=0.2)]) as endpoint:
        asker = Asker(endpoint)

        async def work() -> float:
            loop = asyncio.get_running_loop()
            started = loop.time()
            await asker.ask()
            return loop.time() - started

        assert run(asker, work) >= 0.2


def test_429_for_ever_is_an_error_and_no_dead_endpoint() -> None:
    with LocalEndpoint(answer=good, faults=[Fault(status=429, when=lambda r: r["model"] == "busy")]) as endpoint:
        asker = Asker(endpoint, max_retries=0)

        async def work() -> Completion:
            for _ in range(4):
                with pytest.raises(RateLimitError, match="lower the concurrency"):
                    await asker.ask(model="busy")
            return await asker.ask(model="idle")

        assert run(asker, work).parsed is not None


def test_a_concurrency_of_none_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        ModelClient(ledger=Ledger(), concurrency=0)
