"""Show how labelled cases are balanced: rows, facts, labels, styles and sizes, by split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_memfail.calibration.cases import Case


@dataclass(frozen=True, slots=True)
class Balance:
    """Counts over the cases of a split."""

    split: str
    cases: int
    rows: int
    authors: int
    domains: int
    tasks: Counter[str]
    """Facts by task."""
    labels: Counter[str]
    styles: Counter[str]
    """Facts by style; empty for cases without one."""
    several: int
    """Facts with more than one defensible label."""
    with_details: int
    """Rows that list wordings."""
    named: int
    """Facts about somebody other than the user."""
    entries: tuple[int, int, int]
    """Entries in the smallest, the median and the largest store."""

    @property
    def facts(self) -> int:
        """Return the number of labelled facts."""
        return sum(self.labels.values())


def balance(cases: Sequence[Case]) -> list[Balance]:
    """Return the counts of each split, then of all cases."""
    splits = [split for split in ("train", "dev", "test") if any(case.split == split for case in cases)]
    found = [_of(split, [case for case in cases if case.split == split]) for split in splits]
    return [*found, _of("all", cases)] if len(found) != 1 else found


def _of(split: str, cases: Sequence[Case]) -> Balance:
    labels = [label for case in cases for label in case.labels]
    sizes = sorted(len(case.listing.memories) for case in cases)
    rows = {(case.task, case.row): bool(case.columns.get("evidence_details")) for case in cases}
    return Balance(
        split,
        cases=len(cases),
        rows=len(rows),
        authors=len({case.author for case in cases}),
        domains=len({case.domain for case in cases} - {""}),
        tasks=Counter(case.task for case in cases for _ in case.labels),
        labels=Counter(label.label for label in labels),
        styles=Counter(case.style for case in cases for _ in case.labels),
        several=sum(len(label.accepted) > 1 for label in labels),
        with_details=sum(rows.values()),
        named=sum(evidence.claim.owner is not None for case in cases for evidence in case.evidence),
        entries=(sizes[0], sizes[len(sizes) // 2], sizes[-1]),
    )
