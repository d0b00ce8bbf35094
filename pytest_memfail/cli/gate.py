"""Apply the gate to a record: merged shards, or a run without a gate.

Apply the gate of a run (--memfail-fail-on) to a finished record. Exits with 0 if the gate passes, 1 if it fails, 6
if there is no trustworthy result. Without the file to compare with, it exits with 1 if any question failed; in CI, with 6.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_memfail.cli.arguments import RECORD_HELP, Arguments
from pytest_memfail.cli.records import load
from pytest_memfail.core import ERROR, UnknownNameError, UsageError, counted, is_same_place

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
    from pytest_memfail.results import NO_TRUSTWORTHY_RESULT, decide, in_ci

    if not (options.baseline or options.anchor or options.fail_on or options.save_baseline):
        raise UsageError("gate: nothing to decide; give --baseline, --anchor, --fail-on or --save-baseline")
    for path in options.output:
        check_report(path, "-o")
    if options.save_baseline is not None:
        check_baseline_place(options.save_baseline)
    record = load(options.record)
    expressions = _expressions(options.fail_on, record)
    outcomes, closed = record.outcomes, None
    lacks = list(_lacks(options, expressions))
    if lacks and in_ci():
        what, how = lacks[0]
        closed = f"{what}, and in CI the gate fails closed; {how}"
    try:
        check_whole(record)
        if closed is not None and (options.save_baseline is None or _lacks_anchor(options)):
            raise Untrusted(closed)
        anchor = _earlier(options.anchor, record.header, "anchor")
        baseline = _earlier(options.baseline, record.header, "baseline")
    except (Untrusted, BaselineRefused) as error:
        print(f"memfail: no trustworthy result: {error}")
        return NO_TRUSTWORTHY_RESULT
    for what, how in lacks if closed is None else ():
        print(f"memfail: {what} yet ({how})")
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
    has_failed = decided is not None and decided.outcome == "failed"
    if options.save_baseline is not None:
        try:
            check_no_errors(outcomes)
        except Untrusted as error:
            print(f"memfail: no baseline is saved: {error}")
            return NO_TRUSTWORTHY_RESULT
        if has_failed and baseline is not None and is_same_place(options.save_baseline, options.baseline):
            print(
                f"memfail: no baseline is saved: the gate failed, so {shown} stays; to accept this run, leave out --baseline"
            )
            return 1
        saved = write_baseline(options.save_baseline, record.header, outcomes.values())
        print(f"memfail: baseline saved: {options.save_baseline}, {counted(saved, 'verdict')}")
    if closed is not None:
        print(f"memfail: no trustworthy result: {closed}")
        return NO_TRUSTWORTHY_RESULT
    if lacks and (decided is None or decided.outcome == "skipped"):
        failed = sum(outcome.failed or outcome.verdict == ERROR for outcome in outcomes.values())
        print(f"memfail: nothing was compared: {failed} of {counted(len(outcomes), 'question')} failed")
        has_failed = failed > 0
    return 1 if has_failed else 0


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


def _lacks(options: argparse.Namespace, expressions: Sequence[Expression]) -> Iterator[tuple[str, str]]:
    """Yield each file that is to be compared with and does not exist, and how to make it."""
    from pytest_memfail.records import ANCHOR_COMMAND

    save = "save one with --save-baseline" + (", as this command does" if options.save_baseline is not None else "")
    if _lacks_anchor(options):
        yield f"there is no anchor at {options.anchor}", f"make one with {ANCHOR_COMMAND}"
    if options.baseline is not None and not options.baseline.exists():
        yield f"there is no baseline at {options.baseline}", save
    elif not (options.baseline or options.anchor) and any(e.needs_baseline for e in expressions):
        yield "an expression needs a baseline (--baseline)", save


def _lacks_anchor(options: argparse.Namespace) -> bool:
    """Return whether the anchor that is to be compared with does not exist."""
    return options.anchor is not None and not options.anchor.exists()


def _earlier(path: Path | None, header: Header, what: str) -> Baseline | None:
    """Return the baseline or the anchor, as `what` says, if it was named and exists."""
    from pytest_memfail.records import check_baseline, read_anchor, read_baseline

    if path is None or not path.exists():
        return None
    found = read_anchor(path) if what == "anchor" else read_baseline(path)
    check_baseline(found, path, header, what)
    return found
