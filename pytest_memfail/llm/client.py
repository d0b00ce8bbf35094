"""Asks models: one connection pool per process, with a cache, a budget, and patience with what endpoints do."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import UsageError
from pytest_memfail.llm.address import Address
from pytest_memfail.llm.cache import CachedReply, ResponseCache, request_key
from pytest_memfail.llm.completion import Completion
from pytest_memfail.llm.errors import CacheMissError, ModelCallError, RefusalError, ReplyError
from pytest_memfail.llm.ledger import Ledger
from pytest_memfail.llm.patience import MAX_WAIT_SECONDS, Clock
from pytest_memfail.llm.replies import check_reply, packed, parse_reply, unpacked
from pytest_memfail.llm.request import OUR_PARAMETERS, Request, encodable, json_schema
from pytest_memfail.llm.sending import Sender, times

if TYPE_CHECKING:
    from pydantic import BaseModel

REPLY_RETRIES: Final = 2
"""How often a reply that cannot be used is asked for again."""


@dataclass(slots=True)
class _Shared:
    """A call in flight that identical ones wait for too."""

    task: asyncio.Task[Completion]
    waiting: int = 0


class ModelClient:
    """Asks any OpenAI-compatible endpoint. Lives on one event loop; make one per process."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        cache: ResponseCache | None = None,
        concurrency: int = 32,
        timeout_seconds: float = 60.0,
        max_retries: int = 9,
        base_url: str | None = None,
        api_key: str | None = None,
        backoff_seconds: float = 0.5,
        max_wait_seconds: float = MAX_WAIT_SECONDS,
        clock: Clock | None = None,
    ) -> None:
        """Configure a client; nothing is connected, and no SDK loaded, before a call needs it.

        Args:
            ledger: is told of all calls, and holds the budget.
            cache: replies already given; None for none.
            concurrency: calls in flight at most; fewer while the endpoint answers 429.
            timeout_seconds: for one request.
            max_retries: of a request that failed for a reason that may pass; by default they outlast a minute. 429 is
                retried more than twice as often.
            base_url: of the endpoint; None takes OPENAI_BASE_URL, or else OpenAI's.
            api_key: None takes OPENAI_API_KEY.
            backoff_seconds: before the first retry; then doubled each time, at most 20. Retry-After may ask for more, up
                to a minute.
            max_wait_seconds: how long all calls may wait in all while nothing is answered; then nothing more is asked.
            clock: what tells the time and waits; None for the real one.

        Raises `UsageError` for a base URL or a number that is none.
        """
        if concurrency < 1:
            raise UsageError(f"got a concurrency of {concurrency}, expected a whole number of at least 1")
        self.ledger = ledger
        self.cache = cache
        self.concurrency = concurrency
        self._address = Address(base_url, api_key)
        self._sender = Sender(
            self._address,
            ledger,
            concurrency=concurrency,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
            backoff_seconds=backoff_seconds,
            max_wait_seconds=max_wait_seconds,
            clock=clock or Clock(),
        )
        self._shared: dict[str, _Shared] = {}

    def __repr__(self) -> str:
        return f"ModelClient({self._address!r}, concurrency={self.concurrency})"

    @property
    def endpoint(self) -> str:
        """Host and port of the endpoint: what may be shown of it."""
        return self._address.host

    @property
    def concurrency_now(self) -> int:
        """How many calls may be in flight at the moment."""
        return self._sender.concurrency_now

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
        await self._sender.close()

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
        asked = 0
        while True:
            asked += 1
            try:
                reply = await self._sender.reply(request)
                text = check_reply(reply, tools=request.has_tools)
                parsed = parse_reply(text, request.schema) if request.schema else None
                return Completion(text, parsed, reply.calls if request.has_tools else (), reply.usage)
            except (ReplyError, RefusalError) as error:
                reason: ModelCallError = error
            if asked > REPLY_RETRIES or isinstance(reason, RefusalError):
                call = f"{request.stage}, {request.model} at {self.endpoint}, asked {times(asked)}"
                raise type(reason)(f"{self._address.clean(reason, 300)} ({call})")
