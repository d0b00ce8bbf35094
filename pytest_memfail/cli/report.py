"""Write a page, a pull-request comment or JSON from records.

Render records again. Several records are shown side by side.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from pytest_memfail.cli.arguments import RECORD_HELP, Arguments
from pytest_memfail.cli.records import load
from pytest_memfail.core import UsageError


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("records RECORD", f"{RECORD_HELP}; the first is compared with the others", Path, nargs="+")
    argument("-o --output FILE", "x.html, x.md, x.json, x.svg or x.png; repeatable", Path, many=True, required=True)
    argument("--page-url URL", "where the page is kept; x.md links to it", default="")


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
