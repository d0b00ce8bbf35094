"""Asks models: one connection pool per process, with a cache, a budget, and patience with what endpoints do."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import UsageError
from pytest_memfail.llm.address import Address
from pytest_memfail.llm.cache import CachedReply, ResponseCache, request_key
from pytest_memfail.llm.circuit import Circuit
from pytest_memfail.llm.completion import Completion, Usage
from pytest_memfail.llm.errors import (
    AuthError,
    CacheMissError,
    EndpointError,
    ModelCallError,
    ModelError,
    RateLimitError,
    RefusalError,
    ReplyError,
)
from pytest_memfail.llm.failures import Transient, explain
from pytest_memfail.llm.ledger import Ledger
from pytest_memfail.llm.limiter import Limiter
from pytest_memfail.llm.replies import WireReply, check_reply, packed, parse_reply, read_reply, unpacked
from pytest_memfail.llm.request import OUR_PARAMETERS, Request, encodable, expected_usage, json_schema, post

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic import BaseModel

REPLY_RETRIES: Final = 2
"""How often a reply that cannot be used is asked for again."""
MAX_TIMEOUTS: Final = 2
"""How often one call may time out: each time costs the whole timeout, and a hung endpoint seldom recovers."""
MAX_BACKOFF_SECONDS: Final = 20.0
CONNECT_SECONDS: Final = 10.0
BUDGET_POLL_SECONDS: Final = 0.02


@dataclass(slots=True)
class _Shared:
    """A call in flight that identical ones wait for too."""

    task: asyncio.Task[Completion]
    waiting: int = 0


@dataclass(slots=True)
class _Tries:
    """How often the requests of one call failed, by what it tells."""

    rate: int = 0
    timeout: int = 0
    other: int = 0

    def __str__(self) -> str:
        return f"asked {_times(self.rate + self.timeout + self.other)}"


class ModelClient:
    """Asks any OpenAI-compatible endpoint. Lives on one event loop; make one per process."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        cache: ResponseCache | None = None,
        concurrency: int = 32,
        timeout_seconds: float = 60.0,
        max_retries: int = 4,
        base_url: str | None = None,
        api_key: str | None = None,
        backoff_seconds: float = 0.5,
        probe_seconds: float = 5.0,
    ) -> None:
        """Configure a client; nothing is connected, and no SDK loaded, before a call needs it.

        Args:
            ledger: is told of all calls, and holds the budget.
            cache: replies already given; None for none.
            concurrency: calls in flight at most; fewer while the endpoint answers 429.
            timeout_seconds: for one request.
            max_retries: of a request that failed for a reason that may pass. 429 is retried more than twice as often.
            base_url: of the endpoint; None takes OPENAI_BASE_URL, or else OpenAI's.
            api_key: None takes OPENAI_API_KEY.
            backoff_seconds: before the first retry without Retry-After; then doubled each time, at most 20.
            probe_seconds: how often a dead endpoint is tried again.

        Raises `UsageError` for a base URL or a number that is none.
        """
        if concurrency < 1:
            raise UsageError(f"got a concurrency of {concurrency}, expected a whole number of at least 1")
        self.ledger = ledger
        self.cache = cache
        self.concurrency = concurrency
        self._address = Address(base_url, api_key)
        self._timeout = timeout_seconds
        self._max_retries = max_retries
        self._backoff = backoff_seconds
        self._limiter = Limiter(concurrency)
        self._circuit = Circuit(probe_seconds)
        self._random = random.Random()  # of its own: a memory system may count on the seed of the global one
        self._sdk: AsyncOpenAI | None = None
        self._shared: dict[str, _Shared] = {}
        self._refused: dict[str, ModelCallError] = {}
        """Errors that every later call would meet again: by model, or under "" for all."""

    def __repr__(self) -> str:
        return f"ModelClient({self._address!r}, concurrency={self.concurrency})"

    @property
    def endpoint(self) -> str:
        """Host and port of the endpoint: what may be shown of it."""
        return self._address.host

    @property
    def concurrency_now(self) -> int:
        """How many calls may be in flight at the moment."""
        return self._limiter.limit

    async def ask(
        self,
        *,
        model: str,
        messages: Sequence[Mapping[str, Any]],
        stage: str,
        schema: type[BaseModel] | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        parameters: Mapping[str, Any] | None = None,
        repeat: int = 0,
    ) -> Completion:
        """Ask a model.

        The request carries only the model and the messages, the schema and the tools if there are any, and the given
        parameters.

        Args:
            model: its name at the endpoint.
            messages: each with `role` and `content`, those of a talk with tools with what else belongs to it.
            stage: what the call is for, in the books ("storage", "answer", ...).
            schema: a pydantic model; the reply is validated by it.
            tools: what the model may call instead of, or besides, saying something; as the wire has them.
            parameters: what the user set: temperature, seed, ...
            repeat: which of several independent replies to the same request is wanted.

        Raises a `ModelCallError`, see `pytest_memfail.llm.errors`; never anything that holds the key.
        """
        parameters = parameters or {}
        if reserved := sorted(OUR_PARAMETERS & set(parameters)):
            raise UsageError(f"the model parameter {', '.join(reserved)} cannot be set")
        if tools:
            parameters = {**parameters, "tools": list(tools)}
        request = Request(model, [encodable(message) for message in messages], stage, schema, parameters)
        cache = self.cache
        if cache is None or cache.mode == "off":
            return await self._called(request)
        key = request_key(
            endpoint=self._address.url,
            model=model,
            messages=request.messages,
            parameters=parameters,
            schema=None if schema is None else json_schema(schema),
            repeat=repeat,
        )
        if found := self._from_cache(request, key, cache):
            self.ledger.record_hit(stage, model)
            return found
        if cache.mode == "only":
            raise CacheMissError(
                f"{cache.path} has no reply of {model!r} at {self.endpoint} to this {stage} request, and the cache "
                "mode `only` forbids to ask; record one with the cache mode on"
            )
        return await self._joined(request, key, cache)

    async def close(self) -> None:
        """Close the connections; the client connects anew if it is used again."""
        if self._sdk is not None:
            sdk, self._sdk = self._sdk, None
            await sdk.close()

    # -- where replies come from -------------------------------------------------------------------------------------

    def _from_cache(self, request: Request, key: str, cache: ResponseCache) -> Completion | None:
        found = cache.get(key)
        if found is None:
            return None
        if request.has_tools:
            text, calls = unpacked(found.text)
            return Completion(text, calls=calls, usage=found.usage, from_cache=True)
        try:
            parsed = parse_reply(found.text, request.schema) if request.schema else None
        except ReplyError:  # the schema's own validators have changed since
            return None
        return Completion(found.text, parsed, usage=found.usage, from_cache=True)

    async def _joined(self, request: Request, key: str, cache: ResponseCache) -> Completion:
        """The reply of a call shared with all identical ones in flight; it is given up when nobody waits any more."""
        shared = self._shared.get(key)
        is_first = shared is None
        if shared is None:
            task = asyncio.get_running_loop().create_task(self._called_and_kept(request, key, cache))
            shared = self._shared[key] = _Shared(task)
            task.add_done_callback(lambda task: self._forget(key, task))
        shared.waiting += 1
        try:
            reply = await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if not shared.waiting and not shared.task.done():
                self._shared.pop(key, None)
                shared.task.cancel()
        if is_first:
            return reply
        self.ledger.record_hit(request.stage, request.model)
        return replace(reply, from_cache=True)

    def _forget(self, key: str, task: asyncio.Task[Completion]) -> None:
        if (shared := self._shared.get(key)) is not None and shared.task is task:
            del self._shared[key]
        if not task.cancelled():
            task.exception()  # retrieved, so that nothing is logged when all who waited were cancelled

    async def _called_and_kept(self, request: Request, key: str, cache: ResponseCache) -> Completion:
        reply = await self._called(request)
        kept = CachedReply(packed(reply.text, reply.calls) if request.has_tools else reply.text, reply.usage)
        cache.put(key, endpoint=self._address.url, model=request.model, reply=kept)
        return reply

    async def _called(self, request: Request) -> Completion:
        """A usable reply; one that cannot be used is asked for again."""
        times = 0
        while True:
            times += 1
            try:
                reply = await self._replied(request)
                text = check_reply(reply, tools=request.has_tools)
                parsed = parse_reply(text, request.schema) if request.schema else None
                return Completion(text, parsed, reply.calls if request.has_tools else (), reply.usage)
            except (ReplyError, RefusalError) as error:
                reason: ModelCallError = error
            if times > REPLY_RETRIES or isinstance(reason, RefusalError):
                asked = f"{request.stage}, {request.model} at {self.endpoint}, asked {_times(times)}"
                raise type(reason)(f"{self._address.clean(reason, 300)} ({asked})")

    # -- one call, with its retries ----------------------------------------------------------------------------------

    async def _replied(self, request: Request) -> WireReply:
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
        if not self.ledger.has_budget:
            return await self._sent(request)
        expected = expected_usage(request)
        # a request takes at most one timeout; what a killed process set aside lapses after two
        while (held := self.ledger.reserve(request.model, expected, seconds=2 * self._timeout)) is None:
            await asyncio.sleep(BUDGET_POLL_SECONDS)
        try:
            return await self._sent(request)
        finally:
            self.ledger.release(held)

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
        self.ledger.record_failure(request.stage, request.model)
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
            self.ledger.record_call(request.stage, request.model, Usage(), seconds)
            raise
        self.ledger.record_call(request.stage, request.model, reply.usage, seconds)
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


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
