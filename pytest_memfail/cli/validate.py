"""`memfail validate`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_memfail.core import MemfailError, UsageError, counted

if TYPE_CHECKING:
    from pytest_memfail.core import Suite, Task


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
    parser.add_argument(
        "--suite",
        metavar="NAME",
        help="suite whose published files are in DIR (default: found by the files in DIR)",
    )
    parser.add_argument(
        "--data-report", action="store_true", help="print what the files hold, as the suite's paper does"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print every finding; return 1 if there are errors."""
    from pytest_memfail.suites import MEMFAIL, validate

    suite = _suite(options.suite, options.folder) if options.suite != MEMFAIL else None
    if options.data_report:
        if suite is None or suite.data_report is None:
            name = MEMFAIL if suite is None else suite.name
            raise UsageError(f"--data-report: the suite {name!r} has none, expected another suite")
        print("\n".join(suite.data_report(options.folder)))
        return 0
    if suite is None:
        found = validate(options.folder)
        findings = [(str(finding), finding.severity == "error") for finding in found]
    elif suite.faults is None:
        raise UsageError(f"--suite: the suite {suite.name!r} has no check of files, expected another suite")
    else:
        findings = [(str(fault), fault.is_error) for fault in suite.faults(options.folder)]
    if not any(is_error for _, is_error in findings):
        findings += [(text, False) for text in _unread(options.folder, suite)]
    for text, _ in findings:
        print(text)
    errors = sum(is_error for _, is_error in findings)
    print(f"{options.folder}: {counted(errors, 'error')}, {counted(len(findings) - errors, 'warning')}")
    return 1 if errors or (options.strict and findings) else 0


def _suite(name: str | None, folder: Path) -> Suite | None:
    """Return the suite whose files are checked; None for MemFail and cases."""
    from pytest_memfail.finding import find_suite
    from pytest_memfail.suites import suite_in

    return suite_in(folder) if name is None else find_suite(name)


def _unread(folder: Path, suite: Suite | None) -> list[str]:
    """Return a warning if there are facts that the offline judge cannot read."""
    from pytest_memfail.judges import is_foreign

    decided = (
        [] if suite is None else [name for name, kind in suite.kinds.items() if kind.find or kind.offline == "never"]
    )
    if suite is not None and len(decided) == len(suite.kinds):
        return []
    facts = [fact for task in _tasks(folder, suite) for fact in task.evidence.values() if fact.kind not in decided]
    unread = [fact for fact in facts if is_foreign(fact.claim)]
    if not unread:
        return []
    return [
        f"{folder}: warning: the offline judge reads English only, not {len(unread)} of {counted(len(facts), 'fact')} (first: "
        f"{unread[0].id}); they are ungraded unless an entry states them word for word; --memfail-judge=MODEL reads them"
    ]


def _tasks(folder: Path, suite: Suite | None) -> list[Task]:
    """Return the tasks in a folder without errors; none of a suite whose default variant is not there."""
    from pytest_memfail.core import SuiteRequest
    from pytest_memfail.suites import TASK_NAMES, HaystackFinder, TaskRequest, find_custom, load_tasks, read_custom

    if suite is not None:
        try:
            return list(suite.load(SuiteRequest(folder)))
        except MemfailError:
            return []
    names = tuple(name for name in TASK_NAMES if (folder / f"{name}.csv").is_file())
    rows = load_tasks(TaskRequest(names, folder)) if names else ()
    cases = read_custom(find_custom([folder]), folder, HaystackFinder(folder))
    return [*rows, *([] if cases is None else [cases])]
