"""What is sent to a model: the request, as the endpoint takes it, and what it will cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.llm.completion import Usage
from pytest_memfail.llm.tokens import count_tokens

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic import BaseModel

EXPECTED_REPLY_TOKENS: Final = 256
"""Set aside for a reply while it is awaited, where no limit is set."""
OUR_PARAMETERS: Final = frozenset({"model", "messages", "response_format", "stream", "n", "tools"})


@dataclass(frozen=True, slots=True)
class Request:
    """One thing to ask."""

    model: str
    messages: Sequence[Mapping[str, Any]]
    stage: str
    schema: type[BaseModel] | None
    parameters: Mapping[str, Any]

    @property
    def has_tools(self) -> bool:
        """Does it offer tools?"""
        return "tools" in self.parameters


async def post(sdk: AsyncOpenAI, request: Request) -> bytes:
    """The body of the response to one request."""
    body = {"model": request.model, "messages": request.messages}
    # the SDK's typed method would copy each message and build models that take anything: half of a call's CPU time
    return await sdk.post(
        "/chat/completions",
        body={**body, **_response_format(request.schema), **request.parameters},
        cast_to=bytes,
    )


def encodable(part: Any) -> Any:
    """A message, or a part of one, without lone surrogates, which memories may hold and JSON requests may not."""
    if isinstance(part, str):
        return part.encode("utf-8", "replace").decode()
    if isinstance(part, Mapping):
        return {name: encodable(value) for name, value in part.items()}
    return [encodable(value) for value in part] if isinstance(part, list) else part


@lru_cache(maxsize=64)
def json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The schema under its name, as the cache knows a request by it."""
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
    """What to set aside of a budget while the reply is awaited."""
    limits = (request.parameters.get(name) for name in ("max_completion_tokens", "max_tokens"))
    reply = next((limit for limit in limits if isinstance(limit, int)), EXPECTED_REPLY_TOKENS)
    sent = sum(_tokens(message.get("content") or "") for message in request.messages)
    return Usage(sent + (_tokens(json.dumps(request.parameters["tools"])) if request.has_tools else 0), reply)


@lru_cache(maxsize=256)
def _tokens(text: str) -> int:
    """Counted once for all that share a store."""
    return count_tokens([text])
