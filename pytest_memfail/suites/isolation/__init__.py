"""Isolation: two users of one service say look-alike things, and neither may be shown, or hold, what the other said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pytest_memfail.core import (
    OURS,
    UNGRADED,
    WRONGLY_HELD,
    Measure,
    QuestionRecord,
    Score,
    Source,
    Suite,
    SuiteFault,
    SuiteRequest,
    Task,
    UsageError,
)
from pytest_memfail.suites.isolation.pairs import NAME, check, task_of
from pytest_memfail.suites.kinds import UNWANTED_KINDS
from pytest_memfail.suites.published import Published, as_faults
from pytest_memfail.suites.shipped import shipped_sample

__all__ = ["SUITE"]

FILE: Final = "isolation.jsonl"
SOURCE: Final = Source(url="", licence="MIT", files={OURS: (FILE,)})
FILES: Final = Published(NAME, SOURCE, "pairs", lambda: shipped_sample(NAME) / FILE)


def load(request: SuiteRequest) -> Sequence[Task]:
    """Return the task, from the file in the folder, or from our own pairs if the folder has none, as one of other rows.

    Raises `RowError` for the first fault.
    """
    try:
        (path, variant, licence), note = FILES.to_load(request), ""
    except UsageError:
        path, variant, licence = FILES.to_load(replace(request, folder=None))
        note = f"our own pairs, as {request.folder} has no {FILE}"
    rows, faults, sha = check(path)
    if faults:
        raise faults[0]
    return (replace(task_of(rows, path, request.seed), data_hash=sha, variant=variant, licence=licence, note=note),)


def faults(folder: Path) -> Iterator[SuiteFault]:
    """Yield the faults of the file in a folder; raise `UsageError` if it has none."""
    for path in FILES.present(folder):
        yield from as_faults(check(path)[1])


def leaks(questions: Sequence[QuestionRecord]) -> Score:
    """Return the share of the other user's facts that the store lists or a search shows."""
    facts = [fact for question in questions for fact in question.facts if fact.is_distractor]
    counted = [fact for fact in facts if fact.verdict != UNGRADED and not fact.vacuous]
    if not counted:
        return Score(
            None, 0, lacks="the stores are empty" if any(fact.vacuous for fact in facts) else "no question was judged"
        )
    leaked = [fact for fact in counted if fact.verdict == WRONGLY_HELD]
    listed = sum(fact.decided_by == "storage" for fact in leaked)
    note = f"{len(leaked)} of {len(counted)}" + (
        f": {listed} listed, {len(leaked) - listed} only shown" if leaked else ""
    )
    return Score(len(leaked) / len(counted), len(counted), note=note)


SUITE: Final = Suite(
    name=NAME,
    source=SOURCE,
    load=load,
    parts={NAME: ()},
    kinds=UNWANTED_KINDS,
    measures=(Measure("leaks", "leaks", leaks, unit="percent"),),
    faults=faults,
    sample="our sample: 46 pairs of look-alike facts",
)
