"""`memfail merge`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_memfail.cli.records import RECORD_HELP, load
from pytest_memfail.core import UsageError, is_same_place


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
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help="where to write the joint record, or a folder (ending in /) for one record per run",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the joint record of each run; print its summary and what is missing."""
    from pytest_memfail.records import check_writable

    output, folder = Path(options.output), options.output.endswith("/")
    if not (folder or output.is_dir()):
        check_writable(output, "-o")
        return _join(options.records, output)
    output.mkdir(parents=True, exist_ok=True)
    groups: dict[str, list[Path]] = {}
    for path in options.records:
        groups.setdefault(re.sub(r"-\d+of\d+$", "", path.stem), []).append(path)
    codes = []
    for name, paths in groups.items():
        joined = output / f"{name}.jsonl"
        check_writable(joined, "-o")
        print(f"--- {joined}")
        codes.append(_join(paths, joined))
    return max(codes)


def _join(paths: Sequence[Path], output: Path) -> int:
    from pytest_memfail.finding import suites_of
    from pytest_memfail.records import write_record
    from pytest_memfail.report import summary
    from pytest_memfail.results import load_record, merge

    if any(is_same_place(output, path) for path in paths):
        raise UsageError(f"-o: {output} is one of the records to merge; give another name")
    records = [load(path) for path in paths]
    suites, unknown = suites_of(records[0].header)
    joint, missing = merge(records, suites)
    write_record(output, joint)
    print("\n".join(summary(load_record(output).summary(), full=True)))
    for name in unknown:
        print(f"the suite {name} is not installed: its measures and labels are left out")
    for text in missing:
        print(f"missing: {text}")
    return 1 if missing else 0
