"""A local endpoint in front of the real one, for the model calls that a memory system makes itself (`--memfail-proxy`)."""

from __future__ import annotations

import os
import re
import secrets
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import quote, unquote

from pytest_memfail.core import Doubt
from pytest_memfail.llm.address import PLACEHOLDER_KEY, Address, check_sdk
from pytest_memfail.llm.cache import ResponseCache
from pytest_memfail.llm.chat import MEMORY_STAGE, SEARCH_STAGE
from pytest_memfail.llm.errors import AuthError, ModelCallError, RequestError
from pytest_memfail.llm.ledger import Ledger
from pytest_memfail.llm.relay import Call, Caller, Relay, Response, refused
from pytest_memfail.llm.replay_ignore import DEFAULTS, Ignored
from pytest_memfail.safety import KNOWN

PROBE_SECONDS: Final = 0.05
"""How long a client that sends no more is watched for a reset."""
STRANGER: Final = (
    "this address of --memfail-proxy lacks its secret part; expected the whole of OPENAI_BASE_URL or context.base_url"
)
URL_VARIABLE: Final = "OPENAI_BASE_URL"
KEY_VARIABLE: Final = "OPENAI_API_KEY"
MAX_REQUEST_BYTES: Final = 64 << 20
PLACE: Final = re.compile(r"/([^/]+)(?:/store/([^/]+))?(?:/v1(/.*)|.*)", re.DOTALL)
DRAINED: Final = 1 << 20
"""The most bytes to read of a refused request, so that its sender reads the response."""


class StoreCalls:
    """The model calls of one store, for the engine."""

    def __init__(self, relay: Relay, callers: tuple[Caller, ...], url: str) -> None:
        self._relay, self._callers = relay, callers
        self.url: Final = url
        """The base URL of this store."""

    @property
    def spent(self) -> dict[str, int]:
        """Return the calls, cache hits and tokens that came by this store's own address."""
        return dict(self._callers[0].spent)

    def searches(self, *, now: bool) -> None:
        """Say whether the store's calls are made to answer queries from now on, or to store."""
        self._callers[0].stage = SEARCH_STAGE if now else MEMORY_STAGE

    @property
    def failures(self) -> int:
        """Return the number of failed calls of the process so far."""
        return self._relay.failures

    def fault(self, since: int, *, only_final: bool = False) -> ModelCallError | None:
        """Return a failure after the first `since` ones that the memory did not repeat with success.

        `only_final` looks for those alone that no retry can help: a used-up budget, a reply that is not in the cache.
        """
        return self._relay.fault(self._callers, since, only_final=only_final)

    def doubts(self) -> tuple[Doubt, ...]:
        """Return the doubts about the calls of this store, and about those of the run, since they were last asked for."""
        return self._relay.doubts(self._callers)


class Proxy:
    """Serves on 127.0.0.1, each connection on a thread. OPENAI_BASE_URL names it between `start()` and `close()`."""

    def __init__(
        self,
        ledger: Ledger,
        cache: ResponseCache | None,
        *,
        base_url: str | None = None,
        ignore: Sequence[str] = DEFAULTS,
    ) -> None:
        """Listen in front of `base_url`, or else OPENAI_BASE_URL, or else OpenAI's endpoint; `ignore` are patterns for `Ignored`.

        Raises `UsageError` for an invalid URL, and without the package openai.
        """
        check_sdk()
        named = base_url or os.environ.get(URL_VARIABLE)
        self._relay = Relay(Address(named, None), ledger, cache, Ignored(ignore), is_named=bool(named))
        self._run = Caller()
        self._stores: dict[str, Caller] = {}
        self._before: dict[str, str | None] = {}
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self._secret = f"memfail-{secrets.token_urlsafe(24)}"  # as `replay_ignore.ADDRESS` finds it
        KNOWN.add(self._secret)
        self._thread = threading.Thread(target=self._serve, name="memfail-proxy", daemon=True)

    @property
    def url(self) -> str:
        """Return the base URL of the run. It contains what no other user and no web page can guess."""
        return f"http://{self.host}/{self._secret}/v1"

    @property
    def host(self) -> str:
        """Return the host and port."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> None:
        """Serve, and set this endpoint in the environment, and a key if there is none."""
        self._thread.start()
        values = {URL_VARIABLE: self.url, KEY_VARIABLE: os.environ.get(KEY_VARIABLE) or PLACEHOLDER_KEY}
        direct = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
        if direct != "*":  # another proxy of the environment cannot reach this machine
            values |= dict.fromkeys(("no_proxy", "NO_PROXY"), ",".join(filter(None, (direct, "127.0.0.1"))))
        for name, value in values.items():
            self._before[name] = os.environ.get(name)
            os.environ[name] = value

    def store(self, store_id: str, unit: str) -> StoreCalls:
        """Return the calls of a store; `unit` is its name, which is the same in every run."""
        caller = self._stores[store_id] = Caller(unit)
        url = f"{self.url[: -len('/v1')]}/store/{quote(store_id, safe='')}/v1"
        return StoreCalls(self._relay, (caller, self._run), url)

    def answer(self, call: Call, has_gone: Callable[[], bool], fault: str = "") -> Response:
        """Return the response to a call, whose path is that of this server.

        `has_gone` says whether the client has given up waiting, and `fault` why the call cannot be passed on.
        """
        found = PLACE.fullmatch(call.path)
        store, path = (None, None) if found is None else found.groups()[1:]
        caller = self._run if store is None else self._stores.get(unquote(store))
        call = replace(call, path=path or "")
        if caller is None or not call.is_served:
            served = "POST chat/completions, completions, embeddings, responses, GET models and models/ID"
            place = (call.path or "this path") if caller is not None else "another store"
            fault = fault or f"{call.method} {place[:80]} is not served by --memfail-proxy; expected {served}"
        if fault or caller is None:
            return self._relay.refuse(call, caller or self._run, RequestError(fault))
        return self._relay.answer(call, caller, has_gone)

    def knows(self, path: str) -> bool:
        """Return whether a path begins with the secret of the address; count the request if not."""
        if secrets.compare_digest(path.encode()[1:].partition(b"/")[0], self._secret.encode()):
            return True
        self._relay.count_stranger()
        return False

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.05)  # seconds it may take to stop

    def close(self) -> None:
        """Stop serving, and restore the environment."""
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._before.clear()
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()
        self._server.hang_up()
        self._relay.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a thread may wait for the endpoint for minutes
    request_queue_size = 128
    proxy: Proxy

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End the connections that clients keep open."""
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write no traceback for a client that has gone, such as one with a shorter time limit."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body of a response go out together
    disable_nagle_algorithm = True
    timeout = 600
    _is_listening = False
    """Whether a client that sends no more was found to read on."""

    def _serve(self) -> None:
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        length = headers.get("content-length", "0").lstrip("0") or "0"
        is_known = length.isdecimal() and len(length) < 20  # int() takes no thousands of digits
        proxy, content, fault = self.server.proxy, b"", ""
        if not proxy.knows(path):
            self.close_connection = True
            if is_known:
                self.rfile.read(min(int(length), DRAINED))
            self._send(replace(refused(AuthError(STRANGER)), status=403))
            return
        if self.headers.get_all("host") != [proxy.host] or "origin" in headers:  # of a web page
            fault = f"--memfail-proxy answers programs that ask {proxy.host}, not the host or web page that this request names"
        if "transfer-encoding" in headers or not is_known or int(length) > MAX_REQUEST_BYTES:
            self.close_connection = True
            limit = f"at most {MAX_REQUEST_BYTES >> 20} MiB"
            fault = f"--memfail-proxy needs a request with a Content-Length of {limit}"
        elif len(content := self.rfile.read(int(length))) < int(length):
            self.close_connection = True  # the client has gone: half a request is not paid for
            return
        self._send(proxy.answer(Call(self.command, path, query, headers, content), self._has_gone, fault))

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(response.content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.content)
        self.wfile.flush()

    def finish(self) -> None:
        """Close the connection also when the client has gone before it was sent all."""
        try:
            super().finish()
        finally:
            self.rfile.close()

    def _has_gone(self) -> bool:
        """Return whether the client has gone; one that only ends what it sends may still read the response."""
        try:
            if not self._sends_no_more():
                return False
            if not self._is_listening and self.request_version >= "HTTP/1.1":
                # only the system of a client that has gone answers this: with a reset
                self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                ends = time.monotonic() + PROBE_SECONDS
                while time.monotonic() < ends:
                    if self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                        return True
                    time.sleep(PROBE_SECONDS / 10)
                self._is_listening = True
            return not self._is_listening
        except (OSError, ValueError):  # reset, or closed
            return True

    def _sends_no_more(self) -> bool:
        with selectors.DefaultSelector() as ready:
            ready.register(self.connection, selectors.EVENT_READ)
            return bool(ready.select(0)) and not self.connection.recv(1, socket.MSG_PEEK)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):  # any method: the endpoint decides which it accepts
            return self._serve
        raise AttributeError(name)

    def log_message(self, *_: Any) -> None:
        """Write no log, because a line may contain a secret."""
