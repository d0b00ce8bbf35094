"""The number of calls in flight: few at first, at most as configured, fewer when the endpoint cannot cope."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from llm_asker import GOOD, Asker, good, run

from pytest_memfail.core import UsageError
from pytest_memfail.llm import Completion, EndpointError, Ledger, ModelClient, RateLimitError
from pytest_memfail.llm.limiter import FIRST_IN_FLIGHT, SUCCESSES_PER_STEP, Limiter
from pytest_memfail.llm.pace import Pace
from pytest_memfail.testing import Fault, LocalEndpoint


@pytest.mark.parametrize("concurrency", [1, 4, 32])
def test_as_many_calls_in_flight_as_asked_for_and_no_more(concurrency: int) -> None:
    hang = Fault("hang", when=lambda request: request["model"] == "hung")
    with LocalEndpoint(answer=good, faults=[hang]) as endpoint:
        asker = Asker(endpoint, concurrency=concurrency)

        async def work() -> None:
            await asker.ask_all(concurrency)  # quick replies, after which all may be in flight
            endpoint.reset_counters()
            asks = [asyncio.create_task(asker.ask(f"{i}?", model="hung")) for i in range(2 * concurrency + 2)]
            while endpoint.in_flight < concurrency:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            for ask in asks:
                ask.cancel()
            await asyncio.gather(*asks, return_exceptions=True)

        run(asker, work)
    assert endpoint.peak_in_flight == concurrency


def test_few_calls_are_in_flight_before_the_first_reply() -> None:
    with LocalEndpoint(answer=good, faults=[Fault("hang", every=1)]) as endpoint:
        asker = Asker(endpoint, concurrency=32)

        async def work() -> None:
            asks = [asyncio.create_task(asker.ask(f"{i}?")) for i in range(32)]
            while endpoint.in_flight < FIRST_IN_FLIGHT:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            for ask in asks:
                ask.cancel()
            await asyncio.gather(*asks, return_exceptions=True)

        run(asker, work)
    assert endpoint.peak_in_flight == FIRST_IN_FLIGHT


def _replied(limiter: Limiter, pace: Pace, replies: list[float]) -> None:
    """Give the limiter replies of these seconds, as the sender does."""

    async def work() -> None:
        for seconds in replies:
            async with limiter.slot() as period:
                speed = pace.speed("storage", "m", seconds)
                if speed == "quick":
                    limiter.succeeded()
                elif speed == "slow":
                    limiter.slow_down(period, 0.0)

    asyncio.run(work())


def test_quick_replies_double_the_calls_in_flight_each_round() -> None:
    limiter = Limiter(32)
    _replied(limiter, Pace(None), [0.2] * (4 + 8 + 16))
    assert limiter.limit == 32


def test_a_model_that_always_takes_long_is_not_taken_for_overloaded() -> None:
    limiter = Limiter(32)
    _replied(limiter, Pace(None), [20.0, 45.0, 30.0, 55.0] * 8)
    assert limiter.limit == 32


def test_replies_that_take_ever_longer_take_calls_away() -> None:
    pace, limiter = Pace(None), Limiter(32)
    _replied(limiter, pace, [10.0] * 4)
    assert limiter.limit == 8
    _replied(limiter, pace, [25.0])  # neither quick nor slow
    assert limiter.limit == 8
    limiter.in_flight = 7  # the others
    _replied(limiter, pace, [40.0])
    assert limiter.limit == 4
    limiter.in_flight = 0
    _replied(limiter, pace, [5.0] * (SUCCESSES_PER_STEP - 1))
    assert limiter.limit == 4
    _replied(limiter, pace, [5.0])
    assert limiter.limit == 5


def test_a_call_waits_for_those_sent_before_it() -> None:
    pace = Pace(None)
    first, second, third = (pace.sent(0.0) for _ in range(3))
    assert pace.deadline(third) == 60.0
    pace.done(first, 50.0, answered=True)
    assert pace.deadline(third) == 110.0
    pace.done(second, 100.0, answered=True)
    assert pace.deadline(third) == 160.0


def test_calls_sent_together_may_be_answered_in_any_order() -> None:
    pace = Pace(None)
    first, second = pace.sent(0.0), pace.sent(0.01)
    pace.done(second, 50.0, answered=True)
    assert pace.deadline(first) == 110.0


def test_a_call_is_lost_when_those_after_it_are_answered() -> None:
    pace = Pace(None)
    lost = pace.sent(0.0)
    for at in range(1, 60):
        pace.done(pace.sent(float(at)), at + 0.5, answered=True)
    assert pace.deadline(lost) == 60.0


def test_failed_calls_do_not_make_others_wait_longer_and_no_call_waits_for_ever() -> None:
    pace = Pace(5.0)
    first, second = pace.sent(0.0), pace.sent(0.0)
    pace.done(first, 4.0, answered=False)
    assert pace.deadline(second) == 5.0
    other = pace.sent(0.0)
    pace.done(other, 49.0, answered=True)
    assert pace.deadline(second) == 50.0


def test_the_wait_grows_only_if_the_user_did_not_set_it() -> None:
    adaptive, fixed = Pace(None), Pace(30.0)
    for pace in (adaptive, fixed):
        together = [pace.sent(0.0) for _ in range(4)]
        for call in together:
            pace.timed_out(call)
    assert (adaptive.seconds, fixed.seconds) == (120.0, 30.0)
    for pace in (adaptive, fixed):
        for _ in range(9):
            pace.timed_out(pace.sent(0.0))
    assert (adaptive.seconds, fixed.seconds) == (600.0, 30.0)


def test_a_server_with_one_slot_answers_all_although_the_last_waits_for_long() -> None:
    def answer(_: dict[str, Any]) -> Any:  # the endpoint answers one call at a time
        time.sleep(0.6)
        return GOOD

    with LocalEndpoint(answer=answer) as endpoint:
        asker = Asker(endpoint, timeout_seconds=2.0, max_retries=0)
        replies = run(asker, lambda: asker.ask_all(5))
    assert all(isinstance(reply, Completion) for reply in replies), replies
    assert endpoint.calls == 5


def test_after_answered_calls_a_silent_endpoint_is_said_to_be_overloaded() -> None:
    hang = Fault("hang", when=lambda request: request["model"] == "hung")
    with LocalEndpoint(answer=good, faults=[hang]) as endpoint:
        asker = Asker(endpoint, timeout_seconds=0.2)

        async def work() -> str:
            with pytest.raises(EndpointError) as never:
                await asker.ask(model="hung")
            assert "is it up?" in str(never.value)
            await asker.ask()
            with pytest.raises(EndpointError) as later:
                await asker.ask("again", model="hung")
            return str(later.value)

        said = run(asker, work)
    assert "lower --memfail-concurrency or raise --memfail-reply-timeout" in said
    assert "is it up?" not in said


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
        limiter = Limiter(32, first=32)

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
