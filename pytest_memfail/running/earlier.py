"""What earlier runs know of a run: results that it takes over, and the latest verdict of each question."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pytest_memfail.core import VACUOUS, QuestionRecord, UsageError
from pytest_memfail.records import StoreRecord, is_whole_record, kept_runs, latest_verdicts, read_kept, resumable
from pytest_memfail.running.plan import Run
from pytest_memfail.running.record import record_header


def resume(run: Run) -> str:
    """Give the run the results that it takes over, and return a sentence about their source.

    The source is the record that was named (--memfail-record), or else the newest unfinished run with the same options.
    Raises `UsageError` if the named record is of another run.
    """
    given, header = run.settings.record, record_header(run)
    if run.runs is None and given is None:
        raise UsageError("--memfail-resume: without pytest's cache, name the record with --memfail-record")
    source, place = given, "the record"
    if run.runs is not None and (given is None or is_whole_record(given)):
        # a whole record stays until another whole one replaces it: runs stopped since are in their own folders
        runs = [one for one in kept_runs(run.runs) if given is None or one.held_back == str(given)]
        found, why = resumable(runs, header)
        if found is not None and (given is None or not found.whole):
            source, place = found.record, f"the run {found.id}"
        elif given is None:
            return f"nothing to resume: {why}"
    assert source is not None
    run.kept = read_kept(source, header)
    return f"{len(run.kept.questions)} questions are taken from {place}, not asked again"


def kept_records(run: Run, expected: Collection[str]) -> list[QuestionRecord | StoreRecord]:
    """Return what stays in the record: questions that are not asked again, and stores that are not filled again."""
    asked = {node_id for node_id in expected if not run.is_recorded(node_id)}
    units = [unit for node_id in asked if (unit := run.unit_of(node_id)) is not None]
    filled = {(unit.task.name, unit.plan.id) for unit in units}
    questions = [question for node_id, question in run.kept.questions.items() if node_id not in asked]
    return [*questions, *(store for place, store in run.kept.stores.items() if place not in filled)]


def latest_recorded(run: Run) -> Mapping[str, str]:
    """Return the latest verdicts of all questions, by node id, over kept runs of this system, its settings and rows.

    They are read once: another run that ends meanwhile must change nothing.
    """
    if run.latest is None:
        run.latest = {} if run.runs is None else latest_verdicts(kept_runs(run.runs), record_header(run))
    return run.latest


def known_verdicts(run: Run) -> dict[str, str]:
    """Return the states for the markers by node id: from the kept runs, or else from the baseline; may be empty."""
    latest = latest_recorded(run)
    items = (asked.node_id for asked in run.selected()) if latest else ()
    recorded = {node_id: latest[node_id] for node_id in items if node_id in latest}
    return {node_id: VACUOUS if known[2] else known[0] for node_id, known in run.known.items()} | recorded
