"""Mem0: each trap of it, with the remedy in place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from heavy_stores import MAY, NOWHERE, TOWNS, Open, named, said, store_at_once, texts, towns, watched_for_overlap

from pytest_memfail.testing import LocalEndpoint, check_memory_system

STORES = ("chroma", "faiss", "qdrant")


@pytest.fixture(autouse=True)
def _packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_TELEMETRY", "False")  # it may be imported here for the first time
    for package in ("mem0", "chromadb", "faiss", "qdrant_client"):
        pytest.importorskip(package)


@pytest.fixture(params=STORES)
def verbatim(request: pytest.FixtureRequest, open_system: Open) -> Any:
    return open_system("mem0", infer="false", store=request.param, dimensions="256")


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("infer", ["true", "false"])
def test_it_keeps_its_contract(endpoint: LocalEndpoint, store: str, infer: str) -> None:
    from pytest_memfail.systems import built_in_system

    factory = built_in_system("mem0", lambda _: pytest.fail("wraps nothing"))
    check_memory_system(factory, options={"store": store, "infer": infer, "dimensions": "256"})


def test_a_listing_is_more_than_its_default_page_of_20(verbatim: Any) -> None:
    for conversation in towns():
        verbatim.store_conversation(conversation)
    assert named(verbatim.get_all_memories()) == set(TOWNS)


def test_k_entries_come_back_however_many_and_however_far(verbatim: Any) -> None:
    for conversation in towns():
        verbatim.store_conversation(conversation)
    # it returns 20 at most by default, and drops scores under 0.1: nothing here shares a word with the query
    assert len(verbatim.retrieve_memories("zymurgy", NOWHERE, 25)) == 25


def test_a_time_is_listed_and_the_model_is_told_it(open_system: Open, endpoint: LocalEndpoint) -> None:
    mem0 = open_system("mem0")
    mem0.store_conversation(said("c-1", "Ada bakes rye bread."))
    assert [memory["created_at"] for memory in mem0.get_all_memories()] == [MAY.isoformat()]
    prompt = endpoint.requests[-1]["messages"][-1]["content"]
    assert "user: [2024-05-01 09:30] Ada bakes rye bread." in prompt
    assert "The new messages were said on 2024-05-01 at 09:30" in prompt.partition("## Custom Instructions")[2]


@pytest.mark.parametrize(
    ("times", "text"), [("text", "[2024-05-01 09:30] Ada bakes rye bread."), ("metadata", "Ada bakes rye bread.")]
)
def test_a_verbatim_message_has_its_time_in_front_unless_told_otherwise(
    open_system: Open, times: str, text: str
) -> None:
    mem0 = open_system("mem0", infer="false", times=times)
    mem0.store_conversation(said("c-1", "Ada bakes rye bread."))
    assert texts(mem0.get_all_memories()) == [text]


@pytest.mark.parametrize("store", STORES)
def test_it_can_be_opened_again_where_it_was_closed(open_system: Open, store: str) -> None:
    options = {"infer": "true", "store": store, "dimensions": "256"}
    mem0 = open_system("mem0", **options)
    mem0.store_conversation(towns(1)[0])
    mem0.close()  # Mem0's own close() leaves the vector store open, and embedded qdrant locked
    again = open_system("mem0", **options)
    assert named(again.get_all_memories()) == {TOWNS[0]}


def test_nothing_of_before_is_left_after_a_restore(open_system: Open, endpoint: LocalEndpoint, tmp_path: Path) -> None:
    mem0 = open_system("mem0")
    (empty := tmp_path / "empty").mkdir()
    mem0.snapshot(empty)
    mem0.store_conversation(said("c-1", "The password is xylophone."))
    mem0.restore(empty)
    assert mem0.get_all_memories() == []
    mem0.store_conversation(said("c-2", "Ada bakes rye bread."))
    # delete_all() would leave the last messages, and these are in the next prompt
    assert "xylophone" not in endpoint.requests[-1]["messages"][-1]["content"]


def test_writes_take_turns(open_system: Open) -> None:
    mem0 = open_system("mem0", infer="false", store="qdrant", dimensions="256")
    assert mem0.concurrent_writes == 1
    mem0._memory.add, met = watched_for_overlap(mem0._memory.add)
    store_at_once(mem0, towns(6))
    assert not met()  # where they do not, embedded qdrant loses memories
    mem0.close()
    again = open_system("mem0", infer="false", store="qdrant", dimensions="256")
    assert named(again.get_all_memories()) == set(TOWNS[:6])


TELEMETRY = """
import posthog, sys
sent = []
class Recorder:
    def __init__(self, *args, **kwargs): pass
    def capture(self, *args, **kwargs): sent.append(args)
    def __getattr__(self, name): return lambda *args, **kwargs: sent.append(name)
posthog.Posthog = Recorder
import mem0  # by the user's own conftest, say
from pathlib import Path
from pytest_memfail.core import Conversation, Message, SystemContext
from pytest_memfail.systems import built_in_system
system = built_in_system("mem0", None)(SystemContext("run", "store", Path(sys.argv[1]), {"infer": "false"}))
system.store_conversation(Conversation("c", (Message("user", "Ada bakes rye bread."),)))
system.retrieve_memories("bread", Conversation("q", ()), 3)
system.close()
print("sent", sent)
"""


def test_telemetry_is_off_even_where_mem0_is_imported_before_with_it_on(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TELEMETRY, str(tmp_path)],
        env={**os.environ, "MEM0_TELEMETRY": "True", "MEM0_DIR": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "sent []"


def test_a_dead_endpoint_is_an_error(open_system: Open, endpoint: LocalEndpoint) -> None:
    mem0 = open_system("mem0")
    endpoint.die()
    with pytest.raises(Exception, match=r"[Cc]onnection"):
        mem0.store_conversation(towns(1)[0])


LATER = """
import datetime, sys
import mem0.configs.prompts, mem0.memory.main
import pytest_memfail.llm.replay_ignore

class Later(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.now(tz) + datetime.timedelta(days=40)

for name in ("mem0.configs.prompts", "mem0.memory.main", "pytest_memfail.llm.replay_ignore"):
    assert sys.modules[name].datetime is datetime.datetime
    sys.modules[name].datetime = Later
"""
"""A conftest.py that moves the clocks of Mem0 and of the proxy."""
RUN = [
    "--memfail-system=mem0",
    "--memfail-tasks=updated_facts,persona_retrieval",
    "--memfail-limit=3",
    "--memfail-proxy",
]


def test_a_run_that_extracts_is_replayed_on_another_day_without_a_key(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    """The endpoint extracts by rule (every message is a fact), so the verdicts are of the integration, not of Mem0."""

    def run(name: str, *options: str, **environment: str) -> tuple[str, dict[str, str], list[dict[str, Any]]]:
        record = f"--memfail-record={tmp_path / name}"
        words = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            *RUN,
            record,
            f"--memfail-cache-path={tmp_path / 'c'}",
        ]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "PYTEST_"))}
        done = subprocess.run(
            [*words, *options], cwd=tmp_path, env={**kept, **environment}, capture_output=True, text=True
        )
        lines = [json.loads(line) for line in (tmp_path / name).read_text(encoding="utf-8").splitlines()]
        verdicts = {line["question"]: line["verdict"] for line in lines if line["type"] == "question"}
        return done.stdout, verdicts, lines[-1]["models"]

    address = {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "quiet-harbour-552177"}
    printed, recorded, spent = run("a.jsonl", **address)
    assert len(recorded) == 6, printed
    assert "error" not in recorded.values()
    assert {row["model"] for row in spent} == {"gpt-4o-mini", "text-embedding-3-small"}
    assert {row["stage"] for row in spent} <= {"memory", "memory search"}
    assert all(row["calls"] and row["cost"] for row in spent)
    endpoint.die()
    (tmp_path / "conftest.py").write_text(LATER, encoding="utf-8")
    printed, replayed, spent = run("b.jsonl", "--memfail-cache=only")
    assert replayed == recorded, printed
    assert not any(row["calls"] or row["failures"] for row in spent)
    # its prompts do hold the day
    _, verdicts, _ = run("c.jsonl", "--memfail-cache=only", "--memfail-replay-ignore=none")
    assert set(verdicts.values()) == {"error"}
    assert b"quiet-harbour" not in b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())


def test_vectors_of_another_length_are_an_error_that_names_the_setting(open_system: Open) -> None:
    pytest.importorskip("faiss")
    mem0 = open_system("mem0", infer="false", store="faiss")  # the local endpoint's vectors have 256 numbers
    with pytest.raises(ValueError, match="faiss expects vectors of 1536 numbers; set dimensions to the length"):
        mem0.store_conversation(towns(1)[0])
