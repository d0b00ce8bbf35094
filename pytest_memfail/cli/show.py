"""Print the failures of a run, or list the kept runs.

Print the failures and the summary of a kept run or of a record file. With a filter, print only the matching
questions. Nothing is run.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_memfail.cli.arguments import CACHE_DIR, RECORD_HELP, Arguments
from pytest_memfail.cli.records import last, listed, load, unknown_question
from pytest_memfail.core import ERROR, FAILURES, STATES, UnknownNameError, UsageError, counted

if TYPE_CHECKING:
    from pytest_memfail.core import QuestionRecord
    from pytest_memfail.results import Loaded

MOST: Final = 20
"""Questions printed by default."""


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("record RECORD", f"{RECORD_HELP}; default: last", Path, nargs="?")
    argument("--list", "list the kept runs")
    argument("--all", f"print all questions (default: the {MOST} clearest failures)")
    argument(*CACHE_DIR)
    argument("--verdict NAME", "only questions that ended so: a failure, correct, vacuous, no_answer, ungraded, error")
    argument("--task NAME", "only this task")
    argument("--clue N", "only the questions that the Nth clue explains", int)
    argument("--worse", "only questions that got worse than in the baseline of the run")
    argument("--id SUBSTRING", "only questions whose id contains this", default="")


def run(options: argparse.Namespace) -> int:
    """Print the selected failures; without a filter, the summary of the record too."""
    from pytest_memfail.report import failure, run_table

    if options.list:
        print("\n".join(run_table(listed(options.cache_dir))))
        return 0
    name = options.record or last(listed(options.cache_dir))
    record = load(name, options.cache_dir)
    if options.verdict is not None and options.verdict not in STATES:
        raise UnknownNameError("verdict", options.verdict, STATES, "in --verdict")
    tasks = dict.fromkeys([*record.header.tasks, *record.header.groups])
    if options.task is not None and options.task not in tasks:
        raise UnknownNameError("task", options.task, tasks, "in --task")
    clues = record.summary().clues
    if options.clue is not None and not 1 <= options.clue <= len(clues):
        raise UsageError(
            f"--clue: got {options.clue}; {record.path} has {counted(len(clues), 'clue')}, numbered from 1"
        )
    explained = None if options.clue is None else frozenset(clues[options.clue - 1].questions)
    wanted = (options.verdict,) if options.verdict else (*FAILURES, ERROR)
    gate = record.summary().gate
    worse = {flip.id for flip in gate.worse} if gate is not None else set()
    named = [q for q in record.questions if options.id in q.id and (explained is None or q.id in explained)]
    if not named and options.id and explained is None:
        raise UsageError(unknown_question(options.id, [question.id for question in record.questions], record.path))
    found = [
        question
        for question in named
        if question.state in wanted
        and options.task in (None, question.task, question.group)
        and (question.id in worse or not options.worse)
    ]
    found.sort(key=lambda question: (question.id not in worse, question.at_ceiling))
    shown = found if options.all else _clearest(found, record)
    for question in shown:
        print(f"--- {question.id}")
        if question.error is not None:
            print(f"error: {question.error.type}: {question.error.message}")
        else:
            print("\n".join(failure(question, record.header.rerun_command(question.id))))
        print()
    if explained is None and not (options.verdict or options.task or options.id or options.worse):
        print("\n".join(_results(record, str(name))))
    left = f"; {len(found) - len(shown)} more: --all shows them" if len(found) > len(shown) else ""
    others = "" if found else _others(named, options)
    print(f"{len(shown)} of {counted(len(record.questions), 'question')} shown{left}{others}")
    return 0


def _clearest(questions: Sequence[QuestionRecord], record: Loaded) -> list[QuestionRecord]:
    """Return the clearest failures, then others, up to the limit."""
    from pytest_memfail.report import failed_questions, worst_first

    if len(questions) <= MOST:
        return list(questions)
    by_id = {question.id: question for question in questions}
    chosen = [by_id[i] for i in worst_first(failed_questions(questions, record.summary()), MOST)]
    rest = [question for question in questions if not question.failed]
    return [*chosen, *rest[: MOST - len(chosen)]]


def _results(record: Loaded, name: str) -> Iterator[str]:
    """Yield the summary of a record, ending as a run does."""
    from pytest_memfail.report import closing, details, failed_questions, gate

    found = record.summary()
    yield from details(found, full=True)
    yield ""
    if found.gate is not None:
        yield from gate(found.gate, full=True)
        yield ""
    yield from closing(found, failed_questions(record.questions, found), name, trusted=found.untrusted is None)
    if not record.complete:
        yield "the run did not end, or some selected questions have no result"


def _others(named: Sequence[QuestionRecord], options: argparse.Namespace) -> str:
    """Return the verdicts of the questions with this id if none is shown, usually because none failed."""
    if not options.id:
        return ""
    counts = Counter(question.state for question in named)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"; with that id: {said} (--verdict NAME shows them)"
