"""`memfail show`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pytest_memfail.core import ERROR, FAILURES, VERDICTS, UnknownNameError


def add(commands: Any) -> None:
    """Its options."""
    parser = commands.add_parser(
        "show",
        help="print the failures of a record again",
        description="Print the failures of a record again, and its summary. Nothing is run.",
    )
    parser.add_argument("record", metavar="RECORD", type=Path, help="record of a run")
    parser.add_argument("--verdict", metavar="NAME", help="only this verdict, correct and ungraded too")
    parser.add_argument("--task", metavar="NAME", help="only this task")
    parser.add_argument("--id", metavar="SUBSTRING", default="", help="only questions whose id contains this")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what was asked for, then the summary of the whole record."""
    from pytest_memfail.report import failure, gate, rerun_words, summary
    from pytest_memfail.results import load_record

    record = load_record(options.record)
    if options.verdict is not None and options.verdict not in VERDICTS:
        raise UnknownNameError("verdict", options.verdict, VERDICTS, "in --verdict")
    tasks = record.header.get("tasks", {})
    if options.task is not None and options.task not in tasks:
        raise UnknownNameError("task", options.task, tasks, "in --task")
    wanted = (options.verdict,) if options.verdict else (*FAILURES, ERROR)
    shown = [
        line
        for line in record.questions
        if line["verdict"] in wanted and options.task in (None, line["task"]) and options.id in line["id"]
    ]
    for line in shown:
        print(f"--- {line['id']}")
        if line["verdict"] == ERROR:
            print(f"error: {line['error']['type']}: {line['error']['message']}")
        else:
            print("\n".join(failure(line, rerun_words(record.header, line["id"]))))
        print()
    found = record.summary()
    print("\n".join(summary(found, full=True)))
    if found.gate is not None:
        print("\n".join(gate(found.gate, full=True)))
    if not record.complete:
        print("the run did not end, or not all that was selected has a result")
    print(f"{len(shown)} of {len(record.questions)} questions shown")
    return 0
