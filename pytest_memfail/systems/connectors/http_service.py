"""Kind `http`: a memory behind a REST service."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from pytest_memfail.core import MemorySystemError, one_line
from pytest_memfail.systems.connectors.config import HttpCall, HttpMemory
from pytest_memfail.systems.connectors.templates import filled


class HttpConnection:
    """A client of the service."""

    def __init__(self, config: HttpMemory) -> None:
        """Configure the client without opening it."""
        self._config = config
        self._client: Any = None

    async def open(self, places: Mapping[str, Any]) -> None:
        """Create the client."""
        from openai import (
            DefaultAsyncHttpxClient,
        )  # the httpx that the SDK depends on: httpx in old versions, httpx2 in new ones

        config = self._config
        headers = filled(config.headers, places)
        self._client = DefaultAsyncHttpxClient(timeout=config.timeout, headers=headers, follow_redirects=False)

    async def call(self, what: str, call: HttpCall, values: Mapping[str, Any]) -> Any:
        """Return the JSON of the response.

        Raises `MemorySystemError` for a failed connection, a status of 300 or more, and a body that is not JSON.
        """
        if self._client is None:
            raise MemorySystemError(f"{what}: the connection is closed; expected no more calls")
        path = filled(call.path, {name: quote(str(value), safe="") for name, value in values.items()})
        # show the address with its variables, so that the same error of two stores has the same text
        what = f"{what}: {call.method} {self._config.url.rstrip('/')}{path}"
        sending = self._client.request(
            call.method,
            filled(self._config.url, values).rstrip("/") + path,
            params=filled(call.query, values) or None,
            headers=filled(call.headers, values),
            **({} if call.body is None else {"json": filled(call.body, values)}),
        )
        try:
            response = await asyncio.wait_for(sending, self._config.timeout)
        except (asyncio.TimeoutError, TimeoutError):
            raise MemorySystemError(
                f"{what} had no answer within {self._config.timeout:g} s; check what the service waits for, or set a longer timeout"
            ) from None
        except Exception as error:  # an error of httpx or httpx2
            kind = type(error).__name__
            if kind.endswith("Timeout"):
                reason = f"had no answer within {self._config.timeout:g} s; set a longer timeout"
            else:
                reason = f"failed: {kind}: {one_line(error, 120)}; see whether the service runs"
            raise MemorySystemError(f"{what} {reason}") from None
        text = response.text
        if response.status_code >= 300:
            raise MemorySystemError(
                f"{what} answered {response.status_code}: {one_line(text, 160)}; expected a status of 2xx"
            )
        with suppress(ValueError):
            return response.json()
        if call.pick is None or not text.strip():
            return None
        raise MemorySystemError(f"{what} answered {one_line(repr(text), 80)}; expected JSON")

    async def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            await self._client.aclose()
        self._client = None

    def describe(self) -> Mapping[str, str]:
        """Return the kind."""
        return {"kind": "http"}
