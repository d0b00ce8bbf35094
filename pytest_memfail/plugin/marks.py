"""Markers of benchmark items: their task, and the latest verdict or, before any is recorded, the failures the task is made for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import pytest

from pytest_memfail.core import FAILURES, MEANINGS, VERDICTS

if TYPE_CHECKING:
    from pytest_memfail.core import Task
    from pytest_memfail.plugin.run import Run

TASK_MEANINGS: Final = {
    "conditional_facts_easy": "rules under a condition, stated in one sentence",
    "conditional_facts_hard": "rules under a condition, spread over an essay",
    "coexisting_facts": "preferences that hold side by side",
    "persona_retrieval": "details of people, asked about them and about others",
    "long_hop": "chains of facts stored apart",
    "updated_facts": "facts that were updated, corrected or taken back",
    "custom": "own cases, *.memfail.yaml",
}
SELECTABLE: Final = re.compile(r"(?!(?:and|or|not|None|True|False)$)[^\W_][\w.+/-]*")
"""What `-m` reads as one name, and pytest takes for the name of a marker."""


def marker_lines() -> list[str]:
    """All markers with a meaning of one line, for `pytest --markers` and --strict-markers."""
    lines = [
        "memfail(task, store, k): a graded question of the MemFail benchmark; on a test function, one test for each question "
        "of the task",
    ]
    lines += [f"{name}: MemFail task: {meaning}" for name, meaning in TASK_MEANINGS.items()]
    lines += [
        f"{name}: MemFail verdict (the latest recorded; before any is, what the task is made for): {MEANINGS[name]}"
        for name in FAILURES
    ]
    lines += [
        f"{name}: MemFail verdict (the latest recorded): {MEANINGS[name]}" for name in VERDICTS if name not in FAILURES
    ]
    return lines


def own_marker_lines(tasks: Iterable[Task]) -> list[str]:
    """Return the markers of the tasks that are not the plugin's; one whose name is no marker has none."""
    names = dict.fromkeys(task.name for task in tasks if task.name not in TASK_MEANINGS)
    return [f"{name}: MemFail task of your own" for name in names if SELECTABLE.fullmatch(name)]


def verdicts_in(expression: str) -> list[str]:
    """Return the verdicts that an expression for `-m` names.

    >>> verdicts_in("summary_error or not correct")
    ['correct', 'summary_error']
    """
    words = set(re.findall(r"\w+", expression))
    return [verdict for verdict in VERDICTS if verdict in words]


def mark_items(config: pytest.Config, run: Run, items: Sequence[pytest.Item]) -> None:
    """Add the markers to the benchmark's items."""
    from pytest_memfail.plugin.nodes import QuestionItem
    from pytest_memfail.plugin.recorded import known_verdicts

    known = known_verdicts(config, run)
    task_markers = _task_markers(config, run)
    shared: dict[tuple[str, int], pytest.MarkDecorator] = {}
    for item in items:
        if not isinstance(item, QuestionItem):
            continue
        unit = item.unit
        key = (unit.id, item.k)
        if key not in shared:
            shared[key] = pytest.mark.memfail(task=unit.task.name, store=unit.plan.id, k=item.k)
        item.add_marker(shared[key])
        if unit.task.name in task_markers:
            item.add_marker(unit.task.name)
        # after a sample of twenty the other hundreds are unknown, not failed as their task is made for
        for verdict in {known.get(item.nodeid, "")} & set(VERDICTS) if known else _provoked(unit.task):
            item.add_marker(verdict)


def _task_markers(config: pytest.Config, run: Run) -> set[str]:
    """The tasks that have a marker: not one of the user's whose name means something else, as `skip` does."""
    registered = Counter(re.split(r"[:(]", line, maxsplit=1)[0].strip() for line in config.getini("markers"))
    own = {task.name for task in run.tasks} - set(TASK_MEANINGS)
    return {*TASK_MEANINGS, *(name for name in own if SELECTABLE.fullmatch(name) and registered[name] == 1)}


def _provoked(task: Task) -> Iterator[str]:
    return (failure for failure in task.targets if failure in FAILURES)
