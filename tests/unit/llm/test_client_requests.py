"""What is sent, and how replies are read."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from llm_asker import GOOD, Asker, Finding, good, run

from pytest_memfail.core import UsageError
from pytest_memfail.llm import AuthError, Ledger, ModelClient, Usage, count_tokens
from pytest_memfail.testing import Fault, LocalEndpoint


def test_a_request_carries_the_model_and_the_messages_only() -> None:
    with LocalEndpoint(answer=lambda _: "yes") as endpoint:
        asker = Asker(endpoint)
        reply = run(asker, lambda: asker.ask("Is it?", schema=None))
    assert reply.text == "yes"
    assert reply.parsed is None
    assert list(endpoint.requests) == [{"model": "m", "messages": [{"role": "user", "content": "Is it?"}]}]


def test_a_schema_is_sent_strictly() -> None:
    with LocalEndpoint(answer=good) as endpoint:
        asker = Asker(endpoint)
        reply = run(asker, asker.ask)
    assert reply.parsed == Finding(**GOOD)
    sent = endpoint.requests[0]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["name"] == "Finding"
    assert sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"]["required"] == ["present", "reason"]
    assert sent["json_schema"]["schema"]["additionalProperties"] is False


def test_parameters_the_user_set_are_sent() -> None:
    with LocalEndpoint(answer=good) as endpoint:
        asker = Asker(endpoint)
        run(asker, lambda: asker.ask(parameters={"temperature": 0, "reasoning_effort": "low", "top_k": 1}))
    sent = endpoint.requests[0]
    assert (sent["temperature"], sent["reasoning_effort"], sent["top_k"]) == (0, "low", 1)


@pytest.mark.parametrize("name", ["model", "messages", "response_format", "stream", "n"])
def test_parameters_that_are_ours_are_refused(name: str) -> None:
    asker = Asker("http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match=name):
        run(asker, lambda: asker.ask(parameters={name: 1}))


def test_usage_is_what_the_endpoint_counted() -> None:
    text = "\n".join(f"Entry {i}: likes tea with milk." for i in range(400))
    with LocalEndpoint(answer=good) as endpoint:
        asker = Asker(endpoint)

        async def work() -> list[Usage]:
            return [(await asker.ask(f"{text}\nQuestion {i}?")).usage for i in range(2)]

        first, second = run(asker, work)
    assert first.prompt_tokens == count_tokens([f"{text}\nQuestion 0?"])
    assert first.cached_tokens == 0
    assert 1024 <= second.cached_tokens <= second.prompt_tokens


def test_lone_surrogates_of_memories_can_be_sent() -> None:
    with LocalEndpoint(answer=good) as endpoint:
        asker = Asker(endpoint)
        assert run(asker, lambda: asker.ask("broken \ud83d emoji")).parsed == Finding(**GOOD)


def test_lone_surrogates_of_replies_are_replaced() -> None:
    with LocalEndpoint(answer=lambda _: "broken \ud83d emoji") as endpoint:
        asker = Asker(endpoint)
        assert run(asker, lambda: asker.ask(schema=None)).text == "broken ? emoji"


def test_the_global_random_numbers_are_left_alone() -> None:
    random.seed(7)
    expected = random.random()
    with LocalEndpoint(answer=good, faults=[Fault(status=429), Fault(status=500)]) as endpoint:
        asker = Asker(endpoint)
        random.seed(7)
        run(asker, asker.ask)
    assert random.random() == expected


def test_the_endpoint_and_key_come_from_the_sdks_own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalEndpoint(answer=good, api_key="sk-from-the-environment") as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment\n")  # as read from a file
        asker = Asker(endpoint)
        asker.client = ModelClient(ledger=Ledger())
        assert run(asker, asker.ask).parsed == Finding(**GOOD)


def test_a_local_endpoint_needs_no_key() -> None:
    with LocalEndpoint(answer=good) as endpoint:
        asker = Asker(endpoint, api_key=None)
        assert run(asker, asker.ask).parsed == Finding(**GOOD)


def test_openai_needs_a_key_and_no_request_is_made_to_learn_it() -> None:
    asker = Asker("https://api.openai.com/v1", api_key=None)
    with pytest.raises(AuthError, match=r"no API key for api\.openai\.com: set OPENAI_API_KEY"):
        run(asker, asker.ask)


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://host/v1", "http://", "http://host:port/v1", "not a url"])
def test_what_is_no_base_url_is_a_usage_error(url: str) -> None:
    with pytest.raises(UsageError, match="base URL"):
        ModelClient(ledger=Ledger(), base_url=url)


def test_without_the_sdk_there_is_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(UsageError, match="the package openai is not installed; run: pip install openai"):
        ModelClient(ledger=Ledger(), base_url="http://localhost/v1")


def test_importing_the_package_loads_no_sdk() -> None:
    code = (
        "import sys, pytest_memfail.llm as llm, pytest_memfail.testing\n"
        "llm.ModelClient(ledger=llm.Ledger(), base_url='http://localhost/v1'); llm.Prices(); llm.AuthError\n"
        "heavy = {'openai', 'tiktoken', 'pydantic', 'httpx', 'httpx2', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_all_names_exist() -> None:
    from pytest_memfail import llm

    assert len(llm.__all__) == len(set(llm.__all__))
    assert all(hasattr(llm, name) for name in llm.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        llm.nothing  # noqa: B018 - reading it is the test
