"""Connect the models of a run: client, budget, judge, test-taker, and the chat of the memory system."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail import llm
from pytest_memfail.core import UsageError, check_can_be_made
from pytest_memfail.finding import has_endpoint, kinds_of, needs_endpoint
from pytest_memfail.running.plan import Run

if TYPE_CHECKING:
    from pytest_memfail.core import Chat, Judge, TestTaker
    from pytest_memfail.options import Settings

CACHE_FILE: Final = "responses.sqlite"
LEDGER_FILE: Final = "ledger.sqlite"


def check_models(run: Run) -> None:
    """Check before anything is stored that all models can be called.

    Raises `UsageError` if not.
    """
    settings = run.settings
    judge = run.judge.model(replays=settings.cache == "only")
    run.judge.check_options(is_model=judge is not None)
    if "weights" in run.judge.options:
        run.judge.offline(settings.protocol)  # they can be read
    models = [model for model in (judge, settings.model, *run.system_models) if model is not None]
    if settings.vary != "all":
        asked = {"judge": judge, "answers": settings.model}[settings.vary]
        lacks = "a model as judge (--memfail-judge)" if settings.vary == "judge" else "a test-taker (--memfail-model)"
        if asked is None or settings.repeats == 1 or settings.cache == "off":
            raise UsageError(
                f"--memfail-vary={settings.vary} needs {lacks}, --memfail-repeats above 1, and the cache on"
            )
    if not models and settings.proxy is None:
        return
    if models and not has_endpoint() and settings.cache != "only":
        raise UsageError(needs_endpoint(models[0]))
    llm.check_sdk()
    if models or settings.proxy == "on":
        llm.check_address()
    with closing(open_ledger(settings, None)) as ledger:
        ledger.check_prices(models)
    path = _cache_path(run)
    if settings.cache == "on":  # paid replies must be kept: check this before anything is asked
        check_can_be_made(path, "--memfail-cache-path")
    if settings.cache == "only" and not path.is_file():
        raise UsageError(
            f"--memfail-cache=only: there is no response cache at {path}; run once with "
            "--memfail-cache=on, or name one with --memfail-cache-path"
        )
    if path.is_file() and (cache := _cache(run)) is not None:
        cache.close()  # it is one, and not damaged


def open_ledger(settings: Settings, shared: Path | None) -> llm.Ledger:
    """Return the ledger of the run; `shared` is a folder that all its processes see, None for a run of one process."""
    return llm.Ledger(
        None if shared is None else shared / LEDGER_FILE,
        max_cost=settings.max_cost,
        max_tokens=settings.max_tokens,
        prices=None if settings.prices is None else llm.Prices.from_file(settings.prices),
    )


class Models:
    """The models of one process: its client, judge and test-taker."""

    def __init__(self, run: Run, shared: Path | None) -> None:
        """`shared` is a folder that all processes of the run see; None for a run of one process."""
        settings = run.settings
        self._settings, self._kinds = settings, kinds_of(run.suites)
        self._named, self._model = run.judge, run.judge.model(replays=settings.cache == "only")
        asks = self._model is not None or settings.model is not None or bool(run.system_models)
        self.ledger: llm.Ledger | None = open_ledger(settings, shared) if asks or settings.proxy else None
        self._cache = cache = _cache(run) if self.ledger is not None else None
        self.client = _client(settings, self.ledger, cache) if self.ledger is not None and asks else None
        self.judge: Judge = self._judge()
        self.test_taker = self._test_taker()
        self.chat = self._chat()
        """The chat through which the memory system calls models; None without a client."""
        self.again: list[tuple[Judge, TestTaker | None]] = []
        """The judge and test-taker of each repeat of a question.

        They are the same models, with replies cached by repeat. A model that does not vary gives its first replies.
        """
        for repeat in range(1, settings.repeats):
            judge, taker = self.judge, self.test_taker
            if self._model is not None and settings.vary != "answers":
                judge = self._judge(repeat)
            if settings.vary != "judge":
                taker = self._test_taker(repeat)
            self.again.append((judge, taker))
        self.proxy: llm.Proxy | None = None
        """The proxy of the memory system's calls; started after our own client and any judge have read the environment."""
        if settings.proxy is not None and self.ledger is not None:
            self.proxy = _proxy(settings.proxy, self.ledger, cache, run.replay_ignore)

    def check(self) -> None:
        """Raise `WaitError` if models are no longer called: it would be useless to fill a store."""
        if self.ledger is not None and (said := self.ledger.given_up()) is not None:
            raise llm.WaitError(said)

    def close(self) -> None:
        """Stop the proxy, and close the files of the calls; what they cost cannot be read any more."""
        for used in (self.proxy, self._cache, self.ledger):
            if used is not None:
                used.close()

    def _judge(self, repeat: int = 0) -> Any:
        settings = self._settings
        if self._model is None or self.client is None:
            return self._named.make(settings.protocol, self._kinds)
        return self._named.make_model(
            self._model, settings.protocol, self.client, settings.model_options, self._kinds, repeat
        )

    def _test_taker(self, repeat: int = 0) -> TestTaker | None:
        if self._settings.model is None or self.client is None:
            return None
        return llm.ModelTestTaker(self.client, self._settings.model, self._settings.model_options, repeat)

    def _chat(self) -> Chat | None:
        if self.client is None:
            return None
        return llm.SystemChat(self.client, self._settings.model, self._settings.model_options)


def _proxy(url: str, ledger: llm.Ledger, cache: llm.ResponseCache | None, ignore: Sequence[str]) -> llm.Proxy:
    proxy = llm.Proxy(ledger, cache, base_url=None if url == "on" else url, ignore=llm.check_patterns(ignore))
    proxy.start()
    return proxy


def _cache_path(run: Run) -> Path:
    """Return the file of the response cache, which all workers and runs share."""
    return run.settings.cache_path or run.cache / CACHE_FILE


def _cache(run: Run) -> llm.ResponseCache | None:
    mode = run.settings.cache
    if mode == "off":
        return None
    path = _cache_path(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    return llm.ResponseCache(path, mode)  # type: ignore[arg-type]  # the option's parser has checked it


def _client(settings: Settings, ledger: llm.Ledger, cache: llm.ResponseCache | None) -> llm.ModelClient:
    base_url = None
    if cache is not None and settings.cache == "only" and not os.environ.get("OPENAI_BASE_URL"):
        recorded = cache.endpoints()  # a replay needs neither key nor endpoint, and uses the recorded endpoint
        base_url = recorded[0] if len(recorded) == 1 else None
    return llm.ModelClient(
        ledger=ledger,
        cache=cache,
        concurrency=settings.concurrency,
        timeout_seconds=settings.reply_timeout or None,
        base_url=base_url,
        max_wait_seconds=settings.max_wait,
    )
