"""Sends requests to an endpoint until it replies: retries, rate limits, timeouts, budget, and a stop when it is dead."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_memfail.llm.address import Address
from pytest_memfail.llm.circuit import Circuit
from pytest_memfail.llm.completion import Usage
from pytest_memfail.llm.errors import AuthError, EndpointError, ModelCallError, ModelError, RateLimitError, ReplyError
from pytest_memfail.llm.failures import Transient, explain
from pytest_memfail.llm.ledger import Ledger
from pytest_memfail.llm.limiter import Limiter
from pytest_memfail.llm.replies import WireReply, read_reply
from pytest_memfail.llm.request import Request, expected_usage, post

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MAX_TIMEOUTS: Final = 2
"""How often one call may time out: each time costs the whole timeout, and a hung endpoint seldom recovers."""
MAX_BACKOFF_SECONDS: Final = 20.0
CONNECT_SECONDS: Final = 10.0
BUDGET_POLL_SECONDS: Final = 0.02


@dataclass(slots=True)
class _Tries:
    """How often the requests of one call failed, by what it tells."""

    rate: int = 0
    timeout: int = 0
    other: int = 0

    def __str__(self) -> str:
        return f"asked {times(self.rate + self.timeout + self.other)}"


class Sender:
    """The requests of one client: all share a pool of connections, a limit, and what is known of the endpoint."""

    def __init__(
        self,
        address: Address,
        ledger: Ledger,
        *,
        concurrency: int,
        timeout_seconds: float,
        max_retries: int,
        backoff_seconds: float,
        probe_seconds: float,
    ) -> None:
        self._address = address
        self._ledger = ledger
        self._timeout = timeout_seconds
        self._max_retries = max_retries
        self._backoff = backoff_seconds
        self._limiter = Limiter(concurrency)
        self._circuit = Circuit(probe_seconds)
        self._random = random.Random()  # of its own: a memory system may count on the seed of the global one
        self._sdk: AsyncOpenAI | None = None
        self._refused: dict[str, ModelCallError] = {}
        """Errors that every later request would meet again: by model, or under "" for all."""

    @property
    def concurrency_now(self) -> int:
        """How many requests may be in flight at the moment."""
        return self._limiter.limit

    async def reply(self, request: Request) -> WireReply:
        """A reply of whatever content; requests that failed for a reason that may pass are sent again."""
        tries = _Tries()
        probing = False
        while True:
            async with self._limiter.slot() as period:
                # the slot is kept while a failed request waits: a dead endpoint must not be asked by all who queue
                while True:
                    probing = self._check(request.model, probing=probing)
                    outcome = await self._granted(request)
                    if not isinstance(outcome, Transient) or outcome.cause == "rate":
                        break
                    self._count(outcome, tries, probing=probing)
                    await asyncio.sleep(self._delay(outcome, tries.timeout + tries.other - 1))
                if isinstance(outcome, WireReply):
                    self._limiter.succeeded()
                    return outcome
                if isinstance(outcome, ModelCallError):
                    raise outcome
                self._limiter.slow_down(period, self._delay(outcome, tries.rate))
                self._count(outcome, tries, probing=probing)

    def _check(self, model: str, *, probing: bool) -> bool:
        """Raise what every call would meet; returns True for the one call that tries a dead endpoint."""
        for refused in (self._refused.get(""), self._refused.get(model)):
            if refused is not None:
                raise type(refused)(str(refused))  # one of its own: a traceback grows with each raise
        if probing or not self._circuit.is_open:
            return probing
        if self._circuit.may_probe():
            return True
        raise EndpointError(f"{self._circuit.reason}; not asked, as the last calls all ended so")

    def _count(self, failure: Transient, tries: _Tries, *, probing: bool) -> None:
        """Count a failure; raises `EndpointError` when there were too many."""
        if failure.cause == "rate":
            tries.rate += 1
            if tries.rate > 2 * (self._max_retries + 1):
                raise RateLimitError(f"{failure.message} ({tries}); lower the concurrency or the number of workers")
            return
        if failure.cause == "timeout":
            tries.timeout += 1
        else:
            tries.other += 1
        if probing or tries.timeout + tries.other > self._max_retries or tries.timeout >= MAX_TIMEOUTS:
            self._circuit.failed(failure.message)
            raise EndpointError(f"{failure.message} ({tries}); is it up? check OPENAI_BASE_URL")

    def _delay(self, failure: Transient, failures_before: int) -> float:
        """Seconds to wait, with some jitter: what failed together must not come back together."""
        if failure.retry_after is not None:
            return failure.retry_after * self._random.uniform(1.0, 1.1)
        return float(min(self._backoff * 2**failures_before, MAX_BACKOFF_SECONDS) * self._random.uniform(0.75, 1.0))

    async def _granted(self, request: Request) -> WireReply | Transient | ModelCallError:
        """One request, once the budget allows it."""
        if not self._ledger.has_budget:
            return await self._sent(request)
        expected = expected_usage(request)
        # a request takes at most one timeout; what a killed process set aside lapses after two
        while (held := self._ledger.reserve(request.model, expected, seconds=2 * self._timeout)) is None:
            await asyncio.sleep(BUDGET_POLL_SECONDS)
        try:
            return await self._sent(request)
        finally:
            self._ledger.release(held)

    async def _sent(self, request: Request) -> WireReply | Transient | ModelCallError:
        """One request and what came of it; raises `ReplyError` for a response that is no completion.

        Errors are returned and raised elsewhere, so that none carries the SDK's own: those hold the key.
        """
        started = time.perf_counter()
        try:
            sdk = self._connected()  # at first use this imports the SDK, which is not the endpoint's time
            body = await asyncio.wait_for(post(sdk, request), self._timeout)
        except ModelCallError as error:
            outcome: Transient | ModelCallError = error
        except Exception as error:
            outcome = explain(error, self._address, request.model, self._timeout)
        else:
            self._circuit.answered()
            return self._booked(request, body, time.perf_counter() - started)
        self._ledger.record_failure(request.stage, request.model)
        if isinstance(outcome, AuthError):
            self._refused[""] = outcome
        elif isinstance(outcome, ModelError):
            self._refused[request.model] = outcome
        if isinstance(outcome, ModelCallError) or outcome.cause == "rate":
            self._circuit.answered()
        return outcome

    def _booked(self, request: Request, body: bytes, seconds: float) -> WireReply:
        try:
            reply = read_reply(body)
        except ReplyError:
            self._ledger.record_call(request.stage, request.model, Usage(), seconds)
            raise
        self._ledger.record_call(request.stage, request.model, reply.usage, seconds)
        return reply

    def _connected(self) -> AsyncOpenAI:
        if self._sdk is None:
            import openai

            headers = {"Authorization": self._address.login} if self._address.login else None
            self._sdk = openai.AsyncOpenAI(
                api_key=self._address.key(),
                base_url=self._address.url,
                default_headers=headers,
                # the whole request is timed by us: the SDK times each read, and an endpoint that trickles hangs
                timeout=openai.Timeout(self._timeout, connect=min(self._timeout, CONNECT_SECONDS)),
                max_retries=0,  # ours see every 429
            )
        return self._sdk

    async def close(self) -> None:
        """Close the connections; the client connects anew if it is used again."""
        if self._sdk is not None:
            sdk, self._sdk = self._sdk, None
            await sdk.close()


def times(count: int) -> str:
    """How often, in words."""
    return "once" if count == 1 else f"{count} times"
