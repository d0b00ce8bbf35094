"""Check a user's own cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pytest_memfail.core import RowError
from pytest_memfail.suites.custom import misplaced, read_custom
from pytest_memfail.suites.haystacks import HaystackFinder
from pytest_memfail.suites.memfail.validate.finding import Finding

DEFAULT_K: Final = 5
"""The k of a run if neither the run nor the case sets it."""


def case_findings(paths: Sequence[Path], folder: Path) -> list[Finding]:
    """Return the first fault of each file, and the cases whose store is so small that retrieval cannot fail."""
    haystacks = HaystackFinder(folder)
    faults: dict[tuple[str, int, str], Finding] = {}
    sound = []
    warnings: list[Finding] = []
    for path in paths:
        try:
            read_custom([path], folder, haystacks)
            sound.append(path)
            warnings += [Finding("warning", w.file, w.line, w.field, w.problem) for w in misplaced(path)]
        except RowError as error:
            faults[error.file, error.line, error.field] = _error(error)
    try:
        task = read_custom(sound, folder, haystacks)
    except RowError as error:  # two files with the same id
        return [*faults.values(), _error(error)]
    findings = [*faults.values(), *warnings]
    for store in task.stores if task is not None else ():
        (question,) = store.questions
        messages, k = sum(len(c.messages) for c in store.read_conversations()), question.k or DEFAULT_K
        if messages <= k:
            problem = f"the store has {messages} messages and k is {k}, so that retrieval cannot fail; name a haystack"
            findings.append(Finding("warning", question.file, question.line, "haystack", problem))
    return findings


def _error(error: RowError) -> Finding:
    return Finding("error", error.file, error.line, error.field, error.problem)
