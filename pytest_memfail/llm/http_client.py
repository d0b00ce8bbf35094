"""The SDK's HTTP client with two limits: the size of replies, and requests only to the configured origin."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.llm.errors import ReplyError, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_REPLY_BYTES: Final = 8 << 20
"""The longest replies of today's models are below 1 MiB."""
MAX_ERROR_BYTES: Final = 64 << 10
"""The rest of an error's body is not read; messages show only its first line."""
MAX_REDIRECTS: Final = 5
MEBIBYTE: Final = 1 << 20
REDIRECTS: Final = frozenset({307, 308})
"""Redirects that keep the method and the body; others would turn the request into a GET without a body."""
PLAIN: Final = ("", "identity")
ZIPPED: Final = ("gzip", "x-gzip", "deflate")
REWRITTEN: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that are wrong after a body has been read and decompressed."""


def http_client(host: str) -> Any:
    """Return a client for the SDK; `host` names the endpoint in messages."""
    import openai

    class GuardedClient(openai.DefaultAsyncHttpxClient):
        """Reads each body up to a limit, and follows redirects only within the user's origin."""

        async def send(self, request: Any, **options: Any) -> Any:
            options |= {"stream": True, "follow_redirects": False}
            for _ in range(MAX_REDIRECTS):
                response = await super().send(request, **options)
                try:
                    following = _redirected(request, response, host)
                    if following is None:
                        return await _read(response, host)
                finally:
                    await response.aclose()
                request = following
            raise RequestError(f"{host} redirected {MAX_REDIRECTS} times in a row; check OPENAI_BASE_URL")

    # the SDK would ask for compressed replies, whose size shows only when they are unpacked
    return GuardedClient(headers={"Accept-Encoding": "identity"})


def _redirected(request: Any, response: Any, host: str) -> Any:
    """Return the redirected request; None if the response is no redirect. Raise `RequestError` if it must not be
    followed.
    """
    if not response.has_redirect_location:
        return None
    following, status = response.next_request, response.status_code
    if following is None or status not in REDIRECTS:
        raise RequestError(f"{host} redirects the request ({status}), which then has no body; check OPENAI_BASE_URL")
    here, there = _origin(request.url), _origin(following.url)
    if here != there:
        raise RequestError(
            f"{host} redirects ({status}) to {there}: not followed, because the request contains memories and the key; set "
            "OPENAI_BASE_URL to that address if it is yours"
        )
    return following


def _origin(url: Any) -> str:
    """Return scheme, host and port; the rest of a URL may be secret."""
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    return f"{url.scheme}://{url.host}:{port}"


async def _read(response: Any, host: str) -> Any:
    """Return the response with its body. Raise `ReplyError` if it is too long; cut the body of an error."""
    limit = MAX_ERROR_BYTES if response.is_error else MAX_REPLY_BYTES
    raw = await _up_to(response.aiter_raw(), limit + 1)
    try:
        body = _unpacked(raw, response.headers.get("content-encoding", ""), limit + 1, host)
    except ReplyError:
        if not response.is_error:
            raise
        body = b""  # the status alone decides what to do
    if max(len(raw), len(body)) > limit:
        if not response.is_error:
            raise ReplyError(f"{host} sent more than {limit // MEBIBYTE} MiB, which is no chat completion")
        body = body[:limit]
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in REWRITTEN]
    return type(response)(
        response.status_code, headers=headers, content=body, request=response.request, extensions=response.extensions
    )


async def _up_to(chunks: Any, count: int) -> bytes:
    """Read at most this many bytes."""
    parts, read = [], 0
    async for chunk in chunks:
        parts.append(chunk[: count - read])
        read += len(parts[-1])
        if read >= count:
            break
    await chunks.aclose()
    return b"".join(parts)


def _unpacked(raw: bytes, encoding: str, count: int, host: str) -> bytes:
    """Return at most this many bytes of a body, decompressed if it is compressed despite the request."""
    encoding = encoding.strip().lower()
    if encoding in PLAIN:
        return raw
    if encoding not in ZIPPED:
        raise ReplyError(f"{host} sent a reply in the encoding {encoding[:40]!r}, which was not asked for")
    unpack: Callable[[bytes, int], bytes] = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress  # 32: zlib or gzip
    try:
        return unpack(raw, count)
    except zlib.error:
        raise ReplyError(f"{host} sent a reply that is not {encoding}, as its header says") from None
