"""`memfail validate`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Add the sub-command and its options."""
    parser = commands.add_parser(
        "validate",
        help="check a folder of rows",
        description="Check a folder of rows. Errors stop a run; warnings make its numbers less meaningful.",
    )
    parser.add_argument(
        "folder", metavar="DIR", type=Path, help="folder with the rows, or with cases in *.memfail.yaml"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print every finding; return 1 if there are errors."""
    from pytest_memfail.suites import validate

    findings = validate(options.folder)
    for finding in findings:
        print(finding)
    errors = sum(finding.severity == "error" for finding in findings)
    print(f"{options.folder}: {errors} errors, {len(findings) - errors} warnings")
    return 1 if errors or (options.strict and findings) else 0
