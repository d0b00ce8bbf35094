"""`memfail show`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_memfail.cli.records import RECORD_HELP, listed, load
from pytest_memfail.core import ERROR, FAILURES, VERDICTS, UnknownNameError, UsageError

if TYPE_CHECKING:
    from pytest_memfail.results import QuestionRecord


def add(commands: Any) -> None:
    """Add the sub-command and its options."""
    parser = commands.add_parser(
        "show",
        help="list the kept runs, or print the failures of a run",
        description="List the kept runs, or print the failures and the summary of one (or of the file of a record). With a "
        "filter, print only the matching questions. Nothing is run.",
    )
    parser.add_argument(
        "record", metavar="RECORD", type=Path, nargs="?", help=f"{RECORD_HELP}; default: list the kept runs"
    )
    parser.add_argument("--cache-dir", metavar="DIR", type=Path, help="pytest's cache (default: here or above)")
    parser.add_argument("--verdict", metavar="NAME", help="only this verdict, correct and ungraded too")
    parser.add_argument("--task", metavar="NAME", help="only this task")
    parser.add_argument("--id", metavar="SUBSTRING", default="", help="only questions whose id contains this")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the selected failures; without a filter, the summary of the record too."""
    from pytest_memfail.report import failure, gate, rerun_words, run_table, summary

    filtered = bool(options.verdict or options.task or options.id)
    if options.record is None and not filtered:
        print("\n".join(run_table(listed(options.cache_dir))))
        return 0
    record = load(options.record or Path("last"), options.cache_dir)
    if options.verdict is not None and options.verdict not in VERDICTS:
        raise UnknownNameError("verdict", options.verdict, VERDICTS, "in --verdict")
    tasks = record.header.tasks
    if options.task is not None and options.task not in tasks:
        raise UnknownNameError("task", options.task, tasks, "in --task")
    wanted = (options.verdict,) if options.verdict else (*FAILURES, ERROR)
    named = [question for question in record.questions if options.id in question.id]
    if not named and options.id:
        raise UsageError(_unknown(options.id, [question.id for question in record.questions], record.path))
    shown = [question for question in named if question.verdict in wanted and options.task in (None, question.task)]
    for question in shown:
        print(f"--- {question.id}")
        if question.error is not None:
            print(f"error: {question.error.type}: {question.error.message}")
        else:
            print("\n".join(failure(question, rerun_words(record.header, question.id))))
        print()
    if not filtered:
        found = record.summary()
        print("\n".join(summary(found, full=True)))
        if found.gate is not None:
            print("\n".join(gate(found.gate, full=True)))
        if not record.complete:
            print("the run did not end, or some selected questions have no result")
    print(f"{len(shown)} of {len(record.questions)} questions shown{'' if shown else _others(named, options)}")
    return 0


def _others(named: Sequence[QuestionRecord], options: argparse.Namespace) -> str:
    """Return the verdicts of the questions with this id if none is shown, usually because none failed."""
    if not options.id:
        return ""
    counts = Counter(question.verdict for question in named)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"; with that id: {said} (--verdict NAME shows them)"


def _unknown(wanted: str, ids: Sequence[str], path: str) -> str:
    """Return an error message with the ids closest to an unknown one."""
    names = {name.rpartition("::")[2]: name for name in ids} | {name: name for name in ids}
    close = dict.fromkeys(names[name] for name in get_close_matches(wanted, names, 6, cutoff=0.5))
    nearest = (
        f"nearest: {', '.join(list(close)[:3])}" if close else f"its ids are like {ids[0]}" if ids else "it has none"
    )
    return f"no question {wanted!r} in {path}: give a part of an id; {nearest}"
