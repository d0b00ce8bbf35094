"""A temporary outage costs no question, a permanent one ends the run; on a clock on which waiting takes no time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from llm_asker import GOOD, Asker, Finding, good, run
from llm_clock import FakeClock

from pytest_memfail.llm import AuthError, Completion, EndpointError, Ledger, RateLimitError, WaitError
from pytest_memfail.llm.failures import RETRY_AFTER_CAP, retry_after
from pytest_memfail.llm.patience import MAX_WAIT_SECONDS, NEVER_ANSWERED_SECONDS, Patience
from pytest_memfail.testing import Fault, LocalEndpoint


class Outage:
    """Refuses the requests of this many seconds, starting with the first."""

    def __init__(self, clock: FakeClock, seconds: float, start: float = 0.0) -> None:
        self.clock, self.start, self.end = clock, start, start + seconds

    def __call__(self, _: Mapping[str, Any]) -> bool:
        return self.start <= self.clock.time < self.end


def asker_of(endpoint: LocalEndpoint | str, clock: FakeClock, **options: Any) -> Asker:
    """Return a client as users have it, except for the clock."""
    return Asker(endpoint, **{"backoff_seconds": 0.5, "clock": clock.clock} | options)


def kinds(replies: list[Completion | BaseException]) -> set[type]:
    return {type(reply) for reply in replies}


OUTAGES = {
    "dropped": Fault("drop"),
    "500": Fault(status=500),
    "503 with Retry-After": Fault(status=503, retry_after=2),
    "503 with Retry-After 0": Fault(status=503, retry_after=0),
    "429": Fault(status=429),
    "429 with Retry-After 0": Fault(status=429, retry_after=0),
}


@pytest.mark.parametrize(("concurrency", "seconds"), [(1, 10), (32, 60)])
@pytest.mark.parametrize("fault", OUTAGES.values(), ids=OUTAGES)
def test_an_outage_of_a_minute_costs_no_question(fault: Fault, seconds: float, concurrency: int) -> None:
    clock = FakeClock()
    fault = Fault(fault.kind, fault.status, fault.retry_after, when=Outage(clock, seconds))
    with LocalEndpoint(answer=good, faults=[fault]) as endpoint:
        asker = asker_of(endpoint, clock, concurrency=concurrency)
        replies = run(asker, lambda: asker.ask_all(40))
    assert kinds(replies) == {Completion}
    assert seconds <= clock.time < 2 * seconds + 30


def test_a_refused_connection_for_a_minute_costs_no_question() -> None:
    clock = FakeClock()
    with LocalEndpoint(answer=good) as endpoint:
        endpoint.die()
        asker = asker_of(endpoint, clock)

        async def work() -> list[Completion | BaseException]:
            asks = asyncio.create_task(asker.ask_all(40))
            while clock.time < 60:
                await asyncio.sleep(0)
            endpoint.revive()
            return await asks

        replies = run(asker, work)
    assert kinds(replies) == {Completion}


def test_the_retries_of_one_call_outlast_a_minute() -> None:
    clock = FakeClock()
    with LocalEndpoint(answer=good, faults=[Fault(status=500, every=1)]) as endpoint:
        asker = asker_of(endpoint, clock)
        with pytest.raises(EndpointError, match=r"answered 500.*asked 10 times"):
            run(asker, asker.ask)
    assert sum(clock.waits) > 60
    assert max(clock.waits) <= 20


def test_an_outage_within_a_run_of_minutes_costs_no_question_of_many() -> None:
    clock = FakeClock()
    faults = [None] * 10 + [Fault("drop", when=Outage(clock, 300))]
    with LocalEndpoint(answer=good, faults=faults) as endpoint:
        asker = asker_of(endpoint, clock, concurrency=32)
        replies = run(asker, lambda: asker.ask_all(120))
    assert kinds(replies) == {Completion}


def test_an_open_circuit_probes_with_one_request_at_a_time_and_closes_again() -> None:
    clock = FakeClock()
    outage = Outage(clock, 60)
    in_flight: list[int] = []

    def strikes(request: Mapping[str, Any]) -> bool:
        in_flight.append(endpoint.in_flight)
        return outage(request)

    with LocalEndpoint(answer=good, faults=[Fault(status=500, when=strikes)], latency_seconds=0.001) as endpoint:
        asker = asker_of(endpoint, clock, concurrency=16)
        replies = run(asker, lambda: asker.ask_all(100))
        # four at first, and up to three of them once more before it opens
        at_first, probes = in_flight[:4], in_flight[7 : endpoint.calls - 100]
    assert kinds(replies) == {Completion}
    assert max(at_first) > 1  # it was closed
    assert probes
    assert set(probes) == {1}
    assert endpoint.peak_in_flight > 1
    assert endpoint.calls < 100 + 16 + 20  # and not ten for each of the 16 that were in flight


def test_no_question_is_left_behind_by_one_that_always_fails() -> None:
    clock = FakeClock()

    def is_poison(request: Mapping[str, Any]) -> bool:
        return "entry 7 " in str(request["messages"])

    with LocalEndpoint(answer=good, faults=[Fault(status=500, when=is_poison)]) as endpoint:
        asker = asker_of(endpoint, clock, concurrency=1)
        replies = run(asker, lambda: asker.ask_all(20))
    assert [i for i, reply in enumerate(replies) if isinstance(reply, EndpointError)] == [7]
    assert kinds(replies) == {Completion, EndpointError}


# -- the end of waiting ------------------------------------------------------------------------------------------------

LASTING = {
    "429": Fault(status=429, every=1),
    "429 with an absurd Retry-After": Fault(status=429, retry_after="1000000000", every=1),
    "503 with an absurd Retry-After": Fault(status=503, retry_after="1000000000", every=1),
    "dropped": Fault("drop", every=1),
}


@pytest.mark.parametrize("fault", LASTING.values(), ids=LASTING)
def test_the_whole_wait_is_bounded_and_nothing_is_asked_after_it(fault: Fault) -> None:
    clock = FakeClock()
    with LocalEndpoint(answer=good, faults=[None, fault]) as endpoint:
        asker = asker_of(endpoint, clock, concurrency=8)

        async def work() -> tuple[list[Completion | BaseException], list[Completion | BaseException], int]:
            await asker.ask()
            first = await asker.ask_all(40)
            calls = endpoint.calls
            return first, await asker.ask_all(400), endpoint.calls - calls

        first, later, calls = run(asker, work)
    assert WaitError in kinds(first) <= {WaitError, RateLimitError, EndpointError}
    assert sum(isinstance(reply, WaitError) for reply in first) > 20
    assert clock.time == pytest.approx(MAX_WAIT_SECONDS, abs=1)
    assert max(clock.waits) <= RETRY_AFTER_CAP
    assert (kinds(later), calls) == ({WaitError}, 0)
    (said,) = {str(reply) for reply in [*first, *later] if isinstance(reply, WaitError)}
    assert said.startswith(f"127.0.0.1:{endpoint.port} ")
    assert "gave up after waiting 600 s in all" in said
    assert "--memfail-max-wait" in said
    assert "\n" not in said


def test_an_address_that_never_answers_is_given_up_sooner() -> None:
    clock = FakeClock()
    with LocalEndpoint(answer=good) as endpoint:
        url = endpoint.url
    asker = asker_of(url, clock, concurrency=8)
    replies = run(asker, lambda: asker.ask_all(50))
    assert kinds(replies) <= {EndpointError, WaitError}
    assert clock.time == pytest.approx(NEVER_ANSWERED_SECONDS, abs=1)
    assert "cannot be reached" in str(replies[-1])
    assert "is it up? check OPENAI_BASE_URL" in str(replies[-1])


def test_a_wait_beside_calls_that_are_answered_does_not_count() -> None:
    clock = FakeClock()
    patience = Patience(Ledger(), 10, clock.clock)
    patience.answered()
    for _ in range(10):
        with patience.waiting(), patience.waiting():  # two at once count once
            clock.time += 5
            patience.served()
            clock.time += 0.9
    patience.check()
    with patience.waiting():
        clock.time += 1.1
    with pytest.raises(WaitError, match="waiting 10 s"):
        patience.check()


def test_a_limit_of_no_wait_still_asks_once() -> None:
    clock = FakeClock()
    with LocalEndpoint(answer=good, faults=[None, Fault(status=429, every=1)]) as endpoint:
        asker = asker_of(endpoint, clock, concurrency=1, max_wait_seconds=0)
        replies = run(asker, lambda: asker.ask_all(3))
        assert endpoint.calls == 2
    assert [type(reply) for reply in replies] == [Completion, WaitError, WaitError]


def test_all_processes_of_a_run_stop_when_one_gives_up(tmp_path: Path) -> None:
    clock = FakeClock()
    with LocalEndpoint(answer=good, faults=[Fault(status=429)] * 2) as endpoint:
        one, another = (
            asker_of(endpoint, clock, ledger=Ledger(tmp_path / "books"), max_wait_seconds=0.5) for _ in range(2)
        )
        with pytest.raises(WaitError) as first:
            run(one, one.ask)
        calls = endpoint.calls
        with pytest.raises(WaitError) as second:
            run(another, another.ask)
    assert endpoint.calls == calls
    assert str(first.value) == str(second.value)


def test_a_wrong_key_still_stops_at_once() -> None:
    clock = FakeClock()
    with LocalEndpoint(answer=good, api_key="another") as endpoint:
        asker = asker_of(endpoint, clock)
        replies = run(asker, lambda: asker.ask_all(50))
    assert kinds(replies) == {AuthError}
    assert clock.waits == []


# -- Retry-After -------------------------------------------------------------------------------------------------------

ASKED = {
    "seconds": ("7", 7),
    "a minute": ("60", 60),
    "more": ("61", 60),
    "absurd": ("1000000000", 60),
    "of 5,000 digits": ("9" * 5000, 60),
    "infinite": ("inf", 60),
    "negative": ("-5", 0),
    "NaN": ("nan", None),
    "none": ("soon", None),
    "a far date": ("Fri, 31 Dec 9999 23:59:59 GMT", 60),
    "a past date": ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
    "a date without zone": ("Fri, 31 Dec 9999 23:59:59", 60),
    "no date": ("Fri, 99 Foo 99999 23:59:59 GMT", None),
    "the first year": ("Mon, 01 Jan 0001 00:00:00 +2359", 0),
}


@pytest.mark.parametrize(("header", "seconds"), ASKED.values(), ids=ASKED)
def test_what_a_header_may_ask_for_is_capped(header: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": header}) == seconds


def test_a_header_in_milliseconds_goes_first() -> None:
    assert retry_after({"retry-after-ms": "2500", "retry-after": "9"}) == 2.5


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("1000000000", 60), ("nan", 0.5), ("-5", 0.5)])
def test_what_a_header_asks_for_is_waited_and_at_least_the_backoff(header: str, seconds: float, status: int) -> None:
    clock = FakeClock()
    with LocalEndpoint(answer=good, faults=[Fault(status=status, retry_after=header)]) as endpoint:
        asker = asker_of(endpoint, clock)
        assert run(asker, asker.ask).parsed == Finding(**GOOD)
    assert 0.75 * seconds <= clock.time <= min(1.1 * seconds, RETRY_AFTER_CAP)
