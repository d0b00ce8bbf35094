"""Markers of benchmark items: their task, and the failure last recorded or, with none, the ones the task is made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_memfail.core import FAILURES, MEANINGS
from pytest_memfail.plugin.stash import KNOWN

if TYPE_CHECKING:
    from pytest_memfail.plugin.run import Run

CACHE_KEY: Final = "memfail/verdicts"

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
        f"{name}: MemFail verdict (recorded, else what the task is made for): {MEANINGS[name]}" for name in FAILURES
    ]
    return lines


def recorded_verdicts(config: pytest.Config, system: str) -> Mapping[str, str]:
    """The verdict of each item in earlier runs of this system, from pytest's cache."""
    cache: Any = getattr(config, "cache", None)
    if cache is None:
        return {}
    stored = cache.get(CACHE_KEY, {})
    found = stored.get(system, {}) if isinstance(stored, dict) else {}
    return found if isinstance(found, dict) else {}


def save_verdicts(config: pytest.Config, system: str, verdicts: Mapping[str, str]) -> None:
    """Remember the verdicts of this run beside those of items that did not run."""
    cache: Any = getattr(config, "cache", None)
    if cache is not None and verdicts:
        stored = cache.get(CACHE_KEY, {})
        stored = stored if isinstance(stored, dict) else {}
        stored[system] = {**recorded_verdicts(config, system), **verdicts}
        cache.set(CACHE_KEY, stored)


def mark_items(config: pytest.Config, run: Run, items: Sequence[pytest.Item]) -> None:
    """Add the markers to the benchmark's items."""
    from pytest_memfail.plugin.nodes import QuestionItem

    recorded = {node_id: known[0] for node_id, known in config.stash[KNOWN].items()}
    recorded |= recorded_verdicts(config, run.settings.system)
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
        verdict = recorded.get(item.nodeid)
        for failure in unit.task.targets if verdict is None else {verdict} & set(FAILURES):
            item.add_marker(failure)
