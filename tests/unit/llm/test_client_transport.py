"""The wire: replies are read up to a size limit, and redirects stay within the origin."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from llm_asker import GOOD, KEY, Asker, Finding, good, run

from pytest_memfail.llm import Completion, EndpointError, ReplyError, RequestError
from pytest_memfail.llm.http_client import MAX_ERROR_BYTES, MAX_REPLY_BYTES
from pytest_memfail.testing import Fault, LocalEndpoint
from pytest_memfail.testing.http import response

MEMORY = "Her locker has the code 4711."


def test_an_endless_reply_is_an_error_of_its_question_alone() -> None:
    with LocalEndpoint(answer=good, faults=[Fault("endless", when=lambda r: MEMORY in str(r))]) as endpoint:
        asker = Asker(endpoint)

        async def work() -> Completion:
            with pytest.raises(
                ReplyError, match=r"^127\.0\.0\.1:\d+ sent more than 8 MiB, which is no chat completion"
            ) as it:
                await asker.ask(MEMORY)
            assert "\n" not in str(it.value)
            return await asker.ask()

        assert run(asker, work).parsed == Finding(**GOOD)


def test_no_more_than_the_limit_is_kept_of_a_reply() -> None:
    with LocalEndpoint(answer=good, faults=[Fault("endless", every=1)]) as endpoint:
        asker = Asker(endpoint)

        async def work() -> None:
            with pytest.raises(ReplyError):
                await asker.ask()

        run(asker, asker.client.close)
        tracemalloc.start()
        try:
            run(asker, work)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 5 * MAX_REPLY_BYTES


@contextmanager
def canned(monkeypatch: pytest.MonkeyPatch, *bodies: bytes) -> Iterator[LocalEndpoint]:
    """Serve an endpoint that sends exactly these responses."""
    waiting = list(bodies)

    async def respond(self: LocalEndpoint, request: Any, reader: asyncio.StreamReader) -> bytes:
        return waiting.pop(0)

    monkeypatch.setattr(LocalEndpoint, "_respond", respond)
    with LocalEndpoint() as endpoint:
        yield endpoint


def completion(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).encode()


@pytest.mark.parametrize(("pack", "encoding"), [(gzip.compress, "gzip"), (zlib.compress, "deflate")])
def test_a_packed_reply_is_read(monkeypatch: pytest.MonkeyPatch, pack: Any, encoding: str) -> None:
    packed = response(200, pack(completion(json.dumps(GOOD))), content_encoding=encoding)
    with canned(monkeypatch, packed) as endpoint:
        asker = Asker(endpoint)
        assert run(asker, asker.ask).parsed == Finding(**GOOD)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_small_reply_that_unpacks_to_a_large_one_is_an_error(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    bomb = response(200, pack(b" " * (1 << 26)), content_encoding=encoding)
    assert len(bomb) < MAX_REPLY_BYTES / 10
    assert 5 * MAX_REPLY_BYTES < 1 << 26
    with canned(monkeypatch, response(200, completion(json.dumps(GOOD))), *[bomb] * 3) as endpoint:
        asker = Asker(endpoint)

        async def work() -> int:
            await asker.ask()  # the modules that a first call imports are not what is measured
            tracemalloc.start()
            try:
                with pytest.raises(ReplyError, match="more than 8 MiB"):
                    await asker.ask("Is it larger?")
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

        peak = run(asker, work)
    assert peak < 5 * MAX_REPLY_BYTES


@pytest.mark.parametrize(
    ("body", "encoding", "said"),
    [
        (b"\x1b]52;c;", "br", "in the encoding 'br', which was not asked for"),
        (b"not packed", "gzip", "that is not gzip"),
    ],
)
def test_a_reply_in_another_encoding_is_an_error(
    monkeypatch: pytest.MonkeyPatch, body: bytes, encoding: str, said: str
) -> None:
    with canned(monkeypatch, *[response(200, body, content_encoding=encoding)] * 3) as endpoint:
        asker = Asker(endpoint)
        with pytest.raises(ReplyError, match=said):
            run(asker, asker.ask)


def test_a_long_body_of_an_error_does_not_hide_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = response(500, b"x" * (50 * MAX_ERROR_BYTES))
    with canned(monkeypatch, failed, failed, response(200, completion(json.dumps(GOOD)))) as endpoint:
        asker = Asker(endpoint)
        assert run(asker, asker.ask).parsed == Finding(**GOOD)
    with canned(monkeypatch, failed, failed) as endpoint:
        asker = Asker(endpoint, max_retries=1)
        with pytest.raises(EndpointError, match="answered 500: xxx"):
            run(asker, asker.ask)


# -- redirects ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_origin_is_not_followed(status: int) -> None:
    with LocalEndpoint(answer=good) as other:
        elsewhere = f"{other.url}/chat/completions?secret=5"
        with LocalEndpoint(answer=good, faults=[Fault(status=status, location=elsewhere, every=1)]) as endpoint:
            asker = Asker(endpoint)
            with pytest.raises(RequestError, match=f"redirects.*{status}") as caught:
                run(asker, lambda: asker.ask(MEMORY))
            assert endpoint.calls == 1  # a retry would fail in the same way
    assert (other.connections, other.calls) == (0, 0)
    said = str(caught.value)
    assert "\n" not in said
    assert "secret" not in said
    assert KEY not in said
    if status in (307, 308):
        assert f"to http://127.0.0.1:{other.port}: not followed" in said
        assert "set OPENAI_BASE_URL" in said


@pytest.mark.parametrize(
    "location",
    ["https://127.0.0.1:{port}/v1/chat/completions", "http://localhost:{port}/v1/chat/completions", "//127.0.0.1:9/v1"],
)
def test_another_scheme_or_host_is_another_origin(location: str) -> None:
    fault = Fault(status=307, location="", every=1)
    with LocalEndpoint(answer=good) as endpoint:
        port = endpoint.port
    fault = Fault(status=307, location=location.format(port=port), every=1)
    with LocalEndpoint(answer=good, faults=[fault], port=port) as endpoint:
        asker = Asker(endpoint)
        with pytest.raises(RequestError, match="not followed"):
            run(asker, asker.ask)
        assert endpoint.calls == 1


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_within_the_origin_is_followed_with_the_body(status: int) -> None:
    with LocalEndpoint(answer=good, faults=[Fault(status=status, location="/v1/chat/completions/")]) as endpoint:
        asker = Asker(endpoint)
        assert run(asker, lambda: asker.ask(MEMORY)).parsed == Finding(**GOOD)
        assert [MEMORY in str(request) for request in endpoint.requests] == [True, True]


def test_a_redirect_in_a_circle_ends() -> None:
    with LocalEndpoint(answer=good, faults=[Fault(status=307, location="/v1/chat/completions", every=1)]) as endpoint:
        asker = Asker(endpoint)
        with pytest.raises(RequestError, match="redirected 5 times"):
            run(asker, asker.ask)
        assert endpoint.calls == 5
