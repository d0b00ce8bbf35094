"""The client for models: one connection pool per process, a cache, a budget, and retries."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import UsageError
from pytest_memfail.llm.address import Address, check_sdk
from pytest_memfail.llm.cache import CachedReply, ResponseCache, request_key
from pytest_memfail.llm.completion import Completion, Usage
from pytest_memfail.llm.errors import CacheMissError, ModelCallError, RefusalError, ReplyError
from pytest_memfail.llm.ledger import Ledger
from pytest_memfail.llm.patience import MAX_WAIT_SECONDS, Clock
from pytest_memfail.llm.replies import WireReply, check_reply, packed, parse_reply, unpacked, unpacked_vector
from pytest_memfail.llm.request import OUR_PARAMETERS, Request, corrected, json_schema, longer
from pytest_memfail.llm.sending import Sender, times
from pytest_memfail.llm.truncation import Prompts
from pytest_memfail.safety import encodable

if TYPE_CHECKING:
    from pydantic import BaseModel

REPLY_RETRIES: Final = 2
"""The number of times an unusable reply is requested again."""
NO_SCHEMA: Final = (
    "; the endpoint seems to ignore JSON schemas (response_format): check that server and model support them"
)
NO_JSON: Final = (
    "; the model refuses, or does not answer in JSON: try another model, or check that the endpoint supports JSON schemas "
    "(response_format)"
)
CUT_OFF: Final = "; raise --memfail-model-option=max_tokens=N, or the server's own limit of a reply"


@dataclass(slots=True)
class _Shared:
    """A call in flight that identical calls share."""

    task: asyncio.Task[Completion]
    waiting: int = 0


class ModelClient:
    """Asks any OpenAI-compatible endpoint. Used on one event loop; create one per process."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        cache: ResponseCache | None = None,
        concurrency: int = 32,
        timeout_seconds: float | None = None,
        max_retries: int = 9,
        base_url: str | None = None,
        api_key: str | None = None,
        backoff_seconds: float = 0.5,
        max_wait_seconds: float = MAX_WAIT_SECONDS,
        clock: Clock | None = None,
    ) -> None:
        """Configure a client, without connecting or loading the SDK before the first call.

        Args:
            ledger: records all calls and holds the budget.
            cache: stored replies; None for none.
            concurrency: the most calls in flight; few at first, and fewer while the endpoint answers slowly or with 429.
            timeout_seconds: how long to wait for a reply, not counting the calls that the endpoint answers first; None
                for a minute, and longer after it was too short.
            max_retries: the retries of a request that failed temporarily; by default they outlast a minute. 429 gets
                more than twice as many.
            base_url: the endpoint; None for OPENAI_BASE_URL, else OpenAI's.
            api_key: None for OPENAI_API_KEY.
            backoff_seconds: the wait before the first retry; then doubled each time, up to 20 s. Retry-After may
                require more, up to a minute.
            max_wait_seconds: how long all calls together may wait while nothing is answered; then no more calls are
                made.
            clock: tells the time and waits; None for the real clock.

        Raises `UsageError` for an invalid base URL or number, and without the package openai.
        """
        check_sdk()
        if concurrency < 1:
            raise UsageError(f"got a concurrency of {concurrency}, expected a whole number of at least 1")
        self.ledger = ledger
        self.cache = cache
        self.prompts = Prompts()
        """What servers count of the prompts."""
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
        """Return the host and port of the endpoint, which may be shown."""
        return self._address.host

    @property
    def concurrency_now(self) -> int:
        """Return how many calls may be in flight at the moment."""
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
        may_be_cut: bool = False,
    ) -> Completion:
        """Ask a model.

        The request carries only the model, the messages, the given parameters, and the schema and tools if there are
        any.

        Args:
            model: its name at the endpoint.
            messages: each with `role` and `content`; messages about tool calls have further fields.
            stage: the purpose of the call, for the ledger ("storage", "answer", ...).
            schema: a pydantic model that validates the reply.
            tools: the tools that the model may call, in wire format.
            parameters: the user's settings: temperature, seed, ...
            repeat: the number of the independent reply to the same request.
            may_be_cut: whether a reply that the limit in `parameters` cuts off is a reply.

        Raises a `ModelCallError`, see `pytest_memfail.llm.errors`; its message never contains the key.
        """
        parameters = parameters or {}
        if reserved := sorted(OUR_PARAMETERS & set(parameters)):
            raise UsageError(f"the model parameter {', '.join(reserved)} cannot be set")
        if tools:
            parameters = {**parameters, "tools": list(tools)}
        request = Request(
            model, [encodable(message) for message in messages], stage, schema, parameters, may_be_cut=may_be_cut
        )
        reply = await self._answered(request, repeat)
        self.prompts.counted(request, reply.usage.prompt_tokens)
        return reply

    async def _answered(self, request: Request, repeat: int) -> Completion:
        """Return a reply of the cache or the endpoint."""
        cache, stage, model, schema = self.cache, request.stage, request.model, request.schema
        if cache is None or cache.mode == "off":
            return await self._called(request)
        key = request_key(
            endpoint=self._address.url,
            model=model,
            messages=request.messages,
            parameters=request.parameters,
            schema=None if schema is None else json_schema(schema),
            repeat=repeat,
        )
        if found := self._from_cache(request, key, cache):
            self.ledger.record_hit(stage, model)
            return replace(found, key=key)
        self._check_may_call(request, cache)
        return replace(await self._joined(request, key, cache), key=key)

    def forget(self, refused: Iterable[Completion]) -> bool:
        """Delete replies from the cache that their caller cannot use; return whether the same request calls again."""
        if self.cache is None or self.cache.mode != "on":
            return False
        for reply in refused:
            if reply.key is not None:
                self.cache.forget(reply.key)
        return True

    async def embed(self, *, model: str, texts: Sequence[str], stage: str) -> list[Sequence[float]]:
        """Return a vector for each text, from the endpoint's `/embeddings`; one request asks for all that are not cached.

        Raises a `ModelCallError`, as `ask` does.
        """
        cache = self.cache if self.cache is not None and self.cache.mode != "off" else None
        sent = [encodable(text) for text in texts]
        keys = {text: self._key_of(model, text) for text in sent}
        lines = {text: found.text for text, key in keys.items() if cache is not None and (found := cache.get(key))}
        if missing := [text for text in keys if text not in lines]:
            request = Request(model, (), stage, None, {}, missing)
            if cache is not None:
                self._check_may_call(request, cache)
            reply = await self._called(request)
            self.prompts.counted(request, reply.usage.prompt_tokens)
            for text, line in zip(missing, reply.text.split("\n"), strict=True):
                lines[text] = line
                if cache is not None:
                    cache.put(keys[text], endpoint=self._address.url, model=model, reply=CachedReply(line, Usage()))
        else:
            self.ledger.record_hit(stage, model)
        return [unpacked_vector(lines[text]) for text in sent]

    def _key_of(self, model: str, text: str) -> str:
        """Return the key of the vector of a text."""
        url = self._address.url
        return request_key(endpoint=url, model=model, messages=(), parameters={"input": text}, schema=None, repeat=0)

    def _check_may_call(self, request: Request, cache: ResponseCache) -> None:
        """Raise `CacheMissError` if the cache forbids calls."""
        if cache.mode != "only":
            return
        recorded = cache.endpoints()
        others = f", or use OPENAI_BASE_URL={recorded[0]}, which its replies are of" if recorded else ""
        raise CacheMissError(
            f"{cache.path} has no reply of {request.model!r} at {self.endpoint} to this {request.stage} request, and the cache "
            f"mode `only` forbids calls; record one with the cache mode on{others * (self._address.url not in recorded)}"
        )

    async def close(self) -> None:
        """Close the connections; the client reconnects if it is used again."""
        await self._sender.close()

    # -- where replies come from -------------------------------------------------------------------------------------

    def _from_cache(self, request: Request, key: str, cache: ResponseCache) -> Completion | None:
        found = cache.get(key)
        if found is None:
            return None
        try:
            text, calls, first = unpacked(found.text) if request.has_more else (found.text, (), {})
            check_reply(WireReply(text, None, None, found.usage, calls), tools=request.has_tools)
            parsed = parse_reply(text, request.schema) if request.schema else None
        except (ReplyError, ValueError):  # what is accepted, or the form of kept replies, has changed since
            return None
        return Completion(text, parsed, calls, first, found.usage, from_cache=True)

    async def _joined(self, request: Request, key: str, cache: ResponseCache) -> Completion:
        """Return the reply of a call shared by all identical requests in flight; cancel it when nobody waits for it."""
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
            task.exception()  # retrieved, so that nothing is logged if all waiting calls were cancelled

    async def _called_and_kept(self, request: Request, key: str, cache: ResponseCache) -> Completion:
        reply = await self._called(request)
        kept = CachedReply(packed(reply) if request.has_more else reply.text, reply.usage)
        cache.put(key, endpoint=self._address.url, model=request.model, reply=kept)
        return reply

    async def _called(self, request: Request) -> Completion:
        """Return a usable reply; request again if it is unusable, but nothing that would only repeat it."""
        asked = 0
        while True:
            asked += 1
            advice = ""
            reply: WireReply | None = None
            text: str | None = None
            try:
                reply = await self._sender.reply(request)
                text = check_reply(reply, tools=request.has_tools, may_be_cut=request.may_be_cut)
                parsed = parse_reply(text, request.schema) if request.schema else None
                return Completion(text, parsed, reply.calls if request.has_tools else (), reply.first, reply.usage)
            except (ReplyError, RefusalError) as error:
                reason: ModelCallError = error
            following: Request | None = request
            if isinstance(reason, RefusalError) or reply is None:
                pass
            elif reply.finish_reason == "length":
                following, advice = longer(request), CUT_OFF
            elif reply.text.strip() and request.schema:
                following = corrected(request, reply.text, str(reason))
                if text is not None:  # thoughts alone say nothing about schemas
                    advice = NO_SCHEMA if "{" in text else NO_JSON
            if asked > REPLY_RETRIES or following is None or isinstance(reason, RefusalError):
                call = f"{request.stage}, {request.model} at {self.endpoint}, asked {times(asked)}"
                raise type(reason)(f"{self._address.clean(reason, 300)} ({call}){advice}")
            request = following
