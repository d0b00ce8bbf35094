"""Two runs on the same questions, question by question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_memfail.core import CORRECT, FAILURES, REASONING_ERROR, UNGRADED
from pytest_memfail.results.baseline import Entry, Key
from pytest_memfail.results.statistics import Paired, correct_together, mcnemar


@dataclass(frozen=True, slots=True)
class Flip:
    """A question whose verdict is another than before."""

    id: str
    task: str
    old: str
    new: str
    change: str
    """`worse` (it fails now), `better` (it no longer does), `other` (it fails otherwise, or is not counted)."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed."""

    total: Paired
    tasks: tuple[Paired, ...]
    """With Holm's correction over the tasks."""
    verdicts: Mapping[str, tuple[Paired, ...]]
    """By task: how many questions got each verdict (`worse`) and lost it (`better`), two-sided."""
    flips: tuple[Flip, ...]
    added: int
    """Questions that the earlier run did not ask."""
    added_failing: int
    missing: int
    """Questions that only the earlier run asked."""
    uncounted: int
    """Asked by both, without a result that can be compared: an error, or left open, in one of them."""

    @property
    def worse(self) -> tuple[Flip, ...]:
        """The regressions."""
        return tuple(flip for flip in self.flips if flip.change == "worse")

    @property
    def better(self) -> tuple[Flip, ...]:
        """The fixes."""
        return tuple(flip for flip in self.flips if flip.change == "better")

    def of(self, task: str | None) -> Paired | None:
        """The pairs of a task, or of all."""
        return self.total if task is None else next((pair for pair in self.tasks if pair.name == task), None)


def change_of(old: Entry, new: Entry, protocol: str) -> str | None:
    """How a question fares against before: `worse`, `better` or `same`; None where the two cannot be compared.

    A vacuous pass is no result, except in the published reading. An answer that was not judged in one of the runs says
    nothing about a reasoning error in the other.
    """
    for entry, other in ((old, new), (new, old)):
        if entry.vacuous and protocol != "paper":
            return None
        if not (entry.failed or entry.held):
            return None
        if entry.verdict == UNGRADED and other.verdict == REASONING_ERROR:
            return None
    if old.failed == new.failed:
        return "same"
    return "worse" if new.failed else "better"


def compare(before: Mapping[Key, Entry], now: Mapping[Key, Entry], tasks: Sequence[str], protocol: str) -> Comparison:
    """Compare an earlier run with this one, tasks in the given order."""
    pairs = [(before[key], entry) for key, entry in now.items() if key in before]
    changes = [(old, new, change_of(old, new, protocol)) for old, new in pairs]
    new = [entry for key, entry in now.items() if key not in before]
    names = [name for name in tasks if any(old.task == name for old, _, change in changes if change is not None)]
    return Comparison(
        total=_paired("all", [change for _, _, change in changes]),
        tasks=tuple(
            correct_together([_paired(name, [c for old, _, c in changes if old.task == name]) for name in names])
        ),
        verdicts={
            name: _verdicts([(o, n) for o, n, c in changes if o.task == name and c is not None]) for name in names
        },
        flips=tuple(
            Flip(new.id, new.task, shown(old), shown(new), change if change in ("worse", "better") else "other")
            for old, new, change in changes
            if shown(old) != shown(new)
        ),
        added=len(new),
        added_failing=sum(entry.failed for entry in new),
        missing=sum(key not in now for key in before),
        uncounted=sum(change is None and not _both_vacuous(old, new) for old, new, change in changes),
    )


def shown(entry: Entry) -> str:
    """The verdict as a reader of flips needs it.

    >>> shown(Entry("i", "t", "s", "q", 5, "correct", None, True))
    'vacuous'
    """
    if entry.vacuous:
        return "vacuous"
    if entry.verdict == UNGRADED and entry.memory_held:
        return "memory held"
    return entry.verdict


def _both_vacuous(old: Entry, new: Entry) -> bool:
    return old.vacuous and new.vacuous


def _paired(name: str, changes: Iterable[str | None]) -> Paired:
    counted = [change for change in changes if change is not None]
    worse, better = counted.count("worse"), counted.count("better")
    return Paired(name, len(counted), worse, better, mcnemar(worse, better, one_sided=True))


def _verdicts(pairs: Sequence[tuple[Entry, Entry]]) -> tuple[Paired, ...]:
    found = []
    for verdict in (CORRECT, *FAILURES):
        gained = sum(new.verdict == verdict != old.verdict for old, new in pairs)
        lost = sum(old.verdict == verdict != new.verdict for old, new in pairs)
        if gained or lost:
            found.append(Paired(verdict, len(pairs), gained, lost, mcnemar(gained, lost)))
    return tuple(found)
