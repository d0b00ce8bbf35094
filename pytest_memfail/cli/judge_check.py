"""`memfail judge-check`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from pytest_memfail.core import UsageError

if TYPE_CHECKING:
    from pytest_memfail.calibration import Case
    from pytest_memfail.core import Judge
    from pytest_memfail.llm import Ledger
    from pytest_memfail.tasks import Protocol

OPTION: Final = "--judge"


def add(commands: Any) -> None:
    """Its options."""
    parser = commands.add_parser(
        "judge-check",
        help="how far a judge agrees with labelled cases",
        description="Run a judge over labelled cases and print how far it agrees with their labels: by task, by verdict and by how "
        "sure it was. Exits with 1 if the judge failed on a case, or agrees less than --fail-under.",
    )
    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="*", help="labelled cases, JSON Lines (default: those shipped)"
    )
    parser.add_argument(
        OPTION,
        metavar="NAME",
        default="rules",
        help="rules, a model name, rules+MODEL, or module:attribute (default: rules)",
    )
    parser.add_argument("--protocol", choices=("ours", "paper"), default="ours", help="default: ours")
    parser.add_argument("--split", choices=("dev", "test"), help="only the cases of this half (default: both, apart)")
    parser.add_argument("--tasks", metavar="LIST", default="", help="names or globs separated by commas (default: all)")
    parser.add_argument("--show", metavar="N", type=int, default=20, help="disagreements shown (default: 20; -1: all)")
    parser.add_argument(
        "--fail-under", metavar="SHARE", type=float, help="exit with 1 below this accepted accuracy, such as 0.9"
    )
    parser.add_argument("--concurrency", metavar="N", type=int, default=32, help="cases in flight (default: 32)")
    parser.add_argument("--json", action="store_true", help="print everything as JSON instead")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the measures."""
    from pytest_memfail.calibration import judge_cases, measure, read_cases, shipped_cases
    from pytest_memfail.report import judge_check

    cases = _chosen(read_cases(options.files or shipped_cases(), options.protocol), options)
    judge, ledger = _judge(options.judge, options.protocol, options.concurrency)
    try:
        judged = judge_cases(judge, cases, concurrency=options.concurrency, progress=_progress(len(cases)))
        spent = [] if ledger is None else [(row.model, row.calls, row.prompt_tokens) for row in ledger.totals().rows]
    finally:
        if ledger is not None:
            ledger.close()
    measures = measure(judged)
    measures["judge"], measures["protocol"] = options.judge, options.protocol
    halves = sorted({case.split for case in cases if case.split is not None})
    if len(halves) > 1:
        measures["splits"] = {
            half: measure([result for result in judged if result.case.split == half])["overall"] for half in halves
        }
    if options.json:
        print(json.dumps(measures, indent=2))
    else:
        print("\n".join(judge_check(measures, shown=options.show)))
        for model, calls, tokens in spent:
            print(f"{model}: {calls} calls, {tokens} prompt tokens")
    accepted = measures["overall"]["accepted"]
    low = options.fail_under is not None and (accepted is None or accepted < options.fail_under)
    return 1 if measures["errors"] or low else 0


def _chosen(cases: list[Case], options: argparse.Namespace) -> list[Case]:
    from pytest_memfail.tasks import match_tasks

    patterns = tuple(part.strip() for part in options.tasks.split(",") if part.strip())
    names = match_tasks(patterns)
    chosen = [case for case in cases if case.task in names and options.split in (None, case.split)]
    if not chosen:
        raise UsageError("no case is left: --split and --tasks leave none of the files' cases")
    return chosen


def _judge(name: str, protocol: Protocol, concurrency: int) -> tuple[Judge, Ledger | None]:
    from pytest_memfail.judge_names import judge_model, model_judge, named_judge

    def named() -> Any:
        return named_judge(name, protocol, option=OPTION, rootdir=Path.cwd())

    model = judge_model(name, named, option=OPTION)
    if model is None:
        return cast("Judge", named()), None
    from pytest_memfail.llm import Ledger, ModelClient

    ledger = Ledger()
    return model_judge(name, model, protocol, ModelClient(ledger=ledger, concurrency=concurrency)), ledger


def _progress(total: int) -> Callable[[int], None]:
    def show(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {total} cases", end="" if done < total else "\r\033[K", file=sys.stderr, flush=True)

    return show
