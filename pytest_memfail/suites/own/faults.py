"""Check a user's own cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pytest_memfail.core import Folders, RowError, SuiteFault
from pytest_memfail.suites.own.files import case_faults, misplaced, read_custom
from pytest_memfail.suites.own.finding import find_custom
from pytest_memfail.suites.own.haystacks import HaystackFinder
from pytest_memfail.suites.published import as_faults

MOST_FAULTS: Final = 20
"""The number of faults that are listed of one file of cases."""
DEFAULT_K: Final = 5
"""The k of a run if neither the run nor the case sets it."""


def faults(folder: Path) -> Iterator[SuiteFault]:
    """Yield the faults of each file of cases, and the cases whose store is so small that retrieval cannot fail."""
    haystacks = HaystackFinder(Folders(folder))
    errors: dict[tuple[str, int, str], RowError] = {}
    warnings: list[RowError] = []
    sound = []
    for path in find_custom([folder]):
        found = {(error.file, error.line, error.field): error for error in case_faults(path, haystacks)}
        errors |= dict(list(found.items())[:MOST_FAULTS])
        if more := list(found.values())[MOST_FAULTS:]:
            problem = f"got {len(found)} faults, of which {MOST_FAULTS} are listed; correct these and run it again"
            errors[more[0].file, more[0].line, "file"] = RowError(more[0].file, more[0].line, "file", problem)
        if not found:
            sound.append(path)
            warnings += misplaced(path)
    try:
        task = read_custom(sound, folder, haystacks)
    except RowError as error:  # two files with the same id
        yield from as_faults([*errors.values(), error])
        return
    for store in task.stores if task is not None else ():
        (question,) = store.questions
        messages, k = sum(len(c.messages) for c in store.read_conversations()), question.k or DEFAULT_K
        is_expected = any(not task.evidence[name].is_distractor for name in question.evidence) if task else False
        if messages <= k and is_expected:
            problem = f"the store has {messages} messages and k is {k}, so that retrieval cannot fail; name a haystack"
            warnings.append(RowError(question.file, question.line, "haystack", problem))
    yield from as_faults(errors.values(), warnings)
