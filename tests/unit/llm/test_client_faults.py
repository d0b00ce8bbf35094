"""Every way an endpoint fails, over real HTTP: the call ends with the right reply or an error, never a wrong reply."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llm_asker import GOOD, Asker, Finding, good, run

from pytest_memfail.core import MemfailError
from pytest_memfail.llm import (
    AuthError,
    Completion,
    ContextLengthError,
    EndpointError,
    ModelCallError,
    ModelError,
    RateLimitError,
    RefusalError,
    ReplyError,
    RequestError,
)
from pytest_memfail.testing import Fault, LocalEndpoint, Reply
from pytest_memfail.testing.overflows import OVERFLOWS

PASSING = {
    "429": Fault(status=429),
    "429 with Retry-After": Fault(status=429, retry_after=0.01),
    "500": Fault(status=500),
    "502": Fault(status=502),
    "503 with Retry-After": Fault(status=503, retry_after=0.01),
    "408": Fault(status=408),
    "409": Fault(status=409),
    "dropped": Fault("drop"),
    "dropped amid the body": Fault("drop_mid_body"),
    "HTML instead of JSON": Fault("bad_body"),
    "empty": Fault("empty"),
    "truncated": Fault("truncated"),
    "invalid JSON": Fault("invalid_json"),
    "wrong schema": Fault("wrong_schema"),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_passing_fault_costs_one_more_request(fault: Fault) -> None:
    with LocalEndpoint(answer=good, faults=[fault]) as endpoint:
        asker = Asker(endpoint)
        reply = run(asker, asker.ask)
    assert reply.parsed == Finding(**GOOD)
    assert endpoint.calls == 2


def test_a_request_that_times_out_is_sent_again() -> None:
    with LocalEndpoint(answer=good, faults=[Fault("hang")]) as endpoint:
        asker = Asker(endpoint, timeout_seconds=0.5)
        reply = run(asker, asker.ask)
    assert reply.parsed == Finding(**GOOD)
    assert endpoint.calls == 2


LASTING = {
    "429": (Fault(status=429, every=1), RateLimitError, "answered 429"),
    "500": (Fault(status=500, every=1), EndpointError, "answered 500"),
    "502": (Fault(status=502, every=1), EndpointError, "answered 502"),
    "dropped": (Fault("drop", every=1), EndpointError, "cannot be reached"),
    "dropped amid the body": (Fault("drop_mid_body", every=1), EndpointError, "cannot be reached"),
    "HTML instead of JSON": (Fault("bad_body", every=1), ReplyError, "not a chat completion"),
    "empty": (Fault("empty", every=1), ReplyError, "empty"),
    "truncated": (Fault("truncated", every=1), ReplyError, "cut off"),
    "invalid JSON": (Fault("invalid_json", every=1), ReplyError, "the expected form (present, reason): "),
    "wrong schema": (
        Fault("wrong_schema", every=1),
        ReplyError,
        "the expected form (present, reason): present: got nothing, expected a value: '{",
    ),
    "refusal": (Fault("refusal", every=1), RefusalError, "cannot help"),
    "context length": (Fault("context_length", every=1), ContextLengthError, "too long"),
    "wrong key": (Fault("wrong_key", every=1), AuthError, "OPENAI_API_KEY"),
    "no quota": (Fault(status=429, code="insufficient_quota", every=1), AuthError, "no quota"),
    "no credit": (
        Fault(status=402, every=1),
        AuthError,
        "the account cannot pay (402): scripted fault 402; add credit",
    ),
    "forbidden": (Fault(status=403, every=1), AuthError, "OPENAI_API_KEY"),
    "unknown model": (Fault("unknown_model", every=1), ModelError, "'m'"),
    "422": (Fault(status=422, every=1), RequestError, "422"),
}


@pytest.mark.parametrize(("fault", "kind", "said"), LASTING.values(), ids=LASTING)
def test_a_lasting_fault_is_an_error_of_one_line(fault: Fault, kind: type[ModelCallError], said: str) -> None:
    with LocalEndpoint(answer=good, faults=[fault]) as endpoint:
        asker = Asker(endpoint, max_retries=1)
        with pytest.raises(kind) as caught:
            run(asker, asker.ask)
    assert type(caught.value) is kind
    assert isinstance(caught.value, MemfailError)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert f"127.0.0.1:{endpoint.port}" in str(caught.value)


def test_a_hung_endpoint_is_an_error() -> None:
    with LocalEndpoint(answer=good, faults=[Fault("hang", every=1)]) as endpoint:
        asker = Asker(endpoint, timeout_seconds=0.3)
        with pytest.raises(EndpointError, match=r"no reply within 0\.3 s \(asked 2 times\)"):
            run(asker, asker.ask)


@pytest.mark.parametrize("kind", ["empty", "truncated"])
def test_a_reply_without_a_schema_must_be_whole_too(kind: str) -> None:
    with LocalEndpoint(answer=lambda _: "Yes, he does.", faults=[Fault(kind, every=1)]) as endpoint:  # type: ignore[arg-type]
        asker = Asker(endpoint)
        with pytest.raises(ReplyError):
            run(asker, lambda: asker.ask(schema=None))
    assert endpoint.calls == 3


@pytest.mark.parametrize("schema", [Finding, None])
@pytest.mark.parametrize(
    "text",
    [
        f"<think>So {json.dumps(GOOD)} it is.</think>\n",
        f"<thinking>\nSo {json.dumps(GOOD)} it may be, or",
        "So he does.</think>\n",
        "<think>So.</think>\n<think>Or",
    ],
)
def test_thoughts_alone_are_no_reply(text: str, schema: type[Finding] | None) -> None:
    with LocalEndpoint(answer=lambda _: text) as endpoint:
        asker = Asker(endpoint)
        with pytest.raises(ReplyError, match="the reply has only thoughts, expected an answer after them: '") as found:
            run(asker, lambda: asker.ask(schema=schema))
    assert "JSON" not in str(found.value)
    assert endpoint.calls == 3


def test_a_reply_that_cannot_be_used_is_counted_each_time() -> None:
    with LocalEndpoint(answer=good, faults=[Fault("empty"), Fault("wrong_schema")]) as endpoint:
        asker = Asker(endpoint)
        run(asker, asker.ask)
    assert asker.ledger.totals().calls == 3
    assert asker.ledger.totals().failures == 0


@pytest.mark.parametrize("text", ['{"present": "true", "reason": "x"}', '{"present": 1, "reason": "x"}', "null", "[]"])
def test_what_only_resembles_the_schema_is_no_reply(text: str) -> None:
    with LocalEndpoint(answer=lambda _: text) as endpoint:
        asker = Asker(endpoint)
        with pytest.raises(ReplyError):
            run(asker, asker.ask)


def test_a_refusal_is_not_asked_again() -> None:
    with LocalEndpoint(answer=good, faults=[Fault("refusal")]) as endpoint:
        asker = Asker(endpoint)
        with pytest.raises(RefusalError):
            run(asker, asker.ask)
    assert endpoint.calls == 1


FINAL = {
    "wrong key": (Fault("wrong_key"), AuthError),
    "no credit": (Fault(status=402), AuthError),
    "forbidden": (Fault(status=403), AuthError),
    "unknown model": (Fault("unknown_model"), ModelError),
}


@pytest.mark.parametrize(("fault", "error"), FINAL.values(), ids=FINAL)
def test_what_no_later_call_can_mend_is_not_asked_again(fault: Fault, error: type[ModelCallError]) -> None:
    with LocalEndpoint(answer=good, faults=[fault]) as endpoint:
        asker = Asker(endpoint)

        async def work() -> list[Completion | BaseException]:
            with pytest.raises(error):
                await asker.ask()
            return await asker.ask_all(20)

        later = run(asker, work)
    assert endpoint.calls == 1
    assert {type(reply) for reply in later} == {error}
    assert len({str(reply) for reply in later}) == 1


@pytest.mark.parametrize(("status", "served"), [(401, 1), (402, 1), (403, 3)])
def test_after_a_reply_only_403_is_about_one_request(status: int, served: int) -> None:
    fault = Fault(status=status, message="your input was flagged")
    with LocalEndpoint(answer=good, faults=[None, fault]) as endpoint:
        asker = Asker(endpoint, concurrency=1)
        replies = run(asker, lambda: asker.ask_all(4))
    assert [type(reply) for reply in replies].count(Completion) == served
    assert type(replies[1]) is (RequestError if status == 403 else AuthError)
    assert "your input was flagged" in str(replies[1])
    assert ("OPENAI_API_KEY" in str(replies[1])) is (status == 401)


def test_another_model_is_still_asked() -> None:
    with LocalEndpoint(answer=good, models=["known"]) as endpoint:
        asker = Asker(endpoint)

        async def work() -> Completion:
            with pytest.raises(ModelError, match="does not know the model 'unknown'"):
                await asker.ask(model="unknown")
            return await asker.ask(model="known")

        assert run(asker, work).parsed == Finding(**GOOD)


def test_too_long_messages_are_told_from_others() -> None:
    with LocalEndpoint(answer=good, context_tokens=50) as endpoint:
        asker = Asker(endpoint)

        async def work() -> Completion:
            with pytest.raises(ContextLengthError):
                await asker.ask("entry " * 100)
            return await asker.ask("entry " * 10)

        assert run(asker, work).parsed == Finding(**GOOD)


@pytest.mark.parametrize("server", OVERFLOWS)
def test_every_server_says_too_long_in_its_own_words(server: str) -> None:
    with LocalEndpoint(answer=good, context_tokens=1, overflow=server) as endpoint:
        asker = Asker(endpoint)
        with pytest.raises(ContextLengthError):
            run(asker, asker.ask)
    assert endpoint.calls == 1


NOT_TOO_LONG = {
    "a rate": (
        429,
        "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.",
        RateLimitError,
    ),
    "a limit of the reply": (
        400,
        "max_tokens is too large: 99999. This model supports at most 4096 completion tokens.",
        RequestError,
    ),
    "a busy server": (503, "Server overloaded, too many requests in the queue", EndpointError),
    "an unknown model": (404, "model 'long-context-window' not found", ModelError),
}


@pytest.mark.parametrize(("status", "message", "kind"), NOT_TOO_LONG.values(), ids=NOT_TOO_LONG)
def test_other_limits_are_not_taken_for_too_long(status: int, message: str, kind: type[ModelCallError]) -> None:
    with LocalEndpoint(faults=[Fault(status=status, message=message, every=1)]) as endpoint:
        asker = Asker(endpoint, max_retries=0)
        with pytest.raises(kind) as caught:
            run(asker, asker.ask)
    assert not isinstance(caught.value, ContextLengthError)


def test_server_errors_do_not_open_the_circuit_while_others_are_served() -> None:
    with LocalEndpoint(answer=good, faults=[Fault(status=500, every=2)]) as endpoint:
        asker = Asker(endpoint, max_retries=0, concurrency=1)
        replies = run(asker, lambda: asker.ask_all(20))
    assert [type(reply) for reply in replies] == [Completion, EndpointError] * 10


# -- servers that ignore the schema ------------------------------------------------------------------------------------

TEXT = json.dumps(GOOD)
WRAPPED = {
    "a fence": f"```json\n{TEXT}\n```",
    "prose": f"Sure, here is my evaluation:\n{TEXT}\nI hope that helps.",
    "thoughts": f"<think>\nThe form is {{}}.\n</think>\n\n{TEXT}",
    "thoughts twice": f"<think>So.</think>\n<think>\n</think>\n{TEXT}",
    "the end of thoughts": f"The form is {{}}.\n</think>\n{TEXT}",
    "a byte order mark": f"\ufeff{TEXT}",
    "all of it": f"\ufeff<think>So.</think>Here:\n```\n{TEXT}\n```",
}


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED)
def test_the_one_object_of_a_reply_is_taken_out_of_what_is_around_it(text: str) -> None:
    with LocalEndpoint(answer=lambda _: text) as endpoint:
        asker = Asker(endpoint)
        assert run(asker, asker.ask).parsed == Finding(**GOOD)
    assert endpoint.calls == 1


UNUSABLE = {
    "two objects": f"{TEXT} or {TEXT}",
    "an unfinished second object": f"{TEXT} or {{",
    "another type": '```\n{"present": "true", "reason": "x"}\n```',
    "a verdict twice": '{"present": false, "reason": "x", "present": true}',
    "an object in a broken one": '{"a": {"present": true, "reason": "x"}',
}


@pytest.mark.parametrize("text", UNUSABLE.values(), ids=UNUSABLE)
def test_whatever_is_not_exactly_one_fitting_object_is_no_reply(text: str) -> None:
    with LocalEndpoint(answer=lambda _: text) as endpoint:
        asker = Asker(endpoint)
        with pytest.raises(ReplyError, match="seems to ignore JSON schemas") as found:
            run(asker, asker.ask)
    assert endpoint.calls == 3
    assert str(found.value).startswith("the reply is not in the expected form (present, reason): ")


@pytest.mark.parametrize("text", ["I'm sorry, but I can't help with that.", "The entry says so."])
def test_a_refusal_in_plain_words_is_no_fault_of_the_endpoint(text: str) -> None:
    with LocalEndpoint(answer=lambda _: text) as endpoint:
        asker = Asker(endpoint)
        with pytest.raises(ReplyError) as found:
            run(asker, asker.ask)
    said = str(found.value)
    assert said.startswith(f"the reply is not in the expected form (present, reason): no JSON object: {text!r} (")
    assert "; the model refuses, or does not answer in JSON: try another model, or check" in said


def test_at_temperature_0_a_wrong_form_is_named_instead_of_asked_alike() -> None:
    def answer(request: dict[str, Any]) -> Any:
        return GOOD if len(request["messages"]) > 1 else "The entry says so."

    with LocalEndpoint(answer=answer) as endpoint:
        asker = Asker(endpoint)
        assert run(asker, lambda: asker.ask(parameters={"temperature": 0})).parsed == Finding(**GOOD)
        sent = list(endpoint.requests)
    assert sent[1]["messages"][:1] == sent[0]["messages"]
    assert "cannot be used" in sent[1]["messages"][-1]["content"]


# -- replies that are cut off ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_reply_cut_off_at_our_limit_is_asked_for_with_a_higher_one(name: str) -> None:
    def answer(request: dict[str, Any]) -> Reply:
        return Reply(TEXT) if request[name] >= 40 else Reply(TEXT[:5], finish_reason="length")

    with LocalEndpoint(answer=answer) as endpoint:
        asker = Asker(endpoint)
        assert run(asker, lambda: asker.ask(parameters={name: 10, "temperature": 0})).parsed == Finding(**GOOD)
        assert [request[name] for request in endpoint.requests] == [10, 20, 40]


def test_at_temperature_0_a_reply_cut_off_by_the_server_is_not_asked_for_again() -> None:
    with LocalEndpoint(answer=good, faults=[Fault("truncated", every=1)]) as endpoint:
        asker = Asker(endpoint)
        with pytest.raises(ReplyError, match=r"cut off.*asked once.*max_tokens=N"):
            run(asker, lambda: asker.ask(parameters={"temperature": 0}))
    assert endpoint.calls == 1
