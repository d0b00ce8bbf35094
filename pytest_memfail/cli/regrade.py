"""Judge recorded memories with another judge.

Judge the memories of a record with another judge, without the memory system. Exits with 1 if the judge failed on a
question.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_memfail.cli.arguments import RECORD_HELP, Arguments
from pytest_memfail.cli.judging import (
    JUDGE_OPTIONS,
    OPTION,
    add_model_options,
    close_client,
    identity_of,
    open_judge,
    progress,
)
from pytest_memfail.cli.records import folders, load, recorded_questions, suite_options
from pytest_memfail.core import ERROR, FAILURES, UsageError, counted, is_same_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_memfail.core import QuestionRecord, Suite
    from pytest_memfail.finding import NamedJudge
    from pytest_memfail.llm import ModelClient
    from pytest_memfail.records import Record, Reference
    from pytest_memfail.results import Loaded


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("record RECORD", RECORD_HELP, Path)
    argument(
        f"{OPTION} NAME",
        "offline, a model name, offline+MODEL, nli:FOLDER_OR_MODEL, an entry point or module:attribute",
        required=True,
    )
    argument(f"{OPTION}-option KEY=VALUE", JUDGE_OPTIONS, many=True)
    argument("-o --output OUT", "where to write the new record", Path, required=True)
    argument.suite_options()
    argument.data()
    argument.cases()
    add_model_options(argument, "questions")


def run(options: argparse.Namespace) -> int:
    """Write the new record; print its summary and the number of changed verdicts."""
    from pytest_memfail.finding import suites_of
    from pytest_memfail.records import check_writable, write_record
    from pytest_memfail.regrade import regrade
    from pytest_memfail.report import closing, details, failed_questions
    from pytest_memfail.results import load_record

    if options.concurrency < 1:
        raise UsageError(f"--concurrency: got {options.concurrency}, expected 1 or more")
    check_writable(options.output, "-o")
    if is_same_place(options.output, options.record):
        raise UsageError(f"-o: {options.output} is the record to judge; give another name")
    record = load(options.record)
    settings = {**record.header.suite_options, **suite_options(options)}
    record = replace(record, header=replace(record.header, suite_options=settings))
    header = record.header
    suites, missing = suites_of(header)
    if missing:
        raise UsageError(
            f"{options.record} is of the suite {', '.join(missing)}, which is not installed; install it, because it defines how its "
            "facts are judged"
        )
    cases = recorded_questions(record, folders(options), options.cases)
    named, judge, client = open_judge(options, header.protocol, suites)
    judged = regrade(
        cases,
        judge,
        concurrency=options.concurrency,
        progress=progress(len(cases), "questions"),
        close=None if client is None else client.close,
    )
    new = {question.id: question for question in judged}
    write_record(options.output, _regraded(record, new, named, client, suites))
    found = load_record(options.output)
    results = found.summary()
    failures = failed_questions(found.questions, results)
    print("\n".join([*details(results, full=True), ""]))
    print("\n".join(closing(results, failures, str(options.output), trusted=results.untrusted is None)))
    failed = [(question.id, question.error) for question in judged if question.error is not None]
    changed = sum(new[case.asked.id].verdict not in (case.asked.verdict, ERROR) for case in cases)
    skipped = len(record.questions) - len(cases)
    print(
        f"{changed} of {counted(len(cases) - len(failed), 'verdict')} changed"
        + (f"; with nothing to judge: {counted(skipped, 'error')}" * (skipped > 0))
    )
    for node_id, error in failed[:1]:
        print(f"the judge failed on {counted(len(failed), 'question')}, e.g. {node_id}: {error.message}")
    return 1 if failed else 0


def _regraded(
    record: Loaded,
    new: dict[str, QuestionRecord],
    judge: NamedJudge,
    client: ModelClient | None,
    suites: Sequence[Suite],
) -> list[Record]:
    from pytest_memfail._version import __version__
    from pytest_memfail.clues import find_clues
    from pytest_memfail.records import Footer, judge_in_words
    from pytest_memfail.results import suite_records, with_reference

    old = record.header
    header = replace(
        old,
        memfail=__version__,
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        **identity_of(judge),
        extra={**old.extra, "regraded": {name: old.value(name) for name in ("judge", "memfail", "started")}},
    )
    questions = [new.get(question.id, question) for question in record.questions]
    models: list[dict[str, Any]] = []
    if client is not None:
        models = client.ledger.totals().plain()
        close_client(client)
    judge_here = judge_in_words(header.judge, header.judge_options)
    reference = None if record.footer is None else _compared(record.footer.reference, judge_here)
    footer = Footer(
        exit_code=int(any(question.verdict in (*FAILURES, ERROR) for question in questions)),
        complete=record.complete,
        whole=record.whole,
        models=tuple(models),
        suites=suite_records(questions, suites, header.tasks, header.protocol),
        reference=reference,
        clues=find_clues(with_reference(questions, reference), record.stores),
    )
    return [header, *questions, *record.stores, footer]


def _compared(reference: Reference | None, judge: str) -> Reference | None:
    """Return the reference, which keeps its judge, with a note if that is another than the one of the run now."""
    from pytest_memfail.records import JUDGED_BY, judged_by

    if reference is None or not reference.outcomes:
        return reference
    others = [part for part in reference.note.split("; ") if not part.startswith(JUDGED_BY)]
    return replace(reference, note="; ".join(filter(None, [judged_by(reference.judge, judge), *others])))
