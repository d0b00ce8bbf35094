"""Judge recorded memories with another judge, without the memory system."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_memfail.calibration import judge_all
from pytest_memfail.core import (
    ERROR,
    Fact,
    Ingest,
    Judge,
    Key,
    Listing,
    MemfailError,
    Question,
    QuestionRecord,
    Reply,
    StorePlan,
    Task,
    Trace,
    UsageError,
    said_entries,
)
from pytest_memfail.engine import EarlierListing, Grader, NeededOutcome, needs_additions, searches
from pytest_memfail.hosting import DaemonPool, shared_task
from pytest_memfail.records import StoreRecord, question_record
from pytest_memfail.results import Loaded
from pytest_memfail.suites import CUSTOM


@dataclass(frozen=True, slots=True)
class Recorded:
    """The data that a judge needs about an asked question."""

    asked: QuestionRecord
    evidence: tuple[Fact, ...]
    listing: Listing
    trace: Trace
    earlier: tuple[EarlierListing, ...] = ()
    """The listings before that one, newest first."""
    added: Listing | None = None
    """What its conversation added to the store, if it is judged by that."""

    @property
    def judged_by(self) -> Listing:
        """The memories by which storage and summary are judged."""
        return self.added if self.added is not None and self.trace.question.of_additions else self.listing


def recorded(record: Loaded, tasks: Sequence[Task]) -> list[Recorded]:
    """Return the questions of a record that can be judged, without those that were errors.

    Raises `UsageError` if the rows differ from those of the record, or a listing is missing from it.
    """
    by_name = {task.name: task for task in tasks}
    for name in dict.fromkeys(question.task for question in record.questions):
        old, new = record.header.tasks[name].data_hash, by_name[name].data_hash
        if old != new:
            raise UsageError(
                f"{record.path}: {name} was run on other rows (hash {old[:12]}, these have {new[:12]}); "
                f"name the folder of its {'cases with --cases' if name == CUSTOM else 'rows with --data'}"
            )
    plans = {(task.name, plan.id): plan for task in tasks for plan in task.stores}
    questions = {(*place, question.id): question for place, plan in plans.items() for question in plan.questions}
    of_stores = {
        place: (_listings(store, plans[place]), _extracted(store, plans[place]))
        for store in record.stores
        if (place := (store.task, store.store)) in plans
    }
    found = []
    added = _additions(record, questions)
    for asked in record.questions:
        if asked.verdict == ERROR:
            continue
        place = (asked.task, asked.store)
        of_store, extracted = of_stores.get(place, ({}, []))
        if asked.listing not in of_store:
            raise UsageError(
                f"{record.path} lacks the listing of the store {asked.store} (the run was killed in it); "
                "finish the run with --memfail-resume"
            )
        question = questions[(*place, asked.question)]
        evidence = tuple(by_name[asked.task].evidence[name] for name in question.evidence)
        listed = [past for number, past in of_store.items() if number < asked.listing]
        said = [past for past in extracted if past.listing.number <= asked.listing]
        earlier = tuple(sorted([*said, *listed], key=lambda past: past.listing.number)[::-1])
        what = added.get((*place, question.keys.get("conversation", "")))
        if question.of_additions and what is None:
            raise UsageError(
                f"{record.path} does not say what the session of {asked.id} added to the store; run its other questions "
                "too (points, or what was added), without -k"
            )
        found.append(Recorded(asked, evidence, of_store[asked.listing].listing, _trace(asked, question), earlier, what))
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
    graders: dict[tuple[str, str], Grader] = {}
    by_key = {case.asked.key: case for case in cases}
    judged: dict[Key, asyncio.Task[QuestionRecord]] = {}

    async def one(case: Recorded, pool: DaemonPool) -> QuestionRecord:
        key = case.asked.key
        if key not in judged:  # another question may have needed its verdict
            judged[key] = shared_task(work(case, pool))
        return await asyncio.shield(judged[key])

    async def work(case: Recorded, pool: DaemonPool) -> QuestionRecord:
        task, store, _, k = case.asked.key
        grader = graders.setdefault((task, store), Grader(judge, pool))
        needed = [by_key[key] for name in case.trace.question.needs if (key := (task, store, name, k)) in by_key]
        before = [await one(other, pool) for other in needed]
        return await _judge(grader, case, list(map(NeededOutcome.of, before)))

    return judge_all(judge, cases, one, concurrency=concurrency, progress=progress, close=close)


async def _judge(grader: Grader, case: Recorded, needed: Sequence[NeededOutcome]) -> QuestionRecord:
    trace, listing = case.trace, case.listing
    place, broken = (case.asked.id, case.asked.store, trace.question, trace.k), list[MemfailError]()
    try:
        verdict = await grader.grade(
            trace.question,
            case.evidence,
            listing,
            trace.shown,
            trace.reply,
            earlier=case.earlier,
            needed=needed,
            added=case.added,
            broken=broken,
        )
    except MemfailError as error:
        return question_record(*place, error=error)
    return question_record(*place, trace=trace, verdict=verdict, listing=listing, error=next(iter(broken), None))


def _listings(store: StoreRecord, plan: StorePlan) -> dict[int, EarlierListing]:
    """Return the listings of a store by the number of their probe, in order."""
    segments, origins, told = _segments(plan), store.origins_by_probe, plan.read_conversations()
    found = {}
    for number, memories in store.by_probe.items():
        if 0 <= number < len(segments):  # a damaged record may have any number
            stored = frozenset().union(*segments[: number + 1])
            of = origins.get(number)
            said = () if of is None else said_entries(memories, told, of)
            listing = Listing(store.store, memories, number, of, said)
            found[number] = EarlierListing(listing, stored)
    return found


def _extracted(store: StoreRecord, plan: StorePlan) -> list[EarlierListing]:
    """Return what the system said that the conversations before each probe added, in order."""
    segments = _segments(plan)
    return [
        EarlierListing(Listing(store.store, one.added, one.number), segments[one.number])
        for one in store.extracted
        if 0 <= one.number < len(segments)
    ]


def _segments(plan: StorePlan) -> list[frozenset[str]]:
    """Return the ids of the conversations that are stored between each probe and the one before."""
    segments: list[set[str]] = [set()]
    for step in plan.steps:
        if isinstance(step, Ingest):
            segments[-1].add(step.conversation.id)
        else:
            segments.append(set())
    return [frozenset(segment) for segment in segments[:-1]]


def _additions(
    record: Loaded, questions: Mapping[tuple[str, str, str], Question]
) -> dict[tuple[str, str, str], Listing]:
    """Return what each conversation added: the record has it as what its questions without a search were shown."""
    found: dict[tuple[str, str, str], Listing] = {}
    for asked in record.questions:
        question = questions.get((asked.task, asked.store, asked.question))
        if asked.verdict == ERROR or question is None or not needs_additions(question) or searches(question):
            continue
        key = (asked.task, asked.store, str(question.keys.get("conversation", "")))
        found[key] = Listing(asked.store, asked.retrieved, asked.listing)
    return found


def _trace(asked: QuestionRecord, question: Question) -> Trace:
    reply = None if asked.reply is None else Reply(asked.reply)
    return Trace(
        question, asked.k, asked.retrieved, reply, asked.seconds, asked.shown_tokens, asked.store_tokens, asked.cut
    )
