"""Apply the gate to a record: merged shards, or a run without a gate.

Apply the gate of a run (--memfail-fail-on) to a finished record. Exits with 0 if the gate passes, 1 if it fails, 6
if there is no trustworthy result.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_memfail.cli.arguments import RECORD_HELP, Arguments
from pytest_memfail.cli.records import load
from pytest_memfail.core import ERROR, UnknownNameError, UsageError, counted

if TYPE_CHECKING:
    from pytest_memfail.core import Comparable, Key
    from pytest_memfail.records import Baseline, Footer, Header
    from pytest_memfail.results import Expression, Loaded


class Untrusted(Exception):
    """There is no trustworthy result; the message says why."""


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("record RECORD", f"{RECORD_HELP}; join shards with memfail merge first", Path)
    argument("--baseline FILE", "earlier run to compare with", Path)
    argument("--anchor FILE", "golden run (memfail anchor) to compare with as well", Path)
    said = (
        "expression that fails the gate, as for --memfail-fail-on: correct<0.80, regressions:p<0.05 (default with a "
        "baseline: regressions:p<0.04,*.regressions:p<0.01); repeatable"
    )
    argument("--fail-on EXPR", said, many=True)
    argument("--save-baseline FILE", "save the verdicts of the record as a baseline", Path)
    argument("-o --output FILE", "a report that includes the gate", Path, many=True)


def run(options: argparse.Namespace) -> int:
    """Decide, print, and write the requested files."""
    from pytest_memfail.records import BaselineRefused, check_baseline_place, write_baseline
    from pytest_memfail.report import check_report, gate, write_reports
    from pytest_memfail.results import NO_TRUSTWORTHY_RESULT, decide

    if not (options.baseline or options.anchor or options.fail_on or options.save_baseline):
        raise UsageError("gate: nothing to decide; give --baseline, --anchor, --fail-on or --save-baseline")
    for path in options.output:
        check_report(path, "-o")
    if options.save_baseline is not None:
        check_baseline_place(options.save_baseline)
    record = load(options.record)
    expressions = _expressions(options.fail_on, record)
    outcomes = record.outcomes
    try:
        check_whole(record)
        anchor = _anchor(options.anchor, record.header)
        baseline = _baseline(options.baseline, [] if anchor is not None else expressions, record.header)
    except (Untrusted, BaselineRefused) as error:
        print(f"memfail: no trustworthy result: {error}")
        return NO_TRUSTWORTHY_RESULT
    shown = None if options.baseline is None else str(options.baseline)
    decided = decide(
        expressions,
        record.summary(),
        outcomes,
        record.header,
        baseline,
        shown=shown,
        anchor=anchor,
        anchor_shown=str(options.anchor),
    )
    if decided is not None:
        print("\n".join(gate(decided, full=True)))
        record = record.ended(replace(record.footer or Footer(exit_code=1, complete=False), gate=decided))
    for path, fault in write_reports(options.output, [record]):
        print(f"wrote {path}" if fault is None else f"memfail: {path} could not be written: {fault}")
    if decided is not None and decided.undecided is not None:
        print(f"memfail: no trustworthy result: {decided.undecided}")
        return NO_TRUSTWORTHY_RESULT
    if options.save_baseline is not None:
        try:
            check_no_errors(outcomes)
        except Untrusted as error:
            print(f"memfail: no baseline is saved: {error}")
            return NO_TRUSTWORTHY_RESULT
        saved = write_baseline(options.save_baseline, record.header, outcomes.values())
        print(f"memfail: baseline saved: {options.save_baseline}, {counted(saved, 'verdict')}")
    return 1 if decided is not None and decided.outcome == "failed" else 0


def _expressions(given: Sequence[str], record: Loaded) -> list[Expression]:
    """Return the expressions, which may name the measures and labels of the record's suites.

    For a suite that is not installed, only those in the record are known.
    """
    from pytest_memfail.finding import suites_of
    from pytest_memfail.results import check_tasks, measures_of, parse_expressions

    suites, missing = suites_of(record.header)
    known = measures_of(suites)
    for suite in record.summary().suites:
        if suite.name in missing:
            known[suite.name] = (*(score.name for score in suite.scores), *suite.labels)
    try:
        expressions = [found for text in given for found in parse_expressions(text, known)]
        check_tasks(expressions, [*known, *record.header.tasks, *record.header.groups])
    except UnknownNameError as error:
        if not missing:
            raise
        raise UsageError(
            f"{error}. The suite {', '.join(missing)} is not installed, so only its measures and labels in the record are known"
        ) from None
    return expressions


def check_no_errors(outcomes: Mapping[Key, Comparable]) -> None:
    """Raise `Untrusted` if any question is an error, because nothing could later be compared with the record."""
    if errors := sum(outcome.verdict == ERROR for outcome in outcomes.values()):
        raise Untrusted(f"{errors} of {len(outcomes)} questions are errors")


def check_whole(record: Loaded) -> None:
    """Refuse a record that is unfit for later comparisons.

    Raises `UsageError` for a shard, `Untrusted` for a partial run or one with too many errors.
    """
    from pytest_memfail.results import merge

    if record.header.shard is not None:
        raise UsageError(f"{record.path} is of shard {record.header.shard}: join the shards with memfail merge first")
    _, missing = merge([record])
    if missing:
        raise Untrusted(f"{record.path} is not a whole run: {'; '.join(missing)}")
    if (untrusted := record.summary().untrusted) is not None:
        raise Untrusted(untrusted)


def _anchor(path: Path | None, header: Header) -> Baseline | None:
    """Return the anchor; None if it does not exist. Raise `Untrusted` if it is missing in CI."""
    from pytest_memfail.records import ANCHOR_COMMAND, check_baseline, read_anchor

    if path is None:
        return None
    if path.exists():
        found = read_anchor(path)
        check_baseline(found, path, header, "anchor")
        return found
    make = f"make one with {ANCHOR_COMMAND}"
    _lacking(f"there is no anchor at {path}", make, more=f"; {make}")
    return None


def _baseline(path: Path | None, expressions: Sequence[Expression], header: Header) -> Baseline | None:
    """Return the baseline; None if it does not exist. Raise `Untrusted` if it is missing in CI."""
    from pytest_memfail.records import check_baseline, read_baseline

    if path is not None and path.exists():
        found = read_baseline(path)
        check_baseline(found, path, header)
        return found
    if path is not None or any(e.needs_baseline for e in expressions):
        lacking = f"there is no baseline at {path}" if path else "an expression needs a baseline (--baseline)"
        _lacking(lacking, "save one with --save-baseline")
    return None


def _lacking(what: str, how: str, more: str = "") -> None:
    """Print what the gate lacks and how to make it. Raise `Untrusted` in CI, with more of what to do there."""
    from pytest_memfail.results import in_ci

    if in_ci():
        raise Untrusted(f"{what}, and in CI the gate fails closed{more}")
    print(f"memfail: {what} yet ({how})")
