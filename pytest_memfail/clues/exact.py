"""Exact tests: is something more frequent among lost facts than among held ones, within each task?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, exp, floor, lgamma
from typing import Protocol, TypeVar

EPSILON = 1e-9


class Unit(Protocol):
    """What is counted: a fact or a conversation."""

    @property
    def stratum(self) -> Hashable:
        """What it is compared within; tasks differ in everything."""

    @property
    def cluster(self) -> Hashable:
        """Units of the same cluster share what decides them."""

    @property
    def is_lost(self) -> bool: ...


U = TypeVar("U", bound=Unit)


@dataclass(frozen=True, slots=True)
class Table:
    """How many lost and held units have a feature."""

    lost_with: int
    lost: int
    held_with: int
    held: int
    p: float
    """One-sided: the chance that at least as many of the lost have it."""

    @property
    def covers(self) -> float:
        """The share of the lost that has it."""
        return self.lost_with / self.lost if self.lost else 0.0

    @property
    def rate(self) -> float:
        """The share of units with it that is lost."""
        return self.lost_with / max(1, self.lost_with + self.held_with)

    @property
    def rate_else(self) -> float:
        """The share of the other units that is lost."""
        return (self.lost - self.lost_with) / max(1, self.lost + self.held - self.lost_with - self.held_with)


def compare(units: Iterable[U], has: Callable[[U], bool]) -> Table:
    """Count lost and held units with a feature, and test it within each stratum.

    Units of a cluster count as one, so that a conversation with many facts weighs as much as any other.
    """
    clusters: dict[tuple[Hashable, Hashable], list[tuple[bool, bool]]] = defaultdict(list)
    for unit in units:
        clusters[unit.stratum, unit.cluster].append((unit.is_lost, has(unit)))
    strata: dict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    counts = [0, 0, 0, 0]
    for (stratum, _), found in clusters.items():
        for is_lost, has_it in found:
            strata[stratum][2 * (not is_lost) + (not has_it)] += 1 / len(found)
            counts[2 * (not is_lost) + (not has_it)] += 1
    p = at_least([_rounded(*cells) for cells in strata.values()])
    lost_with, lost_without, held_with, held_without = counts
    return Table(lost_with, lost_with + lost_without, held_with, held_with + held_without, p)


def _rounded(lost_with: float, lost_without: float, held_with: float, held_without: float) -> tuple[int, int, int, int]:
    """Return whole counts of clusters (both, lost, with, all), rounded towards no effect."""
    a, b = floor(lost_with + EPSILON), ceil(lost_without - EPSILON)
    c, d = ceil(held_with - EPSILON), floor(held_without + EPSILON)
    return a, a + b, a + c, a + b + c + d


def at_least(strata: Sequence[tuple[int, int, int, int]]) -> float:
    """Return the chance that at least as many lost units have a feature, given the margins of each stratum.

    A stratum is (both, lost, with the feature, all). The sums of its hypergeometric distributions are exact, as in the
    conditional test of Cochran, Mantel and Haenszel.
    """
    observed, total = 0, [1.0]
    for both, lost, featured, n in strata:
        least, most = max(0, lost + featured - n), min(lost, featured)
        observed += both - least
        if most > least:
            total = _convolved(total, _hypergeometric(least, most, lost, featured, n))
    return min(1.0, sum(total[max(0, observed) :]))


@cache
def _hypergeometric(least: int, most: int, lost: int, featured: int, n: int) -> list[float]:
    whole = _log_ways(n, lost)
    return [exp(_log_ways(featured, i) + _log_ways(n - featured, lost - i) - whole) for i in range(least, most + 1)]


def _convolved(one: Sequence[float], other: Sequence[float]) -> list[float]:
    if len(one) == 1:
        return [one[0] * chance for chance in other]
    import numpy as np

    return [float(chance) for chance in np.convolve(one, other)]


def _log_ways(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def heads(count: int, n: int, chance: float = 0.5) -> float:
    """Return the chance of at least this many of n, each with the given chance."""
    if not n or chance <= 0:
        return 1.0 if not count else 0.0
    if chance >= 1:
        return 1.0
    from math import log

    return min(
        1.0,
        sum(exp(_log_ways(n, i) + i * log(chance) + (n - i) * log(1 - chance)) for i in range(count, n + 1)),
    )


@dataclass(frozen=True, slots=True)
class Split:
    """The limit of an ordered feature that parts the lost from the held best."""

    limit: float
    above: bool
    """Whether the lost are above the limit, or at most at it."""
    table: Table
    tries: int
    """How many limits there were to choose from, in both directions."""

    @property
    def youden(self) -> float:
        """The share of the lost beyond the limit, less that of the held."""
        table = self.table
        return table.covers - (table.held_with / table.held if table.held else 0.0)


def best_split(units: Sequence[U], value: Callable[[U], float]) -> Split | None:
    """Return the limit of a feature that parts the lost from the held best; None if there is only one value."""
    valued = sorted((value(unit), unit.is_lost) for unit in units)
    lost = sum(is_lost for _, is_lost in valued)
    held = len(valued) - lost
    if not lost or not held:
        return None
    best, limit, above, tries = 0.0, 0.0, False, 0
    lost_below = held_below = 0
    for i, (at, is_lost) in enumerate(valued[:-1]):
        lost_below, held_below = lost_below + is_lost, held_below + (not is_lost)
        if valued[i + 1][0] > at:
            tries += 2
            difference = lost_below / lost - held_below / held
            if abs(difference) > best:
                best, limit, above = abs(difference), at, difference < 0
    if not tries:
        return None
    table = compare(units, lambda unit: (value(unit) > limit) == above)
    return Split(limit, above, table, tries)
