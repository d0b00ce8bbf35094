"""Requests to a model in the endpoint's format, and their expected cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.llm.completion import Usage
from pytest_memfail.llm.tokens import count_tokens

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic import BaseModel

EXPECTED_REPLY_TOKENS: Final = 256
"""The tokens reserved for a reply in flight if no limit is set."""
EMBEDDINGS: Final = "/embeddings"
LIMITS: Final = ("max_completion_tokens", "max_tokens")
OUR_PARAMETERS: Final = frozenset({"model", "messages", "response_format", "stream", "n", "tools"})


@dataclass(frozen=True, slots=True)
class Request:
    """One request."""

    model: str
    messages: Sequence[Mapping[str, Any]]
    stage: str
    schema: type[BaseModel] | None
    parameters: Mapping[str, Any]
    texts: Sequence[str] = ()
    """The texts to embed; empty for a chat completion."""
    may_be_cut: bool = False
    """Whether a reply that its limit cuts off is usable."""

    @property
    def has_tools(self) -> bool:
        """Return whether it offers tools."""
        return "tools" in self.parameters

    @property
    def has_more(self) -> bool:
        """Return whether its reply is more than a text: tool calls, or log probabilities."""
        return self.has_tools or bool(self.parameters.get("logprobs"))

    @property
    def repeats_itself(self) -> bool:
        """Return whether the same request gets the same reply (nearly always)."""
        return self.parameters.get("temperature") == 0


def longer(request: Request) -> Request | None:
    """Return the request with twice the limit of its reply, after a reply that was cut off.

    Without a limit of ours, return the same request, or None if that would be cut off at the same place.
    """
    limits = {name: 2 * request.parameters[name] for name in LIMITS if isinstance(request.parameters.get(name), int)}
    if not limits:
        return None if request.repeats_itself else request
    return replace(request, parameters={**request.parameters, **limits})


def corrected(request: Request, reply: str, problem: str) -> Request:
    """Return the request with what is wrong with its reply, if the same request would only get the same reply."""
    if not request.repeats_itself:
        return request
    wrong = [
        {"role": "assistant", "content": reply},
        {"role": "user", "content": f"That cannot be used: {problem}. Send the JSON object alone."},
    ]
    return replace(request, messages=[*request.messages, *wrong])


async def post(sdk: AsyncOpenAI, request: Request) -> bytes:
    """Send one request and return the body of the response."""
    if request.texts:
        return await sdk.post(EMBEDDINGS, body={"model": request.model, "input": list(request.texts)}, cast_to=bytes)
    body = {"model": request.model, "messages": request.messages}
    # the SDK's typed method would copy each message and build lenient models, which doubles the CPU time of a call
    return await sdk.post(
        "/chat/completions",
        body={**body, **_response_format(request.schema), **request.parameters},
        cast_to=bytes,
    )


@lru_cache(maxsize=64)
def json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the schema with its name, as the cache identifies it."""
    return {"name": schema.__name__, "schema": schema.model_json_schema()}


def _response_format(schema: type[BaseModel] | None) -> dict[str, Any]:
    return {} if schema is None else {"response_format": _strict_format(schema)}


@lru_cache(maxsize=64)
def _strict_format(schema: type[BaseModel]) -> dict[str, Any]:
    import openai

    # the SDK's only public function that makes a schema strict: all fields required, no others allowed
    strict = openai.pydantic_function_tool(schema)["function"]["parameters"]
    return {"type": "json_schema", "json_schema": {"name": schema.__name__, "strict": True, "schema": strict}}


def expected_usage(request: Request) -> Usage:
    """Return the usage to reserve in the budget until the reply arrives."""
    if request.texts:
        return Usage(count_tokens(request.texts), 0)
    sent = sum(_tokens(message.get("content") or "") for message in request.messages)
    tools = _tokens(json.dumps(request.parameters["tools"])) if request.has_tools else 0
    return Usage(sent + tools, reply_limit(request.parameters))


def reply_limit(parameters: Mapping[str, Any], names: Sequence[str] = LIMITS) -> int:
    """Return the limit of a reply in tokens, or else what is reserved for one."""
    limits = (parameters.get(name) for name in names)
    return next((limit for limit in limits if isinstance(limit, int) and limit > 0), EXPECTED_REPLY_TOKENS)


@lru_cache(maxsize=256)
def _tokens(text: str) -> int:
    """Count tokens, once for all requests that share a store."""
    return count_tokens([text])
