"""A test of one thing that failures may have in common, and when it is strong enough to name a cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_memfail.clues.cases import Case
from pytest_memfail.clues.exact import Split, Table, compare
from pytest_memfail.core import NOT_RETRIEVED, NOT_STORED, SUMMARY_ERROR

FEWEST: Final = 5
"""Nothing is said of fewer cases."""
MOSTLY: Final = 0.5
"""A cause explains at least this share of the failures, and loses at least this share of the facts that it concerns."""
TIMES_MORE: Final = 3
"""How many times more often facts that a cause concerns are lost than others."""
FITS: Final = 0.9
"""The least share of a pattern's conversations that must fit it."""
NEARLY_NONE: Final = 0.02
"""Smaller shares of a store are not named, nor those that leave less."""
BEFORE_SEARCH: Final = "not_stored or summary_error"
"""Which of both it is depends on how much of a text is left, not on the cause."""
LOST: Final = {
    NOT_STORED: "facts not stored",
    SUMMARY_ERROR: "facts with summary errors",
    BEFORE_SEARCH: "facts lost before the search",
    NOT_RETRIEVED: "facts not retrieved",
}


@dataclass(frozen=True)
class Test:
    """What failures may have in common, and how likely that is by chance."""

    __test__ = False  # no test of pytest
    name: str
    verdict: str
    p: float
    """Already multiplied by the number of variants that were tried."""
    text: str = ""
    cases: Sequence[Case] = ()
    """The lost facts that it explains."""
    lost: int = 0
    is_vague: bool = False
    """Whether a more specific clue about the same facts says more."""
    seen: int = 0
    """Cases that show it, if these are conversations or questions; the lost facts that it explains must be enough too."""

    @property
    def is_strong(self) -> bool:
        """Whether it may name a cause: what is seen without a loss explains none."""
        return bool(self.text) and min(self.seen or FEWEST, len(self.cases)) >= FEWEST


def is_strong(table: Table, covers: float = MOSTLY, rate: float = MOSTLY) -> bool:
    """Return whether enough of the lost facts have a feature, and enough of the facts with it are lost but few of the others."""
    return (
        table.lost_with >= FEWEST
        and table.covers >= covers
        and table.rate >= rate
        and table.rate >= TIMES_MORE * table.rate_else
    )


def fact_test(
    name: str,
    verdict: str,
    cases: Sequence[Case],
    has: Callable[[Case], bool],
    cause: str,
    *,
    tries: int = 1,
    fits: bool = True,
    covers: float = MOSTLY,
    rate: float = MOSTLY,
    is_vague: bool = False,
) -> Test:
    """Return the test of a feature of facts; without `fits`, or if it is weak, it has no text."""
    table = compare(cases, has)
    p = min(1.0, table.p * tries)
    if not (fits and is_strong(table, covers, rate)):
        return Test(name, verdict, p)
    explained = [case for case in cases if case.is_lost and has(case)]
    return Test(name, verdict, p, f"{cause}: {said(table, verdict)}", explained, table.lost, is_vague)


def said(table: Table, verdict: str) -> str:
    """Return how many of the lost facts a cause explains, and how many facts that are held it concerns too."""
    every = "all" if table.lost_with == table.lost else f"{table.lost_with} of"
    return f"{every} {table.lost} {LOST[verdict]}, and {table.held_with} of the {table.held} held"


def best(splits: Iterable[tuple[str, Split | None]]) -> tuple[str, Split, int] | None:
    """Return the split that parts best, of equal ones that with the smallest limit, with its name and how many limits were tried."""
    found = [(name, split) for name, split in splits if split is not None]
    if not found:
        return None
    name, split = max(found, key=lambda one: (one[1].youden, -one[1].limit))
    return name, split, sum(one.tries for _, one in found)


def is_share(split: Split) -> bool:
    """Return whether a limit is a share to name: next to none or all of a store, the number of entries says more."""
    return NEARLY_NONE < split.limit < 1 - NEARLY_NONE


def share(value: float) -> str:
    """Return a share in words if it is a common one, else in per cent.

    >>> share(0.199), share(0.27)
    ('fifth', '27 %')
    """
    words = {1 / 2: "half", 1 / 3: "third", 1 / 4: "quarter", 1 / 5: "fifth", 1 / 10: "tenth", 2 / 3: "two thirds"}
    near = min(words, key=lambda one: abs(one - value))
    return words[near] if abs(near - value) < 0.02 else f"{100 * value:.0f} %"
