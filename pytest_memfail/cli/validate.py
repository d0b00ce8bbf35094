"""Check a folder of rows.

Check a folder of rows. Errors stop a run; warnings make its numbers less meaningful.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_memfail.cli.arguments import Arguments
from pytest_memfail.core import MemfailError, SuiteRequest, UsageError, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_memfail.core import Fact, Suite, SuiteFault


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("folder DIR", "folder with the rows, or with cases in *.memfail.yaml", Path)
    argument("--suite NAME", "suite whose published files are in DIR (default: found by the files in DIR)")
    argument("--data-report", "print what the files hold, as the suite's paper does")
    argument("--strict", "exit with 1 for warnings too")


def run(options: argparse.Namespace) -> int:
    """Print every finding; return 1 if there are errors."""
    from pytest_memfail.finding import find_suite
    from pytest_memfail.suites import suites_in

    folder: Path = options.folder
    suites = suites_in(folder) if options.suite is None else [find_suite(options.suite)]
    if options.data_report:
        report = suites[0].data_report
        if report is None:
            raise UsageError(f"--data-report: the suite {suites[0].name!r} has none, expected another suite")
        print("\n".join(report(folder)))
        return 0
    faults = [fault for suite in suites for fault in _faults(suite, folder)]
    lines = [str(fault) for fault in faults]
    errors = sum(fault.is_error for fault in faults)
    if not errors:
        lines += _unread(folder, suites)
    for line in lines:
        print(line)
    print(f"{folder}: {counted(errors, 'error')}, {counted(len(lines) - errors, 'warning')}")
    return 1 if errors or (options.strict and lines) else 0


def _faults(suite: Suite, folder: Path) -> Iterable[SuiteFault]:
    if suite.faults is None:
        raise UsageError(f"--suite: the suite {suite.name!r} has no check of files, expected another suite")
    return suite.faults(folder)


def _unread(folder: Path, suites: Sequence[Suite]) -> list[str]:
    """Return a warning if there are facts that the offline judge cannot read."""
    from pytest_memfail.judges import is_foreign

    facts = [fact for suite in suites for fact in _facts(suite, folder)]
    unread = [fact for fact in facts if is_foreign(fact.claim)]
    if not unread:
        return []
    return [
        f"{folder}: warning: the offline judge reads English only, not {len(unread)} of {counted(len(facts), 'fact')} (first: "
        f"{unread[0].id}); they are ungraded unless an entry states them word for word; --memfail-judge=MODEL reads them"
    ]


def _facts(suite: Suite, folder: Path) -> list[Fact]:
    """Return the facts in a folder that the offline judge reads; none if the suite's default variant is not there."""
    decided = [name for name, kind in suite.kinds.items() if kind.find or kind.offline == "never"]
    if suite.kinds and len(decided) == len(suite.kinds):
        return []
    try:
        tasks = suite.load(SuiteRequest(folder))
    except MemfailError:
        return []
    return [fact for task in tasks for fact in task.evidence.values() if fact.kind not in decided]
