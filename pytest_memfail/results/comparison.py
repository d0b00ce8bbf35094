"""Two runs on the same questions, question by question.

Questions of one row (the three of a persona's essay, say) and one question at several k stand and fall together: counts are
of questions, p-values take a row as a whole (see `by_row`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_memfail.core import CORRECT, FAILURES, REASONING_ERROR, UNGRADED, VACUOUS
from pytest_memfail.results.baseline import Entry, Key
from pytest_memfail.results.statistics import Paired, by_row, correct_together


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
    rows: int = 0
    """Rows with a question that counts, and below how many of them got worse or better on the whole."""
    rows_worse: int = 0
    rows_better: int = 0

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
    place = {task: i for i, task in enumerate(tasks)}
    # in an order of their own: questions come as they end, and otherwise under xdist than without
    keys = sorted(now.keys() & before.keys(), key=lambda key: (place.get(key[0], len(place)), key))
    pairs = [(before[key], now[key]) for key in keys]
    changes = [(old, new, change_of(old, new, protocol)) for old, new in pairs]
    counted = [(new, change) for _, new, change in changes if change is not None]
    new = [entry for key, entry in now.items() if key not in before]
    names = [name for name in tasks if any(entry.task == name for entry, _ in counted)]
    rows = _balances(counted)
    return Comparison(
        total=_paired("all", counted),
        tasks=tuple(
            correct_together([_paired(name, [each for each in counted if each[0].task == name]) for name in names])
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
        rows=len(rows),
        rows_worse=sum(balance > 0 for balance in rows),
        rows_better=sum(balance < 0 for balance in rows),
    )


def shown(entry: Entry) -> str:
    """The verdict as a reader of flips needs it.

    >>> shown(Entry("i", "t", "s", "q", 5, "correct", None, True))
    'vacuous'
    """
    if entry.vacuous:
        return VACUOUS
    if entry.verdict == UNGRADED and entry.memory_held:
        return "memory held"
    return entry.verdict


def _both_vacuous(old: Entry, new: Entry) -> bool:
    return old.vacuous and new.vacuous


def _paired(name: str, counted: Sequence[tuple[Entry, str]], *, one_sided: bool = True) -> Paired:
    changes = [change for _, change in counted]
    p = by_row(_balances(counted), one_sided=one_sided)
    return Paired(name, len(counted), changes.count("worse"), changes.count("better"), p)


def _balances(counted: Iterable[tuple[Entry, str]]) -> list[int]:
    """Of each row, how many of its questions got worse less how many got better."""
    balance: Counter[tuple[str, ...]] = Counter()
    for entry, change in counted:
        balance[entry.cluster] += {"worse": 1, "better": -1}.get(change, 0)
    return list(balance.values())


def _verdicts(pairs: Sequence[tuple[Entry, Entry]]) -> tuple[Paired, ...]:
    found = []
    for verdict in (CORRECT, *FAILURES):
        gained_or_lost = {(False, True): "worse", (True, False): "better"}
        changes = [
            (new, gained_or_lost.get((old.verdict == verdict, new.verdict == verdict), "same")) for old, new in pairs
        ]
        pair = _paired(verdict, changes, one_sided=False)
        if pair.worse or pair.better:
            found.append(pair)
    return tuple(found)
