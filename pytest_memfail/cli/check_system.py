"""`memfail check-system`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import UsageError
from pytest_memfail.options import read_pairs

NAME: Final = "NAME"


def add(commands: Any) -> None:
    """Add the sub-command and its options."""
    parser = commands.add_parser(
        "check-system",
        help="check that a memory system meets the contract",
        description="Check that a memory system does what the plugin requires: what is stored comes back, the listing is "
        "complete, stores are separate, queries do not write, snapshots are complete, and more. Needs no "
        "rows, judge or model. Exits with 1 if a check fails.",
    )
    parser.add_argument(
        "system",
        metavar=NAME,
        help="memory system, as for --memfail-system: a built-in, an entry point, module:attribute, a YAML file, or a name that "
        "the hook in the conftest.py of the current folder provides",
    )
    parser.add_argument(
        "--option", metavar="KEY=VALUE", action="append", default=[], help="setting for its factory; repeatable"
    )
    parser.add_argument(
        "--checks", metavar="LIST", default="", help="names or globs separated by commas (default: all)"
    )
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=float, default=600.0, help="time limit of each check (default: 600)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a row per check."""
    from pytest_memfail.finding import find_system
    from pytest_memfail.testing import check_memory_system, system_of_conftest

    settings = read_pairs(options.option, "--option")
    if not options.timeout > 0:
        raise UsageError(f"--timeout: got {options.timeout:g}, expected a number of seconds above 0")
    here = Path.cwd()
    factory = find_system(
        options.system,
        option=NAME,
        base=here,
        rootdir=here,
        hook=system_of_conftest,
        places=[here],
    )
    report = check_memory_system(
        factory,
        options=settings,
        checks=options.checks,
        raises=False,
        timeout_seconds=options.timeout,
        progress=_show,
    )
    _show("")
    print(report)
    return 1 if report.failed else 0


def _show(name: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{name}", end="", file=sys.stderr, flush=True)
