"""Interpret failed requests: which error it is, and whether a retry can help."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final, Literal

from pytest_memfail.llm.address import Address
from pytest_memfail.llm.errors import AuthError, ContextLengthError, ModelCallError, ModelError, RequestError

if TYPE_CHECKING:
    from openai import APIStatusError

RETRY_AFTER_CAP: Final = 60.0
RETRIED_STATUSES: Final = frozenset({408, 409, 429})
"""Also retried: all statuses from 500 on."""
TOO_LONG: Final = re.compile(
    r"context[_ ]?(length|window|size|limit)s?[_ ]?(has been |is )?exceed"
    r"|exceed(s|ed)?[_ ](the |this |your |model'?s |available |maximum |max )*context[_ ]?(length|window|size|limit)"
    r"|exceeded model token limit|context window exceeds"
    r"|(maximum|max) (context|model|prompt) length|context length of only|configured context size"
    r"|(greater|longer) than the (model'?s |maximum )*(context|model) length"
    r"|prompt (is )?too long|prompt_too_long|(prompt|input) (\([^)]*\) )?is too (long|large)"
    r"|prompt exceeds max length|too large for model with"
    r"|request[_ ]too[_ ]large|reduce the length of the (messages|input|prompt)"
    r"|input tokens? (count )?(\(\d+\) )?exceeds? the (configured|maximum)|range of input length"
    r"|max_tokens must be at least 1, got -",
    re.I,
)
"""How OpenAI, Anthropic, Gemini, llama.cpp, Ollama, vLLM, LM Studio and gateways say, in the code, type or message of an
error, that the messages are too long. `testing.overflows` has their bodies."""

Cause = Literal["rate", "server", "timeout", "connection"]


@dataclass(frozen=True, slots=True)
class Transient:
    """A temporary failure."""

    cause: Cause
    message: str
    retry_after: float | None = None
    """Seconds the endpoint asks to wait, at most `RETRY_AFTER_CAP`."""


def explain(
    error: Exception, address: Address, model: str, timeout_seconds: float, *, has_served: bool
) -> Transient | ModelCallError:
    """Interpret an error of the SDK. Its text may contain the key, so only cleaned parts are passed on.

    `has_served` says whether the endpoint has answered a call with this key.
    """
    import openai

    host = address.host
    if (own := _own(error)) is not None:
        return type(own)(address.clean(own, 300))
    if isinstance(error, openai.APIStatusError):
        return _explain_status(error, address, model, has_served=has_served)
    if isinstance(error, openai.APITimeoutError | asyncio.TimeoutError):
        return Transient("timeout", f"{host} sent no reply within {timeout_seconds:g} s")
    if isinstance(error, openai.APIConnectionError):
        return Transient("connection", f"{host} cannot be reached: {address.clean(_root(error), 120)}")
    # for example a URL or header that cannot be sent; the message may quote it
    return RequestError(f"{host}: the request could not be sent: {address.clean(f'{type(error).__name__}: {error}')}")


def _explain_status(
    error: APIStatusError, address: Address, model: str, *, has_served: bool
) -> Transient | ModelCallError:
    status, host = error.status_code, address.host
    code, whole = str(error.code or ""), said_in(error.body)
    said = address.clean(whole)
    if code == "insufficient_quota":
        return AuthError(f"{host}: the account has no quota left: {said}")
    # before 429 and 5xx: some servers answer so, and sending the same messages again cannot help
    if status == 413 or (status not in {401, 402, 403, 404} and TOO_LONG.search(f"{code} {error.type or ''} {whole}")):
        return ContextLengthError(f"the messages are too long for {model!r} at {host} ({status}): {said}")
    if status == 429:
        return Transient(
            "rate", f"{host} answered 429 (too many requests): {said}", retry_after(error.response.headers)
        )
    if status in RETRIED_STATUSES or status >= 500:
        return Transient("server", f"{host} answered {status}: {said}", retry_after(error.response.headers))
    if status == 402:
        return AuthError(f"{host}: the account cannot pay (402): {said}; add credit there")
    # gateways answer 403 to a single request too, such as one that their moderation flags
    if status == 401 or (status == 403 and not has_served):
        return AuthError(f"{host} refuses the API key ({status}): {said}; check OPENAI_API_KEY and OPENAI_BASE_URL")
    if status == 404:
        return ModelError(f"{host} does not know the model {model!r} (404): {said}; check its name and OPENAI_BASE_URL")
    return RequestError(f"{host} refuses the request ({status}): {said}")


def said_in(body: object) -> str:
    """Return the message in the body of an error."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        inner = inner.get("message") if isinstance(inner, dict) else inner
        if inner:
            return str(inner)
    return str(body or "no reason given")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `Retry-After` (a number or a date) or `retry-after-ms`; None without a usable one."""
    seconds: float | None = None
    try:
        if value := headers.get("retry-after-ms"):
            seconds = float(value) / 1000
        elif value := headers.get("retry-after"):
            try:
                seconds = float(value)
            except ValueError:
                seconds = _timestamp(value) - time.time()
    except (ValueError, OverflowError):
        return None
    if seconds is None or math.isnan(seconds):
        return None
    return min(max(seconds, 0.0), RETRY_AFTER_CAP)


def _timestamp(date: str) -> float:
    when = parsedate_to_datetime(date)
    # HTTP dates are in GMT, even if they name another zone
    return (when if when.tzinfo is not None else when.replace(tzinfo=timezone.utc)).timestamp()


def _own(error: BaseException) -> ModelCallError | None:
    """Return our own error, which older SDKs wrap like errors of the HTTP library."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, ModelCallError):
        found = found.__cause__
    return found


def _root(error: BaseException) -> str:
    """Return the innermost error's text; the outer ones only say "connection error"."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
