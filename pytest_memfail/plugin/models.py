"""The language models of a run: which ones, through what, and what they cost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_memfail import judge_names
from pytest_memfail.core import UsageError, check_can_be_made
from pytest_memfail.plugin.asking import ask
from pytest_memfail.plugin.options import Settings, cache_folder

if TYPE_CHECKING:
    from pytest_memfail.core import Chat, Judge, TestTaker
    from pytest_memfail.llm import Ledger, ModelClient

OPTION: Final = "--memfail-judge"
LEDGER_FILE: Final = "ledger.sqlite"
CACHE_FILE: Final = "responses.sqlite"


def judge_model(config: pytest.Config, settings: Settings) -> str | None:
    """The model that judges; None if no model does.

    Raises `UsageError` for a name that is no judge and cannot be meant as a model.
    """
    return judge_names.judge_model(
        settings.judge,
        lambda: judge_names.is_named(settings.judge, option=OPTION, **_beside(config, settings)),
        option=OPTION,
        replays=settings.cache == "only",
        hook=", or the hook pytest_memfail_make_judge",
    )


def models_of_system(factory: Any, settings: Settings) -> tuple[str, ...]:
    """The models that the memory systems of a factory ask through `context.chat`.

    Raises `UsageError` where it lacks one.
    """
    named = getattr(factory, "models", None)
    if not callable(named):
        return ()
    return tuple(ask(f"models() of {settings.system}", named, settings.system_options, settings.model))


def check_models(config: pytest.Config, settings: Settings, of_system: Sequence[str] = ()) -> None:
    """Refuse models that cannot be asked, before anything is stored; `of_system` are those of the memory system.

    Raises `UsageError`.
    """
    judge = judge_model(config, settings)
    judge_names.check_options(settings.judge, settings.judge_options, option=OPTION)
    models = [model for model in (judge, settings.model, *of_system) if model is not None]
    if settings.vary != "all":
        asked = {"judge": judge, "answers": settings.model}[settings.vary]
        lacks = "a model as judge (--memfail-judge)" if settings.vary == "judge" else "a test-taker (--memfail-model)"
        if asked is None or settings.repeats == 1 or settings.cache == "off":
            raise UsageError(
                f"--memfail-vary={settings.vary} needs {lacks}, --memfail-repeats above 1, and the cache on"
            )
    if not models:
        return
    if not judge_names.has_endpoint() and settings.cache != "only":
        raise UsageError(judge_names.needs_endpoint(models[0]))
    from pytest_memfail.llm import Ledger, check_sdk

    check_sdk()
    ledger = Ledger(max_cost=settings.max_cost, max_tokens=settings.max_tokens, prices=_prices(settings))
    try:
        ledger.check_prices(models)
    finally:
        ledger.close()
    if settings.cache == "on":  # what is paid for has to be kept: found out before anything is asked
        check_can_be_made(cache_path(config, settings), "--memfail-cache-path")
    if settings.cache == "only" and not cache_path(config, settings).is_file():
        raise UsageError(
            f"--memfail-cache=only: there is no response cache at {cache_path(config, settings)}; run once with "
            "--memfail-cache=on, or name one with --memfail-cache-path"
        )


def cache_path(config: pytest.Config, settings: Settings) -> Path:
    """Where replies are kept: shared by all workers and runs."""
    if settings.cache_path is not None:
        return settings.cache_path
    return cache_folder(config) / CACHE_FILE


class Models:
    """What one process asks: its client, judge and test-taker."""

    def __init__(
        self, config: pytest.Config, settings: Settings, shared: Path | None, of_system: Sequence[str] = ()
    ) -> None:
        """`shared` is a folder that all processes of the run see; None for a run of one process."""
        model = judge_model(config, settings)
        asks = model is not None or settings.model is not None or bool(of_system)
        self.ledger: Ledger | None = open_ledger(settings, shared) if asks else None
        self.client = _client(config, settings, self.ledger) if self.ledger is not None else None
        self.judge: Judge = _judge(config, settings, model, self.client)
        self.test_taker = _test_taker(settings, self.client)
        self.chat = _chat(settings, self.client)
        """What the memory system asks models by; None where there is no client."""
        self.again: list[tuple[Judge, TestTaker | None]] = []
        """Who judges and answers when a question is repeated.

        The same models, whose replies are kept apart by number; one that is kept fixed gives its first ones.
        """
        for repeat in range(1, settings.repeats):
            judge, taker = self.judge, self.test_taker
            if model is not None and settings.vary != "answers":
                judge = _judge(config, settings, model, self.client, repeat)
            if settings.vary != "judge":
                taker = _test_taker(settings, self.client, repeat)
            self.again.append((judge, taker))

    def check(self) -> None:
        """Raise `WaitError` when models are asked no more: a store would be filled in vain."""
        from pytest_memfail.llm import WaitError

        if self.ledger is not None and (said := self.ledger.given_up()) is not None:
            raise WaitError(said)


def _client(config: pytest.Config, settings: Settings, ledger: Ledger) -> ModelClient:
    from pytest_memfail.llm import ModelClient, ResponseCache

    cache = None
    if settings.cache != "off":
        path = cache_path(config, settings)
        path.parent.mkdir(parents=True, exist_ok=True)
        cache = ResponseCache(path, settings.cache)  # type: ignore[arg-type]  # checked in read_settings
    base_url = None
    if cache is not None and settings.cache == "only" and not os.environ.get("OPENAI_BASE_URL"):
        recorded = cache.endpoints()  # a replay needs neither key nor endpoint: it is that of the recording
        base_url = recorded[0] if len(recorded) == 1 else None
    return ModelClient(
        ledger=ledger,
        cache=cache,
        concurrency=settings.concurrency,
        base_url=base_url,
        max_wait_seconds=settings.max_wait,
    )


def _test_taker(settings: Settings, client: ModelClient | None, repeat: int = 0) -> TestTaker | None:
    if settings.model is None or client is None:
        return None
    from pytest_memfail.llm import ModelTestTaker

    return ModelTestTaker(client, settings.model, settings.model_options, repeat)


def _chat(settings: Settings, client: ModelClient | None) -> Chat | None:
    if client is None:
        return None
    from pytest_memfail.llm import SystemChat

    return SystemChat(client, settings.model, settings.model_options)


def _judge(
    config: pytest.Config, settings: Settings, model: str | None, client: ModelClient | None, repeat: int = 0
) -> Any:
    if model is None or client is None:
        return _named_judge(config, settings)
    return judge_names.model_judge(
        settings.judge, model, settings.protocol, client, settings.model_options, repeat, settings.judge_options
    )


def open_ledger(settings: Settings, shared: Path | None) -> Ledger:
    """The books of the run."""
    from pytest_memfail.llm import Ledger

    return Ledger(
        None if shared is None else shared / LEDGER_FILE,
        max_cost=settings.max_cost,
        max_tokens=settings.max_tokens,
        prices=_prices(settings),
    )


def _prices(settings: Settings) -> Any:
    from pytest_memfail.llm import Prices

    return None if settings.prices is None else Prices.from_file(settings.prices)


def _named_judge(config: pytest.Config, settings: Settings) -> Any:
    return judge_names.named_judge(
        settings.judge,
        settings.protocol,
        option=OPTION,
        judge_options=settings.judge_options,
        **_beside(config, settings),
    )


def _beside(config: pytest.Config, settings: Settings) -> dict[str, Any]:
    """Where a judge is looked for in pytest, besides entry points and built-ins."""
    hook = config.hook.pytest_memfail_make_judge
    name = settings.judge
    return {"hook": lambda: ask(f"{hook.name}({name!r})", hook, config=config, name=name), "rootdir": config.rootpath}
