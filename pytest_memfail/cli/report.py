"""`memfail report`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Its options."""
    parser = commands.add_parser(
        "report",
        help="a page, a pull-request comment or JSON from records",
        description="Render records again: x.html is one self-contained page, x.md a pull-request comment (in CI appended to the "
        "step summary too), x.json the summary by a published schema, x.svg and x.png the plots. Several are put side by side.",
    )
    parser.add_argument(
        "records", metavar="RECORD", type=Path, nargs="+", help="records; the others are held against the first"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        action="append",
        required=True,
        help="x.html, x.md, x.json, x.svg or x.png; repeatable",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write each file."""
    from pytest_memfail.report import check_report, write_report
    from pytest_memfail.results import load_record

    for path in options.output:
        check_report(path, "-o")
    records = [load_record(path) for path in options.records]
    for path in options.output:
        write_report(path, records)
        print(f"wrote {path}")
    return 0
