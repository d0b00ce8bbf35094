"""MemoryAgentBench (arXiv 2507.05257): retrieval, learning, understanding and forgetting over long texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import (
    NOT_RETRIEVED,
    NOT_STORED,
    OURS,
    REASONING_ERROR,
    SUMMARY_ERROR,
    Source,
    Suite,
    SuiteFault,
    SuiteRequest,
    Task,
    TaskPart,
    UnknownNameError,
    UsageError,
)
from pytest_memfail.suites.mab.faults import check, faults_of
from pytest_memfail.suites.mab.files import (
    FORGETTING,
    LEARNING,
    NAME,
    RETRIEVAL,
    SIZES,
    SPLITS,
    TITLES,
    UNDERSTANDING,
    files_in,
    titles_in,
)
from pytest_memfail.suites.mab.kinds import ANSWERS, KINDS, STALE
from pytest_memfail.suites.mab.measures import MEASURES
from pytest_memfail.suites.mab.paper_layout import paper_tools
from pytest_memfail.suites.mab.plan import task_of
from pytest_memfail.suites.mab.titles import read_titles
from pytest_memfail.suites.shipped import shipped_sample

__all__ = ["SUITE", "shipped_rows"]

PATTERNS: Final = tuple(f"{place}{split}*" for split in SPLITS.values() for place in ("", "data/"))
LARGE: Final = "-4096"
"""Suffix of a variant with chunks of 4,096 tokens, which the paper uses for slow systems."""
SMALL: Final = 64
"""Tokens per chunk of our own sample; it is so short that a top k of larger chunks would show all of it."""
LEAST: Final = 16
"""The smallest chunk size that a user may set, in tokens."""
SOURCE: Final = Source(
    url="https://huggingface.co/datasets/ai-hyz/MemoryAgentBench",
    licence="MIT",
    files={"main": PATTERNS, "all": PATTERNS, f"main{LARGE}": PATTERNS, f"all{LARGE}": PATTERNS},
    size="27 rows",
)

NO_TITLES: Final = f"movie recommendation is left out: its files have no {TITLES} beside them"
_ANSWER: Final = (REASONING_ERROR,)
_STAGES: Final = (NOT_STORED, NOT_RETRIEVED, REASONING_ERROR)
PARTS: Final = {
    RETRIEVAL: (
        TaskPart("ruler_qa1", "a question about one of many documents", _STAGES, is_proxy=True),
        TaskPart("ruler_qa2", "a question about several of many documents", _STAGES, is_proxy=True),
        TaskPart("longmemeval", "a question about chats of many days", _STAGES),
        *(
            TaskPart(f"eventqa_{size}", "what happens next in a novel", _STAGES, is_proxy=True)
            for size in ("full", "65536", "131072")
        ),
    ),
    LEARNING: (
        *(
            TaskPart(name, "the label of a sentence, learned from examples; only its answer is judged", _ANSWER)
            for name in ("banking77", "clinic150", "nlu", "trec_coarse", "trec_fine")
        ),
        TaskPart("recommendation", "titles for a user, learned from dialogues; only its answer is judged", _ANSWER),
    ),
    UNDERSTANDING: (
        TaskPart("summary", "a summary of a novel; only its answer is judged", _ANSWER),
        TaskPart("detective", "a question about a detective novel", _STAGES, is_proxy=True),
    ),
    FORGETTING: (
        *(
            TaskPart(f"sh_{size}", "one fact that a later one replaces", (NOT_RETRIEVED, SUMMARY_ERROR, *_STAGES[2:]))
            for size in SIZES
        ),
        *(TaskPart(f"mh_{size}", "a chain of facts that changed", _STAGES, is_proxy=True) for size in SIZES),
    ),
}
LABELS: Final = {STALE: "only a replaced value was found, or it appeared to be the newest, or it was the answer"}


def shipped_rows() -> Path:
    """Return the folder of our own rows, from an installed wheel or the top level of a checkout.

    Raises `UsageError` if it is missing.
    """
    return shipped_sample(NAME)


def load(request: SuiteRequest) -> Sequence[Task]:
    """Return a task for each split that has rows, from the files in the folder, or from our own rows if no folder is given.

    Raises `UsageError` if there is no file, `RowError` for the first fault.
    """
    if request.variant not in ("", OURS, *SOURCE.files):
        raise UnknownNameError(f"variant of {NAME}", request.variant, (*SOURCE.files, OURS))
    is_paper = request.protocol == "paper"
    if is_paper:
        paper_tools()  # before anything is read
    is_ours = request.folder is None and request.variant in ("", OURS)
    if not is_ours and (request.folder is None or not files_in(request.folder)):
        where = f"in {request.folder}" if request.folder else "without --memfail-data DIR"
        raise UsageError(
            f"no file of {NAME} {where}; expected {', '.join(f'{split}*.json' for split in SPLITS.values())} or the same as "
            f".parquet ({SOURCE.licence}, not shipped) from {SOURCE.url}"
        )
    paths = files_in(shipped_rows() if request.folder is None else request.folder)
    origins, errors, _, sha = check(paths, warn=False)
    if errors:
        raise errors[0]
    table = titles_in(paths)
    titles = read_titles(table) if table is not None else None
    found = [o for o in origins if o.value.family and (titles is not None or o.value.family.answer != "mab_titles")]
    note = "" if len(found) == len(origins) or titles is not None else NO_TITLES
    variant = OURS if is_ours or request.variant == OURS else request.variant or next(iter(SOURCE.files))
    if variant.startswith("main"):
        of_paper = [o for o in found if o.value.family and o.value.family.in_paper]
        found, variant = (of_paper, variant) if of_paper else (found, variant.replace("main", "all"))
    if not found:
        raise UsageError(
            f"{', '.join(map(str, paths))}: no row of a source that is run; {note or 'see memfail validate'}"
        )
    chunk = SMALL if is_ours else int(LARGE[1:]) if variant.endswith(LARGE) else None
    if (given := request.options.get("chunk")) is not None:
        chunk = _tokens(given)
    by_task = {name: [o for o in found if o.value.family and o.value.family.task == name] for name in SPLITS}
    tasks = [
        task_of(name, rows, sha, variant, chunk, SOURCE.licence, titles, is_paper=is_paper)
        for name, rows in by_task.items()
        if rows
    ]
    return [replace(tasks[0], note=note), *tasks[1:]]


def _tokens(given: str) -> int:
    if not given.isdecimal() or int(given) < LEAST:
        raise UsageError(
            f"--memfail-suite-option: {NAME}.chunk: got {given!r}, expected a number of tokens, {LEAST} or more"
        )
    return int(given)


def recipes() -> Mapping[str, Any]:
    """Return the rows that `memfail generate` makes."""
    from pytest_memfail.suites.mab.recipe import RECIPES

    return RECIPES


def faults(folder: Path) -> Iterator[SuiteFault]:
    """Yield the faults of all files of the suite in a folder.

    Raises `UsageError` if it has none.
    """
    paths = files_in(folder)
    if not paths:
        names = ", ".join(f"{split}*" for split in SPLITS.values())
        raise UsageError(f"no file of {NAME} in {folder}; expected one of {names} from {SOURCE.url}")
    yield from faults_of(paths)


SUITE: Final = Suite(
    name=NAME,
    source=SOURCE,
    load=load,
    parts=PARTS,
    kinds=KINDS,
    answers=ANSWERS,
    measures=MEASURES,
    labels=LABELS,
    k=10,
    faults=faults,
    recipes=recipes,
    options={"chunk": "tokens of a chunk, for all texts"},
    cases=shipped_rows,
    sample="our sample: 60 numbered facts, 12 documents, 3 stories, a chat history, 60 sentences and 20 dialogues",
)
