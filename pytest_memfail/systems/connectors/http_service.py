"""Kind `http`: a memory behind a REST service."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from pydantic import AfterValidator, Field

from pytest_memfail.core import MemorySystemError, SystemContext, one_line
from pytest_memfail.systems.connectors.config import PATH, Address, Headers
from pytest_memfail.systems.connectors.remote import Call, RemoteMemory, RemoteSystem, sendable_json
from pytest_memfail.systems.connectors.settle import Settle
from pytest_memfail.systems.connectors.templates import filled

REPLY_LIMIT: Final = 64 << 20
"""The longest body that is read, in bytes after decompression."""
TEXT_SHOWN: Final = 4000
"""Bytes of a body that an error may quote from."""
ZIPPED: Final = ("gzip", "deflate")


class HttpCall(Call):
    """A request; its answer is JSON."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    path: Annotated[str, Field(pattern=PATH, description="After the address")] = ""
    query: dict[str, str | int | float | bool] = {}
    headers: Headers = {}
    body: Annotated[Any, Field(description="Sent as JSON"), AfterValidator(sendable_json)] = None


class HttpSettle(Settle):
    """Settling with a request for the status."""

    call: HttpCall | None = None


class HttpMemory(RemoteMemory):
    """A REST service."""

    kind: Literal["http"]
    url: Annotated[Address, Field(description="The service's address, before the paths")]
    open: Annotated[HttpCall | None, Field(description="Makes a store")] = None
    write: HttpCall
    search: HttpCall
    list_: Annotated[HttpCall, Field(alias="list")]
    forget: Annotated[HttpCall | None, Field(description="Deletes what it holds of `{text}`")] = None
    close: Annotated[HttpCall | None, Field(description="Removes a store")] = None
    settle: HttpSettle | None = None

    async def opened(self, context: SystemContext) -> RemoteSystem:
        """Make the client, and a store."""
        return await RemoteSystem(context, self, HttpConnection(self)).open()


class _UnreadableError(Exception):
    """A body that is not read: what it is, and what was expected."""


class HttpConnection:
    """A client of the service."""

    def __init__(self, config: HttpMemory) -> None:
        """Configure the client without opening it."""
        self._config = config
        self._client: Any = None

    async def open(self, places: Mapping[str, Any]) -> None:
        """Create the client."""
        # the httpx that the SDK depends on: httpx in old versions, httpx2 in new ones
        from openai import DefaultAsyncHttpxClient

        config = self._config
        headers = filled(config.headers, places)
        self._client = DefaultAsyncHttpxClient(timeout=config.timeout, headers=headers, follow_redirects=False)
        self._client.headers["accept-encoding"] = ", ".join(ZIPPED)

    async def call(self, what: str, call: HttpCall, values: Mapping[str, Any]) -> Any:
        """Return the JSON of the response.

        Raises `MemorySystemError` for a failed connection, a status of 300 or more, and a body that is not JSON.
        """
        if self._client is None:
            raise MemorySystemError(f"{what}: the connection is closed; expected no more calls")
        path = filled(call.path, {name: quote(str(value), safe="") for name, value in values.items()})
        # show the address with its variables, so that the same error of two stores has the same text
        what = f"{what}: {call.method} {self._config.url.rstrip('/')}{path}"
        answer = self._answer(
            call.method,
            filled(self._config.url, values).rstrip("/") + path,
            params=filled(call.query, values) or None,
            headers=filled(call.headers, values),
            **({} if call.body is None else {"json": filled(call.body, values)}),
        )
        try:
            status, body = await asyncio.wait_for(answer, self._config.timeout)
        except (asyncio.TimeoutError, TimeoutError):
            raise MemorySystemError(
                f"{what} had no answer within {self._config.timeout:g} s; check what the service waits for, or set a longer timeout"
            ) from None
        except _UnreadableError as error:
            raise MemorySystemError(f"{what} answered with {error}") from None
        except Exception as error:  # an error of httpx or httpx2
            kind = type(error).__name__
            if kind.endswith("Timeout"):
                reason = f"had no answer within {self._config.timeout:g} s; set a longer timeout"
            else:
                reason = f"failed: {kind}: {one_line(error, 120)}; see whether the service runs"
            raise MemorySystemError(f"{what} {reason}") from None
        text = body[:TEXT_SHOWN].decode("utf-8", "replace")
        if status >= 300:
            raise MemorySystemError(f"{what} answered {status}: {one_line(text, 160)}; expected a status of 2xx")
        if not body.strip():
            return None
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise MemorySystemError(f"{what} answered {one_line(repr(text), 80)}; expected JSON") from None

    async def _answer(self, method: str, url: str, **sent: Any) -> tuple[int, bytes]:
        """Send a request and return status and body of its answer.

        Raises `_UnreadableError` for a body that is too long, even if only once it is decompressed.
        """
        response = await self._client.send(self._client.build_request(method, url, **sent), stream=True)
        try:
            encoding = response.headers.get("content-encoding", "").strip().lower()
            if encoding not in (*ZIPPED, "", "identity"):
                raise _UnreadableError(f"the encoding {one_line(repr(encoding), 40)}; expected {' or '.join(ZIPPED)}")
            unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding in ZIPPED else None  # 32: zlib or gzip
            body = bytearray()
            async for chunk in response.aiter_raw():
                room = REPLY_LIMIT + 1 - len(body)
                body += chunk[:room] if unpacker is None else unpacker.decompress(chunk, room)
                if len(body) > REPLY_LIMIT:
                    raise _UnreadableError(
                        f"more than {REPLY_LIMIT >> 20} MiB; expected less, for a listing in `pages`"
                    )
            return response.status_code, bytes(body)
        except zlib.error:
            raise _UnreadableError(f"a body that is not {encoding}, as its header says") from None
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            await self._client.aclose()
        self._client = None

    def describe(self) -> Mapping[str, str]:
        """Return the kind."""
        return {"kind": "http"}
