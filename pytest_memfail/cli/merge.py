"""Join the records of shards.

Join the records of the shards of one run (--memfail-shard) and print the joint summary. Exits with 1 if parts of the
run are missing, and lists them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_memfail.cli.arguments import RECORD_HELP, Arguments
from pytest_memfail.cli.records import load
from pytest_memfail.core import UsageError, is_same_place


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("records RECORD", f"{RECORD_HELP}, of each shard", Path, nargs="+")
    said = "where to write the joint record, or a folder (ending in /) for one record per run"
    argument("-o --output OUT", said, required=True)


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
    from pytest_memfail.clues import find_clues
    from pytest_memfail.finding import suites_of
    from pytest_memfail.records import Footer, write_record
    from pytest_memfail.report import summary
    from pytest_memfail.results import load_record, merge

    if any(is_same_place(output, path) for path in paths):
        raise UsageError(f"-o: {output} is one of the records to merge; give another name")
    records = [load(path) for path in paths]
    suites, unknown = suites_of(records[0].header)
    joint, missing = merge(records, suites)
    found = find_clues(
        [q for one in records for q in one.questions], [store for one in records for store in one.stores]
    )
    write_record(output, [replace(line, clues=found) if isinstance(line, Footer) else line for line in joint])
    print("\n".join(summary(load_record(output).summary(), full=True)))
    for name in unknown:
        print(f"the suite {name} is not installed: its measures and labels are left out")
    for text in missing:
        print(f"missing: {text}")
    return 1 if missing else 0
