"""Connect the models of a run: client, budget, judge, test-taker, and the chat of the memory system."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail import finding
from pytest_memfail.core import (
    UsageError,
    check_can_be_made,
)
from pytest_memfail.running.settings import Around, RunSettings

if TYPE_CHECKING:
    from pytest_memfail.core import Chat, Judge, Suite, TestTaker
    from pytest_memfail.llm import Ledger, ModelClient, Proxy, ResponseCache

JUDGE_OPTION: Final = "--memfail-judge"
CACHE_FILE: Final = "responses.sqlite"
LEDGER_FILE: Final = "ledger.sqlite"


def judge_model(settings: RunSettings, around: Around) -> str | None:
    """Return the model that judges; None if no model does.

    Raises `UsageError` for a name that is neither a judge nor can be a model.
    """
    return finding.judge_model(
        settings.judge,
        lambda: finding.is_named(settings.judge, option=JUDGE_OPTION, **around.judges),
        option=JUDGE_OPTION,
        replays=settings.cache == "only",
        hook=", or the hook pytest_memfail_make_judge",
    )


def check_models(settings: RunSettings, around: Around, of_system: Sequence[str] = ()) -> None:
    """Check before anything is stored that all models can be called; `of_system` are those of the memory system.

    Raises `UsageError` if not.
    """
    judge = judge_model(settings, around)
    finding.check_options(settings.judge, settings.judge_options, option=JUDGE_OPTION)
    models = [model for model in (judge, settings.model, *of_system) if model is not None]
    if settings.vary != "all":
        asked = {"judge": judge, "answers": settings.model}[settings.vary]
        lacks = "a model as judge (--memfail-judge)" if settings.vary == "judge" else "a test-taker (--memfail-model)"
        if asked is None or settings.repeats == 1 or settings.cache == "off":
            raise UsageError(
                f"--memfail-vary={settings.vary} needs {lacks}, --memfail-repeats above 1, and the cache on"
            )
    if not models and settings.proxy is None:
        return
    if models and not finding.has_endpoint() and settings.cache != "only":
        raise UsageError(finding.needs_endpoint(models[0]))
    from pytest_memfail.llm import check_sdk

    check_sdk()
    ledger = open_ledger(settings, None)
    try:
        ledger.check_prices(models)
    finally:
        ledger.close()
    if settings.cache == "on":  # paid replies must be kept: check this before anything is asked
        check_can_be_made(cache_path(settings, around), "--memfail-cache-path")
    if settings.cache == "only" and not cache_path(settings, around).is_file():
        raise UsageError(
            f"--memfail-cache=only: there is no response cache at {cache_path(settings, around)}; run once with "
            "--memfail-cache=on, or name one with --memfail-cache-path"
        )
    if (cache := _cache(settings, around) if cache_path(settings, around).is_file() else None) is not None:
        cache.close()  # it is one, and not damaged


def cache_path(settings: RunSettings, around: Around) -> Path:
    """Return the file of the response cache, which all workers and runs share."""
    return settings.cache_path or around.cache / CACHE_FILE


def own_prices(settings: RunSettings) -> Any:
    from pytest_memfail.llm import Prices

    return None if settings.prices is None else Prices.from_file(settings.prices)


class Models:
    """The models of one process: its client, judge and test-taker."""

    def __init__(
        self,
        settings: RunSettings,
        around: Around,
        shared: Path | None,
        of_system: Sequence[str] = (),
        suites: Sequence[Suite] = (),
        replay_ignore: Sequence[str] = (),
    ) -> None:
        """`shared` is a folder that all processes of the run see; None for a run of one process."""
        model = judge_model(settings, around)
        asks = model is not None or settings.model is not None or bool(of_system)
        self.ledger: Ledger | None = open_ledger(settings, shared) if asks or settings.proxy else None
        cache = _cache(settings, around) if self.ledger is not None else None
        self.client = _client(settings, self.ledger, cache) if self.ledger is not None and asks else None
        kinds = finding.kinds_of(suites)
        self.judge: Judge = _judge(settings, around, model, self.client, kinds)
        self.test_taker = _test_taker(settings, self.client)
        self.chat = _chat(settings, self.client)
        """The chat through which the memory system calls models; None without a client."""
        self.again: list[tuple[Judge, TestTaker | None]] = []
        """The judge and test-taker of each repeat of a question.

        They are the same models, with replies cached by repeat. A model that does not vary gives its first replies.
        """
        for repeat in range(1, settings.repeats):
            judge, taker = self.judge, self.test_taker
            if model is not None and settings.vary != "answers":
                judge = _judge(settings, around, model, self.client, kinds, repeat)
            if settings.vary != "judge":
                taker = _test_taker(settings, self.client, repeat)
            self.again.append((judge, taker))
        self.proxy: Proxy | None = None
        """The proxy of the memory system's calls; started after our own client and any judge have read the environment."""
        if settings.proxy is not None and self.ledger is not None:
            self.proxy = _proxy(settings.proxy, self.ledger, cache, replay_ignore)

    def check(self) -> None:
        """Raise `WaitError` if models are no longer called: it would be useless to fill a store."""
        from pytest_memfail.llm import WaitError

        if self.ledger is not None and (said := self.ledger.given_up()) is not None:
            raise WaitError(said)


def _proxy(url: str, ledger: Ledger, cache: ResponseCache | None, ignore: Sequence[str]) -> Proxy:
    from pytest_memfail.llm import Proxy, check_patterns

    proxy = Proxy(ledger, cache, base_url=None if url == "on" else url, ignore=check_patterns(ignore))
    proxy.start()
    return proxy


def _cache(settings: RunSettings, around: Around) -> ResponseCache | None:
    if settings.cache == "off":
        return None
    from pytest_memfail.llm import ResponseCache

    path = cache_path(settings, around)
    path.parent.mkdir(parents=True, exist_ok=True)
    return ResponseCache(path, settings.cache)  # type: ignore[arg-type]  # checked in read_settings


def _client(settings: RunSettings, ledger: Ledger, cache: ResponseCache | None) -> ModelClient:
    from pytest_memfail.llm import ModelClient

    base_url = None
    if cache is not None and settings.cache == "only" and not os.environ.get("OPENAI_BASE_URL"):
        recorded = cache.endpoints()  # a replay needs neither key nor endpoint, and uses the recorded endpoint
        base_url = recorded[0] if len(recorded) == 1 else None
    return ModelClient(
        ledger=ledger,
        cache=cache,
        concurrency=settings.concurrency,
        timeout_seconds=settings.reply_timeout or None,
        base_url=base_url,
        max_wait_seconds=settings.max_wait,
    )


def _test_taker(settings: RunSettings, client: ModelClient | None, repeat: int = 0) -> TestTaker | None:
    if settings.model is None or client is None:
        return None
    from pytest_memfail.llm import ModelTestTaker

    return ModelTestTaker(client, settings.model, settings.model_options, repeat)


def _chat(settings: RunSettings, client: ModelClient | None) -> Chat | None:
    if client is None:
        return None
    from pytest_memfail.llm import SystemChat

    return SystemChat(client, settings.model, settings.model_options)


def _judge(
    settings: RunSettings,
    around: Around,
    model: str | None,
    client: ModelClient | None,
    kinds: Mapping[str, Any],
    repeat: int = 0,
) -> Any:
    if model is None or client is None:
        return _named_judge(settings, around, kinds)
    return finding.model_judge(
        settings.judge,
        model,
        settings.protocol,
        client,
        settings.model_options,
        repeat,
        settings.judge_options,
        **kinds,
    )


def open_ledger(settings: RunSettings, shared: Path | None) -> Ledger:
    """Return the ledger of the run."""
    from pytest_memfail.llm import Ledger

    return Ledger(
        None if shared is None else shared / LEDGER_FILE,
        max_cost=settings.max_cost,
        max_tokens=settings.max_tokens,
        prices=own_prices(settings),
    )


def _named_judge(settings: RunSettings, around: Around, kinds: Mapping[str, Any]) -> Any:
    return finding.named_judge(
        settings.judge,
        settings.protocol,
        option=JUDGE_OPTION,
        judge_options=settings.judge_options,
        **kinds,
        **around.judges,
    )
