"""Going on with a run that was killed: what its record holds is reported from there."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from pytest_memfail.core import UsageError
from pytest_memfail.plugin.header import record_header

if TYPE_CHECKING:
    from pytest_memfail.plugin.run import Run
    from pytest_memfail.results import Kept, Line

LAST_RECORD: Final = "last.jsonl"


def read_own(config: pytest.Config, run: Run) -> Kept:
    """In the process that the user started: what the record at the place of this run's holds.

    Raises `UsageError` for a record of another run.
    """
    from pytest_memfail.results import read_kept

    path = run.settings.record
    if path is None:
        try:
            # not through config.cache, which does not exist yet while options are checked
            path = Path(config.rootpath, config.getini("cache_dir"), "d", "memfail", LAST_RECORD)
        except ValueError:  # -p no:cacheprovider
            raise UsageError(
                "--memfail-resume: without pytest's cache, name the record with --memfail-record"
            ) from None
    return read_kept(path, record_header(run))


def for_workers(kept: Kept) -> str:
    """What a worker must know, as text: the lines may hold lone surrogates, which xdist does not carry."""
    return json.dumps(dict(kept.questions))


def in_worker(text: str) -> Kept:
    """The same, back."""
    from pytest_memfail.results import Kept

    return Kept(json.loads(text))


def kept_lines(run: Run, expected: Collection[str]) -> list[Line]:
    """The lines that stay in the record: of what is not asked, and of stores that are not filled, again."""
    asked = {node_id for node_id in expected if not run.is_recorded(node_id)}
    units = [unit for node_id in asked if (unit := run.unit_of(node_id)) is not None]
    filled = {(unit.task.name, unit.plan.id) for unit in units}
    questions = [line for node_id, line in run.kept.questions.items() if node_id not in asked]
    return [*questions, *(line for store, line in run.kept.stores.items() if store not in filled)]
