"""Load tasks by name or pattern."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal, get_args

from pytest_memfail.core import (
    Ingest,
    Probe,
    Question,
    Step,
    StorePlan,
    Task,
    UnknownNameError,
    UsageError,
    escape_controls,
)
from pytest_memfail.suites.memfail import MODULES, TASK_NAMES, Protocol, by_digest, shipped_data

Haystack = Literal["full", "sample"]
HAYSTACKS: Final = get_args(Haystack)


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """Which tasks to load, and how."""

    patterns: tuple[str, ...] = ()
    """Names or glob patterns; empty for all tasks."""
    data: Path | None = None
    """A folder of rows; None for the shipped ones."""
    protocol: Protocol = "ours"
    seed: int = 42
    limit: int | None = None
    haystack: Haystack = "sample"
    """Whether a limited task stores all conversations, or only those that its questions need."""


def load_tasks(request: TaskRequest, extra: Sequence[Task] = ()) -> tuple[Task, ...]:
    """Load the tasks that match the patterns and check every row; `extra` are tasks from plugins.

    Raises `UsageError` for an unknown name or a folder without rows, `RowError` for a faulty row.
    """
    for task in extra:
        _check_ids(task)
    given = {task.name: task for task in extra}
    names = [*TASK_NAMES, *(name for name in given if name not in MODULES)]
    wanted = match_tasks(request.patterns, names)
    tasks = []
    for name in wanted:
        if name in given:
            task = given[name]
        else:
            folder = request.data or shipped_data()
            path = folder / f"{name}.csv"
            if not folder.is_dir():
                raise UsageError(f"--memfail-data: got {folder}, expected a folder with the rows of the tasks")
            if not path.is_file():
                if name not in request.patterns and any((folder / f"{other}.csv").is_file() for other in TASK_NAMES):
                    continue  # a folder may hold only some tasks, but those named must be there
                raise UsageError(f"no rows of the task {name!r}: {path} is missing (--memfail-data names the folder)")
            module = MODULES[name]
            task = module.build(name, module.read(path), request.protocol, request.seed)
        tasks.append(task if request.limit is None else sample(task, request.limit, request.seed, request.haystack))
    if not tasks:
        raise UsageError(f"{request.data or shipped_data()} holds no rows of {', '.join(request.patterns)}")
    return tuple(tasks)


def _check_ids(task: Task) -> None:
    """Raise `UsageError` for a name or id with control characters, because both are part of node ids."""
    for name in (task.name, *(s.id for s in task.stores), *(q.id for q in task.questions)):
        if escape_controls(name) != name or {"\n", "\t"} & set(name):
            raise UsageError(f"the task {task.name!r}: got the id {name!r}, expected an id without control characters")


def match_tasks(patterns: Sequence[str], names: Sequence[str] = TASK_NAMES) -> list[str]:
    """Return the names that match any of the patterns, in the order of `names`; without patterns, all.

    Raises `UnknownNameError` for a pattern without a match.
    """
    if not patterns:
        return list(names)
    chosen: set[str] = set()
    for pattern in patterns:
        found = [name for name in names if fnmatchcase(name, pattern)]
        if not found:
            raise UnknownNameError("task", pattern, names)
        chosen.update(found)
    return [name for name in names if name in chosen]


def sample(task: Task, limit: int, seed: int, haystack: Haystack = "sample") -> Task:
    """Return the task with at most `limit` questions, taken in turn from each stratum.

    Stores all conversations (`full`), or only those that the questions need: those with their facts, and those with a
    wrong option. The choice depends only on the seed and the questions' ids, so a larger limit keeps what a smaller one
    chose.
    """
    strata: dict[str, list[Question]] = defaultdict(list)
    questions = task.questions
    for question in by_digest(questions, seed, [f"sample:{q.id}" for q in questions]):
        strata[question.stratum].append(question)
    queues = [strata[name] for name in sorted(strata)]
    chosen: set[str] = set()
    while len(chosen) < min(limit, len(questions)):
        for queue in queues:
            if queue and len(chosen) < limit:
                chosen.add(queue.pop(0).id)
    facts = [task.evidence[e] for q in questions if q.id in chosen for e in q.evidence]
    needed = {c for fact in facts for c in (fact.conversation_id, *fact.history)}
    wrong = {
        option for q in questions if q.id in chosen for option in q.options if option.strip() and option not in q.gold
    }
    names_wrong = (
        re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(wrong)))})(?!\w)", re.IGNORECASE) if wrong else None
    )
    stores = []
    for store in task.stores:
        steps: list[Step] = []
        for step in store.steps:
            if isinstance(step, Ingest):
                is_needed = haystack == "full" or step.conversation.id in needed
                if is_needed or (names_wrong is not None and names_wrong.search(step.conversation.text)):
                    steps.append(step)
            elif kept := tuple(q for q in step.questions if q.id in chosen):
                steps.append(Probe(kept))
        if any(isinstance(step, Probe) for step in steps):
            stores.append(StorePlan(store.id, tuple(steps)))
    before, after = (sum(len(store.conversations) for store in some) for some in (task.stores, stores))
    return replace(task, stores=tuple(stores), left_out=before - after)
