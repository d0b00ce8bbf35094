"""Draw samples of a task: a number of questions, and the conversations that must be stored for them."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, Literal, TypeVar, get_args

from pytest_memfail.core import Ingest, Probe, Question, Step, StorePlan, Task

T = TypeVar("T")
Haystack = Literal["full", "sample"]
HAYSTACKS: Final = get_args(Haystack)


def by_digest(items: Iterable[T], seed: int, key: list[str]) -> list[T]:
    """Return the items ordered by a digest of the seed and their key."""
    keyed = [(hashlib.sha256(f"{seed}:{name}".encode()).digest(), item) for name, item in zip(key, items, strict=True)]
    return [item for _, item in sorted(keyed, key=lambda pair: pair[0])]


def sample(task: Task, limit: int, seed: int, haystack: Haystack = "sample") -> Task:
    """Return the task with at most `limit` questions, taken in turn from each stratum.

    Stores all conversations (`full`), or only those that the questions need: those with their facts, and those with a
    wrong option. The choice depends only on the seed and the questions' ids, so a larger limit keeps what a smaller one
    chose.
    """
    questions = task.questions
    chosen = {question.id for question in in_turn(questions, limit, seed, _place)}
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
            elif (kept := tuple(q for q in step.questions if q.id in chosen)) or not step.questions:
                steps.append(Probe(kept))
        if any(isinstance(step, Probe) and step.questions for step in steps):
            stores.append(replace(store, steps=tuple(steps)))
    before, after = (sum(store.size for store in some) for some in (task.stores, stores))
    return replace(task, stores=tuple(stores), left_out=before - after)


def sample_stores(task: Task, limit: int, seed: int) -> Task:
    """Return the task with at most `limit` questions of each part, from as few stores as possible.

    Stores are taken in the order of a digest until each part has enough questions. A chosen store keeps all its
    conversations up to its last question: a haystack that shrinks would make retrieval easier.
    """
    parts = {question.part for question in task.questions}
    chosen: list[StorePlan] = []
    for store in by_digest(task.stores, seed, [f"store:{store.id}" for store in task.stores]):
        asked = [question for plan in chosen for question in plan.questions]
        lacking = {part for part in parts if sum(q.part == part for q in asked) < limit}
        if any(question.part in lacking for question in store.questions):
            chosen.append(store)
    wanted: set[tuple[str, str]] = set()
    for part in parts:
        pairs = [(store.id, q) for store in chosen for q in store.questions if q.part == part]
        keys = {id(question): (store, question.id) for store, question in pairs}
        wanted |= {keys[id(q)] for q in in_turn([q for _, q in pairs], limit, seed, _place)}
    return keep_questions(replace(task, stores=tuple(s for s in task.stores if s in chosen)), wanted)


def keep_questions(task: Task, wanted: Iterable[tuple[str, str]]) -> Task:
    """Return the task with only the questions of these stores and ids.

    Questions that another question needs stay, hidden. A probe whose questions are all gone stays too, because its listing shows
    whether a fact was lost later. A store without questions is left out.
    """
    kept = set(wanted)
    stores = []
    for store in task.stores:
        needed = {name for q in store.questions if (store.id, q.id) in kept for name in q.needs}
        steps: list[Step] = []
        for step in store.steps:
            if isinstance(step, Ingest):
                steps.append(step)
            else:
                some = (
                    question if (store.id, question.id) in kept else replace(question, hidden=True)
                    for question in step.questions
                    if (store.id, question.id) in kept or question.id in needed
                )
                steps.append(Probe(tuple(some)))
        while steps and (isinstance(steps[-1], Ingest) or not steps[-1].questions):  # steps after the last question
            steps.pop()
        if any((store.id, question.id) in kept for question in store.questions):
            stores.append(replace(store, steps=tuple(steps)))
    return replace(task, stores=tuple(stores))


def _place(question: Question) -> tuple[str, str]:
    return question.id, question.stratum


def in_turn(items: Iterable[T], limit: int, seed: int, place: Callable[[T], tuple[str, str]]) -> list[T]:
    """Return at most `limit` items, taken in turn from each stratum; a larger limit keeps what a smaller one chose.

    `place` returns the name and the stratum of an item.
    """
    strata: dict[str, list[T]] = defaultdict(list)
    given = list(items)
    for item in by_digest(given, seed, [f"sample:{place(item)[0]}" for item in given]):
        strata[place(item)[1]].append(item)
    queues = [strata[name] for name in sorted(strata)]
    chosen: list[T] = []
    while len(chosen) < min(limit, len(given)):
        for queue in queues:
            if queue and len(chosen) < limit:
                chosen.append(queue.pop(0))
    return chosen
