"""`memfail regrade`."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_memfail.cli.judging import OPTION, open_judge, progress
from pytest_memfail.cli.records import RECORD_HELP, load
from pytest_memfail.core import ERROR, FAILURES, UsageError

if TYPE_CHECKING:
    from pytest_memfail.core import Task
    from pytest_memfail.llm import ModelClient
    from pytest_memfail.results import Line, Loaded


def add(commands: Any) -> None:
    """Its options."""
    parser = commands.add_parser(
        "regrade",
        help="judge recorded memories by another judge",
        description="Judge what a record holds by another judge; the memory system is not touched. Exits with 1 if the judge failed "
        "on a question.",
    )
    parser.add_argument("record", metavar="RECORD", type=Path, help=RECORD_HELP)
    parser.add_argument(
        OPTION,
        metavar="NAME",
        required=True,
        help="rules, a model name, rules+MODEL, an entry point or module:attribute",
    )
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, required=True, help="where to write the new record")
    parser.add_argument("--data", metavar="DIR", type=Path, help="folder with the rows (default: those shipped)")
    parser.add_argument(
        "--cases",
        metavar="DIR",
        type=Path,
        action="append",
        help="folder with your own *.memfail.yaml cases; repeatable (default: the current one)",
    )
    parser.add_argument("--concurrency", metavar="N", type=int, default=32, help="questions in flight (default: 32)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the new record, print what it adds up to and how many verdicts are others now."""
    from pytest_memfail.regrade import recorded, regrade
    from pytest_memfail.report import summary
    from pytest_memfail.results import check_writable, load_record, write_record
    from pytest_memfail.tasks import TaskRequest, load_tasks

    if options.concurrency < 1:
        raise UsageError("--concurrency: expected 1 or more")
    check_writable(options.output, "-o")
    if options.output.resolve() == options.record.resolve():
        raise UsageError(f"-o: {options.output} is the record to judge; give another name")
    record = load(options.record)
    header = record.header
    names = tuple(dict.fromkeys(line["task"] for line in record.questions))
    if not names:
        raise UsageError(f"{record.path}: no question was asked, so there is nothing to judge")
    limit, haystack = header["limit"], header.get("haystack", "sample")
    request = TaskRequest(names, options.data, header["protocol"], header["seed"], limit, haystack)
    cases = recorded(record, load_tasks(request, _own_cases(record, options.cases or [Path()], options.data)))
    judge, client = open_judge(options.judge, header["protocol"], options.concurrency)
    judged = regrade(
        cases,
        judge,
        concurrency=options.concurrency,
        progress=progress(len(cases), "questions"),
        close=None if client is None else client.close,
    )
    new = {line["id"]: line for line in judged}
    write_record(options.output, _lines(record, new, options.judge, client))
    print("\n".join(summary(load_record(options.output).summary(), full=True)))
    changed = sum(case.line["verdict"] != new[case.line["id"]]["verdict"] for case in cases)
    skipped = len(record.questions) - len(cases)
    print(f"{changed} of {len(cases)} verdicts changed" + (f"; {skipped} errors have nothing to judge" * (skipped > 0)))
    failed = [line for line in judged if line["verdict"] == ERROR]
    for line in failed[:1]:
        print(f"the judge failed on {len(failed)} questions, e.g. {line['id']}: {line['error']['message']}")
    return 1 if failed else 0


def _own_cases(record: Loaded, folders: list[Path], data: Path | None) -> list[Task]:
    """The task of the user's own cases, if the record asked some."""
    from pytest_memfail.tasks import CUSTOM, HaystackFinder, find_custom, read_custom

    if not any(line["task"] == CUSTOM for line in record.questions):
        return []
    found = read_custom(find_custom(folders), Path(), HaystackFinder(data, record.header["seed"]))
    if found is None:
        where = ", ".join(str(folder.resolve()) for folder in folders)
        raise UsageError(
            f"{record.path}: the task {CUSTOM} needs its cases, and there is no *.memfail.yaml below {where}; "
            "name their folder with --cases"
        )
    return [found]


def _lines(record: Loaded, new: dict[str, Line], judge: str, client: ModelClient | None) -> list[Line]:
    from pytest_memfail._version import __version__

    old = record.header
    header = {
        **old,
        "memfail": __version__,
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "judge": judge,
        "regraded": {name: old.get(name) for name in ("judge", "memfail", "started")},
    }
    questions = [new.get(line["id"], line) for line in record.questions]
    models: list[dict[str, Any]] = []
    if client is not None:
        models = client.ledger.totals().plain()
        client.ledger.close()
    footer = {
        "type": "footer",
        "exit_code": int(any(line["verdict"] in (*FAILURES, ERROR) for line in questions)),
        "complete": record.complete,
        "whole": record.whole,
        "models": models,
        "gate": None,
    }
    return [header, *questions, *record.stores, footer]
