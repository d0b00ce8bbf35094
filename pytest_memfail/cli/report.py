"""`memfail report`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from pytest_memfail.cli.records import RECORD_HELP, load
from pytest_memfail.core import UsageError


def add(commands: Any) -> None:
    """Add the sub-command and its options."""
    parser = commands.add_parser(
        "report",
        help="write a page, a pull-request comment or JSON from records",
        description="Render records again: x.html is one self-contained page, x.md a pull-request comment (in CI also appended to the "
        "step summary), x.json the summary by a published schema, x.svg and x.png the plots. "
        "Several records are shown side by side.",
    )
    parser.add_argument(
        "records", metavar="RECORD", type=Path, nargs="+", help=f"{RECORD_HELP}; the first is compared with the others"
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
    parser.add_argument("--page-url", metavar="URL", default="", help="where the page is kept; x.md links to it")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write each file."""
    from pytest_memfail.report import check_report, write_reports

    if options.page_url and not re.fullmatch(r"https?://[^\s<>()\[\]]+", options.page_url):
        raise UsageError(f"--page-url: got {options.page_url!r}, expected an address that begins with https://")
    for path in options.output:
        check_report(path, "-o")
    records = [load(path) for path in options.records]
    failed = False
    for path, fault in write_reports(options.output, records, options.page_url):
        print(f"wrote {path}" if fault is None else f"memfail: {path} could not be written: {fault}")
        failed |= fault is not None
    return 1 if failed else 0
