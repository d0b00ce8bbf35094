"""Answer the requests of a memory system with a kept reply, the endpoint's reply, or an error."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

from pytest_memfail.core import Doubt, UsageError, json_of, one_line
from pytest_memfail.llm.address import PLACEHOLDER_KEY, Address
from pytest_memfail.llm.cache import CachedReply, ResponseCache
from pytest_memfail.llm.chat import MEMORY_STAGE
from pytest_memfail.llm.completion import Usage
from pytest_memfail.llm.errors import (
    AuthError,
    BudgetError,
    CacheMissError,
    EndpointError,
    ModelCallError,
    ReplyError,
    RequestError,
)
from pytest_memfail.llm.failures import RETRIED_STATUSES, said_in
from pytest_memfail.llm.ledger import Ledger
from pytest_memfail.llm.replay_ignore import Ignored, Seen
from pytest_memfail.llm.replies import check_body, is_cut_off, read_usage
from pytest_memfail.llm.request import LIMITS, reply_limit
from pytest_memfail.llm.sending import BUDGET_POLL_SECONDS, CONNECT_SECONDS
from pytest_memfail.llm.tokens import count_tokens
from pytest_memfail.safety import learn_sent, mask_known, mask_values, secret_strength

KEPT_AT: Final = "proxy "
"""Prefix of the endpoint of a reply that the proxy keeps."""
CHAT: Final = "/chat/completions"
EMBEDDINGS: Final = "/embeddings"
ASKED: Final = frozenset({CHAT, EMBEDDINGS, "/completions", "/responses"})
"""Paths that ask a model."""
LISTED: Final = re.compile(
    r"/models(?:(?:/(?!\.))(?:(?!\.\.)[\w.:@+~,-]|%(?![01]|2[eE5]|5[cC]|7[fF])[0-9A-Fa-f]{2})+)*", re.ASCII
)
"""Paths of the list of models and of one of them, whose name may have slashes but leaves the path by no dots."""
SECONDS: Final = 600.0
"""Time limit for the endpoint in seconds; the memory's own client may give up earlier."""
MAX_REPLY_BYTES: Final = 256 << 20
"""Thousands of embeddings are longer than any text."""
FAULTS: Final = RETRIED_STATUSES | {401, 402, 403}
"""Statuses below 500 that are faults of the endpoint or the account, not of the request."""
HELD_BACK: Final = frozenset(
    "host connection content-length transfer-encoding accept-encoding keep-alive te trailer upgrade expect "
    "proxy-authorization proxy-connection".split()
)
"""Headers of a request that are not passed on."""
RETURNED: Final = ("content-type", "retry-after", "retry-after-ms", "x-request-id", "x-should-retry")
CUT_OFF: Final = (
    "a reply to the memory's own call of its model was cut off at a limit of tokens (finish_reason length), so what the memory "
    "read of it may be incomplete; raise its max_tokens, or the context of the model"
)
REFUSED: Final = (
    "--memfail-proxy refused requests without the secret part of its address; if they are the memory's, give it the whole of "
    "OPENAI_BASE_URL or context.base_url"
)
FINAL: Final = (BudgetError, CacheMissError)
"""Errors that no retry of the memory can help."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request of the memory system."""

    method: str
    path: str
    """The path after the base URL, without the query."""
    query: str
    headers: Mapping[str, str]
    """By lower-case names."""
    content: bytes

    @property
    def digest(self) -> bytes:
        """Return the identity of the request, which its retries have too."""
        return hashlib.sha256(f"{self.path}?{self.query}\n".encode() + self.content).digest()

    @property
    def is_served(self) -> bool:
        """Return whether it asks a model or for the list of models: a memory needs nothing else."""
        if self.method == "POST":
            return self.path in ASKED
        return self.method == "GET" and LISTED.fullmatch(self.path) is not None

    def secrets(self) -> frozenset[str]:
        """Return its keys, of whatever name and length; all that are no ordinary words are masked in every text from now on."""
        fields = _plain(self.content)
        own = fields.items() if isinstance(fields, dict) else ()
        sent = [(name, value) for name, value in own if secret_strength(name) == 2 and isinstance(value, str)]
        return learn_sent([*self.headers.items(), *parse_qsl(self.query), *sent])

    def __str__(self) -> str:
        return f"{self.method} {one_line(self.path, 60)}"


@dataclass(frozen=True, slots=True)
class Response:
    """The response to the memory system."""

    status: int
    content: bytes
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


class Caller:
    """The origin of calls: a store, or the whole run if its system has one client for all stores."""

    def __init__(self, unit: str = "") -> None:
        """`unit` is the name of the store, the same in every run."""
        self.unit = unit
        self.spent = dict.fromkeys(("calls", "cache_hits", "prompt_tokens", "completion_tokens"), 0)
        """Its calls and tokens so far."""
        self.faults: dict[bytes, tuple[int, ModelCallError]] = {}
        """The requests that have no reply, each with the number of its last failure."""
        self.replies = self.cut_off = 0
        """Its replies since `Relay.doubts` was last called, and those of them that end because of a limit of tokens."""
        self.stage = MEMORY_STAGE
        """What its calls are for: storing, or answering queries."""
        self._requests: dict[str, dict[str, int]] = {}

    def ordinal(self, general: str, exact: str) -> int:
        """Return the number of this request among those that differ only in ignored parts; a repeated request keeps its number."""
        known = self._requests.setdefault(_digest(general), {})
        return known.setdefault(_digest(exact), len(known))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request whose reply can be kept."""

    call: Call
    model: str
    body: Mapping[str, Any]
    """The body as sent: a stream is requested in one piece."""
    stream: bool | None
    """Whether the reply is to be a stream with its usage, or without; None for no stream."""
    exact: str
    """The identity of the request."""
    general: str | None
    """The identity of the request in another run; None if no part of it is ignored."""
    unit: str
    ordinal: int
    """The number of this request among those of the unit with the same `general`."""
    seen: Seen

    @property
    def excerpt(self) -> str:
        """Return the end of the request's last text."""
        said = self.body.get("input") or self.body.get("prompt") or ""
        if messages := self.body.get("messages"):
            said = messages[-1].get("content") if isinstance(messages[-1], dict) else ""
        text = one_line(said if isinstance(said, str) else json.dumps(said), 10_000)
        return repr(text if len(text) <= 80 else f"…{text[-80:]}")

    def expected_usage(self, content: bytes) -> Usage:
        """Return the usage to reserve in the budget, given the body as it is sent."""
        reply = 0 if self.call.path == EMBEDDINGS else reply_limit(self.body, (*LIMITS, "max_output_tokens"))
        return Usage(count_tokens([content.decode("utf-8", "replace")]), reply)

    def response(self, body: Any) -> Response:
        """Return the response with this reply."""
        if self.stream is None:
            return Response(200, json.dumps(body).encode())
        return Response(200, as_stream(body, with_usage=self.stream), {"content-type": "text/event-stream"})


class Relay:
    """Answers calls from the cache or passes them on, counts them and holds the budget. Thread-safe."""

    def __init__(
        self, address: Address, ledger: Ledger, cache: ResponseCache | None, ignored: Ignored, *, is_named: bool = True
    ) -> None:
        """`is_named` says whether the user named the endpoint; if not, a replay uses replies of any endpoint."""
        self.address, self.ledger, self.cache, self._ignored = address, ledger, cache, ignored
        self._endpoints = [KEPT_AT + address.url]
        if cache is not None and cache.mode == "only" and not is_named:
            self._endpoints += [one for one in cache.endpoints(KEPT_AT) if one not in self._endpoints]
        self._client: Any = None
        self._lock = threading.Lock()
        self._failures = 0
        self._strangers = 0
        """Requests without the secret of the address since `doubts` was last called."""
        self._flying: dict[object, tuple[Caller, Call, Callable[[], bool]]] = {}
        """The calls that wait for a reply, and whether the memory has given up waiting."""

    @property
    def failures(self) -> int:
        """Calls without a reply so far."""
        with self._lock:
            for one, (caller, call, has_gone) in list(self._flying.items()):
                if has_gone():
                    del self._flying[one]
                    self._failures += 1
                    caller.faults[call.digest] = self._failures, self._abandoned(call)
            return self._failures

    def answer(self, call: Call, caller: Caller, has_gone: Callable[[], bool] = lambda: False) -> Response:
        """Return the response to a call; never raises. `has_gone` says whether the memory has given up waiting for it."""
        with self._lock:
            self._flying[flight := object()] = caller, call, has_gone
        fault: ModelCallError | None = None
        try:
            response = self._answered(self._asked(call, caller), caller)
            # nobody asks on purpose for a model that is not there
            if response.status in FAULTS or response.status >= 500 or response.status == 404:
                fault = EndpointError(
                    f"{self.address.host} answered {response.status} to {call}: {self._said(response, call)}"
                )
        except ModelCallError as error:
            fault = error
            response = refused(error)
        except UsageError as error:  # a budget that cannot be enforced, a damaged cache
            fault = BudgetError(str(error))
            response = refused(fault)
        except Exception as error:  # whatever it is, the memory has no reply
            fault = EndpointError(f"{call}: {type(error).__name__}: {self._clean(error, call, 120)}")
            response = refused(fault)
        with self._lock:
            # neither noted before nor repeated with success
            if self._flying.pop(flight, None) is None:
                return response
        if fault is None and has_gone():
            fault = self._abandoned(call)
        self._note(call, caller, fault)
        return response

    def _abandoned(self, call: Call) -> EndpointError:
        return EndpointError(f"the memory gave up {call} before {self.address.host} replied; raise its time limit")

    def refuse(self, call: Call, caller: Caller, error: ModelCallError) -> Response:
        """Return the response to a call that cannot be passed on; unless it may be a mere probe, it has failed."""
        if call.method == "POST":
            self._note(call, caller, error)
        return refused(error)

    def count_stranger(self) -> None:
        """Count a request that came without the secret of the address; it is no call of the memory, nor a failed one."""
        with self._lock:
            self._strangers += 1

    def doubts(self, callers: tuple[Caller, ...]) -> tuple[Doubt, ...]:
        """Return the doubts about the calls of these callers since they were last asked for."""
        with self._lock:
            replies, cut_off = sum(caller.replies for caller in callers), sum(caller.cut_off for caller in callers)
            strangers, self._strangers = self._strangers, 0
            for caller in callers:
                caller.replies = caller.cut_off = 0
        found = [Doubt("cut_off_memory", CUT_OFF, cut_off, replies, "reply")] if replies else []
        return (*found, Doubt("stranger", REFUSED, strangers, strangers, "request")) if strangers else tuple(found)

    def _note(self, call: Call, caller: Caller, fault: ModelCallError | None) -> None:
        """Note whether a call failed."""
        with self._lock:
            if fault is None:
                caller.faults.pop(call.digest, None)
                for one, (other, earlier, has_gone) in list(self._flying.items()):
                    if other is caller and earlier.digest == call.digest and has_gone():
                        del self._flying[one]
            else:
                self._failures += 1
                caller.faults[call.digest] = self._failures, fault

    def fault(self, callers: tuple[Caller, ...], since: int, *, only_final: bool) -> ModelCallError | None:
        """Return the earliest failure after the first `since` failures, unless a later try of the same request succeeded."""
        _ = self.failures  # notes the abandoned calls
        with self._lock:
            found = [
                (number, error, caller)
                for caller in callers
                for number, error in caller.faults.values()
                if number > since and (isinstance(error, FINAL) or not only_final)
            ]
        if not found:
            return None
        _, error, caller = min(found, key=lambda one: one[0])  # later ones may follow from the first
        # one client for all stores: the call may be that of a store beside this one
        return (
            error if caller.unit else type(error)(f"{error} (sent without the store's own address, context.base_url)")
        )

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _asked(self, call: Call, caller: Caller) -> _Asked:
        """Return the request. Raise `RequestError` if it is no JSON object, or for a stream that cannot be made."""
        body = _plain(call.content or b"{}")
        if not isinstance(body, dict):
            raise RequestError(f"{call}: the body of the request is no JSON object")
        stream = None
        if body.get("stream"):
            if call.path != CHAT:
                raise RequestError(f"{call}: --memfail-proxy streams chat completions only; set stream to false")
            stream = bool((body.get("stream_options") or {}).get("include_usage"))
        sent = {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
        # a key in the address or the body may differ in the replay
        query = {name: value for name, value in parse_qsl(call.query) if not secret_strength(name)}
        parts = {"path": call.path, "query": query, "body": {n: v for n, v in sent.items() if secret_strength(n) < 2}}
        plain, seen = self._ignored.read(parts)
        plain["model"] = body.get("model")  # its name may contain a date
        exact, general = (json.dumps(what, sort_keys=True) for what in (parts, plain))
        with self._lock:
            ordinal = caller.ordinal(general, exact)
        model, key = str(body.get("model") or call.path), general if any(seen.values.values()) else None
        return _Asked(call, model, sent, stream, exact, key, caller.unit, ordinal, seen)

    # -- where replies come from -------------------------------------------------------------------------------------

    def _answered(self, asked: _Asked, caller: Caller) -> Response:
        """Return a kept reply, else the endpoint's. Raise a `ModelCallError` without one."""
        asks_model = asked.call.method == "POST"
        if (found := self._kept(asked)) is not None:
            if asks_model:
                self.ledger.record_hit(caller.stage, asked.model)
                self._count(caller, "cache_hits", Usage())
            return self._given(asked, caller, found)
        if self.cache is not None and self.cache.mode == "only":
            self.ledger.record_failure(caller.stage, asked.model)
            raise CacheMissError(
                f"{self.cache.path} has no reply to {asked.call} of {asked.model!r} ({asked.excerpt}), and "
                f"--memfail-cache=only forbids calls; {self._remedy(asked)}"
            )
        response = self._paid(asked, caller) if asks_model else self._sent(asked.call, asked.call.content)
        if response.status != 200:
            return response
        body = self._checked(asked, response)
        self._keep(asked, body, read_usage(body.get("usage")))
        kept = self._kept(asked, counts=False)  # another process may have kept a reply first, which a replay will get
        return self._given(asked, caller, body if kept is None else kept)

    def _given(self, asked: _Asked, caller: Caller, body: Any) -> Response:
        with self._lock:
            caller.replies += asked.call.method == "POST"
            caller.cut_off += is_cut_off(body)
        return asked.response(body)

    def _checked(self, asked: _Asked, response: Response) -> Any:
        """Return the body of a response with status 200. Raise `ReplyError` if it is no reply: an outage may look like one."""
        call, host = asked.call, self.address.host
        try:
            body = json_of(response.content)
        except ValueError:
            raise ReplyError(f"{host} answered {call} with {self._said(response, call)!r}; expected JSON") from None
        if isinstance(body, dict) and body.get("error"):  # some send it with status 200
            raise ReplyError(f"{host} answered {call} with an error: {self._said(response, call)}")
        try:
            check_body(call.path, body)
        except ReplyError as error:
            raise ReplyError(f"{host} answered {call} with status 200, but {self._clean(error, call)}") from None
        return body

    def _kept(self, asked: _Asked, *, counts: bool = True) -> Any:
        """Return the kept reply to this request, or one of another run to a request that differs only in ignored parts."""
        for endpoint in self._endpoints:
            if (found := self._cached(endpoint, asked.exact)) is not None:
                body = json.loads(found.text)
                if counts:
                    self._keep(asked, body, found.usage, endpoint)  # this store may be the first with this request
                return body
            for key in self._general_keys(asked):
                if (found := self._cached(endpoint, key)) is not None:
                    return self._ignored.restored(json.loads(found.text), asked.seen)
        return None

    def _cached(self, endpoint: str, key: str) -> CachedReply | None:
        """Return what is kept of an endpoint under a key; it was checked before it was kept."""
        return None if self.cache is None else self.cache.get(_digest(f"{endpoint} {key}"))

    def _remedy(self, asked: _Asked) -> str:
        """Return what to do about a reply that is not kept."""
        assert self.cache is not None
        for endpoint in self.cache.endpoints(KEPT_AT):
            if endpoint not in self._endpoints and any(
                self._cached(endpoint, key) for key in (asked.exact, *self._general_keys(asked))
            ):
                recorded = endpoint.removeprefix(KEPT_AT)
                return (
                    f"it is kept for another base URL, {recorded}, and this run names {self.address.url}: set OPENAI_BASE_URL or "
                    "--memfail-proxy=URL to the first, or neither"
                )
        return "record it with --memfail-cache=on, and name what differs from run to run with --memfail-replay-ignore"

    def _general_keys(self, asked: _Asked) -> Iterator[str]:
        """Yield the keys under which a reply to a request of another run is searched for.

        A replay also uses an earlier reply of this store, or one attributed to the run: the recorded run may have had another
        number of workers.
        """
        if asked.general is None:
            return
        is_replay = self.cache is not None and self.cache.mode == "only"
        for unit in dict.fromkeys((asked.unit, "") if is_replay else (asked.unit,)):
            for ordinal in range(asked.ordinal, -1 if is_replay else asked.ordinal - 1, -1):
                yield f"{unit} {ordinal} {asked.general}"

    def _keep(self, asked: _Asked, body: Any, usage: Usage, endpoint: str = "") -> None:
        if self.cache is None or self.cache.mode != "on":
            return
        endpoint = endpoint or self._endpoints[0]
        kept = [(asked.exact, body)]
        if asked.general is not None:
            # the base64 of an embedding may match any pattern
            is_text = asked.call.path != EMBEDDINGS
            value = self._ignored.kept(body, asked.seen) if is_text else body
            kept.append((f"{asked.unit} {asked.ordinal} {asked.general}", value))
        for key, value in kept:
            reply = CachedReply(mask_known(json.dumps(value, ensure_ascii=True)), usage)
            where = _digest(f"{endpoint} {key}")
            self.cache.put(where, endpoint=endpoint, model=asked.model, reply=reply, is_copy=key != asked.exact)

    def _paid(self, asked: _Asked, caller: Caller) -> Response:
        """Send a request when the budget allows it, and record its cost. Raise `BudgetError` if it does not."""
        ledger, model, held = self.ledger, asked.model, None
        content = json.dumps(asked.body).encode()
        if ledger.has_budget:
            ledger.check_prices([model])
            expected = asked.expected_usage(content)
            while (held := ledger.reserve(model, expected, seconds=SECONDS)) is None:
                time.sleep(BUDGET_POLL_SECONDS)
        started = time.perf_counter()
        try:
            response = self._sent(asked.call, content)
            if response.status != 200:
                ledger.record_failure(caller.stage, model)
                return response
            body = _plain(response.content)
            usage = read_usage(body.get("usage") if isinstance(body, dict) else None)
            usage = usage.or_expected(lambda: asked.expected_usage(content))
            ledger.record_call(caller.stage, model, usage, time.perf_counter() - started)
            self._count(caller, "calls", usage)
            return response
        except ModelCallError:
            ledger.record_failure(caller.stage, model)
            raise
        finally:
            if held is not None:
                ledger.release(held)

    def _sent(self, call: Call, content: bytes) -> Response:
        """Return the endpoint's response. Raise `EndpointError` if there is none, `AuthError` if there is no key to send."""
        headers = {name: value for name, value in call.headers.items() if name not in HELD_BACK}
        call.secrets()  # known before the endpoint can repeat them
        if headers.get("authorization", "").partition(" ")[2] in ("", PLACEHOLDER_KEY):
            headers["authorization"] = f"Bearer {self.address.key()}"
        if self.address.login is not None:
            headers["authorization"] = self.address.login
        address = self.address.url + call.path + (f"?{call.query}" if call.query else "")
        body = bytearray()
        try:
            with self._connected().stream(call.method, address, headers=headers, content=content) as got:
                for chunk in got.iter_bytes():
                    body += chunk
                    if len(body) > MAX_REPLY_BYTES:
                        break
        except Exception as error:  # of httpx or httpx2
            name = type(error).__name__
            raise EndpointError(
                f"{self.address.host} cannot be reached ({name}: {self._clean(error, call, 120)})"
            ) from None
        if got.has_redirect_location:
            raise EndpointError(
                f"{self.address.host} redirects {call} ({got.status_code}): not followed; set the final address"
            )
        if len(body) > MAX_REPLY_BYTES:
            raise ReplyError(f"{self.address.host} sent more than {MAX_REPLY_BYTES >> 20} MiB to {call}")
        return Response(
            got.status_code, bytes(body), {name: got.headers[name] for name in RETURNED if name in got.headers}
        )

    def _count(self, caller: Caller, what: str, usage: Usage) -> None:
        with self._lock:
            caller.spent[what] += 1
            caller.spent["prompt_tokens"] += usage.prompt_tokens
            caller.spent["completion_tokens"] += usage.completion_tokens

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                import openai

                timeout = openai.Timeout(SECONDS, connect=CONNECT_SECONDS)
                self._client = openai.DefaultHttpxClient(timeout=timeout, follow_redirects=False)
            return self._client

    def _said(self, response: Response, call: Call) -> str:
        body = _plain(response.content)
        is_error = isinstance(body, dict) and "error" in body
        return self._clean(said_in(body) if is_error else response.content[:10_000].decode("utf-8", "replace"), call)

    def _clean(self, text: object, call: Call, limit: int = 160) -> str:
        """Return the begin of a text without any key of the call, or other secrets."""
        return self.address.clean(mask_values(mask_known(str(text)), call.secrets()), limit)


def refused(error: ModelCallError) -> Response:
    """Return the response that makes the memory's call fail with this error, without retries if they cannot help."""
    status = 401 if isinstance(error, AuthError) else 502 if isinstance(error, EndpointError | ReplyError) else 400
    body = {"error": {"message": f"pytest-memfail: {error}", "type": "memfail", "code": type(error).__name__}}
    headers = {"content-type": "application/json", "x-should-retry": "true" if status == 502 else "false"}
    return Response(status, json.dumps(body).encode(), headers)


def as_stream(body: Mapping[str, Any], *, with_usage: bool) -> bytes:
    """Return a chat completion as server-sent events: one chunk with each whole choice, and one that ends the stream."""
    base = {name: value for name, value in body.items() if name not in ("choices", "usage", "object")}
    base["object"] = "chat.completion.chunk"
    chunks: list[dict[str, Any]] = []
    for choice in body.get("choices") or ():
        delta = dict(choice.get("message") or {})
        if delta.get("tool_calls"):
            delta["tool_calls"] = [{"index": i, **call} for i, call in enumerate(delta["tool_calls"])]
        same = {"index": choice.get("index", 0), "logprobs": choice.get("logprobs")}
        chunks.append({"choices": [{**same, "delta": delta, "finish_reason": None}]})
        chunks.append(
            {"choices": [{"index": same["index"], "delta": {}, "finish_reason": choice.get("finish_reason")}]}
        )
    if with_usage:
        chunks.append({"choices": [], "usage": body.get("usage")})
    events = [json.dumps({**base, **chunk}) for chunk in chunks]
    return "".join(f"data: {event}\n\n" for event in (*events, "[DONE]")).encode()


def _plain(content: bytes) -> Any:
    """Return the value of a JSON text; None if it is none."""
    with suppress(ValueError):
        return json_of(content)
    return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
