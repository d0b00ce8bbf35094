"""`md-file`: a model edits one file through tool calls over a real endpoint, whatever it replies."""

from __future__ import annotations

import asyncio
import json

import pytest
from system_stores import NOON, NOWHERE, said

from pytest_memfail.core import MemorySystem, MemorySystemError, SystemContext, UsageError
from pytest_memfail.llm import Ledger, ModelClient, ReplyError, SystemChat
from pytest_memfail.systems.md_file import FACTORY, FILE
from pytest_memfail.systems.tool_loop import FAILURES, ROUNDS, transcript
from pytest_memfail.testing import Fault, LocalEndpoint, Reply, ToolCall, check_memory_system, reply_by_rule

DONE = "The file is up to date."


def calling(*calls, text=""):
    return Reply(text, tool_calls=tuple(ToolCall(name, arguments) for name, arguments in calls))


def append(text):
    return calling(("append_line", {"text": text}))


@pytest.fixture
def keep(tmp_path):
    """Store a conversation with scripted replies; return the lines kept and the requests."""

    def keep(*replies, conversation=None, faults=(), before=()):
        script = iter(replies)

        async def work(endpoint):
            client = ModelClient(ledger=Ledger(), base_url=endpoint.url, api_key="none", backoff_seconds=0.002)
            try:
                context = SystemContext("run", "store", tmp_path, {"model": "m"}, chat=SystemChat(client))
                system = FACTORY(context)
                assert isinstance(system, MemorySystem)
                system._write(list(before))
                await system.store_conversation(conversation or said("c-1", "I drink tea."))
                return [entry["text"] for entry in await system.get_all_memories()]
            finally:
                await client.close()

        with LocalEndpoint(lambda _: next(script, "no more"), faults=faults) as endpoint:
            return asyncio.run(work(endpoint)), list(endpoint.requests)

    return keep


def results(request):
    """Return the replies of the tools to the model."""
    return [message["content"] for message in request["messages"] if message["role"] == "tool"]


def file_of(tmp_path):
    return (tmp_path / FILE).read_text(encoding="utf-8")


def test_what_the_model_writes_stands_in_the_file(keep, tmp_path):
    lines, requests = keep(append("The user drinks tea."), DONE)
    assert lines == ["The user drinks tea."]
    assert file_of(tmp_path) == "- The user drinks tea.\n"
    assert len(requests) == 2
    assert results(requests[1]) == ["ok, line 1"]


def test_the_model_is_offered_its_tools_and_shown_the_conversation_with_its_times(keep):
    _, requests = keep(append("x"), DONE, conversation=said("c-1", "Tea?\n</conversation>", timestamp=NOON))
    names = [tool["function"]["name"] for tool in requests[0]["tools"]]
    assert names == ["read_memory", "append_line", "replace_line", "delete_line", "keep_nothing"]
    lines = requests[0]["messages"][1]["content"].split("\n")
    assert lines[0], lines[-1] == ("<conversation>", "</conversation>")
    assert [json.loads(line) for line in lines[1:-1]] == [
        {"time": "Monday 2025-01-06 12:00", "role": "user", "content": "Tea?\n</conversation>"}
    ]


def test_several_calls_of_one_reply_are_carried_out_in_order(keep):
    lines, requests = keep(
        calling(("read_memory", {}), ("delete_line", {"number": 1}), ("append_line", {"text": "coffee"})),
        DONE,
        before=["tea", "jam"],
    )
    assert lines == ["jam", "coffee"]
    assert results(requests[1]) == ["1 tea\n2 jam", "ok", "ok, line 3"]
    ids = [call["id"] for call in requests[1]["messages"][2]["tool_calls"]]
    assert (
        ids
        == [m["tool_call_id"] for m in requests[1]["messages"] if m["role"] == "tool"]
        == ["call-0", "call-1", "call-2"]
    )


def test_nothing_worth_keeping_is_an_end_too(keep):
    lines, _ = keep(calling(("keep_nothing", {})), DONE, before=["tea"])
    assert lines == ["tea"]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (("append_line", '{"text": "cut o'), "error: the arguments of append_line are not JSON"),
        (
            ("append_line", {"text": "x", "path": "../../etc/passwd"}),
            "error: append_line got text, path; expected text",
        ),
        (("open", {"path": "/etc/passwd"}), "error: no tool 'open'"),
        (("delete_line", {"number": 7}), "error: no line 7"),
    ],
)
def test_a_bad_call_is_told_to_the_model_which_goes_on(keep, tmp_path, bad, told):
    lines, requests = keep(calling(bad), append("tea"), DONE)
    assert lines == ["tea"]
    assert results(requests[1])[0].startswith(told)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_reply_that_calls_nothing_is_asked_for_a_call(keep):
    lines, requests = keep("Noted, I shall remember that!", append("tea"), DONE)
    assert lines == ["tea"]
    assert requests[1]["messages"][-1]["role"] == "user"
    assert "Nothing was done" in requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("reply", "said_of_it"),
    [
        ("Noted!", "no tool was called"),
        (calling(("append_line", "{")), "not JSON"),
        (calling(("rm", {})), "no tool 'rm'"),
    ],
)
def test_a_model_that_never_gets_it_right_is_an_error_and_the_file_stays(keep, tmp_path, reply, said_of_it):
    with pytest.raises(MemorySystemError, match="contain no tool call that works") as error:
        keep(*[reply] * FAILURES, before=["tea"])
    assert said_of_it in str(error.value)
    assert file_of(tmp_path) == "- tea\n"


def test_a_call_that_works_in_between_starts_the_count_again(keep):
    bad = calling(("rm", {}))
    lines, _ = keep(bad, bad, append("tea"), bad, bad, append("jam"), DONE)
    assert lines == ["tea", "jam"]


def test_a_model_without_end_is_stopped_and_nothing_of_it_is_kept(keep, tmp_path):
    with pytest.raises(MemorySystemError, match=f"still calling tools after {ROUNDS} replies"):
        keep(*[append("again and again")] * (ROUNDS + 5), before=["tea"])
    assert file_of(tmp_path) == "- tea\n"


def test_a_reply_that_is_cut_off_is_an_error_and_the_file_stays(keep, tmp_path):
    with pytest.raises(ReplyError, match="cut off"):
        keep(append("tea"), before=["jam"], faults=[Fault("truncated", every=1)])
    assert file_of(tmp_path) == "- jam\n"


def test_a_conversation_that_says_nothing_asks_nothing(keep):
    assert keep(conversation=said("c-1", "", "  ")) == ([], [])


def test_any_text_survives_the_file(keep):
    texts = ["- bullet", "# heading", "naïve 猫 🦊", "a\u0085b".replace("\u0085", "\x7f"), "back\\slash"]
    lines, _ = keep(calling(*(("append_line", {"text": text}) for text in texts)), DONE)
    assert lines == texts


def test_a_transcript_keeps_its_messages_apart():
    shown = transcript(said("c", "one\ntwo", "<b>"))
    assert shown.split("\n")[1:-1] == [
        '{"role": "user", "content": "one\\ntwo"}',
        '{"role": "user", "content": "\\u003cb>"}',
    ]


def test_without_a_model_it_says_so_in_one_line(tmp_path):
    with pytest.raises(
        UsageError, match="md-file needs a model that calls tools; give --memfail-model, or its setting model"
    ):
        FACTORY.models({}, None)
    assert FACTORY.models({}, "gpt") == ("gpt",)
    assert FACTORY.models({"model": "own"}, "gpt") == ("own",)
    with pytest.raises(UsageError, match="this run has none"):
        FACTORY(SystemContext("run", "store", tmp_path))
    with pytest.raises(UsageError, match="md-file needs a model"):
        check_memory_system(FACTORY)


@pytest.fixture
def look_up(tmp_path):
    """Ask a file with `retrieve=tools` and scripted replies; return the lines shown and the requests."""

    def look_up(*replies, lines=("tea since May", "jam", "green tea")):
        script = iter(replies)

        async def work(endpoint):
            client = ModelClient(ledger=Ledger(), base_url=endpoint.url, api_key="none", backoff_seconds=0.002)
            try:
                settings = {"model": "m", "retrieve": "tools"}
                system = FACTORY(SystemContext("run", "store", tmp_path, settings, chat=SystemChat(client)))
                system._write(list(lines))
                assert system.unlimited_k
                assert system.describe() == {"system": "md-file", "retrieve": "tools", "model": "m"}
                found = await system.retrieve_memories("What does Ada drink?", NOWHERE, 1)
                return [(entry["id"], entry["text"]) for entry in found]
            finally:
                await client.close()

        with LocalEndpoint(lambda _: next(script, "no more")) as endpoint:
            return asyncio.run(work(endpoint)), list(endpoint.requests)

    return look_up


def test_with_tools_what_the_model_looks_up_is_shown_each_line_once(look_up):
    found = calling(("find_lines", {"words": "TEA, coffee"}))
    found_again = calling(("read_lines", {"first": 3, "last": 9}))
    shown, requests = look_up(found, found_again, "That is all.")
    assert shown == [("1", "tea since May"), ("3", "green tea")]
    assert results(requests[1]) == ["1 tea since May\n3 green tea"]
    names = [tool["function"]["name"] for tool in requests[0]["tools"]]
    assert names == ["read_memory", "read_lines", "find_lines", "nothing_to_do"]
    assert requests[0]["messages"][1]["content"] == "What does Ada drink?"


def test_with_tools_a_model_can_read_everything_or_find_nothing(look_up):
    assert len(look_up(calling(("read_memory", {})), DONE)[0]) == 3
    shown, requests = look_up(calling(("find_lines", {"words": "coffee"})), DONE)
    assert (shown, results(requests[1])) == ([], ["no such line"])


def test_with_tools_the_file_cannot_be_changed_while_it_is_asked(look_up, tmp_path):
    bad = calling(("delete_line", {"number": 1}), ("append_line", {"text": "x"}))
    shown, requests = look_up(bad, calling(("read_lines", {"first": 1})), calling(("nothing_to_do", {})), DONE)
    assert shown == []
    assert results(requests[1])[0].startswith("error: no tool 'delete_line'")
    assert results(requests[2])[-1] == "error: read_lines got first; expected first, last"
    assert file_of(tmp_path) == "- tea since May\n- jam\n- green tea\n"


@pytest.mark.parametrize("retrieve", ["bm25", "tools"])
def test_it_keeps_the_contract(monkeypatch, retrieve):
    with LocalEndpoint(reply_by_rule) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        assert check_memory_system(FACTORY, options={"model": "m", "retrieve": retrieve}).failed == ()
