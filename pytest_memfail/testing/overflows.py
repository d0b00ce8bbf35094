"""What real endpoints answer to messages that are longer than their model's context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pytest_memfail.testing.http import json_response


class Overflow(NamedTuple):
    """One error response; the words `LIMIT` and `SENT` stand for numbers of tokens."""

    status: int
    body: Mapping[str, Any]


def _openai(message: str, kind: str | None = "invalid_request_error", code: object = None) -> Mapping[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _anthropic(message: str, kind: str = "invalid_request_error") -> Mapping[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


OVERFLOWS: Final[Mapping[str, Overflow]] = {
    "openai": Overflow(
        400,
        _openai(
            "This model's maximum context length is LIMIT tokens. However, your messages resulted in SENT tokens. Please "
            "reduce the length of the messages.",
            code="context_length_exceeded",
        ),
    ),
    "openai_limit": Overflow(
        400,
        _openai(
            "Input tokens exceed the configured limit of LIMIT tokens. Your messages resulted in SENT tokens. Please "
            "reduce the length of the messages.",
            code="context_length_exceeded",
        ),
    ),
    "openai_rate": Overflow(  # a single request above the tokens per minute is refused however often it is sent
        429,
        _openai(
            "Request too large for m on tokens per min (TPM): Limit LIMIT, Requested SENT. The input or output tokens must "
            "be reduced in order to run successfully.",
            "tokens",
            "rate_limit_exceeded",
        ),
    ),
    "llama.cpp": Overflow(
        400,
        {
            "error": {
                "code": 400,
                "message": "request (SENT tokens) exceeds the available context size (LIMIT tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 0,
                "n_ctx": 0,
            }
        },
    ),
    "llama.cpp_older": Overflow(
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size. try increasing the context size or enable "
                "context shift",
                "type": "invalid_request_error",
            }
        },
    ),
    "llama.cpp_reply": Overflow(  # the messages fit, the reply does not
        500, {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}
    ),
    "ollama": Overflow(400, _openai("prompt too long; exceeded max context length by 4 tokens")),
    "ollama_input": Overflow(400, {"error": "the input length exceeds the context length"}),
    "vllm": Overflow(
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is LIMIT tokens. However, you requested SENT tokens (SENT in "
            "the messages, 0 in the completion). Please reduce the length of the messages or completion.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "vllm_newer": Overflow(
        400,
        _openai(
            "The decoder prompt (length SENT) is longer than the maximum model length of LIMIT. Make sure that "
            "`max_model_len` is no smaller than the number of text tokens.",
            "BadRequestError",
            400,
        ),
    ),
    "vllm_completion": Overflow(
        400,
        {
            "object": "error",
            "message": "max_tokens must be at least 1, got -186.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "lm_studio": Overflow(
        400,
        {
            "error": "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: "
            "SENT>= n_ctx: LIMIT). Try to load the model with a larger context length, or provide a shorter input."
        },
    ),
    "lm_studio_older": Overflow(
        400,
        {
            "error": "Trying to keep the first SENT tokens when context the overflows. However, the model is loaded with "
            "context length of only LIMIT tokens, which is not enough. Try to load the model with a larger context length, "
            "or provide a shorter input"
        },
    ),
    "anthropic": Overflow(400, _anthropic("prompt is too long: SENT tokens > LIMIT maximum")),
    "anthropic_reply": Overflow(
        400,
        _anthropic(
            "input length and `max_tokens` exceed context limit: SENT + 512 > LIMIT, decrease input length or `max_tokens` "
            "and try again"
        ),
    ),
    "anthropic_size": Overflow(
        413, _anthropic("Request exceeds the maximum allowed number of bytes.", "request_too_large")
    ),
    "litellm": Overflow(
        400,
        _openai(
            "litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicException - "
            '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: SENT tokens > LIMIT '
            'maximum"}}. Received Model Group=m',
            None,
            "400",
        ),
    ),
    "openrouter": Overflow(
        400,
        {
            "error": {
                "message": "This endpoint's maximum context length is LIMIT tokens. However, you requested about SENT "
                "tokens (SENT of text input). Please reduce the length of either one.",
                "code": 400,
            }
        },
    ),
    "rewrapped": Overflow(400, {"detail": '{"error":{"code":400,"type":"exceed_context_size_error","message":"no"}}'}),
    "gemini": Overflow(
        400,
        {
            "error": {
                "code": 400,
                "message": "The input token count (SENT) exceeds the maximum number of tokens allowed (LIMIT).",
                "status": "INVALID_ARGUMENT",
            }
        },
    ),
}
"""By server or provider; `_` and a word name its other bodies."""


def overflow_response(name: str, limit: int, sent: int) -> bytes:
    """Return the response of this server to a prompt of `sent` tokens."""
    status, body = OVERFLOWS[name]
    return json_response(status, _filled(body, {"LIMIT": str(limit), "SENT": str(sent)}))


def _filled(value: Any, numbers: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {name: _filled(inner, numbers) for name, inner in value.items()}
    if isinstance(value, str):
        for word, number in numbers.items():
            value = value.replace(word, number)
    return value
