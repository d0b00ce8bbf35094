"""LongMemEval (arXiv 2410.10813): questions about chats of many days; each evidence turn is followed through the stages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pytest_memfail.core import (
    DATE_LOST,
    NOT_RETRIEVED,
    NOT_STORED,
    OURS,
    REASONING_ERROR,
    SUMMARY_ERROR,
    Suite,
    SuiteFault,
    SuiteRequest,
    Task,
    TaskPart,
    UnknownNameError,
    UsageError,
)
from pytest_memfail.suites.longmemeval.faults import Checked, faults_of
from pytest_memfail.suites.longmemeval.files import NAME, SAMPLE, SOURCE, TYPES, files_in
from pytest_memfail.suites.longmemeval.kinds import ANSWERS
from pytest_memfail.suites.longmemeval.measures import MEASURES
from pytest_memfail.suites.longmemeval.plan import Plan
from pytest_memfail.suites.published import OWN_LICENCE
from pytest_memfail.suites.shipped import shipped_sample
from pytest_memfail.suites.turns import KINDS

__all__ = ["SUITE", "shipped_questions"]

MEANINGS: Final = (
    "what the user said in one session",
    "what the assistant said in one session",
    "advice that fits what the user said of themselves in one session",
    "something that takes several sessions",
    "something that changed in a later session",
    "something that takes the dates of sessions",
)
SAMPLE_K: Final = 3
"""Memories retrieved for a question of our own sample: its haystacks are so short that ten would be most of one."""
PARTS: Final = tuple(
    TaskPart(name.replace("-", "_"), meaning, (NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED, REASONING_ERROR))
    for name, meaning in zip(TYPES, MEANINGS, strict=True)
)
LABELS: Final = {
    DATE_LOST: "a turn is stored or shown, but neither its time nor its text says when it was, and the answer needs that"
}


def shipped_questions() -> Path:
    """Return the file of our own questions, from an installed wheel or the top level of a checkout.

    Raises `UsageError` if it is missing.
    """
    return shipped_sample(NAME) / SAMPLE


def load(request: SuiteRequest) -> Sequence[Task]:
    """Return the task, from the variant's files in the folder, or from our own questions if no folder is given.

    Raises `UsageError` for a missing file or an unknown variant, `RowError` for the first fault.
    """
    variant = request.variant or (OURS if request.folder is None else next(iter(SOURCE.files)))
    if variant not in SOURCE.files:
        raise UnknownNameError(f"variant of {NAME}", variant, tuple(SOURCE.files))
    is_own = variant == OURS
    is_sample = request.folder is None and is_own
    if is_sample:
        paths, licence = [shipped_questions()], "MIT"
    else:
        paths = files_in(request.folder, variant) if request.folder is not None else []
        licence = OWN_LICENCE if is_own else SOURCE.licence
    if not paths:
        where = f"in {request.folder}" if request.folder is not None else "without --memfail-data DIR"
        file = SOURCE.files[variant][0]
        raise UsageError(
            f"no file of {NAME}:{variant} {where}; expected {file} ({SOURCE.licence}, not shipped) from {SOURCE.url}, or a "
            f"folder {Path(file).stem} with a file for each question, N_ID.json"
        )
    plan, checked = Plan(is_paper=request.protocol == "paper"), Checked()
    for path in paths:
        for row in checked.rows(path):
            plan.add(path, row)
        if checked.errors:
            raise checked.errors[0]
    sha = checked.hashes[0] if len(paths) == 1 else hashlib.sha256("".join(checked.hashes).encode()).hexdigest()
    return (plan.task(sha, variant, licence, SAMPLE_K if is_sample else None),)


def present(folder: Path) -> list[Path]:
    """Return the files of all variants in a folder."""
    return [path for variant in SOURCE.files for path in files_in(folder, variant)]


def faults(folder: Path) -> Iterator[SuiteFault]:
    """Yield the faults of all files of the suite in a folder.

    Raises `UsageError` if it has none.
    """
    if not (paths := present(folder)):
        names = ", ".join(name for names in SOURCE.files.values() for name in names)
        raise UsageError(f"no file of {NAME} in {folder}; expected one of {names} from {SOURCE.url}")
    yield from faults_of(paths)


SUITE: Final = Suite(
    name=NAME,
    source=SOURCE,
    load=load,
    parts={NAME: PARTS},
    kinds=KINDS,
    answers=ANSWERS,
    measures=MEASURES,
    labels=LABELS,
    k=10,
    faults=faults,
    is_in=lambda folder: bool(present(folder)),
    cases=lambda: shipped_questions().parent,
    sample="our sample: 72 questions, a dozen of each type",
)
