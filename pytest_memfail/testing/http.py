"""The part of HTTP/1.1 that a local model endpoint needs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request with its body."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """Return the next request of a connection; None if the client closed it.

    Raises `ValueError` for an invalid request.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").rstrip().split("\r\n")
        method, target, _ = line.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except asyncio.LimitOverrunError:
        raise ValueError("the header is too long") from None
    return HttpRequest(method, target.partition("?")[0], headers, body)


def response(status: int, content: bytes, *, content_type: str = "application/json", **headers: str) -> bytes:
    """Return a response that keeps the connection open; `retry_after="1"` becomes the header `retry-after: 1`."""
    fields = {"content-type": content_type, "content-length": str(len(content))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{k}: {v}" for k, v in fields.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + content


def json_response(status: int, value: Any, **headers: str) -> bytes:
    """Return a response with a JSON body."""
    return response(status, json.dumps(value).encode(), **headers)


def error_response(status: int, message: str, code: str | None = None, **headers: str) -> bytes:
    """Return a response with the error body of OpenAI-compatible endpoints."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return json_response(status, {"error": {"message": message, "type": kind, "code": code}}, **headers)
