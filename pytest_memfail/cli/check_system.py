"""Check that a memory system meets the contract.

Check that what is stored comes back, the listing is complete, stores are separate, queries do not write, snapshots
are complete, and more. Needs no rows, judge or model. Exits with 1 if a check fails.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from pytest_memfail.cli.arguments import Arguments
from pytest_memfail.cli.judging import show
from pytest_memfail.core import UsageError
from pytest_memfail.options import read_pairs

NAME: Final = "NAME"


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument(
        f"system {NAME}",
        "memory system, as for --memfail-system: a built-in, an entry point, module:attribute, a YAML "
        "file, or a name that the hook in the conftest.py of the current folder provides",
    )
    argument("--option KEY=VALUE", "setting for its factory; repeatable", many=True)
    argument("--checks LIST", "names or globs separated by commas (default: all)", default="")
    argument("--timeout SECONDS", "time limit of each check", float, 600)


def run(options: argparse.Namespace) -> int:
    """Print a row per check."""
    from pytest_memfail.finding import find_system
    from pytest_memfail.testing import check_memory_system, system_of_conftest

    settings = read_pairs(options.option, "--option")
    if not options.timeout > 0:
        raise UsageError(f"--timeout: got {options.timeout:g}, expected a number of seconds above 0")
    here = Path.cwd()
    factory = find_system(options.system, option=NAME, base=here, rootdir=here, hook=system_of_conftest, places=[here])
    report = check_memory_system(
        factory, options=settings, checks=options.checks, raises=False, timeout_seconds=options.timeout, progress=show
    )
    show("")
    print(report)
    return 1 if report.failed else 0
