"""MEME (arXiv 2605.12477): facts that change, depend on each other, and are deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import (
    LOST_LATER,
    NOT_RETRIEVED,
    NOT_STORED,
    OURS,
    REASONING_ERROR,
    SUMMARY_ERROR,
    TRIVIAL_PASS,
    Source,
    Suite,
    SuiteFault,
    SuiteRequest,
    Task,
    TaskPart,
)
from pytest_memfail.suites.meme.faults import check, faults_of
from pytest_memfail.suites.meme.kinds import ANSWERS, KINDS, LEAKED, STALE, UNCERTAIN
from pytest_memfail.suites.meme.measures import MEASURES
from pytest_memfail.suites.meme.plan import NAME, task_of
from pytest_memfail.suites.published import Published
from pytest_memfail.suites.shipped import shipped_sample

__all__ = ["SUITE", "shipped_episodes"]

SAMPLE: Final = "episodes.json"
"""The file of our own episodes, or of episodes of your own in the same format."""
SOURCE: Final = Source(
    url="https://huggingface.co/datasets/meme-benchmark/MEME",
    licence="CC BY 4.0",
    files={
        "32k": ("meme_filler32k.json",),
        "128k": ("meme_filler128k.json",),
        "nofiller": ("meme_nofiller.json",),
        OURS: (SAMPLE,),
    },
    size="100 episodes",
)
PARTS: Final = (
    TaskPart("before", "a fact before the change; not part of the score", (NOT_STORED, NOT_RETRIEVED)),
    TaskPart("recall", "one text word for word", (SUMMARY_ERROR, NOT_RETRIEVED)),
    TaskPart("aggregation", "several facts of different sessions in one answer", (NOT_RETRIEVED,)),
    TaskPart("tracking", "all values of a fact in their order", (NOT_STORED, NOT_RETRIEVED)),
    TaskPart("deletion", "a fact that the user asked to forget", (NOT_STORED, REASONING_ERROR)),
    TaskPart("cascade", "a value that follows from a change and a rule", (NOT_RETRIEVED, REASONING_ERROR)),
    TaskPart("absence", "a value that a change made uncertain", (NOT_RETRIEVED, REASONING_ERROR)),
)

LABELS: Final = {
    STALE: "only the value before the change was there, or it was given as the answer",
    LEAKED: "a deleted value is still stated, by the store or in the answer",
    LOST_LATER: "stored at first, but gone when the question was asked",
    TRIVIAL_PASS: "right after the change, but not known before: not credited",
    UNCERTAIN: "answered with doubt",
}


def shipped_episodes() -> Path:
    """Return the file of our own episodes, from an installed wheel or the top level of a checkout.

    Raises `UsageError` if it is missing.
    """
    return shipped_sample(NAME) / SAMPLE


def load(request: SuiteRequest) -> Sequence[Task]:
    """Return the task, from the variant's file in the folder, or from our own episodes if no folder is given.

    Raises `UsageError` for a missing file, `RowError` for the first fault.
    """
    path, variant, licence = FILES.to_load(request)
    rows, errors, _, sha = check(path)
    if errors:
        raise errors[0]
    return (task_of(rows, path, sha, variant, licence),)


def recipes() -> Mapping[str, Any]:
    """Return the rows that `memfail generate` makes."""
    from pytest_memfail.suites.meme.recipe import RECIPES

    return RECIPES


def faults(folder: Path) -> Iterator[SuiteFault]:
    """Yield the faults of all files of the suite in a folder.

    Raises `UsageError` if it has none.
    """
    yield from faults_of(FILES.present(folder))


FILES: Final = Published(NAME, SOURCE, "episodes", shipped_episodes, sizes={"128k": "40 episodes"})
SUITE: Final = Suite(
    name=NAME,
    source=SOURCE,
    load=load,
    parts={NAME: PARTS},
    kinds=KINDS,
    answers=ANSWERS,
    measures=MEASURES,
    labels=LABELS,
    k=5,
    faults=faults,
    recipes=recipes,
    sample="our sample: 8 episodes",
    cases=lambda: shipped_episodes().parent,
)
