"""The local endpoint in front of the real one."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import struct
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import openai
import pytest
from llm_upstream import Upstream, completed

from pytest_memfail.cli import main
from pytest_memfail.hosting.calls import Lane
from pytest_memfail.llm import BudgetError, CacheMissError, EndpointError, Ledger, Price, Prices, Proxy, ResponseCache
from pytest_memfail.llm.relay import REFUSED
from pytest_memfail.safety import KNOWN, mask_known
from pytest_memfail.testing import Fault, LocalEndpoint

KEY = "sk-of-the-memory-0123456789"
Start = Callable[..., Proxy]


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(lambda request: f"so {request['messages'][-1]['content']}", api_key=KEY) as started:
        yield started


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start proxies that share a cache; `ledger` is that of the last one."""
    started: list[Proxy] = []
    monkeypatch.setattr(KNOWN, "_values", frozenset())

    def start(url: str | None, mode: Any = "on", **more: Any) -> Proxy:
        for earlier in started:
            earlier.close()
        ledger = Ledger(**{name: more.pop(name) for name in ("max_cost", "max_tokens", "prices") if name in more})
        cache = None if mode == "off" else ResponseCache(tmp_path / "replies.sqlite", mode)
        proxy = Proxy(ledger, cache, base_url=url, **more)
        proxy.ledger = ledger  # type: ignore[attr-defined]
        proxy.start()
        started.append(proxy)
        return proxy

    yield start
    for proxy in started:
        proxy.close()


def client(url: str | None = None, **more: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, **{"api_key": KEY, "max_retries": 0, **more})


def said(asks: openai.OpenAI, text: str, **more: Any) -> str | None:
    messages: Any = [{"role": "user", "content": text}]
    return asks.chat.completions.create(model="gpt-4o-mini", messages=messages, **more).choices[0].message.content


def sent(
    url: str, body: Any, path: str = "/chat/completions", method: str = "POST", headers: Any = (), *, whole: str = ""
) -> tuple[int, str]:
    """Send what no SDK sends; return the status and the text. `whole` replaces the path, also that of the URL."""
    where = urlsplit(url)
    asks = http.client.HTTPConnection(str(where.hostname), where.port, timeout=10)
    with closing(asks):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        asks.request(method, whole or where.path + path, content, dict(headers))
        response = asks.getresponse()
        return response.status, response.read().decode()


def chat(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}], **more}


def spent(proxy: Proxy) -> dict[str, dict[str, Any]]:
    rows = proxy.ledger.totals().plain()  # type: ignore[attr-defined]
    assert {row["stage"] for row in rows} <= {"memory"}
    return {row["model"]: row for row in rows}


def test_calls_reach_the_endpoint_and_are_counted_and_kept(start: Start, endpoint: LocalEndpoint) -> None:
    proxy = start(endpoint.url)
    asks = client(proxy.store("s-1", "task::a").url)
    assert said(asks, "rye bread") == "so rye bread"
    assert said(asks, "rye bread") == "so rye bread"
    one, two = asks.embeddings.create(model="text-embedding-3-small", input=["a", "b"]).data
    assert len(one.embedding) == len(two.embedding) > 1
    assert [model.id for model in asks.models.list()] == []
    assert endpoint.calls == 1
    found = spent(proxy)
    assert set(found) == {"gpt-4o-mini", "text-embedding-3-small"}
    chat = found["gpt-4o-mini"]
    assert (chat["calls"], chat["cache_hits"]) == (1, 1)
    assert chat["prompt_tokens"] > 0 < chat["completion_tokens"]
    assert chat["cost"] > 0
    assert found["text-embedding-3-small"]["prompt_tokens"] == 2


def test_the_environment_names_the_proxy_until_it_ends(
    start: Start, endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    proxy = start(None)
    assert said(openai.OpenAI(), "tea") == "so tea"
    assert os.environ["OPENAI_BASE_URL"] == proxy.url != endpoint.url
    proxy.close()
    assert (os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]) == (endpoint.url, KEY)


def test_a_stream_is_kept_whole_and_sent_as_one(start: Start, endpoint: LocalEndpoint) -> None:
    asks = client(start(endpoint.url).url)
    for _ in range(2):
        messages: Any = [{"role": "user", "content": "tea"}]
        options: Any = {"include_usage": True}
        chunks = list(asks.chat.completions.create(model="m", messages=messages, stream=True, stream_options=options))
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "so tea"
        assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
        assert chunks[-1].usage is not None
    assert endpoint.calls == 1
    assert said(asks, "tea") == "so tea"  # another model
    with pytest.raises(openai.BadRequestError, match="streams chat completions only"):
        asks.completions.create(model="m", prompt="tea", stream=True)


def test_a_replay_needs_neither_endpoint_nor_key(start: Start, endpoint: LocalEndpoint) -> None:
    asks = client(start(endpoint.url).store("0a1b2c3d-main-1", "task::a").url)
    prompts = [f"{uuid.uuid4()} said hi", f"{uuid.uuid4()} said hi", f"{uuid.uuid4()} said bye"]
    recorded = [said(asks, prompt) for prompt in prompts]
    assert endpoint.calls == 3  # two prompts of one store that differ in an id alone are not one
    endpoint.die()
    proxy = start(None, "only")
    store = proxy.store("0a1b2c3d-gw0-4", "task::a")
    asks = openai.OpenAI(base_url=store.url, max_retries=0)
    ids = [str(uuid.uuid4()) for _ in prompts]
    replayed = [said(asks, f"{one}{prompt[36:]}") for one, prompt in zip(ids, prompts, strict=True)]
    assert recorded == [f"so {prompt}" for prompt in prompts]
    assert replayed == [f"so {one}{prompt[36:]}" for one, prompt in zip(ids, prompts, strict=True)]
    assert store.failures == 0
    with pytest.raises(openai.BadRequestError) as caught:
        said(asks, "never asked")
    assert "has no reply to POST /chat/completions of 'gpt-4o-mini' ('never asked')" in str(caught.value)
    assert isinstance(store.fault(0, only_final=True), CacheMissError)
    assert store.fault(1) is None
    assert spent(proxy)["gpt-4o-mini"]["failures"] == 1


def test_a_used_up_budget_is_an_error_of_the_call(start: Start, endpoint: LocalEndpoint) -> None:
    proxy = start(endpoint.url, max_tokens=300)
    store = proxy.store("s-1", "task::a")
    said(client(store.url), "tea", max_tokens=20)
    with pytest.raises(openai.BadRequestError, match="budget: 300 tokens used up; not asked"):
        said(client(store.url, max_retries=5), "coffee " * 300)
    assert endpoint.calls == 1
    assert isinstance(store.fault(0, only_final=True), BudgetError)
    own = Prices({"known": Price(1.0, 1.0)})
    store = start(endpoint.url, "off", max_cost=1.0, prices=own).store("s-2", "task::b")
    with pytest.raises(openai.BadRequestError, match="the price of 'gpt-4o-mini-x' is unknown"):
        client(store.url).embeddings.create(model="gpt-4o-mini-x", input="a")


@pytest.mark.parametrize(
    ("fault", "error", "text"),
    [
        (
            Fault("status", status=429, retry_after=0.01),
            openai.RateLimitError,
            "answered 429 to POST /chat/completions",
        ),
        (Fault("status", status=500), openai.InternalServerError, "answered 500 to POST /chat/completions"),
        (Fault("bad_body"), openai.InternalServerError, "expected JSON"),
        (Fault("drop"), openai.InternalServerError, "cannot be reached"),
        (Fault("endless"), openai.InternalServerError, "sent more than 1 MiB"),
        (Fault("status", status=200), openai.InternalServerError, "with an error"),
        (Fault("status", status=308, location="http://127.0.0.1:1/v1"), openai.InternalServerError, "redirects"),
    ],
    ids=["429", "500", "no JSON", "dropped", "endless", "200", "redirect"],
)
def test_a_fault_of_the_endpoint_is_passed_on_and_known_until_it_is_made_good(
    start: Start, fault: Fault, error: type[Exception], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_memfail.llm.relay.MAX_REPLY_BYTES", 1 << 20)
    with LocalEndpoint(faults=[fault, fault], keep_requests=5) as endpoint:
        store = start(endpoint.url).store("s-1", "task::a")
        with pytest.raises(error):
            said(client(store.url), "tea")
        failed = store.fault(0)
        assert failed is not None
        assert text in str(failed)
        assert not isinstance(failed, CacheMissError | BudgetError)
        assert store.fault(0, only_final=True) is None
        assert said(client(store.url, max_retries=2), "tea") == "ok"  # no retries but the memory's own
        assert endpoint.calls == 3
        assert store.fault(0) is None


def test_what_the_memory_does_wrong_is_its_own_business(start: Start, endpoint: LocalEndpoint) -> None:
    store = start(endpoint.url).store("s-1", "task::a")
    with pytest.raises(openai.BadRequestError, match="GET /files is not served by --memfail-proxy; expected POST chat"):
        client(store.url).files.list()
    with pytest.raises(openai.BadRequestError):
        client(store.url).chat.completions.create(model="m", messages="no list")  # type: ignore[arg-type]
    assert store.fault(0) is None
    for status in (402, 404):  # the account's fault, or an unknown model: not the memory's
        with LocalEndpoint(faults=[Fault("status", status=status)]) as unpaid:
            store = start(unpaid.url).store("s-1", "task::a")
            with pytest.raises(openai.APIStatusError):
                said(client(store.url), "tea")
            assert f"answered {status}" in str(store.fault(0))
    with pytest.raises(openai.BadRequestError, match="POST another store is not served by --memfail-proxy"):
        said(client(store.url.replace("s-1", "s-2")), "tea")


def test_the_key_reaches_the_endpoint_and_nothing_else(start: Start, endpoint: LocalEndpoint, tmp_path: Path) -> None:
    proxy = start(endpoint.url)
    store = proxy.store("s-1", "task::a")
    extra = {"api_key": "body-secret-0123456789"}
    assert said(client(store.url), f"my key is {KEY}", extra_body=extra, extra_query={"api-key": "q-secret-987"})
    assert mask_known(f"it is {KEY}") == "it is ***"
    with pytest.raises(openai.AuthenticationError):
        said(client(store.url, api_key="sk-wrong-0123456789"), "tea")
    assert "sk-wrong" not in str(store.fault(0))
    proxy.close()
    kept = b"".join(file.read_bytes() for file in tmp_path.glob("replies.sqlite*"))
    assert b"so my key is ***" in kept
    for secret in (KEY, "body-secret", "q-secret", "sk-wrong"):
        assert secret.encode() not in kept
    # another key, or none, asks for the same reply
    replay = client(start(None, "only").store("s-1", "task::a").url, api_key="another-key")
    with_other = {"api_key": "other-secret-0123456789"}
    assert said(replay, f"my key is {KEY}", extra_body=with_other)


def test_an_endpoint_that_is_not_named_in_a_replay_is_that_of_the_recording(
    start: Start, endpoint: LocalEndpoint
) -> None:
    assert said(client(start(endpoint.url).url), "tea") == "so tea"
    assert said(client(start(None, "only").url), "tea") == "so tea"
    with pytest.raises(openai.BadRequestError, match="has no reply"):
        said(client(start("http://127.0.0.1:9/v1", "only").url), "tea")


@pytest.mark.parametrize("content", [b"{", b"[1]", b"[" * 100_000])
def test_a_body_that_is_no_json_is_not_passed_on(start: Start, endpoint: LocalEndpoint, content: bytes) -> None:
    store = start(endpoint.url).store("s-1", "task::a")
    assert sent(store.url, content)[0] == 400
    assert "POST /chat/completions: the body of the request is no JSON object" in str(store.fault(0))
    assert endpoint.calls == 0


def test_an_unreachable_endpoint_is_an_error(start: Start) -> None:
    store = start("http://127.0.0.1:9/v1").store("s-1", "task::a")
    with pytest.raises(openai.InternalServerError, match="cannot be reached"):
        said(client(store.url), "tea")
    assert isinstance(store.fault(0), EndpointError)


def test_a_request_that_the_proxy_cannot_pass_on_is_an_error(start: Start, endpoint: LocalEndpoint) -> None:
    proxy = start(endpoint.url)
    where = urlsplit(proxy.store("s-1", "task::a").url)

    def status(path: str, method: str = "POST", **more: Any) -> int:
        asks = http.client.HTTPConnection(str(where.hostname), where.port)
        with closing(asks), suppress(BrokenPipeError):
            asks.request(method, path, **more)
            return asks.getresponse().status
        return 0

    for path, content, text in (
        (f"{where.path}/chat/completions", iter([b"{", b"}"]), "needs a request with a Content-Length"),
        (f"{where.path[:-3]}/api/chat", b"{}", "POST this path is not served by --memfail-proxy"),
    ):
        store = proxy.store("s-1", "task::a")
        before = store.failures
        assert status(f"{where.path}/version", "GET") == 400
        assert store.fault(before) is None  # a mere probe
        assert status(path, body=content, headers={"Connection": "close"}) in (0, 400)
        assert text in str(store.fault(before))
    assert endpoint.calls == 0


def test_a_client_that_has_gone_leaves_no_traceback_and_no_half_request(
    start: Start, endpoint: LocalEndpoint, capfd: pytest.CaptureFixture[str]
) -> None:
    proxy = start(endpoint.url)
    where = urlsplit(proxy.url)
    for is_reset in (False, True):
        with socket.create_connection((str(where.hostname), where.port)) as gone:
            gone.sendall(f"POST {where.path}/files HTTP/1.1\r\nContent-Length: 100\r\n\r\n{{".encode())
            if is_reset:
                gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                gone.shutdown(socket.SHUT_WR)
                assert gone.recv(10) == b""
    asks = client(proxy.url)
    assert said(asks, "tea") == "so tea"
    proxy.close()
    for thread in threading.enumerate():  # and none that waits for a client
        if "process_request_thread" in thread.name:
            thread.join(5)
            assert not thread.is_alive()
    with pytest.raises(openai.APIConnectionError):
        said(asks, "tea")
    assert set(spent(proxy)) == {"gpt-4o-mini"}
    assert capfd.readouterr().err == ""


def test_the_run_s_fault_is_that_of_no_later_store(start: Start, endpoint: LocalEndpoint) -> None:
    proxy = start(endpoint.url)

    def asks() -> None:
        with suppress(openai.AuthenticationError):
            said(client(proxy.url, api_key="sk-wrong-0123456789"), "tea")

    async def calls() -> None:
        first = Lane("a", models=proxy.store("s-1", "task::a"))
        with pytest.raises(EndpointError, match="answered 401"):
            await first.call("store_conversation", asks)
        later = Lane("b", models=proxy.store("s-2", "task::b"))
        await later.call("open", lambda: None)
        for lane in (first, later):
            lane.stop()

    asyncio.run(calls())


def test_the_proxy_is_reached_past_another_proxy(
    start: Start, endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    monkeypatch.delenv("no_proxy", raising=False)
    proxy = start(endpoint.url)
    assert os.environ["no_proxy"] == "intranet.example,127.0.0.1"
    assert said(client(), "tea") == "so tea"
    proxy.close()
    assert os.environ["NO_PROXY"] == "intranet.example"
    assert "no_proxy" not in os.environ


def test_another_version_of_a_model_gets_no_reply_of_the_first(start: Start, endpoint: LocalEndpoint) -> None:
    for model in ("gpt-4o-2024-05-13", "gpt-4o-2024-11-20"):
        asks = client(start(endpoint.url, ignore=("date",)).store("s-1", "task::a").url)
        asks.chat.completions.create(model=model, messages=[{"role": "user", "content": "tea"}])
    assert endpoint.calls == 2


def test_a_call_that_the_memory_gives_up_has_failed_unless_it_repeats_it(start: Start) -> None:
    with LocalEndpoint(faults=[Fault("hang")] * 2) as endpoint:
        store = start(endpoint.url).store("s-1", "task::a")
        with pytest.raises(openai.APITimeoutError):
            said(client(store.url, timeout=0.2), "tea")
        before = store.failures
        assert "the memory gave up POST /chat/completions before" in str(store.fault(0))
        assert store.failures == before == 1  # once
        with pytest.raises(openai.APITimeoutError):
            said(client(store.url, timeout=0.2), "rye")
        assert said(client(store.url), "rye") == "ok"  # repeated as the SDK does, but with time for the reply
        assert store.fault(before) is None
        assert said(client(store.url), "tea") == "ok"
        assert store.fault(0) is None


def test_a_reply_that_comes_too_late_is_no_success(start: Start) -> None:
    with LocalEndpoint(latency_seconds=0.3) as endpoint:
        proxy = start(endpoint.url)
        store = proxy.store("s-1", "task::a")
        with pytest.raises(openai.APITimeoutError):
            said(client(store.url, timeout=0.1), "tea")
        while not spent(proxy) or store.fault(0) is None:  # what is spent is booked before the reply is sent
            threading.Event().wait(0.01)
        assert "the memory gave up" in str(store.fault(0))


def test_what_a_store_breaks_off_when_it_is_closed_is_no_fault(start: Start) -> None:
    with LocalEndpoint(faults=[Fault("hang")]) as endpoint:
        store = start(endpoint.url).store("s-1", "task::a")
        asks = socket.create_connection(("127.0.0.1", urlsplit(store.url).port))
        content = json.dumps({"model": "m", "messages": [{"role": "user", "content": "tea"}]})
        where = urlsplit(store.url)
        head = f"POST {where.path}/chat/completions HTTP/1.1\r\nHost: {where.netloc}\r\n"
        head += f"Content-Length: {len(content)}\r\n\r\n"
        lane = Lane("a", models=store)

        async def calls() -> None:
            await lane.call("store_conversation", lambda: asks.sendall((head + content).encode()))
            while endpoint.calls == 0:
                await asyncio.sleep(0.01)
            await lane.call("close", asks.close)

        asyncio.run(calls())
        lane.stop()
        assert "the memory gave up" in str(store.fault(0))


CHAT, EMBED, OLD, NEW = "/chat/completions", "/embeddings", "/completions", "/responses"
NO_REPLIES = [
    *[
        (path, body)
        for path in (CHAT, EMBED, OLD, NEW)
        for body in (
            {"detail": "overloaded, try later"},
            [1, 2],
            7,
            None,
            "text",
            {"choices": None},
            {"choices": ["x"]},
            {},
        )
    ],
    (CHAT, {"choices": []}),
    (CHAT, completed(None)),
    (CHAT, completed(5)),  # type: ignore[arg-type]
    (CHAT, completed(tool_calls=[{"id": "1"}])),
    (CHAT, {"choices": [completed()["choices"][0], {"index": 1}]}),
    (EMBED, {"data": []}),
    (EMBED, {"data": [{"embedding": []}]}),
    (EMBED, {"data": [{"embedding": [0.1]}, {"index": 1}]}),
    (OLD, {"choices": [{"text": None}]}),
    (NEW, {"output": []}),
    (NEW, {"output": ["x"]}),
]
REPLIES = [
    (CHAT, completed("")),
    (CHAT, completed(None, refusal="no")),
    (CHAT, completed(None, tool_calls=[{"id": "1", "function": {"name": "add", "arguments": "{}"}}])),
    (EMBED, {"data": [{"embedding": [0.1, 0.2]}]}),
    (EMBED, {"data": [{"embedding": "AAAAAA=="}]}),
    (OLD, {"choices": [{"text": "ok"}]}),
    (NEW, {"output": [{"type": "message", "content": []}]}),
    (NEW, {"output": [], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}),
]


def test_a_200_that_is_no_reply_is_a_failed_call_and_not_kept(start: Start, tmp_path: Path) -> None:
    with Upstream() as upstream:
        store = start(upstream.url).store("s-1", "task::a")
        for number, (path, body) in enumerate(NO_REPLIES):
            upstream.body, before = body, store.failures
            asked = {**chat(f"{number}"), "input": "a", "prompt": "a", "n": number}
            assert sent(store.url, asked, path)[0] == 502, (path, body)
            assert "status 200" in str(store.fault(before)), (path, body)
            if path == CHAT:
                assert sent(store.url, {**asked, "stream": True})[0] == 502
        for number, (path, body) in enumerate(REPLIES):
            upstream.body = body
            status, text = sent(store.url, {**chat("good"), "input": "a", "prompt": "a", "n": number}, path)
            assert (status, json.loads(text)) == (200, body)
    assert ResponseCache(tmp_path / "replies.sqlite").summary().entries == len(REPLIES)


def test_nobody_is_served_without_the_secret_of_the_address(start: Start) -> None:
    with Upstream(completed()) as upstream:
        proxy = start(upstream.url)
        store = proxy.store("s-1", "task::a")
        path = urlsplit(store.url).path
        secret = path.split("/")[1]
        assert len(secret) >= 32
        for place in (
            "/v1/chat/completions",
            "/store/s-1/v1/chat/completions",
            path.replace(secret, secret[:-1]) + CHAT,
            path.replace(secret, "é") + CHAT,
            f"/x/..{path}{CHAT}",
        ):
            status, text = sent(store.url, chat("tea"), whole=quote(place))
            assert status == 403, place
            assert secret not in text
        assert store.failures == 0  # a stranger cannot fail the run
        assert [doubt.line for doubt in store.doubts()] == [f"{REFUSED} (5 of 5 requests)"]
        assert store.doubts() == ()
        assert upstream.requests == []
        assert sent(store.url, chat("tea"))[0] == 200
        assert mask_known(store.url) == store.url.replace(secret, "***")


def test_a_web_page_is_not_served_even_with_the_secret(start: Start) -> None:
    with Upstream(completed()) as upstream:
        store = start(upstream.url).store("s-1", "task::a")
        port = urlsplit(store.url).port
        for headers in (
            {"Host": "evil.example"},
            {"Host": f"127.0.0.1:{port}.evil.example"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
        ):
            assert sent(store.url, chat("tea"), headers=headers)[0] == 400, headers
        assert "not the host or web page" in str(store.fault(0))
        assert upstream.requests == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/files/file-1"),
        ("POST", "/files"),
        ("POST", "/chat/completions/../../admin/keys"),
        ("DELETE", "/models/m"),
        *[
            ("GET", f"/models/{name}")
            for name in (
                "..",
                "../../admin",
                "%2e%2E/keys",
                "a/%2e./b",
                "a/./b",
                "%252e%252e/a",
                "a%5C..",
                "a\\b",
                "a;b",
                "a%00",
            )
        ],
    ],
)
def test_only_what_a_memory_needs_is_served(start: Start, method: str, path: str) -> None:
    with Upstream({"id": "m", "data": []}) as upstream:
        url = start(upstream.url).url
        assert sent(url, chat("tea"), path, method)[0] == 400
        assert upstream.requests == []
        for name in ("", "/gpt-4.1", "/Qwen/Qwen3-8B", "/Qwen%2FQwen3-8B", "/llama3.1:8b", "/@cf/meta/llama"):
            assert sent(url, b"", f"/models{name}", "GET")[0] == 200
            assert upstream.requests.pop().startswith(f"/v1/models{name} ")


@pytest.mark.parametrize(
    ("key", "headers", "query", "body"),
    [
        ("0123456789abcdef0123456789abcdef", {"Ocp-Apim-Subscription-Key": "{}"}, "", {}),
        ("AIzaShort-77", {}, "?key={}", {}),
        ("k3y-77x", {"Authorization": "Token {}"}, "", {}),
        ("k3y9", {"Authorization": "Anything {}"}, "", {}),
        ("sid-77-planted", {"Cookie": "theme=dark; session={}"}, "", {}),
        ("pa55-planted", {}, "", {"api_key": "{}"}),
    ],
    ids=["header", "query", "token", "any scheme", "cookie", "body"],
)
def test_a_key_of_any_name_reaches_no_output(
    start: Start, tmp_path: Path, key: str, headers: dict[str, str], query: str, body: dict[str, str]
) -> None:
    with Upstream(status=401) as upstream:
        store = start(upstream.url).store("s-1", "task::a")
        headers = {name: value.format(key) for name, value in headers.items()}
        asked = {**chat("tea"), **{name: value.format(key) for name, value in body.items()}}
        assert sent(store.url, asked, CHAT + query.format(key), headers=headers)[0] == 401
        assert key in upstream.requests[0]
        assert key not in str(store.fault(0))
        assert mask_known(f"it said {key} and dark") == "it said *** and dark"
        upstream.status, upstream.body = 200, completed(f"your key is {key}")
        assert sent(store.url, asked, CHAT + query.format(key), headers=headers)[0] == 200
    kept = b"".join(file.read_bytes() for file in tmp_path.glob("replies.sqlite*"))
    assert b"your key is ***" in kept
    assert key.encode() not in kept


@pytest.mark.parametrize(
    "word", ["conversation", "Conversation", "dark", "2024-05-01", "user name", "EMPTY", "tea.", "2nd"]
)
def test_no_caller_can_mask_an_ordinary_word(start: Start, word: str) -> None:
    with Upstream(status=401) as upstream:
        store = start(upstream.url).store("s-1", "task::a")
        headers = {"Authorization": f"Bearer {word}", "X-Api-Key": word, "Cookie": f"a={word}"}
        assert sent(store.url, chat("tea"), f"{CHAT}?key={quote(word)}", headers=headers)[0] == 401
        said = f"a {word}, Bearer {word}"
        assert mask_known(said) == said
        if word.isalpha() and word.islower():  # in what the endpoint says of this very call it is masked
            assert f"Bearer {word}" not in str(store.fault(0))


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        7,
        {"prompt_tokens": None},
        {"prompt_tokens": "405"},
        {"prompt_tokens": -5, "completion_tokens": -9},
        {"prompt_tokens": 0.5, "completion_tokens": 0.5},
        {"prompt_tokens": 10**30, "completion_tokens": 10**30},
    ],
)
def test_a_reply_without_usage_is_charged_what_was_reserved(start: Start, usage: Any) -> None:
    with Upstream(completed(usage=usage)) as upstream:
        proxy = start(upstream.url, "off", max_tokens=2000)
        statuses = [sent(proxy.url, chat(f"{n} " + "word " * 400, max_tokens=10))[0] for n in range(8)]
        assert statuses == [200] * 4 + [400] * 4
        row = spent(proxy)["gpt-4o-mini"]
        assert (row["calls"], row["estimated"], row["completion_tokens"]) == (4, 4, 40)
        assert 1600 < row["prompt_tokens"] < 2000


def test_reported_usage_is_not_estimated(start: Start) -> None:
    for usage in ({"prompt_tokens": 5, "completion_tokens": 0}, {"input_tokens": 5.0, "output_tokens": 2.0}):
        with Upstream(completed(usage=usage)) as upstream:
            proxy = start(upstream.url, "off")
            sent(proxy.url, chat("tea"))
            row = spent(proxy)["gpt-4o-mini"]
            assert (row["estimated"], row["prompt_tokens"]) == (0, 5)
            assert row["completion_tokens"] in (0, 2)


def test_marks_of_our_own_in_a_reply_are_replayed_as_they_are(start: Start) -> None:
    marks = "⟦memfail:uuid:zz⟧ ⟦memfail:uuid:0⟧ ⟦memfail:day:%Y⟧ ⟦memfail:today:0⟧ ⟦memfail:mark:⟧ ⟦memfail:"
    one, other = (str(uuid.uuid4()) for _ in range(2))
    with Upstream(completed(f"{marks} for {one}")) as upstream:
        sent(start(upstream.url).store("s-1", "task::a").url, chat(f"id {one}"))
        for new in (one, other):
            status, text = sent(start(upstream.url, "only").store("s-2", "task::a").url, chat(f"id {new}"))
            assert status == 200
            assert json.loads(text)["choices"][0]["message"]["content"] == f"{marks} for {new}"


def test_the_proxy_s_own_address_in_a_prompt_may_differ_in_a_replay(start: Start, tmp_path: Path) -> None:
    with Upstream() as upstream:
        store = start(upstream.url).store("s-1", "task::a")
        upstream.body = completed(f"you use {store.url}")
        sent(store.url, chat(f"I ask {store.url} for tea"))
        secret = urlsplit(store.url).path.split("/")[1].encode()
        assert secret not in b"".join(file.read_bytes() for file in tmp_path.glob("replies.sqlite*"))
        again = start(upstream.url, "only").store("s-1", "task::a")
        assert again.url != store.url
        status, text = sent(again.url, chat(f"I ask {again.url} for tea"))
        assert (status, json.loads(text)["choices"][0]["message"]["content"]) == (200, f"you use {again.url}")


@pytest.mark.parametrize("length", ["9" * 4401, "9" * 30, "-1", "1e3", "\u00b2"])
def test_a_length_that_no_body_has_is_refused(start: Start, capfd: pytest.CaptureFixture[str], length: str) -> None:
    with Upstream(completed()) as upstream:
        proxy = start(upstream.url)
        where = urlsplit(proxy.url)
        with socket.create_connection((str(where.hostname), where.port), timeout=10) as asks:
            head = f"POST {where.path}/chat/completions HTTP/1.1\r\nHost: {where.netloc}\r\n"
            asks.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode("latin-1"))
            assert asks.makefile("rb").readline() == b"HTTP/1.1 400 Bad Request\r\n"
    assert capfd.readouterr().err == ""


def test_a_client_that_only_ends_what_it_sends_has_not_given_up(start: Start) -> None:
    with LocalEndpoint(latency_seconds=0.3) as endpoint:
        store = start(endpoint.url).store("s-1", "task::a")
        where, content = urlsplit(store.url), json.dumps(chat("tea"))
        with socket.create_connection((str(where.hostname), where.port), timeout=10) as asks:
            head = f"POST {where.path}/chat/completions HTTP/1.1\r\nHost: {where.netloc}\r\n"
            asks.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n{content}".encode())
            asks.shutdown(socket.SHUT_WR)
            while not endpoint.calls:
                threading.Event().wait(0.01)
            assert store.failures == 0
            got = b"".join(iter(lambda: asks.recv(65536), b""))
        assert got.count(b"HTTP/1.1 100 Continue") == 1
        assert b"HTTP/1.1 200 OK" in got
        assert got.endswith(b"}")
        assert store.fault(0) is None


def test_replies_that_are_cut_off_are_counted_in_a_replay_too(start: Start, endpoint: LocalEndpoint) -> None:
    with Upstream() as upstream:
        for mode in ("on", "only"):
            proxy = start(upstream.url, mode)
            store, other = proxy.store("s-1", "task::a"), proxy.store("s-2", "task::b")
            for number, (path, body) in enumerate(
                [
                    (CHAT, completed(finish_reason="length")),
                    (CHAT, completed()),
                    (OLD, {"choices": [{"text": "ok", "finish_reason": "length"}]}),
                    (NEW, REPLIES[-1][1]),
                ]
            ):
                upstream.body = body
                sent(proxy.url if number else store.url, {**chat("a"), "n": number}, path)
            (doubt,) = store.doubts()
            assert (doubt.affected, doubt.of, doubt.is_fatal) == (3, 4, False)
            assert "finish_reason length" in doubt.line
            assert other.doubts() == ()


def test_a_replay_in_front_of_another_endpoint_says_that_it_is_another(start: Start) -> None:
    with Upstream(completed()) as upstream:
        sent(start(upstream.url).store("s-1", "task::a").url, chat(f"tea {uuid.uuid4()}"))
    url = start("http://127.0.0.1:9/v1", "only").store("s-2", "task::a").url
    _, text = sent(url, chat(f"tea {uuid.uuid4()}"))
    assert f"kept for another base URL, {upstream.url}, and this run names http://127.0.0.1:9/v1" in text
    assert "replay-ignore" not in text
    _, text = sent(url, chat("never asked"))
    assert "--memfail-replay-ignore" in text


def test_a_reply_is_counted_once_whatever_it_is_kept_under(
    start: Start, endpoint: LocalEndpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proxy = start(endpoint.url)
    for unit in ("a", "b"):
        asks = client(proxy.store(f"s-{unit}", unit).url)
        for text in ("tea", "rye", "oats"):
            said(asks, f"{text} 123e4567-e89b-42d3-a456-4266141740aa")
    path = str(tmp_path / "replies.sqlite")
    assert main(["cache", path]) == 0
    told = capsys.readouterr().out
    assert f"{path}: 3 replies, " in told
    assert "gpt-4o-mini: 3\n" in told
    assert main(["cache", path, "--prune", "0"]) == 0
    assert "removed 3 replies" in capsys.readouterr().out


def test_what_a_store_asks_to_answer_queries_is_counted_apart(start: Start, endpoint: LocalEndpoint) -> None:
    proxy = start(endpoint.url)
    calls = proxy.store("s-1", "task::a")
    asks = client(calls.url)
    for searches, text in ((False, "to keep"), (True, "to find"), (True, "to find"), (False, "to keep more")):
        calls.searches(now=searches)
        said(asks, text)
    rows = {row.stage: (row.calls, row.cache_hits) for row in proxy.ledger.totals().rows}  # type: ignore[attr-defined]
    assert rows == {"memory": (2, 0), "memory search": (1, 1)}
