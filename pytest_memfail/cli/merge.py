"""`memfail merge`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pytest_memfail.cli.records import RECORD_HELP, load
from pytest_memfail.core import UsageError


def add(commands: Any) -> None:
    """Add the sub-command and its options."""
    parser = commands.add_parser(
        "merge",
        help="join the records of shards",
        description="Join the records of the shards of a run (--memfail-shard) and print the joint summary. They must "
        "belong to the same run and must not overlap. Exits with 1 if parts of the run are missing, and lists them.",
    )
    parser.add_argument("records", metavar="RECORD", type=Path, nargs="+", help=f"the shards; {RECORD_HELP}")
    parser.add_argument(
        "-o", "--output", metavar="OUT", type=Path, required=True, help="where to write the joint record"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the joint record; print its summary and what is missing."""
    from pytest_memfail.report import summary
    from pytest_memfail.results import check_writable, load_record, merge, write_record
    from pytest_memfail.suite_names import suites_of

    check_writable(options.output, "-o")
    if options.output.resolve() in [path.resolve() for path in options.records]:
        raise UsageError(f"-o: {options.output} is one of the records to merge; give another name")
    records = [load(path) for path in options.records]
    suites, unknown = suites_of(records[0].header)
    joint, missing = merge(records, suites)
    write_record(options.output, joint)
    print("\n".join(summary(load_record(options.output).summary(), full=True)))
    for name in unknown:
        print(f"the suite {name} is not installed: its measures and labels are left out")
    for text in missing:
        print(f"missing: {text}")
    return 1 if missing else 0
