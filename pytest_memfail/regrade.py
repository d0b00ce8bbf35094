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
    Memory,
    Question,
    Reply,
    Task,
    Trace,
    UsageError,
)
from pytest_memfail.engine import DaemonPool, Grader
from pytest_memfail.results import Line, Loaded, question_line
from pytest_memfail.tasks import CUSTOM


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a judge needs to know about an asked question."""

    line: Line
    evidence: tuple[Evidence, ...]
    listing: Listing
    trace: Trace


def recorded(record: Loaded, tasks: Sequence[Task]) -> list[Recorded]:
    """Return the questions of a record that can be judged, without those that were errors.

    Raises `UsageError` if the rows differ from those of the record, or a listing is missing from it.
    """
    by_name = {task.name: task for task in tasks}
    for name in dict.fromkeys(line["task"] for line in record.questions):
        if name not in record.header["tasks"]:
            raise UsageError(
                f"{record.path}: the task {name} of its questions is none of its header; the record is damaged"
            )
        old, new = record.header["tasks"][name]["data_hash"], by_name[name].data_hash
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
    for line in record.questions:
        if line["verdict"] == ERROR:
            continue
        place = (line["task"], line["store"])
        if place not in listings:
            raise UsageError(
                f"{record.path} lacks the listing of the store {line['store']} (the run was killed in it); "
                "finish the run with --memfail-resume"
            )
        question = questions[(*place, line["question"])]
        evidence = tuple(by_name[line["task"]].evidence[name] for name in question.evidence)
        found.append(Recorded(line, evidence, listings[place], _trace(line, question)))
    return found


def regrade(
    cases: Sequence[Recorded],
    judge: Judge,
    *,
    concurrency: int = 32,
    progress: Callable[[int], object] = int,
    close: Callable[[], Awaitable[None]] | None = None,
) -> list[Line]:
    """Return the question lines with this judge's verdicts, in the given order.

    Args:
        cases: the questions to judge.
        judge: any judge.
        concurrency: the most questions in flight; 1 for a judge that computes and never waits (`inline`).
        progress: called with the number of finished questions.
        close: closes the judge's resources, in the event loop it ran in.
    """

    # one per store, so that a fact is judged once per store for all questions
    graders: dict[int, Grader] = {}

    async def one(case: Recorded, pool: DaemonPool) -> Line:
        return await _judge(graders.setdefault(id(case.listing), Grader(judge, pool)), case)

    return judge_all(judge, cases, one, concurrency=concurrency, progress=progress, close=close)


async def _judge(grader: Grader, case: Recorded) -> Line:
    line, trace, listing = case.line, case.trace, case.listing
    place = (line["id"], line["store"], trace.question, trace.k, case.evidence)
    try:
        verdict = await grader.grade(trace.question, case.evidence, listing, trace.shown, trace.reply)
    except MemfailError as error:
        return question_line(*place, error=error)
    return question_line(*place, trace=trace, verdict=verdict, listing=listing)


def _listings(record: Loaded) -> dict[tuple[str, str], Listing]:
    found = {}
    for line in record.stores:
        if len(line["listings"]) != 1:
            raise UsageError(
                f"{record.path}: the store {line['store']} was listed {len(line['listings'])} times, expected once: "
                "the record does not say which listing a question was judged by"
            )
        found[line["task"], line["store"]] = Listing(line["store"], tuple(Memory(**m) for m in line["listings"][0]))
    return found


def _trace(line: Line, question: Question) -> Trace:
    shown = tuple(Memory(**memory) for memory in line["retrieved"])
    reply = None if line["reply"] is None else Reply(line["reply"])
    counts = line.get("shown_tokens"), line.get("store_tokens"), line.get("cut", 0)
    return Trace(question, line["k"], shown, reply, line["seconds"], *counts)
