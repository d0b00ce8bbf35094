"""A local model endpoint: real HTTP, deterministic replies, and the faults of real endpoints."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, TypeAlias

from pytest_memfail.testing import embeddings
from pytest_memfail.testing.completions import completion
from pytest_memfail.testing.faults import Fault, Reply, Schedule
from pytest_memfail.testing.http import HttpRequest, error_response, json_response, read_request, response
from pytest_memfail.testing.overflows import OVERFLOWS, overflow_response
from pytest_memfail.testing.usage import PromptMeter, count

Answer: TypeAlias = "Callable[[dict[str, Any]], str | Mapping[str, Any] | Reply]"
"""Takes the decoded request; returns the reply's text, a mapping (sent as JSON text), or a `Reply`."""

Vectors: TypeAlias = "Callable[[list[str], int | None], list[list[float]]]"
"""Takes texts and the number of dimensions asked for, if any; returns a vector for each text."""

START_SECONDS: Final = 10.0
BACKLOG: Final = 1024
READ_LIMIT: Final = 1 << 20
"""Bytes a connection may buffer: prompts contain whole stores."""

ENDLESS_CHUNK: Final = b"10000\r\n" + b" " * 0x10000 + b"\r\n"


class _Dropped(Exception):
    """Close the connection at once, after sending these bytes."""

    def __init__(self, sent: bytes = b"") -> None:
        super().__init__("dropped")
        self.sent = sent


def _ok(_: dict[str, Any]) -> str:
    """Answer everything with "ok"."""
    return "ok"


class LocalEndpoint:
    """Serves chat completions, embeddings and the list of models on 127.0.0.1.

    ```python
    with LocalEndpoint(answer=lambda request: "yes", latency_seconds=0.2) as endpoint:
        client = AsyncOpenAI(base_url=endpoint.url, api_key="any")
    ```

    `answer` runs on the endpoint's own thread, one call at a time. An exception in it is sent as a 400 that names it,
    so that clients do not retry a fault of the test.
    """

    def __init__(
        self,
        answer: Answer = _ok,
        *,
        latency_seconds: float = 0.0,
        faults: Iterable[Fault | None] = (),
        dies_after: int | None = None,
        api_key: str | None = None,
        models: Sequence[str] | None = None,
        vectors: Vectors = embeddings.of_words,
        context_tokens: int | None = None,
        overflow: str = "openai",
        cuts_prompts: bool = False,
        port: int = 0,
        keep_requests: int = 1000,
    ) -> None:
        """Configure an endpoint, which listens after `start()` or `with`.

        Args:
            answer: returns the text of each reply.
            latency_seconds: the time from the arrival of a request to its reply.
            faults: faults of chat completions; see `Fault`.
            dies_after: the number of chat completions after which it closes all connections and refuses new ones.
            api_key: the only key accepted; None accepts all.
            models: the only models known; None knows all.
            vectors: returns the vectors of texts; by default of hashed words, `package_vectors` has those of a package.
            context_tokens: longer prompts get a context-length error.
            overflow: the server whose context-length error they get: a name of `overflows.OVERFLOWS`.
            cuts_prompts: answer longer prompts all the same, after cutting them to `context_tokens`, as Ollama does.
            port: 0 takes a free port.
            keep_requests: the number of recent requests in `requests`.
        """
        self.calls = 0
        """Chat completions requested, including failed ones."""
        self.answered = 0
        """Chat completions answered with a completion of any content."""
        self.in_flight = 0
        self.peak_in_flight = 0
        self.connections = 0
        """Connections accepted."""
        self.requests: deque[dict[str, Any]] = deque(maxlen=keep_requests)
        """The last decoded chat requests, oldest first."""
        self.embedding_requests: deque[dict[str, Any]] = deque(maxlen=keep_requests)
        """The last decoded requests for embeddings, oldest first."""
        self._vectors = vectors
        self._answer = answer
        self._latency = latency_seconds
        self._schedule = Schedule(faults)
        self._dies_after = dies_after
        self._api_key = api_key
        self._models = models
        self._context_tokens = context_tokens
        if overflow not in OVERFLOWS:
            raise ValueError(f"got overflow {overflow!r}, expected one of {', '.join(OVERFLOWS)}")
        self._overflow = overflow
        self._cuts = cuts_prompts
        self._port = port
        self._meter = PromptMeter()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._server: asyncio.Server | None = None
        self._handlers: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    # -- life --------------------------------------------------------------------------------------------------------

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        if not self._port:
            raise RuntimeError("the endpoint was not started; use it as a context manager or call start()")
        return self._port

    @property
    def url(self) -> str:
        """Return the base URL for clients."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> LocalEndpoint:
        """Start listening. Raise `OSError` if the port is taken."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="memfail-endpoint", daemon=True)
        self._thread.start()
        try:
            self._on_loop(self._listen())
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Close all connections and stop."""
        if self._loop is None or self._thread is None:
            return
        self._on_loop(self._die())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_SECONDS)
        self._loop.close()
        self._loop = self._thread = None

    def die(self) -> None:
        """Close all connections and refuse new ones, as a killed server would."""
        self._on_loop(self._die())

    def revive(self) -> None:
        """Listen again on the same port, and ignore `dies_after` from now on."""
        self._dies_after = None
        self._on_loop(self._listen())

    def reset_counters(self) -> None:
        """Reset the counters; the fault schedule and the prompt cache continue."""
        self.calls = self.answered = self.connections = 0
        self.peak_in_flight = self.in_flight
        self.requests.clear()

    def __enter__(self) -> LocalEndpoint:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _on_loop(self, work: Any) -> None:
        if self._loop is None:
            work.close()
            raise RuntimeError("the endpoint was not started")
        asyncio.run_coroutine_threadsafe(work, self._loop).result(START_SECONDS)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self._port, backlog=BACKLOG, limit=READ_LIMIT
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def _die(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        me = asyncio.current_task()
        handlers = [task for task in self._handlers if task is not me]
        for task in handlers:
            self._handlers[task].transport.abort()
            task.cancel()
        if handlers:
            await asyncio.wait(handlers)

    # -- one connection ----------------------------------------------------------------------------------------------

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers[task] = writer
        self.connections += 1
        try:
            while (request := await read_request(reader)) is not None:
                writer.write(await self._respond(request, reader))
                await writer.drain()
        except _Dropped as dropped:
            writer.write(dropped.sent)
        except ValueError as error:
            writer.write(error_response(400, f"not a request: {error}"))
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client is gone or the endpoint dies, so nobody can be notified
        finally:
            del self._handlers[task]
            writer.close()

    async def _respond(self, request: HttpRequest, reader: asyncio.StreamReader) -> bytes:
        route = (request.method, request.path.rstrip("/"))
        if self._api_key is not None and request.headers.get("authorization") != f"Bearer {self._api_key}":
            return _wrong_key(request)
        if route == ("GET", "/v1/models"):
            known = [{"id": name, "object": "model", "created": 0, "owned_by": "local"} for name in self._models or ()]
            return json_response(200, {"object": "list", "data": known})
        if route not in {("POST", "/v1/chat/completions"), ("POST", "/v1/embeddings")}:
            return error_response(404, f"no such address: {request.method} {request.path}")
        try:
            body = json.loads(request.body)
        except ValueError as error:
            return error_response(400, f"the body is not JSON: {error}")
        if not isinstance(body, dict):
            return error_response(400, "the body is not a JSON object")
        if self._models is not None and body.get("model") not in self._models:
            return _unknown_model(body)
        if route[1] == "/v1/embeddings":
            self.embedding_requests.append(body)
            return _embeddings(body, self._vectors)
        return await self._chat(request, body, reader)

    async def _chat(self, request: HttpRequest, body: dict[str, Any], reader: asyncio.StreamReader) -> bytes:
        end = time.monotonic() + self._latency
        self.calls += 1
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        self.requests.append(body)
        number = self.calls
        try:
            if self._dies_after is not None and number > self._dies_after:
                await self._die()
                raise _Dropped
            fault = self._schedule.next(body)
            if fault is not None and fault.kind == "hang":
                await reader.read(1)  # returns when the client gives up
                raise _Dropped
            content = self._completion(request, body, fault)
            # without a wait the reply is sent at once: a slow `answer` then serves one call after the other, as one slot does
            if (left := end - time.monotonic()) > 0:
                await asyncio.sleep(left)
            if fault is not None and fault.kind == "endless":
                await self._send_for_ever()
            if fault is not None and fault.kind == "drop":
                raise _Dropped
            if fault is not None and fault.kind == "drop_mid_body":
                raise _Dropped(content[: len(content) - 20])
            return content
        finally:
            self.in_flight -= 1

    async def _send_for_ever(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        writer = self._handlers[task]
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:  # until the client has gone
            writer.write(ENDLESS_CHUNK)
            await writer.drain()

    # -- replies -----------------------------------------------------------------------------------------------------

    def _completion(self, request: HttpRequest, body: dict[str, Any], fault: Fault | None) -> bytes:
        if body.get("stream"):
            return error_response(400, "this endpoint does not stream")
        if fault is not None and (failed := _error_of(fault, request, body)):
            return failed
        messages = body.get("messages")
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            return error_response(400, "messages is not a list of objects")
        prompt_tokens, cached_tokens = self._meter.measure(str(body.get("model")), messages)
        if self._context_tokens is not None and prompt_tokens > self._context_tokens:
            if not self._cuts:
                return overflow_response(self._overflow, self._context_tokens, prompt_tokens)
            prompt_tokens, cached_tokens = self._context_tokens, 0
        try:
            reply = _as_reply(self._answer(body))
        except Exception as error:  # any exception of the test's function
            return error_response(400, f"the answer function raised {type(error).__name__}: {error}")
        if fault is not None:
            reply = _spoilt(reply, fault)
        self.answered += 1
        return json_response(200, completion(reply, body.get("model"), self.answered, prompt_tokens, cached_tokens))


def _as_reply(answer: str | Mapping[str, Any] | Reply) -> Reply:
    if isinstance(answer, Reply):
        return answer
    return Reply(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))


def _spoilt(reply: Reply, fault: Fault) -> Reply:
    """Return the reply after applying the fault."""
    half = reply.text[: len(reply.text) // 2]
    spoilt = {
        "empty": Reply(""),
        "truncated": Reply(half, finish_reason="length"),
        "invalid_json": Reply('{"verdict": tru'),
        "wrong_schema": Reply('{"this": "is not what was asked for"}'),
        "refusal": Reply("", refusal="I cannot help with that."),
    }
    return spoilt.get(fault.kind, reply)


def _error_of(fault: Fault, request: HttpRequest, body: Mapping[str, Any]) -> bytes | None:
    """Return the error response of a fault; None if it has none."""
    after, to = fault.retry_after, fault.location
    headers = {} if after is None else {"retry_after": after if isinstance(after, str) else f"{after:g}"}
    headers |= {} if to is None else {"location": to}
    if fault.kind == "status":
        return error_response(fault.status, fault.message or f"scripted fault {fault.status}", fault.code, **headers)
    if fault.kind == "bad_body":
        return response(200, b"<html><body>Please log in</body></html>", content_type="text/html")
    if fault.kind == "context_length":
        return overflow_response("openai", 0, 0)
    if fault.kind == "wrong_key":
        return _wrong_key(request)
    if fault.kind == "unknown_model":
        return _unknown_model(body)
    return None


def _wrong_key(request: HttpRequest) -> bytes:
    # real endpoints repeat the key or a part of it too
    key = request.headers.get("authorization", "none")
    return error_response(401, f"Incorrect API key provided: {key}.", "invalid_api_key")


def _unknown_model(body: Mapping[str, Any]) -> bytes:
    return error_response(404, f"The model {body.get('model')!r} does not exist.", "model_not_found")


def _embeddings(body: Mapping[str, Any], vectors: Vectors) -> bytes:
    texts = body.get("input")
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return error_response(400, "input is neither a text nor a list of texts")
    encoding = str(body.get("encoding_format", "float"))
    data = [
        {"object": "embedding", "index": i, "embedding": embeddings.encoded(vector, encoding)}
        for i, vector in enumerate(vectors(texts, body.get("dimensions")))
    ]
    tokens = sum(map(count, texts))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return json_response(200, {"object": "list", "model": body.get("model"), "data": data, "usage": usage})
