"""LoCoMo (arXiv 2402.17753): questions about what two people told each other over months, by stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

from pytest_memfail.core import (
    DATE_LOST,
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
    UsageError,
)
from pytest_memfail.suites.locomo.faults import check, faults_of
from pytest_memfail.suites.locomo.files import CATEGORIES, NAME, Errata, Use
from pytest_memfail.suites.locomo.kinds import ANSWERS, LENIENT, STRICT, TRAP
from pytest_memfail.suites.locomo.measures import MEASURES
from pytest_memfail.suites.locomo.plan import OF_SMALL, SMALL, Settings, User, filled
from pytest_memfail.suites.published import Published
from pytest_memfail.suites.shipped import shipped_sample
from pytest_memfail.suites.turns import KINDS

__all__ = ["SUITE", "shipped_conversations"]

SAMPLE: Final = "conversations.json"
"""The file of our own conversations, or of some of your own in the same format."""
SOURCE: Final = Source(
    url="https://github.com/snap-research/locomo",
    licence="CC BY-NC 4.0",
    files={"ten": ("locomo10.json",), OURS: (SAMPLE,)},
    size="10 conversations",
)
_STAGES: Final = (NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED, REASONING_ERROR)
_MEANINGS: Final = {
    1: "several turns answer it together",
    2: "when something was",
    3: "an inference from what was said and what everybody knows",
    4: "one turn answers it",
    5: "never said, or said of the other person: only its answer is judged",
}
PARTS: Final = tuple(
    TaskPart(name, f"category {number}: {_MEANINGS[number]}", _STAGES if number < len(CATEGORIES) else _STAGES[-1:])
    for number, name in CATEGORIES.items()
)
LABELS: Final = {
    DATE_LOST: "a turn is stored or shown, but neither its time nor its text says when it was, and the answer needs that",
    TRAP: "an answer to what was never said gives what a reader is tempted to say",
}
OPTIONS: Final = {
    "user": "who is stored as the user: a (speaker_a, the default), b, or both",
    "grading": f"which criteria decide if an answer is right: {STRICT} (the default) or {LENIENT}; measures show both",
    "errata": "the file of audited errors (errors.json of dial481/locomo-audit)",
    "errors": "what becomes of questions with an audited error: correct (the default) or exclude",
}


def shipped_conversations() -> Path:
    """Return the file of our own conversations, from an installed wheel or the top level of a checkout.

    Raises `UsageError` if it is missing.
    """
    return shipped_sample(NAME) / SAMPLE


def load(request: SuiteRequest) -> Sequence[Task]:
    """Return the task, or `locomo.small` where it is named, from the file in the folder or from our own conversations.

    Raises `UsageError` for a missing file or a wrong setting, `RowError` for the first fault.
    """
    path, variant, licence = FILES.to_load(request)
    settings = _settings(request.options)
    rows, errors, _, sha = check(path, warn=False)
    if errors:
        raise errors[0]
    is_small = [name == SMALL or name.startswith(f"{SMALL}.") for name in request.named]
    if any(is_small) and not any(row.value.sample_id in OF_SMALL for row in rows):
        raise UsageError(f"{SMALL} has questions of {SOURCE.files['ten'][0]} alone, and {path} is another file")
    empty = Task(
        name=NAME,
        targets=_STAGES,
        stores=(),
        evidence={},
        licence=licence,
        data_hash=settings.errata.hashed(sha),
        variant=variant,
        note=settings.errata.note,
    )
    names = [*[NAME] * (not is_small or not all(is_small)), *[SMALL] * any(is_small)]
    return [filled(replace(empty, name=name), rows, path, settings) for name in names]


def _settings(options: Mapping[str, str]) -> Settings:
    use = _choice(options, "errors", get_args(Use))
    file = options.get("errata")
    if file is None and "errors" in options:
        raise UsageError(f"--memfail-suite-option: {NAME}.errors needs {NAME}.errata=FILE")
    errata = Errata() if file is None else Errata.read(Path(file).expanduser(), use)
    is_lenient = _choice(options, "grading", (STRICT, LENIENT)) == LENIENT
    return Settings(_choice(options, "user", get_args(User)), is_lenient, errata)


def _choice(options: Mapping[str, str], name: str, known: Sequence[Any]) -> Any:
    given = options.get(name, known[0])
    if given not in known:
        raise UsageError(f"--memfail-suite-option: {NAME}.{name}: got {given!r}, expected one of {', '.join(known)}")
    return given


def faults(folder: Path) -> Iterator[SuiteFault]:
    """Yield the faults of all files of the suite in a folder.

    Raises `UsageError` if it has none.
    """
    yield from faults_of(FILES.present(folder))


FILES: Final = Published(NAME, SOURCE, "conversations", shipped_conversations)
SUITE: Final = Suite(
    name=NAME,
    source=SOURCE,
    load=load,
    parts={NAME: PARTS, SMALL: PARTS},
    kinds=KINDS,
    answers=ANSWERS,
    measures=MEASURES,
    labels=LABELS,
    k=10,
    faults=faults,
    options=OPTIONS,
    cases=lambda: shipped_conversations().parent,
    sample="our sample: 2 pairs of people, 13 sessions and 64 questions",
)
