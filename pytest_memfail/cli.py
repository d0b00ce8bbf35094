"""The `memfail` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_memfail.core import MemfailError

FAULTS = 1
USAGE = 4
"""The same as pytest's code for a wrong call."""
DAY = 86_400.0
DEFAULT_CACHE = Path(".pytest_cache/d/memfail/responses.sqlite")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, 1 for faults found, 4 for a wrong call."""
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as end:  # argparse has said what is wrong, and uses 2
        if not end.code:
            raise
        return USAGE
    try:
        if options.command == "validate":
            return _validate(options.folder, strict=options.strict)
        if options.command == "cache":
            return _cache(options.path, prune_days=options.prune)
        return _estimate(options)
    except MemfailError as error:
        print(f"memfail: {error}", file=sys.stderr)
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="memfail", description="Work with the data and the costs of pytest-memfail.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    check = commands.add_parser(
        "validate",
        help="check a folder of rows",
        description="Check a folder of rows. Errors stop a run; warnings make its numbers mean less.",
    )
    check.add_argument("folder", metavar="DIR", type=Path, help="folder with the rows")
    check.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")

    cache = commands.add_parser(
        "cache",
        help="show or prune the kept replies of models",
        description="Show the kept replies of models, or prune them.",
    )
    cache.add_argument(
        "path", metavar="PATH", type=Path, nargs="?", default=DEFAULT_CACHE, help=f"default: {DEFAULT_CACHE}"
    )
    cache.add_argument(
        "--prune", metavar="DAYS", type=float, help="remove what is older than so many days (0: everything)"
    )

    cost = commands.add_parser(
        "estimate",
        help="calls, tokens and cost of a run, before it is paid for",
        description="Estimate calls, tokens and cost of a run of a system that stores every message as it is. Nothing is called: "
        "every prompt is built and counted, and the replies are made by rule.",
    )
    cost.add_argument("--model", metavar="NAME", help="the model that answers")
    cost.add_argument("--judge", metavar="NAME", default="rules", help="rules, a model name, or rules+MODEL")
    cost.add_argument("--data", metavar="DIR", type=Path, help="folder with the rows (default: those shipped)")
    cost.add_argument("--tasks", metavar="LIST", default="", help="names or globs separated by commas (default: all)")
    cost.add_argument("--k", metavar="N", type=int, default=5, help="memories retrieved (default: 5)")
    cost.add_argument("--limit", metavar="N", type=int, help="at most N questions of each task")
    cost.add_argument("--protocol", choices=("ours", "paper"), default="ours", help="default: ours")
    cost.add_argument("--prices", metavar="FILE", type=Path, help="own prices, JSON or TOML, USD per million tokens")
    return parser


def _validate(folder: Path, *, strict: bool) -> int:
    from pytest_memfail.tasks import validate

    findings = validate(folder)
    for finding in findings:
        print(finding)
    errors = sum(finding.severity == "error" for finding in findings)
    print(f"{folder}: {errors} errors, {len(findings) - errors} warnings")
    return FAULTS if errors or (strict and findings) else 0


def _cache(path: Path, *, prune_days: float | None) -> int:
    from pytest_memfail.core import UsageError
    from pytest_memfail.llm import ResponseCache

    if not path.is_file():
        raise UsageError(f"{path}: there is no response cache; give the path of one (--memfail-cache-path of the run)")
    cache = ResponseCache(path)
    try:
        if prune_days is not None:
            print(f"removed {cache.prune(older_than_seconds=prune_days * DAY)} replies")
        found = cache.summary()
    finally:
        cache.close()
    print(f"{path}: {found.entries} replies, {found.bytes / 1e6:.1f} MB")
    for model, count in found.models.items():
        print(f"  {model}: {count}")
    return 0


def _estimate(options: argparse.Namespace) -> int:
    from pytest_memfail.estimate import estimate
    from pytest_memfail.llm import Prices
    from pytest_memfail.report import model_table
    from pytest_memfail.tasks import TaskRequest, load_tasks

    patterns = tuple(part.strip() for part in options.tasks.split(",") if part.strip())
    tasks = load_tasks(TaskRequest(patterns, options.data, options.protocol, 42, options.limit))
    prices = Prices.from_file(options.prices) if options.prices else Prices()
    rows = estimate(
        tasks, judge=options.judge, model=options.model, k=options.k, protocol=options.protocol, prices=prices
    )
    questions = sum(len(task.questions) for task in tasks)
    if not rows:
        print(f"{questions} questions: no model is asked, nothing is paid")
        return 0
    for line in model_table(rows):
        print(line)
    print(
        f"{questions} questions; prices of {prices.date}; a system that loses or rewrites memories needs more: each fact that is "
        "not found is checked against its whole store"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
