"""Helpers of the commands that judge."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from pytest_memfail.cli.arguments import Arguments
from pytest_memfail.cli.cache import DEFAULT_CACHE
from pytest_memfail.core import UsageError, check_can_be_made
from pytest_memfail.options import json_or_text, read_pairs, recorded_judge, recorded_judge_options

if TYPE_CHECKING:
    from pytest_memfail.core import Judge, ProtocolName, Suite
    from pytest_memfail.finding import NamedJudge
    from pytest_memfail.llm import ModelClient

OPTION: Final = "--judge"
JUDGE_OPTIONS: Final = "encoder=on, weights=PATH (offline), form=yesno (a model), or entailment=LABEL (nli:MODEL)"
INTERRUPTED: Final = 130
"""The exit code that shells give to a command ended by Ctrl-C."""


def add_model_options(argument: Arguments, what: str) -> None:
    """Declare the arguments of a judge that is a model."""
    said = "parameter of every call of the model (temperature=0); repeatable"
    argument("--model-option KEY=VALUE", said, many=True)
    said = "keep and reuse the model's replies, so that the same command goes on where it was stopped"
    argument("--cache", said, ("on", "off"), "on")
    said = f"file of the kept replies (default: {DEFAULT_CACHE}, as in runs here)"
    argument("--cache-path PATH", said, Path, DEFAULT_CACHE)
    argument("--concurrency N", f"{what} in flight", int, 32)


def open_judge(
    options: argparse.Namespace, protocol: ProtocolName, suites: Iterable[Suite] = ()
) -> tuple[NamedJudge, Judge, ModelClient | None]:
    """Return the judge that the options name, as named and made, and the client of its model; None for a judge without a model.

    Raises `UsageError` for a name that is no judge, and for options that it does not take.
    """
    from pytest_memfail.finding import NamedJudge, kinds_of

    given, kinds = read_pairs(options.judge_option, f"{OPTION}-option"), kinds_of(suites)
    judge = NamedJudge(options.judge, OPTION, given, Path.cwd())
    if (model := judge.model()) is None:
        if options.model_option:
            raise UsageError(
                f"--model-option: got {options.model_option[0]} with {OPTION}={options.judge}, expected a judge that asks a "
                f"model, such as {OPTION}=offline+MODEL"
            )
        return judge, cast("Judge", judge.make(protocol, kinds)), None
    from pytest_memfail.llm import Ledger, ModelClient, ResponseCache

    parameters = {name: json_or_text(text) for name, text in read_pairs(options.model_option, "--model-option").items()}
    cache = None
    if options.cache == "on":
        check_can_be_made(options.cache_path, "--cache-path")
        options.cache_path.parent.mkdir(parents=True, exist_ok=True)
        cache = ResponseCache(options.cache_path)
    client = ModelClient(ledger=Ledger(), cache=cache, concurrency=options.concurrency)
    return judge, judge.make_model(model, protocol, client, parameters, kinds), client


def identity_of(judge: NamedJudge) -> dict[str, Any]:
    """Return what identifies a judge, as records have it."""
    options = recorded_judge_options(judge.options)
    return {"judge": recorded_judge(judge.name), "judge_options": options, "judge_weights": judge.weights}


def close_client(client: ModelClient | None) -> None:
    """Close the files of a client."""
    if client is not None:
        client.ledger.close()
        if client.cache is not None:
            client.cache.close()


def show(text: str) -> None:
    """Show a text as the progress, on a terminal only; an empty one ends it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def progress(total: int, what: str) -> Callable[[int], None]:
    """Return a function that shows the progress, on a terminal only."""
    return lambda done: show(f"{done} of {total} {what}" if done < total else "")
