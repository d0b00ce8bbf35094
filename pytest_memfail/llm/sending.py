"""Send requests until the endpoint replies: retries, rate limits, timeouts, budget, and a stop if it is dead."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.llm.address import Address
from pytest_memfail.llm.circuit import Circuit
from pytest_memfail.llm.completion import UNREPORTED
from pytest_memfail.llm.errors import AuthError, EndpointError, ModelCallError, ModelError, RateLimitError
from pytest_memfail.llm.failures import RETRY_AFTER_CAP, Cause, Transient, explain
from pytest_memfail.llm.http_client import http_client
from pytest_memfail.llm.ledger import Ledger
from pytest_memfail.llm.limiter import Limiter
from pytest_memfail.llm.pace import Pace, Waiting
from pytest_memfail.llm.patience import Clock, Patience
from pytest_memfail.llm.replies import WireReply, read_reply, read_vectors
from pytest_memfail.llm.request import Request, expected_usage, post

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MAX_TIMEOUTS: Final = 2
"""How often one call may time out: each time costs the whole timeout, and a hung endpoint seldom recovers."""
MAX_BACKOFF_SECONDS: Final = 20.0
CONNECT_SECONDS: Final = 10.0
BUDGET_POLL_SECONDS: Final = 0.02


class Sender:
    """Sends the requests of one client; they share a connection pool, a limit and the state of the endpoint."""

    def __init__(
        self,
        address: Address,
        ledger: Ledger,
        *,
        concurrency: int,
        timeout_seconds: float | None,
        max_retries: int,
        backoff_seconds: float,
        max_wait_seconds: float,
        clock: Clock,
    ) -> None:
        self._address = address
        self._ledger = ledger
        self._pace = Pace(timeout_seconds)
        self._max_retries = max_retries
        self._backoff = backoff_seconds
        self._random = random.Random()  # a separate generator: a memory system may rely on the seed of the global one
        self._patience = Patience(ledger, max_wait_seconds, clock)
        self._limiter = Limiter(concurrency, pause=self._patience.pause, now=clock.now)
        self._circuit = Circuit(self._patience, self._backed_off)
        self._sdk: AsyncOpenAI | None = None
        self._refused: dict[str, ModelCallError] = {}
        """Errors that every later request would cause too, by model, or under "" for all models."""

    @property
    def concurrency_now(self) -> int:
        """Return how many requests may be in flight at the moment."""
        return self._limiter.limit

    async def reply(self, request: Request) -> WireReply:
        """Return a reply of any content; retry requests that failed temporarily."""
        tries: Counter[Cause] = Counter()
        not_before = self._patience.now()
        while True:
            async with self._limiter.slot() as period:
                # keep the slot while waiting for a retry, so that queued calls do not all ask a dead endpoint
                while True:
                    async with self._circuit.passage(not_before):
                        self._raise_refused(request.model)
                        started = time.perf_counter()
                        outcome = await self._granted(request)
                        if not isinstance(outcome, Transient) or outcome.cause == "rate":
                            break
                        if outcome.cause == "timeout":
                            self._limiter.slow_down(period, 0.0)
                        self._count(outcome, tries)
                        not_before = self._patience.now() + self._delay(outcome, tries.total() - tries["rate"])
                if isinstance(outcome, WireReply):
                    self._adapt(request, time.perf_counter() - started, period)
                    return outcome
                if isinstance(outcome, ModelCallError):
                    raise outcome
                self._limiter.slow_down(period, self._delay(outcome, tries["rate"] + 1))
                self._count(outcome, tries)

    def _adapt(self, request: Request, seconds: float, period: int) -> None:
        """Allow more calls in flight after a quick reply, and fewer after a slow one."""
        speed = self._pace.speed(request.stage, request.model, seconds)
        if speed == "quick":
            self._limiter.succeeded()
        elif speed == "slow":
            self._limiter.slow_down(period, 0.0)

    def _raise_refused(self, model: str) -> None:
        """Raise the error that every call would cause, if there is one."""
        for refused in (self._refused.get(""), self._refused.get(model)):
            if refused is not None:
                raise type(refused)(str(refused))  # a new instance: a traceback grows with each raise

    def _count(self, failure: Transient, tries: Counter[Cause]) -> None:
        """Count a failure by its cause. Raise `EndpointError` after too many."""
        self._patience.failed(failure.message)
        tries[failure.cause] += 1
        said = f"{failure.message} (asked {times(tries.total())})"
        if failure.cause == "rate":
            if tries["rate"] > 2 * (self._max_retries + 1):
                raise RateLimitError(f"{said}; lower the concurrency or the number of workers")
            return
        self._circuit.failed(self._patience.now() + (failure.retry_after or 0.0))
        if tries.total() - tries["rate"] > self._max_retries or tries["timeout"] >= MAX_TIMEOUTS:
            raise EndpointError(f"{said}; {self._advice(failure)}")

    def _advice(self, failure: Transient) -> str:
        if not self._patience.has_served:
            return "is it up? check OPENAI_BASE_URL"
        if failure.cause == "timeout":
            return "it answered other calls: lower --memfail-concurrency or raise --memfail-reply-timeout"
        return "it answered other calls: was it stopped, or is it overloaded? lower --memfail-concurrency"

    def _delay(self, failure: Transient, failures: int) -> float:
        """Return the seconds to wait after this many failures: what the endpoint asks for, or longer if that did not
        help.
        """
        asked = (failure.retry_after or 0.0) * self._random.uniform(1.0, 1.1)
        return min(max(asked, self._backed_off(failures - 1)), RETRY_AFTER_CAP)

    def _backed_off(self, failures_before: int) -> float:
        """Return the seconds to wait, with some jitter, so that calls that failed together do not return together."""
        # 2**30 half seconds are years
        grown = self._backoff * 2 ** min(failures_before, 30)
        return float(min(grown, MAX_BACKOFF_SECONDS) * self._random.uniform(0.75, 1.0))

    async def _granted(self, request: Request) -> WireReply | Transient | ModelCallError:
        """Send one request when the budget allows it."""
        if not self._ledger.has_budget:
            return await self._sent(request)
        expected = expected_usage(request)
        # the reservation of a killed process lapses when no call can still be in flight
        while (held := self._ledger.reserve(request.model, expected, seconds=self._pace.most_seconds)) is None:
            await asyncio.sleep(BUDGET_POLL_SECONDS)
        try:
            return await self._sent(request)
        finally:
            self._ledger.release(held)

    async def _sent(self, request: Request) -> WireReply | Transient | ModelCallError:
        """Send one request and return its outcome. Raise `ReplyError` for a response that is not a completion.

        Returns errors, which are raised elsewhere, so that they do not chain the SDK's own, which contain the key.
        """
        started = time.perf_counter()
        waited = self._pace.seconds
        try:
            sdk = self._connected()  # the first use imports the SDK, which must not count as the endpoint's time
            call = self._pace.sent(time.perf_counter())
            body = await self._in_time(post(sdk, request), call)
        except ModelCallError as error:
            outcome: Transient | ModelCallError = error
        except Exception as error:
            if isinstance(error, asyncio.TimeoutError):
                waited = self._pace.deadline(call) - call.begun
                self._pace.timed_out(call)
            served = self._patience.has_served
            outcome = explain(error, self._address, request.model, waited, has_served=served)
        else:
            self._is_alive()
            self._patience.served()
            return self._booked(request, body, time.perf_counter() - started)
        self._ledger.record_failure(request.stage, request.model)
        if isinstance(outcome, AuthError):
            self._refused[""] = outcome
        elif isinstance(outcome, ModelError):
            self._refused[request.model] = outcome
        if isinstance(outcome, ModelCallError) or outcome.cause == "rate":
            self._is_alive()
        elif outcome.cause == "server":
            self._patience.answered()
        return outcome

    async def _in_time(self, work: Coroutine[Any, Any, bytes], call: Waiting) -> bytes:
        """Return the result of the work. Raise `asyncio.TimeoutError` when the call is given up."""
        task = asyncio.ensure_future(work)
        is_answered = False
        try:
            while not task.done():
                # the deadline moves while calls before this one are answered
                if (left := self._pace.deadline(call) - time.perf_counter()) <= 0:
                    raise asyncio.TimeoutError
                await asyncio.wait({task}, timeout=left)
            body = task.result()
            is_answered = True
            return body
        finally:
            self._pace.done(call, time.perf_counter(), answered=is_answered)
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def _is_alive(self) -> None:
        self._circuit.answered()
        self._patience.answered()

    def _booked(self, request: Request, body: bytes, seconds: float) -> WireReply:
        usage = UNREPORTED
        try:
            reply = read_vectors(body, len(request.texts)) if request.texts else read_reply(body)
            usage = reply.usage
            return reply
        finally:
            charged = usage.or_expected(lambda: expected_usage(request))
            self._ledger.record_call(request.stage, request.model, charged, seconds)

    def _connected(self) -> AsyncOpenAI:
        if self._sdk is None:
            import openai

            headers = {"Authorization": self._address.login} if self._address.login else None
            self._sdk = openai.AsyncOpenAI(
                api_key=self._address.key(),
                base_url=self._address.url,
                default_headers=headers,
                # we time the whole request: the SDK times each read, so an endpoint that trickles would hang
                timeout=openai.Timeout(None, connect=min(self._pace.seconds, CONNECT_SECONDS)),
                max_retries=0,  # our own retries must see every 429
                http_client=http_client(self._address.host),
            )
        return self._sdk

    async def close(self) -> None:
        """Close the connections; the client reconnects if it is used again."""
        if self._sdk is not None:
            sdk, self._sdk = self._sdk, None
            await sdk.close()


def times(count: int) -> str:
    """Return "once" or "N times"."""
    return "once" if count == 1 else f"{count} times"
