"""Plant known faults, one at a time, into verbatim stores. A judge must name each (its mutation score)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final

from pytest_memfail.calibration.cases import Case, Label
from pytest_memfail.core import Listing, Memory, Plants, Task

SHOWN: Final = 5
"""Memories shown for a question."""


def planted_cases(plants: Plants, tasks: Sequence[Task], seed: int = 42, every: int = 1) -> list[Case]:
    """Return a case per fact and possible fault, each in a store with all conversations of its task.

    Args:
        plants: the faults, as the suite of the tasks has them.
        tasks: rows as tasks; stores are verbatim, one entry per conversation.
        seed: selects the other memories shown.
        every: use every Nth fact.
    """
    return [case for task in tasks for case in _of_task(plants, task, random.Random(seed), every)]


def _of_task(plants: Plants, task: Task, rng: random.Random, every: int) -> Iterator[Case]:
    texts = {c.id: c.text for store in task.stores for c in store.read_conversations()}
    memories = {id: Memory(text) for id, text in texts.items()}
    pairs = [(q, task.evidence[e]) for q in task.questions if not q.must_not_use for e in q.evidence]
    for question, fact in pairs[::every]:
        own = fact.conversation_id
        others = rng.sample([id for id in texts if id != own], min(SHOWN, len(texts) - 1))
        twice = any(plants.is_stated(fact, text) for id, text in texts.items() if id != own)
        for fault in plants.faults:
            if fact.kind not in fault.kinds or (fault.label != "ok" and twice):
                continue
            text = fault.damage(fact, question, texts[own])
            if text is None or (text == texts[own] and fault.label == "summary_error"):
                continue
            mine = (Memory(text),) if text else ()
            store = tuple(m for id, memory in memories.items() for m in (mine if id == own else (memory,)))
            around = tuple(memories[id] for id in others)
            yield Case(
                f"{fact.id}:{fault.name}",
                task.name,
                None,
                question,
                (fact,),
                Listing(f"{fact.id}:{fault.name}", store),
                (*mine, *around)[:SHOWN] if fault.shown else around,
                (Label.model_validate({"label": fault.label, "accept": fault.accept, "kind": fault.name}),),
            )
