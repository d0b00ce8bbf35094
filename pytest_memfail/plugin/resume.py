"""Going on with a run that was killed: what its record holds is reported from there."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING

import pytest

from pytest_memfail.core import UsageError
from pytest_memfail.plugin.header import record_header
from pytest_memfail.plugin.recorded import runs_folder

if TYPE_CHECKING:
    from pytest_memfail.plugin.run import Run
    from pytest_memfail.results import Kept, QuestionRecord, StoreRecord


def read_own(config: pytest.Config, run: Run) -> tuple[Kept, str]:
    """In the process that the user started: what it takes over, and where from, in words.

    That is of the record that was named (--memfail-record), else of the newest run of the same options that did not end.
    Raises `UsageError` for a named record of another run.
    """
    from pytest_memfail.results import Kept, is_whole_record, kept_runs, read_kept, resumable

    runs, given, header = runs_folder(config), run.settings.record, record_header(run)
    if runs is None and given is None:
        raise UsageError("--memfail-resume: without pytest's cache, name the record with --memfail-record")
    if runs is not None and (given is None or is_whole_record(given)):
        # a whole record stays in its place until another whole one replaces it: what was stopped since is in its own folder
        found, why = resumable([one for one in kept_runs(runs) if given is None or one.held_back == str(given)], header)
        if found is not None and (given is None or not found.whole):
            kept = read_kept(found.record, header)
            return kept, f"{len(kept.questions)} questions are taken from the run {found.id}, not asked again"
        if given is None:
            return Kept(), f"nothing to go on with: {why}"
    assert given is not None
    kept = read_kept(given, header)
    return kept, f"{len(kept.questions)} questions are taken from the record, not asked again"


def for_workers(kept: Kept) -> str:
    """What a worker must know, as text: the lines may hold lone surrogates, which xdist does not carry."""
    from pytest_memfail.results import to_text

    return json.dumps([to_text(question) for question in kept.questions.values()])


def in_worker(text: str) -> Kept:
    """The same, back."""
    from pytest_memfail.results import Kept, QuestionRecord, from_text

    questions = [from_text(QuestionRecord, one) for one in json.loads(text)]
    return Kept({question.id: question for question in questions})


def kept_records(run: Run, expected: Collection[str]) -> list[QuestionRecord | StoreRecord]:
    """What stays in the record: of what is not asked, and of stores that are not filled, again."""
    asked = {node_id for node_id in expected if not run.is_recorded(node_id)}
    units = [unit for node_id in asked if (unit := run.unit_of(node_id)) is not None]
    filled = {(unit.task.name, unit.plan.id) for unit in units}
    questions = [question for node_id, question in run.kept.questions.items() if node_id not in asked]
    return [*questions, *(store for place, store in run.kept.stores.items() if place not in filled)]
