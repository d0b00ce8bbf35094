"""Prompts that a server cuts without saying so make a run untrusted; servers that count otherwise do not."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from llm_asker import Asker, good, run

from pytest_memfail.llm import ResponseCache
from pytest_memfail.llm.request import Request
from pytest_memfail.llm.truncation import Prompts
from pytest_memfail.testing import LocalEndpoint

LONG = "Leopold restores globes and hates varnish. " * 40  # 240 words


def request(words: int, model: str = "m") -> Request:
    """Return a request with this many words."""
    return Request(model, [{"role": "user", "content": "word " * words}], "storage", None, {})


def doubt(*counts: tuple[int, int], model: str = "m") -> tuple[int, int, bool]:
    """Return affected, of and whether the run is untrusted, after prompts of these words and tokens."""
    prompts = Prompts()
    for words, tokens in counts:
        prompts.counted(request(words, model), tokens)
    (found,) = prompts.doubts()
    return found.affected, found.of, found.is_fatal


def test_a_prompt_that_the_server_cuts_makes_the_run_untrusted() -> None:
    with LocalEndpoint(answer=good, context_tokens=100, cuts_prompts=True) as endpoint:
        asker = Asker(endpoint)

        async def work() -> None:
            await asker.ask("Is it there?")
            await asker.ask(LONG)

        run(asker, work)
        (found,) = asker.client.prompts.doubts()
    assert (found.affected, found.of, found.is_fatal) == (1, 2, True)
    assert "OLLAMA_CONTEXT_LENGTH" in found.line
    assert asker.client.prompts.doubts() == ()


def test_a_whole_prompt_is_not_doubted() -> None:
    with LocalEndpoint(answer=good) as endpoint:
        asker = Asker(endpoint)
        run(asker, lambda: asker.ask(LONG))
        (found,) = asker.client.prompts.doubts()
    assert (found.affected, found.of, found.is_fatal) == (0, 1, False)


def test_other_tokenizers_and_prompt_caches_are_no_cut() -> None:
    assert doubt((1000, 1000), (1000, 1900)) == (0, 2, False)
    assert doubt((1000, 1400), (1000, 12), (900, 3)) == (0, 3, False)  # the rest was in the server's prompt cache
    assert doubt((1000, 12), (1000, 1400)) == (0, 2, False)  # from an earlier run
    assert doubt((3000, 2048), (1500, 2047), (3100, 2048)) == (2, 3, True)


def test_a_server_that_counts_nothing_is_not_doubted() -> None:
    prompts = Prompts()
    prompts.counted(request(1000), 0)
    assert prompts.doubts() == ()


def test_a_kept_reply_to_a_cut_prompt_is_doubted_too(tmp_path: Path) -> None:
    with LocalEndpoint(answer=good, context_tokens=100, cuts_prompts=True) as endpoint:
        found: list[Any] = []
        for _ in range(2):
            with closing(ResponseCache(tmp_path / "replies.sqlite")) as cache:
                asker = Asker(endpoint, cache=cache)
                run(asker, lambda asker=asker: asker.ask(LONG))
                found += asker.client.prompts.doubts()
    assert endpoint.calls == 1
    assert [(one.affected, one.of) for one in found] == [(1, 1), (1, 1)]
