"""Build the body of a chat completion, as OpenAI-compatible endpoints send it."""

from __future__ import annotations

import json
from typing import Any

from pytest_memfail.testing.faults import Reply, ToolCall
from pytest_memfail.testing.usage import count


def completion(reply: Reply, model: object, number: int, prompt_tokens: int, cached_tokens: int) -> dict[str, Any]:
    """Return the body for a reply; `number` makes the ids of completions and tool calls unique."""
    calls = [_tool_call(call, f"call-{number}-{i}") for i, call in enumerate(reply.tool_calls)]
    tokens = [{"token": token, "logprob": number} for token, number in reply.first.items()]
    spoken = reply.refusal is None and (reply.text or not calls)
    message = {"role": "assistant", "content": reply.text if spoken else None, "refusal": reply.refusal}
    completion_tokens = count(reply.text) + sum(count(call["function"]["arguments"]) for call in calls)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls" if calls and reply.finish_reason == "stop" else reply.finish_reason,
                "message": {**message, "tool_calls": calls} if calls else message,
                **({"logprobs": {"content": [{**tokens[0], "top_logprobs": tokens}]}} if tokens else {}),
            }
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
            "prompt_tokens_details": {"cached_tokens": cached_tokens},
        },
    }


def _tool_call(call: ToolCall, identity: str) -> dict[str, Any]:
    given = call.arguments
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return {"id": identity, "type": "function", "function": {"name": call.name, "arguments": arguments}}
