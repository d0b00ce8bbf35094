"""Markers of benchmark items: their task, and the failure last recorded or, before there are records, those it is made for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pytest

from pytest_memfail.core import FAILURES, MEANINGS

if TYPE_CHECKING:
    from pytest_memfail.plugin.run import Run

TASK_MEANINGS: Final = {
    "conditional_facts_easy": "rules under a condition, stated in one sentence",
    "conditional_facts_hard": "rules under a condition, spread over an essay",
    "coexisting_facts": "preferences that hold side by side",
    "persona_retrieval": "details of people, asked about them and about others",
    "long_hop": "chains of facts stored apart",
}


def marker_lines() -> list[str]:
    """All markers with a meaning of one line, for `pytest --markers` and --strict-markers."""
    lines = [
        "memfail(task, store, k): a graded question of the MemFail benchmark; on a test function, one test for each question "
        "of the task",
    ]
    lines += [f"{name}: MemFail task: {meaning}" for name, meaning in TASK_MEANINGS.items()]
    lines += [
        f"{name}: MemFail verdict (recorded; before any is, what the task is made for): {MEANINGS[name]}"
        for name in FAILURES
    ]
    return lines


def mark_items(config: pytest.Config, run: Run, items: Sequence[pytest.Item]) -> None:
    """Add the markers to the benchmark's items."""
    from pytest_memfail.plugin.nodes import QuestionItem
    from pytest_memfail.plugin.recorded import known_verdicts

    known = known_verdicts(config, run)
    shared: dict[tuple[str, int], pytest.MarkDecorator] = {}
    for item in items:
        if not isinstance(item, QuestionItem):
            continue
        unit = item.unit
        key = (unit.id, item.k)
        if key not in shared:
            shared[key] = pytest.mark.memfail(task=unit.task.name, store=unit.plan.id, k=item.k)
        item.add_marker(shared[key])
        if unit.task.name in TASK_MEANINGS:
            item.add_marker(unit.task.name)
        # after a sample of twenty the other hundreds are unknown, not failed as their task is made for
        for failure in {known.get(item.nodeid, "")} & set(FAILURES) if known else unit.task.targets:
            item.add_marker(failure)
