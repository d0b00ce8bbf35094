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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, 1 for faults found, 4 for a wrong call."""
    parser = argparse.ArgumentParser(prog="memfail", description="Work with the data of pytest-memfail.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser(
        "validate",
        help="check a folder of rows",
        description="Check a folder of rows. Errors stop a run; warnings make its numbers mean less.",
    )
    check.add_argument("folder", metavar="DIR", type=Path, help="folder with the rows")
    check.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")
    options = parser.parse_args(arguments)
    try:
        return _validate(options.folder, strict=options.strict)
    except MemfailError as error:
        print(f"memfail: {error}", file=sys.stderr)
        return USAGE


def _validate(folder: Path, *, strict: bool) -> int:
    from pytest_memfail.tasks import validate

    findings = validate(folder)
    for finding in findings:
        print(finding)
    errors = sum(finding.severity == "error" for finding in findings)
    print(f"{folder}: {errors} errors, {len(findings) - errors} warnings")
    return FAULTS if errors or (strict and findings) else 0


if __name__ == "__main__":
    raise SystemExit(main())
