"""Compare several records in one table.

Show several records side by side: verdict rates with 95 % intervals (Wilson), success by k, tokens, and the first
record against each other one, with an exact McNemar test over the questions of a row together. Measures of suites
get the interval of their difference, by a paired bootstrap over clusters of questions.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_memfail.cli.arguments import RECORD_HELP, Arguments
from pytest_memfail.cli.records import load
from pytest_memfail.core import UsageError


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("records RECORD", f"{RECORD_HELP}; two or more, of the same data", Path, nargs="+")
    argument("--over-seeds", "group the runs of a system that differ only in the seed, with intervals over seeds")


def run(options: argparse.Namespace) -> int:
    """Print the tables."""
    from pytest_memfail.report import comparison, seed_lines
    from pytest_memfail.results import over_seeds, side_by_side

    if len(options.records) < 2:
        raise UsageError("compare: got 1 record, expected at least 2")
    if options.over_seeds:
        print("\n".join(line.rstrip() for line in seed_lines(over_seeds([load(path) for path in options.records]))))
        return 0
    for line in comparison(side_by_side([load(path) for path in options.records])):
        print(line.rstrip())
    return 0
