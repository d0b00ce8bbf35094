"""What the commands that judge have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from pytest_memfail.core import Judge
    from pytest_memfail.llm import ModelClient
    from pytest_memfail.tasks import Protocol

OPTION: Final = "--judge"


def open_judge(name: str, protocol: Protocol, concurrency: int) -> tuple[Judge, ModelClient | None]:
    """The judge of that name, and the client of its model if one judges."""
    from pytest_memfail.judge_names import is_named, judge_model, model_judge, named_judge

    model = judge_model(name, lambda: is_named(name, option=OPTION, rootdir=Path.cwd()), option=OPTION)
    if model is None:
        return cast("Judge", named_judge(name, protocol, option=OPTION, rootdir=Path.cwd())), None
    from pytest_memfail.llm import Ledger, ModelClient

    client = ModelClient(ledger=Ledger(), concurrency=concurrency)
    return model_judge(name, model, protocol, client), client


def progress(total: int, what: str) -> Callable[[int], None]:
    """Shows how many are done, on a terminal only."""

    def show(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {total} {what}", end="" if done < total else "\r\033[K", file=sys.stderr, flush=True)

    return show
