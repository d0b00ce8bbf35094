"""Compare systems over several seeds: the mean of each, its interval over seeds, and paired differences."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_memfail.core import UsageError
from pytest_memfail.records import DATA, VARIANT, differences, options_differ
from pytest_memfail.results.runs import Loaded
from pytest_memfail.results.statistics import t_quantile
from pytest_memfail.results.summary import HELD, TOTAL, success


@dataclass(frozen=True, slots=True)
class SeedMean:
    """The mean over the seeds of a system, with its 95 % t interval."""

    mean: float
    low: float
    high: float
    n: int
    """Number of seeds."""


@dataclass(frozen=True, slots=True)
class SeedRow:
    """A system in a task."""

    task: str
    system: str
    success: SeedMean | None
    facts_held: SeedMean | None
    difference: SeedMean | None
    """Success minus that of the first system, by seed; None for the first system, or without common seeds."""


@dataclass(frozen=True, slots=True)
class OverSeeds:
    """Systems over seeds."""

    measure: str
    rows: tuple[SeedRow, ...]


def over_seeds(records: Sequence[Loaded]) -> OverSeeds:
    """Group records that differ in nothing but the seed, and compare the groups.

    Raises `UsageError` if two records of a group have the same seed, or the rows of two records differ.
    """
    groups: list[dict[int, Loaded]] = []
    for record in records:
        for name, now, _ in differences(record.header, records[0].header):
            if name.startswith((DATA, VARIANT)):
                raise UsageError(f"{record.path}: {name} is {now[:12]}, expected that of {records[0].path}")
        for group in groups:
            other = next(iter(group.values()))
            if all(name == "seed" for name, _, _ in options_differ(other.header, record.header)):
                if (same := group.get(record.header.seed)) is not None:
                    raise UsageError(
                        f"{record.path} and {same.path} are runs of the same system and seed; join shards with memfail merge, "
                        "or leave one out"
                    )
                group[record.header.seed] = record
                break
        else:
            groups.append({record.header.seed: record})
    answered = all(record.summary().answered for record in records)
    names = [next(iter(group.values())).header.system for group in groups]
    if len(set(names)) < len(names):
        names = [f"{name} ({i})" for i, name in enumerate(names, 1)]
    tasks = list(dict.fromkeys(tally.name for record in records for tally in record.summary().tasks))
    rows = []
    for task in [*tasks, *([TOTAL] if len(tasks) > 1 else [])]:
        first = _rates(groups[0], task, answered)[0]
        for i, group in enumerate(groups):
            rates, facts = _rates(group, task, answered)
            apart = [rate - first[seed] for seed, rate in rates.items() if seed in first]
            difference = seed_mean(apart) if i else None
            rows.append(SeedRow(task, names[i], seed_mean(list(rates.values())), seed_mean(facts), difference))
    return OverSeeds("correct" if answered else HELD, tuple(rows))


def _rates(group: dict[int, Loaded], task: str, answered: bool) -> tuple[dict[int, float], list[float]]:
    rates, facts = {}, []
    for seed, record in group.items():
        summary = record.summary()
        tally = summary.tally(task)
        if tally is None:
            continue
        if (rate := success(tally, answered=answered, protocol=record.protocol).value) is not None:
            rates[seed] = rate
        if tally.facts_held.value is not None:
            facts.append(tally.facts_held.value)
    return rates, facts


def seed_mean(values: Sequence[float]) -> SeedMean | None:
    """Return the mean with its 95 % t interval; the interval is the whole line for one value, None for none.

    >>> found = seed_mean([0.4, 0.5, 0.6])
    >>> round(found.low, 3), round(found.high, 3)
    (0.252, 0.748)
    """
    if not values:
        return None
    mean = statistics.fmean(values)
    if len(values) == 1:
        return SeedMean(mean, -math.inf, math.inf, 1)
    half = t_quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return SeedMean(mean, mean - half, mean + half, len(values))
