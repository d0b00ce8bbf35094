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
    WRONGLY_HELD,
    Source,
    Suite,
    SuiteFault,
    SuiteRequest,
    Task,
    TaskPart,
)
from pytest_memfail.suites.halumem.faults import check, faults_of
from pytest_memfail.suites.halumem.files import NAME
from pytest_memfail.suites.halumem.kinds import ANSWERS, FABRICATED, HALLUCINATION, KINDS, OMISSION, OTHER, PARTIAL
from pytest_memfail.suites.halumem.measures import MEASURES, PAPER_MEASURES
from pytest_memfail.suites.halumem.plan import UPDATE_K, K, task_of
from pytest_memfail.suites.halumem.statistics import data_report
from pytest_memfail.suites.published import Published
from pytest_memfail.suites.shipped import shipped_sample

__all__ = ["SUITE", "shipped_users"]

SAMPLE: Final = "users.jsonl"
"""The file of our own users, or of users of your own in the same format."""
SOURCE: Final = Source(
    url="https://huggingface.co/datasets/IAAR-Shanghai/HaluMem",
    licence="CC BY-NC-ND 4.0",
    files={"medium": ("HaluMem-Medium.jsonl",), "long": ("HaluMem-Long.jsonl",), OURS: (SAMPLE,)},
    size="20 users",
)
PARTS: Final = (
    TaskPart(
        "added", "the memories that a session added: does its dialogue support them? Needs a model", (SUMMARY_ERROR,)
    ),
    TaskPart("points", "points that a memory must keep from a session", (NOT_STORED, SUMMARY_ERROR)),
    TaskPart(
        "distractors", "points that only the assistant said, which must not be kept; needs a model", (WRONGLY_HELD,)
    ),
    TaskPart("update", "a point that replaces an earlier one", (NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED)),
    TaskPart("qa", "questions after a session", (NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED, REASONING_ERROR)),
)
LABELS: Final = {
    PARTIAL: "part of a point is stored",
    UNCONFIRMED: "a distractor is stored as if it were true",
    FABRICATED: "a memory was added that the dialogue does not support in full",
    OMISSION: "an update or an answer is incomplete",
    HALLUCINATION: "an update or an answer says something wrong",
    OTHER: "an update failed in another way",
}


def shipped_users() -> Path:
    """Return the file of our own users, from an installed wheel or the top level of a checkout.

    Raises `UsageError` if it is missing.
    """
    return shipped_sample(NAME) / SAMPLE


def load(request: SuiteRequest) -> Sequence[Task]:
    """Return the task, from the variant's file in the folder, or from our own users if no folder is given.

    A question whose evidence matches no point is asked without memory stages. Raises `UsageError` for a missing file,
    `RowError` for the first fault.
    """
    path, variant, licence = FILES.to_load(request)
    rows, errors, _, _, sha = check(path, warn=False)
    if errors:
        raise errors[0]
    return (task_of(rows, path, sha, variant, licence, paper=request.protocol == "paper"),)


def faults(folder: Path) -> Iterator[SuiteFault]:
    """Yield the faults of all files of the suite in a folder.

    Raises `UsageError` if it has none.
    """
    yield from faults_of(FILES.present(folder))


FILES: Final = Published(NAME, SOURCE, "users", shipped_users)
SUITE: Final = Suite(
    name=NAME,
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
    data_report=lambda folder: data_report(FILES.present(folder)),
    cases=lambda: shipped_users().parent,
    sample="our sample: 2 users with 10 sessions each",
)
