"""Helpers of the commands that judge."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from pytest_memfail.core import Judge, Suite
    from pytest_memfail.llm import ModelClient
    from pytest_memfail.suites import Protocol

OPTION: Final = "--judge"


def open_judge(
    name: str,
    protocol: Protocol,
    concurrency: int,
    judge_options: Mapping[str, str] | None = None,
    suites: Iterable[Suite] = (),
) -> tuple[Judge, ModelClient | None]:
    """Return the judge with this name, and the client of its model; the client is None for a judge without a model."""
    from pytest_memfail.judge_names import is_named, judge_model, kinds_of, model_judge, named_judge

    model = judge_model(name, lambda: is_named(name, option=OPTION, rootdir=Path.cwd()), option=OPTION)
    if model is None:
        judge = named_judge(
            name, protocol, option=OPTION, rootdir=Path.cwd(), judge_options=judge_options, **kinds_of(suites)
        )
        return cast("Judge", judge), None
    from pytest_memfail.llm import Ledger, ModelClient

    client = ModelClient(ledger=Ledger(), concurrency=concurrency)
    return model_judge(name, model, protocol, client, judge_options=judge_options, **kinds_of(suites)), client


def progress(total: int, what: str) -> Callable[[int], None]:
    """Return a function that shows the progress, on a terminal only."""

    def show(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {total} {what}", end="" if done < total else "\r\033[K", file=sys.stderr, flush=True)

    return show
