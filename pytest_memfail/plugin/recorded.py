"""The last verdict of each question, in pytest's cache: by system with its options, task, and hash of the task's rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from pytest_memfail.plugin.run import ROOT, Run
from pytest_memfail.plugin.settings import public_options
from pytest_memfail.plugin.stash import KNOWN

CACHE_KEY: Final = "memfail/recorded"


def recorded_verdicts(config: pytest.Config, run: Run) -> dict[str, str]:
    """By node id the verdicts in pytest's cache of the selected questions: of this system, with these options, over these rows."""
    tasks = _of_system(config, run)
    found: dict[str, str] = {}
    for task in run.tasks:
        kept = tasks.get(task.name, {})
        if kept.get("data_hash") == task.data_hash:
            found |= kept["verdicts"]
    return {node_id: found[node_id] for node_id, *_ in run.selected() if node_id in found}


def save_verdicts(config: pytest.Config, run: Run, verdicts: Mapping[str, str]) -> None:
    """Remember the verdicts of this run beside those of items that did not run; those of other rows are forgotten."""
    cache: Any = getattr(config, "cache", None)
    if cache is None or not verdicts:
        return
    tasks = _of_system(config, run)
    hashes = {task.name: task.data_hash for task in run.tasks}
    for node_id, verdict in verdicts.items():
        unit = run.unit_of(node_id)
        if unit is None or not node_id.startswith(f"{ROOT}/"):  # a test of the user's own over a task
            continue
        name = unit.task.name
        if tasks.get(name, {}).get("data_hash") != hashes[name]:
            tasks[name] = {"data_hash": hashes[name], "verdicts": {}}
        tasks[name]["verdicts"][node_id] = verdict
    cache.set(CACHE_KEY, {**_stored(cache), _system_key(run): tasks})


def _of_system(config: pytest.Config, run: Run) -> dict[str, Any]:
    """What the cache holds of a system with its options: by task the hash of its rows, and the verdicts."""
    cache: Any = getattr(config, "cache", None)
    return {} if cache is None else dict(_stored(cache).get(_system_key(run), {}))


def _stored(cache: Any) -> dict[str, Any]:
    stored = cache.get(CACHE_KEY, {})
    return stored if isinstance(stored, dict) else {}


def _system_key(run: Run) -> str:
    return json.dumps([run.settings.system, public_options(run.settings.system_options)], sort_keys=True)


def known_verdicts(config: pytest.Config, run: Run) -> dict[str, str]:
    """By node id the verdicts that the markers are made of: of the last run, else of the baseline; empty if there are none."""
    return {node_id: known[0] for node_id, known in config.stash[KNOWN].items()} | recorded_verdicts(config, run)
