"""One verdict from several: what a question came to that was asked more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from pytest_memfail.core import CORRECT, FAILURES, UNGRADED, VACUOUS, Verdict

WORST_FIRST: Final = (*FAILURES, UNGRADED, VACUOUS, CORRECT)


def came_out(verdict: Verdict) -> str:
    """The name of a verdict, a vacuous pass told from one that means something."""
    return VACUOUS if verdict.vacuous else verdict.name


def majority(names: Sequence[str]) -> int:
    """Where the first verdict stands that the majority agrees on; ties go to the worse.

    First whether it failed, then how: two ways of failing are no reason to call a question correct that failed more often
    than not.

    >>> majority(["correct", "correct", "not_stored", "summary_error", "summary_error"])
    3
    """
    failed = [name for name in names if name in FAILURES]
    counts = Counter(failed if 2 * len(failed) >= len(names) else [name for name in names if name not in FAILURES])
    return names.index(max(counts, key=lambda name: (counts[name], -WORST_FIRST.index(name))))
