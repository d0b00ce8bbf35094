"""Save a run as the anchor of the gate, with the reason.

Write the verdicts of a record as the anchor: a golden run that --memfail-anchor compares with besides the baseline,
and that moves only by this command. Exits with 6 for a record that is not a whole, trustworthy run.
"""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
from pathlib import Path

from pytest_memfail.cli.arguments import RECORD_HELP, Arguments
from pytest_memfail.cli.gate import Untrusted, check_no_errors, check_whole
from pytest_memfail.cli.records import load
from pytest_memfail.core import UsageError, counted


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("record RECORD", f"{RECORD_HELP}; it is whole, with its shards joined by memfail merge", Path)
    argument("-o --output FILE", "the anchor file; commit it", Path, required=True)
    argument("--reason TEXT", "why the anchor moves; shown when a gate fails", required=True)


def run(options: argparse.Namespace) -> int:
    """Write the anchor and print what it replaces."""
    from pytest_memfail.records import anchor_reason_at, check_writable, write_anchor
    from pytest_memfail.results import NO_TRUSTWORTHY_RESULT

    if not options.reason.strip():
        raise UsageError("--reason: got nothing, expected the reason why the anchor moves")
    check_writable(options.output, "-o", "baseline", "baseline")
    record = load(options.record)
    try:
        check_whole(record)
        check_no_errors(record.outcomes)
    except Untrusted as error:
        print(f"memfail: no anchor is saved: {error}")
        return NO_TRUSTWORTHY_RESULT
    before = anchor_reason_at(options.output)
    when = datetime.now(timezone.utc).date().isoformat()
    reason = " ".join(options.reason.split())
    saved = write_anchor(options.output, record.header, record.outcomes.values(), reason, when)
    print(f"memfail: anchor saved: {options.output}, {counted(saved, 'verdict')}")
    if before is not None:
        print(f"memfail: it was set before because: {before}")
    return 0
