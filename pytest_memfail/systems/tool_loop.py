"""Let a model call tools until it stops calling them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from pytest_memfail.core import Chat, ChatReply, Conversation, MemorySystemError, one_line

ROUNDS: Final = 24
"""The most replies of the model per conversation or question."""
FAILURES: Final = 3
"""The most consecutive replies without a tool call that works."""


class ToolFailedError(MemorySystemError):
    """An invalid tool call, which the model may correct: what was got, what was expected."""


def tool(name: str, about: str, parameters: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return a tool in the format of chat completions; all of its parameters are required."""
    schema = {
        "type": "object",
        "properties": dict(parameters),
        "required": list(parameters),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}


async def run_tools(
    name: str,
    chat: Callable[[Sequence[Mapping[str, Any]]], Awaitable[ChatReply]],
    texts: tuple[str, str],
    call: Callable[[str, str], Awaitable[tuple[str, str | None]]],
    *,
    idle: str,
    outcome: str,
) -> None:
    """Ask the model and execute the calls it requests, until a reply requests none after a successful call.

    Args:
        name: the system, for errors.
        chat: asks the model for its next turn.
        texts: the system's prompt, and the first message of the user.
        call: executes a tool call (name, arguments as JSON) and returns the reply to the model, and the error if any.
        idle: the message to a model that has called no tool.
        outcome: the consequence that an error states.

    Raises `MemorySystemError` if the model does not finish.
    """
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": texts[0]},
        {"role": "user", "content": texts[1]},
    ]
    failures, done = 0, False
    for _ in range(ROUNDS):
        reply = await chat(messages)
        if not reply.calls and done:
            return
        results = [await call(each.name, each.arguments) for each in reply.calls]
        worked = any(fault is None for _, fault in results)
        done = done or worked
        failures = 0 if worked else failures + 1
        if failures == FAILURES:
            last = results[-1][1] if results else "no tool was called"
            raise MemorySystemError(
                f"{name}: {FAILURES} replies of the model in a row contain no tool call that works (the last: "
                f"{one_line(last, 120)}); {outcome}; give a model that calls tools"
            )
        messages += _turns(reply, [text for text, _ in results], idle)
    raise MemorySystemError(
        f"{name}: the model was still calling tools after {ROUNDS} replies, expected it to finish; {outcome}"
    )


def asking(chat: Chat, tools: Sequence[Mapping[str, Any]], model: str) -> Callable[..., Awaitable[ChatReply]]:
    """Return a function that asks a model with these tools for its next turn."""
    return lambda messages: chat(messages, tools, model=model)


def transcript(conversation: Conversation) -> str:
    """Return the conversation with one JSON object per line, in a block whose end marker no message can forge."""
    lines = []
    for message in conversation.messages:
        when = message.timestamp or conversation.timestamp
        said = {"time": f"{when:%A %Y-%m-%d %H:%M}"} if when else {}
        said |= {"role": message.role, "content": message.content}
        lines.append(json.dumps(said, ensure_ascii=False).replace("<", "\\u003c"))
    return "\n".join(["<conversation>", *lines, "</conversation>"])


def _turns(reply: ChatReply, results: list[str], idle: str) -> list[dict[str, Any]]:
    """Return the model's turn and the replies to it, in the format of chat completions."""
    if not reply.calls:
        return [{"role": "assistant", "content": reply.text}, {"role": "user", "content": idle}]
    # number the calls instead of using the model's ids, which differ per run: the response cache looks up the request
    calls = [
        {"id": f"call-{i}", "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for i, call in enumerate(reply.calls)
    ]
    answers = [{"role": "tool", "tool_call_id": f"call-{i}", "content": text} for i, text in enumerate(results)]
    return [{"role": "assistant", "content": reply.text or None, "tool_calls": calls}, *answers]
