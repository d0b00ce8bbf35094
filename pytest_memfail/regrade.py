"""Judge recorded memories with another judge, without the memory system."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pytest_memfail.calibration import judge_all
from pytest_memfail.core import (
    ERROR,
    Evidence,
    Judge,
    Listing,
    MemfailError,
    Question,
    Reply,
    Task,
    Trace,
    UsageError,
)
from pytest_memfail.engine import DaemonPool, Grader
from pytest_memfail.results import Loaded, QuestionRecord, question_record
from pytest_memfail.suites import CUSTOM


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a judge needs to know about an asked question."""

    asked: QuestionRecord
    evidence: tuple[Evidence, ...]
    listing: Listing
    trace: Trace


def recorded(record: Loaded, tasks: Sequence[Task]) -> list[Recorded]:
    """Return the questions of a record that can be judged, without those that were errors.

    Raises `UsageError` if the rows differ from those of the record, or a listing is missing from it.
    """
    by_name = {task.name: task for task in tasks}
    for name in dict.fromkeys(question.task for question in record.questions):
        if name not in record.header.tasks:
            raise UsageError(
                f"{record.path}: the task {name} of its questions is none of its header; the record is damaged"
            )
        old, new = record.header.tasks[name].data_hash, by_name[name].data_hash
        if old != new:
            raise UsageError(
                f"{record.path}: {name} was run on other rows (hash {old[:12]}, these have {new[:12]}); "
                f"name the folder of its {'cases with --cases' if name == CUSTOM else 'rows with --data'}"
            )
    questions = {
        (task.name, plan.id, question.id): question
        for task in tasks
        for plan in task.stores
        for question in plan.questions
    }
    listings = _listings(record)
    found = []
    for asked in record.questions:
        if asked.verdict == ERROR:
            continue
        place = (asked.task, asked.store)
        if place not in listings:
            raise UsageError(
                f"{record.path} lacks the listing of the store {asked.store} (the run was killed in it); "
                "finish the run with --memfail-resume"
            )
        question = questions[(*place, asked.question)]
        evidence = tuple(by_name[asked.task].evidence[name] for name in question.evidence)
        found.append(Recorded(asked, evidence, listings[place], _trace(asked, question)))
    return found


def regrade(
    cases: Sequence[Recorded],
    judge: Judge,
    *,
    concurrency: int = 32,
    progress: Callable[[int], object] = int,
    close: Callable[[], Awaitable[None]] | None = None,
) -> list[QuestionRecord]:
    """Return the questions with this judge's verdicts, in the given order.

    Args:
        cases: the questions to judge.
        judge: any judge.
        concurrency: the most questions in flight; 1 for a judge that computes and never waits (`inline`).
        progress: called with the number of finished questions.
        close: closes the judge's resources, in the event loop it ran in.
    """

    # one per store, so that a fact is judged once per store for all questions
    graders: dict[int, Grader] = {}

    async def one(case: Recorded, pool: DaemonPool) -> QuestionRecord:
        return await _judge(graders.setdefault(id(case.listing), Grader(judge, pool)), case)

    return judge_all(judge, cases, one, concurrency=concurrency, progress=progress, close=close)


async def _judge(grader: Grader, case: Recorded) -> QuestionRecord:
    trace, listing = case.trace, case.listing
    place = (case.asked.id, case.asked.store, trace.question, trace.k, case.evidence)
    try:
        verdict = await grader.grade(trace.question, case.evidence, listing, trace.shown, trace.reply)
    except MemfailError as error:
        return question_record(*place, error=error)
    return question_record(*place, trace=trace, verdict=verdict, listing=listing)


def _listings(record: Loaded) -> dict[tuple[str, str], Listing]:
    found = {}
    for store in record.stores:
        if len(store.listings) != 1:
            raise UsageError(
                f"{record.path}: the store {store.store} was listed {len(store.listings)} times, expected once: "
                "the record does not say which listing a question was judged by"
            )
        found[store.task, store.store] = Listing(store.store, tuple(entry.memory for entry in store.listings[0]))
    return found


def _trace(asked: QuestionRecord, question: Question) -> Trace:
    shown = tuple(entry.memory for entry in asked.retrieved)
    reply = None if asked.reply is None else Reply(asked.reply)
    return Trace(question, asked.k, shown, reply, asked.seconds, asked.shown_tokens, asked.store_tokens, asked.cut)
