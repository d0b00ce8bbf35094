"""HaluMem (arXiv 2511.03506): what a memory extracts, updates and answers, session by session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pytest_memfail.core import (
    NOT_RETRIEVED,
    NOT_STORED,
    OURS,
    REASONING_ERROR,
    SUMMARY_ERROR,
    UNCONFIRMED,
    Source,
    Suite,
    SuiteFault,
    SuiteRequest,
    Task,
    TaskPart,
    UnknownNameError,
    UsageError,
)
from pytest_memfail.suites.halumem.faults import check, faults_of
from pytest_memfail.suites.halumem.files import NAME
from pytest_memfail.suites.halumem.kinds import ANSWERS, FABRICATED, HALLUCINATION, KINDS, OMISSION, OTHER, PARTIAL
from pytest_memfail.suites.halumem.measures import MEASURES, PAPER_MEASURES
from pytest_memfail.suites.halumem.plan import UPDATE_K, K, task_of
from pytest_memfail.suites.memfail import shipped_sample

__all__ = ["SUITE", "shipped_users"]

SAMPLE: Final = "users.jsonl"
"""The file of our own users, or of a user's in the same format."""
OWN_LICENCE: Final = "the user's own"
SOURCE: Final = Source(
    url="https://huggingface.co/datasets/IAAR-Shanghai/HaluMem",
    licence="CC BY-NC-ND 4.0",
    files={"medium": ("HaluMem-Medium.jsonl",), "long": ("HaluMem-Long.jsonl",), OURS: (SAMPLE,)},
    paper="2511.03506",
    size="20 users",
)
PARTS: Final = (
    TaskPart("added", "what a session added, and whether its dialogue supports it; needs a model", (SUMMARY_ERROR,)),
    TaskPart("points", "what a memory is to keep of a session", (NOT_STORED, SUMMARY_ERROR)),
    TaskPart("distractors", "what only the assistant said, which is not to be kept; needs a model", (SUMMARY_ERROR,)),
    TaskPart("update", "a point that replaces an earlier one", (NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED)),
    TaskPart("qa", "questions after a session", (NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED, REASONING_ERROR)),
)
LABELS: Final = {
    PARTIAL: "part of a point is stored",
    UNCONFIRMED: "a distractor is stored as if it were true",
    FABRICATED: "a memory was added that the dialogue does not support in full",
    OMISSION: "an update or an answer leaves out what it should say",
    HALLUCINATION: "an update or an answer says something wrong",
    OTHER: "an update failed in another way",
}


def shipped_users() -> Path:
    """Return the file of our own users, in an installed wheel or at the top level of a checkout.

    Raises `UsageError` if it is missing.
    """
    return shipped_sample(NAME) / SAMPLE


def load(request: SuiteRequest) -> Sequence[Task]:
    """Return the task: of our own users without a folder, else of the variant's file there.

    A question whose evidence joins with no point is asked without memory stages. Raises `UsageError` for a missing file,
    `RowError` for the first fault.
    """
    path, variant = _file(request)
    rows, errors, _, _, sha = check(path, warn=False)
    if errors:
        raise errors[0]
    licence = SOURCE.licence if variant != OURS else "MIT" if request.folder is None else OWN_LICENCE
    return (task_of(rows, path, sha, variant, licence, paper=request.protocol == "paper"),)


def faults(folder: Path) -> Iterator[SuiteFault]:
    """Yield the faults of all files of the suite in a folder.

    Raises `UsageError` if it has none.
    """
    names = [name for group in SOURCE.files.values() for name in group]
    paths = [path for name in names if (path := _inside(folder, name))]
    if not paths:
        raise UsageError(f"no file of {NAME} in {folder}; expected one of {', '.join(names)} from {SOURCE.url}")
    yield from faults_of(paths)


def _file(request: SuiteRequest) -> tuple[Path, str]:
    """Return the file to load, and its variant."""
    if request.variant not in ("", *SOURCE.files):
        raise UnknownNameError(f"variant of {NAME}", request.variant, tuple(SOURCE.files))
    if request.folder is None and request.variant in ("", OURS):
        return shipped_users(), OURS
    variant = request.variant or next(iter(SOURCE.files))
    (name,) = SOURCE.files[variant]
    if request.folder is not None and (path := _inside(request.folder, name)):
        return path, variant
    about = f"{SOURCE.size}, {SOURCE.licence}, not shipped"
    expected = f"{name} ({about}) from {SOURCE.url}" if variant != OURS else f"{name}, users of your own"
    where = f"in {request.folder}" if request.folder is not None else "without --memfail-data DIR"
    own = f"; {SAMPLE} there is {NAME}:{OURS}" if request.folder and _inside(request.folder, SAMPLE) else ""
    raise UsageError(f"no file of {NAME}:{variant} {where}; expected {expected}{own}")


def _inside(folder: Path, name: str) -> Path | None:
    """Return a file in a folder, or in the suite's folder there."""
    return next((path for path in (folder / name, folder / NAME / name) if path.is_file()), None)


SUITE: Final = Suite(
    name=NAME,
    title="HaluMem",
    source=SOURCE,
    load=load,
    parts={NAME: PARTS},
    kinds=KINDS,
    answers=ANSWERS,
    measures=MEASURES,
    paper_measures=PAPER_MEASURES,
    labels=LABELS,
    k=K,
    part_k={"update": UPDATE_K},
    faults=faults,
    cases=lambda: shipped_users().parent,
    sample="our sample: 2 users with 10 sessions each",
)
