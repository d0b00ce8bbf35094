"""The local endpoint, as the SDK and plain sockets see it."""

from __future__ import annotations

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import openai
import pytest

from pytest_memfail.llm import count_tokens
from pytest_memfail.testing import FAULT_KINDS, Fault, LocalEndpoint, Reply, ToolCall

QUESTION = [{"role": "user", "content": "Where does Ada live?"}]


def post(endpoint: LocalEndpoint, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    """Return status and decoded body of one request."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(endpoint.url + path, data, {"content-type": "application/json", **headers})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def chat(endpoint: LocalEndpoint, **body: Any) -> tuple[int, Any]:
    """Request one chat completion."""
    return post(endpoint, "/chat/completions", {"model": "m", "messages": QUESTION} | body)


def with_sdk(endpoint: LocalEndpoint, work: Callable[[openai.OpenAI], Any]) -> Any:
    """Return what the SDK makes of it."""
    with openai.OpenAI(base_url=endpoint.url, api_key="any", max_retries=0, timeout=600) as client:
        return work(client)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def test_the_answer_gets_the_request_and_gives_the_text() -> None:
    with LocalEndpoint(answer=lambda request: f"{request['model']}: London") as endpoint:
        reply = with_sdk(endpoint, lambda c: c.chat.completions.create(model="m", messages=QUESTION))
    assert reply.choices[0].message.content == "m: London"
    assert reply.choices[0].finish_reason == "stop"
    assert endpoint.requests[0]["messages"] == QUESTION


def test_a_mapping_is_sent_as_json_and_a_reply_as_it_is() -> None:
    answers = iter([{"city": "Zürich"}, Reply("Lon", finish_reason="length"), Reply("", refusal="No.")])
    with LocalEndpoint(answer=lambda _: next(answers)) as endpoint:
        replies = [chat(endpoint)[1]["choices"][0] for _ in range(3)]
    assert replies[0]["message"]["content"] == '{"city": "Zürich"}'
    assert replies[1]["finish_reason"] == "length"
    assert (replies[2]["message"]["content"], replies[2]["message"]["refusal"]) == (None, "No.")


def test_what_the_answer_raises_is_told_and_not_worth_a_retry() -> None:
    def broken(request: dict[str, Any]) -> str:
        raise KeyError("city")

    with LocalEndpoint(answer=broken) as endpoint:
        status, body = chat(endpoint)
    assert status == 400
    assert "KeyError: 'city'" in body["error"]["message"]


def test_usage_counts_tokens_and_repeated_prefixes() -> None:
    store = "\n".join(f"Entry {i}:\n\n  likes tea; number {i * 7}\n" for i in range(300))
    with LocalEndpoint(answer=lambda _: "It is there.") as endpoint:
        usages = [
            chat(endpoint, messages=[{"role": "system", "content": store}, {"role": "user", "content": question}])[1][
                "usage"
            ]
            for question in ("first?", "second?", "first?")
        ]
        short = [chat(endpoint)[1]["usage"] for _ in range(2)]
        other_model = chat(endpoint, model="other", messages=[{"role": "system", "content": store}])[1]["usage"]
    size = count_tokens([store])
    assert [usage["prompt_tokens"] for usage in usages] == [
        size + count_tokens([q]) for q in ("first?", "second?", "first?")
    ]
    assert usages[0]["completion_tokens"] == count_tokens(["It is there."])
    cached = [usage["prompt_tokens_details"]["cached_tokens"] for usage in usages]
    assert cached[0] == 0
    assert cached[1] == size // 128 * 128
    assert cached[2] == usages[2]["prompt_tokens"] // 128 * 128
    assert short[1]["prompt_tokens_details"]["cached_tokens"] == 0  # too short to be cached
    assert other_model["prompt_tokens_details"]["cached_tokens"] == 0


def test_embeddings_are_deterministic_and_close_for_like_texts() -> None:
    texts = ["Ada drinks tea in the morning", "in the morning Ada drinks tea", "the stock market fell", ""]
    with LocalEndpoint() as endpoint:
        first = with_sdk(endpoint, lambda c: c.embeddings.create(model="e", input=texts, encoding_format="float"))
        second = with_sdk(endpoint, lambda c: c.embeddings.create(model="e", input=texts, encoding_format="base64"))
        by_default = with_sdk(endpoint, lambda c: c.embeddings.create(model="e", input=texts[0], dimensions=16))
    vectors = [item.embedding for item in first.data]
    assert [len(vector) for vector in vectors] == [256] * 4
    assert vectors[0] == vectors[1]
    assert sum(a * b for a, b in zip(vectors[0], vectors[2], strict=True)) < 0.7
    assert sum(value * value for value in vectors[0]) == pytest.approx(1)
    assert not any(vectors[3])
    assert second.data[0].embedding is not None
    assert len(by_default.data[0].embedding) == 16
    assert first.usage.prompt_tokens == count_tokens(texts)


def test_models_are_listed_and_others_unknown() -> None:
    with LocalEndpoint(models=["a", "b"]) as endpoint:
        assert [model.id for model in with_sdk(endpoint, lambda c: c.models.list())] == ["a", "b"]
        assert chat(endpoint, model="a")[0] == 200
        status, body = chat(endpoint, model="c")
    assert (status, body["error"]["code"]) == (404, "model_not_found")


def test_a_key_is_asked_for_where_one_is_set() -> None:
    with LocalEndpoint(api_key="right") as endpoint:
        assert chat(endpoint)[0] == 401
        right = {"authorization": "Bearer right"}
        assert post(endpoint, "/chat/completions", {"model": "m", "messages": QUESTION}, **right)[0] == 200


def test_longer_prompts_than_allowed_are_refused() -> None:
    with LocalEndpoint(context_tokens=3) as endpoint:
        status, body = chat(endpoint)
    assert (status, body["error"]["code"]) == (400, "context_length_exceeded")


@pytest.mark.parametrize(
    "body", [b"{", b"[]", {"messages": "text"}, {"messages": [1]}, {"messages": QUESTION, "stream": True}]
)
def test_what_is_no_request_is_refused(body: Any) -> None:
    with LocalEndpoint() as endpoint:
        status, reply = post(endpoint, "/chat/completions", body)
    assert status == 400
    assert reply["error"]["message"]


def test_an_unknown_address_is_not_found() -> None:
    with LocalEndpoint() as endpoint:
        assert post(endpoint, "/completions", {})[0] == 404


def test_what_is_no_http_is_refused() -> None:
    with LocalEndpoint() as endpoint, socket.create_connection(("127.0.0.1", endpoint.port)) as connection:
        connection.sendall(b"hello\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400")


def statuses(endpoint: LocalEndpoint, count: int, **body: Any) -> list[int]:
    return [chat(endpoint, **body)[0] for _ in range(count)]


def test_faults_strike_in_order_then_by_rule() -> None:
    faults = [
        Fault(status=500),
        None,
        Fault(status=429, retry_after=2),
        Fault(status=503, every=4),
        Fault(status=418, when=lambda request: request["model"] == "teapot"),
    ]
    with LocalEndpoint(faults=faults) as endpoint:
        assert statuses(endpoint, 8) == [500, 200, 429, 503, 200, 200, 200, 503]
        assert statuses(endpoint, 2, model="teapot") == [418, 418]
    assert (endpoint.calls, endpoint.answered) == (10, 4)


def test_retry_after_is_a_header() -> None:
    with (
        LocalEndpoint(faults=[Fault(status=429, retry_after=0.05)]) as endpoint,
        pytest.raises(openai.RateLimitError) as caught,
    ):
        with_sdk(endpoint, lambda c: c.chat.completions.create(model="m", messages=QUESTION))
    assert caught.value.response.headers["retry-after"] == "0.05"


CONTENTS = {
    "empty": ("", "stop"),
    "truncated": ("Lon", "length"),
    "invalid_json": ('{"verdict": tru', "stop"),
    "wrong_schema": ('{"this": "is not what was asked for"}', "stop"),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_fault_of_the_content_is_a_well_formed_reply(kind: Any) -> None:
    with LocalEndpoint(answer=lambda _: "London", faults=[Fault(kind)]) as endpoint:
        status, body = chat(endpoint)
    choice = body["choices"][0]
    assert status == 200
    assert (choice["message"]["content"], choice["finish_reason"]) == CONTENTS[kind]


@pytest.mark.parametrize("kind", ["drop", "drop_mid_body"])
def test_a_dropped_connection_is_seen_as_such(kind: Any) -> None:
    with LocalEndpoint(faults=[Fault(kind)]) as endpoint, pytest.raises(openai.APIConnectionError):
        with_sdk(endpoint, lambda c: c.chat.completions.create(model="m", messages=QUESTION))


def test_a_hung_call_ends_when_the_client_gives_up() -> None:
    with LocalEndpoint(faults=[Fault("hang")]) as endpoint:
        with pytest.raises(openai.APITimeoutError):
            with_sdk(endpoint, lambda c: c.chat.completions.create(model="m", messages=QUESTION, timeout=0.2))
        assert chat(endpoint)[0] == 200
    assert endpoint.in_flight == 0


def test_closing_does_not_wait_for_hung_calls() -> None:
    endpoint = LocalEndpoint(faults=[Fault("hang")]).start()
    with socket.create_connection(("127.0.0.1", endpoint.port)) as connection:
        body = json.dumps({"model": "m", "messages": QUESTION}).encode()
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        while not endpoint.in_flight:
            time.sleep(0.01)
        endpoint.close()
        assert connection.recv(1) == b""


def test_it_dies_after_so_many_calls_and_may_come_back() -> None:
    with LocalEndpoint(dies_after=2) as endpoint:
        assert statuses(endpoint, 2) == [200, 200]
        for _ in range(2):
            with pytest.raises((urllib.error.URLError, ConnectionError)):
                chat(endpoint)
        endpoint.revive()
        assert statuses(endpoint, 3) == [200] * 3


def test_hundreds_of_calls_wait_side_by_side() -> None:
    body = json.dumps({"model": "m", "messages": QUESTION}).encode()
    request = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    with LocalEndpoint(faults=[Fault("hang", every=1)]) as endpoint:
        connections = [socket.create_connection(("127.0.0.1", endpoint.port)) for _ in range(300)]
        for connection in connections:
            connection.sendall(request)
        while endpoint.in_flight < 300:
            time.sleep(0.01)
        for connection in connections:
            connection.close()
        while endpoint.in_flight:
            time.sleep(0.01)
    assert endpoint.peak_in_flight == endpoint.connections == 300


def test_the_latency_is_that_of_each_call() -> None:
    with LocalEndpoint(latency_seconds=0.1) as endpoint:
        chat(endpoint)
        started = time.monotonic()
        chat(endpoint)
        assert time.monotonic() - started >= 0.1


def test_the_requests_kept_are_bounded_and_counters_start_anew() -> None:
    with LocalEndpoint(keep_requests=3) as endpoint:
        statuses(endpoint, 5)
        assert (len(endpoint.requests), endpoint.calls) == (3, 5)
        endpoint.reset_counters()
        assert (len(endpoint.requests), endpoint.calls, endpoint.peak_in_flight) == (0, 0, 0)


def test_the_url_needs_a_start_and_a_port_can_be_given() -> None:
    endpoint = LocalEndpoint()
    with pytest.raises(RuntimeError, match="not started"):
        endpoint.url  # noqa: B018 - reading it is the test
    with endpoint:
        port = endpoint.port
    with LocalEndpoint(port=port) as again:
        assert again.url == f"http://127.0.0.1:{port}/v1"
        with pytest.raises(OSError, match="in use"):
            LocalEndpoint(port=port).start()


def test_an_unknown_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of"):
        Fault("explode")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1"):
        Fault(every=0)
    assert "hang" in FAULT_KINDS


def test_tool_calls_are_sent_as_the_sdk_reads_them() -> None:
    calls = (ToolCall("Memory", {"content": "Ada lives in Zürich"}), ToolCall("Memory", {"content": "She bakes"}))
    with LocalEndpoint(answer=lambda _: Reply("", tool_calls=calls)) as endpoint:
        replies = [with_sdk(endpoint, lambda c: c.chat.completions.create(model="m", messages=QUESTION)) for _ in "12"]
    choice = replies[0].choices[0]
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
    assert [json.loads(call.function.arguments) for call in choice.message.tool_calls] == [c.arguments for c in calls]
    assert len({call.id for reply in replies for call in reply.choices[0].message.tool_calls}) == 4
    assert replies[0].usage.completion_tokens > 0
