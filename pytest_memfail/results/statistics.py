"""Compute intervals of rates (paper, figure 1: 95 % Wilson score intervals), and test two runs on the same questions."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from math import exp, lgamma, log
from statistics import NormalDist
from typing import Final

from pytest_memfail.core import holm
from pytest_memfail.records import Paired, Rate

RESAMPLES: Final = 1000
"""The number of bootstrap draws; a fifth of it for many clusters, for which a measure takes long."""
MANY_CLUSTERS: Final = 1000
FEWEST_CLUSTERS: Final = 5
WANTED: Final = 0.8
"""The share of runs that must notice a drop for it to be detectable."""
OFTEN: Final = 0.9
"""The minimum share of draws that must have a value."""


def wilson(count: int, n: int, confidence: float = 0.95) -> Rate:
    """Return the rate of count out of n with its Wilson score interval; the interval is (0, 1) if n is 0.

    Raises `ValueError` unless 0 <= count <= n.
    """
    if not 0 <= count <= n:
        raise ValueError(f"got {count} of {n}, expected 0 <= count <= n")
    return _wilson(count, n, n, confidence) if n else Rate(0, 0, 0.0, 1.0)


def _wilson(count: int, n: int, trials: float, confidence: float = 0.95) -> Rate:
    """Return the rate of count out of n with the interval for this many independent trials."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = count / n
    centre = share + z * z / (2 * trials)
    spread = z * ((share * (1 - share) + z * z / (4 * trials)) / trials) ** 0.5
    scale = 1 + z * z / trials
    return Rate(
        count,
        n,
        0.0 if count == 0 else max(0.0, (centre - spread) / scale),
        1.0 if count == n else min(1.0, (centre + spread) / scale),
    )


def clustered(clusters: Iterable[tuple[int, int]]) -> Rate:
    """Return the share of successes over clusters of (successes, trials), with an interval for clustered trials.

    The facts of a row depend on each other, so 300 facts of 100 rows say less than 300 facts of 300 rows. The interval is
    Wilson's for the effective number of trials: the number at which independent trials would vary as the clusters do, but
    at most all trials. If nothing varies, it is the number of clusters.
    """
    counts = [(count, n) for count, n in clusters if n]
    total, n = sum(count for count, _ in counts), sum(n for _, n in counts)
    if not n:
        return wilson(0, 0)
    share, m = total / n, len(counts)
    variance = sum((count - share * size) ** 2 for count, size in counts) / n**2
    effective = min(n, share * (1 - share) / variance) if variance else m
    return _wilson(total, n, max(effective, 1.0))


def mcnemar(worse: int, better: int, *, one_sided: bool = False) -> float:
    """Return p of the exact McNemar test: the chance of flips at least this uneven if both directions are equally likely.

    The one-sided test counts only a surplus of `worse`. A gate uses it, as a better run must pass.

    The test assumes that questions flip independently. Questions of one row do not: see `by_row`.
    """
    if min(worse, better) < 0:
        raise ValueError(f"got {worse} worse and {better} better, expected counts")
    if worse + better == 0:
        return 1.0
    n = worse + better
    tail = _ways_of_at_least(worse if one_sided else max(worse, better), n)
    # the two tails are equally likely
    p = tail / (1 << n)
    return p if one_sided else min(1.0, 2 * p)


def _ways_of_at_least(heads: int, n: int) -> int:
    """Return how many of the 2**n outcomes of n coins have at least this many heads."""
    ways = total = 1
    for tails in range(n - heads):
        ways = ways * (n - tails) // (tails + 1)
        total += ways
    return total


def by_row(balances: Iterable[int], *, one_sided: bool = False) -> float:
    """Return p of the exact McNemar test for questions that share rows; a balance is a row's regressions minus its fixes.

    Questions of one row are answered from the same stored conversation, and one lost essay flips all of them: they are not
    independent evidence. The test therefore flips whole rows: p is the chance of at least this sum of balances (two-sided:
    a sum at least this far from 0) if the sign of each balance is a fair coin. If no row has more than one flip, this is
    `mcnemar`. The test assumes that rows flip independently.
    """
    found = [balance for balance in balances if balance]
    worse = sum(balance for balance in found if balance > 0)
    sizes = Counter(map(abs, found))
    if not set(sizes) - {1}:
        return mcnemar(worse, len(found) - worse, one_sided=one_sided)
    # One integer holds slots of n + 1 bits. Slot w, from 0 on, counts the ways (of 2**n) in which the rows flip so that w
    # questions are worse. Each row adds the ways in which it got worse to those in which it got better.
    n, slot, ways = len(found), len(found) + 1, 1
    for size, rows in sizes.items():
        for _ in range(rows):
            ways += ways << size * slot
    # the distribution of the number of questions worse is symmetric: both ends are equally likely
    end = worse if one_sided else max(worse, sum(map(abs, found)) - worse)
    tail = (ways >> end * slot) % ((1 << slot) - 1)  # the sum of the slots, as casting out nines gives that of digits
    p = tail / (1 << n)
    return p if one_sided else min(1.0, 2 * p)


def correct_together(pairs: Sequence[Paired]) -> list[Paired]:
    """Return the pairs with Holm's correction over all of them."""
    return [replace(pair, corrected=p) for pair, p in zip(pairs, holm([pair.p for pair in pairs]), strict=True)]


def bootstrap(n: int, statistic: Callable[[Sequence[int]], float | None], *, seed: int) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of a statistic of n things, by drawing n of them with replacement.

    `statistic` takes the indices drawn and returns None if it has no value for them. Returns None for fewer than
    `FEWEST_CLUSTERS` things, and if the statistic often has no value: such an interval would mean nothing.
    """
    draw = random.Random(seed)
    times = RESAMPLES if n <= MANY_CLUSTERS else RESAMPLES // 5
    if n < FEWEST_CLUSTERS:
        return None
    found = sorted(v for _ in range(times) if (v := statistic(draw.choices(range(n), k=n))) is not None)
    if len(found) < OFTEN * times:
        return None
    return found[int(0.025 * len(found))], found[math.ceil(0.975 * len(found)) - 1]


def power(n: int, drop: float, *, noise: float = 0.0, alpha: float = 0.05) -> float:
    """Return the chance that p of the one-sided test is below alpha on n paired questions.

    `drop` is the share of all questions that truly get worse. In addition, each question flips in either direction with
    the chance `noise`. Questions are assumed to be independent, as in `mcnemar`.
    """
    up = drop + noise
    if not (drop >= 0 and noise >= 0 and up + noise <= 1):
        raise ValueError(f"got a drop of {drop} and noise of {noise}, expected shares that fit into 1")
    if up == 0:
        return 0.0
    flipped, worse = up + noise, up / (up + noise)
    total, fires, before = 0.0, 0.0, 1
    for flips, critical in enumerate(_critical(n, alpha)):
        # fires: the chance that at least `critical` of the flips are for the worse
        if flips:
            fires += worse * _binomial(before - 1, flips - 1, worse)
        fires -= sum(_binomial(number, flips, worse) for number in range(before, critical))
        before = critical
        total += _binomial(flips, n, flipped) * fires
    return total


@cache
def _critical(n: int, alpha: float) -> tuple[int, ...]:
    """Return for 0 to n flips the least number of them for the worse with which p of the one-sided test is below alpha."""
    least, found = 1, [1]
    # the number of outcomes with at least `least` flips for the worse, and with exactly one fewer
    tail, below = 0, 1
    for flips in range(1, n + 1):
        tail, below = 2 * tail + below, below * flips // (flips + 1 - least)
        while tail and tail / (1 << flips) >= alpha:
            below = below * (flips + 1 - least) // least
            tail -= below
            least += 1
        found.append(least)
    return tuple(found)


def _binomial(count: int, n: int, chance: float) -> float:
    """Return the chance of `count` successes in n trials."""
    if chance in (0, 1):
        return float(count == n * chance)
    ways = lgamma(n + 1) - lgamma(count + 1) - lgamma(n - count + 1)
    return exp(ways + count * log(chance) + (n - count) * log(1 - chance))


def smallest_detectable(n: int, *, noise: float = 0.0, alpha: float = 0.05, passed: float = 1.0) -> float | None:
    """Return the smallest true drop, as a share of n paired questions, found in four of five runs; None if none is.

    Only the share that `passed` before can drop, and flip to the worse by chance.
    """
    low, high = 0.0, min(1.0 - 2 * noise, passed - noise)
    if high <= 0 or power(n, high, noise=noise, alpha=alpha) < WANTED:
        return None
    while high - low > 0.0005:
        middle = (low + high) / 2
        if power(n, middle, noise=noise, alpha=alpha) < WANTED:
            low = middle
        else:
            high = middle
    return high


def t_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t distribution with this many degrees of freedom, to six digits.

    >>> round(t_quantile(2), 4)
    4.3027
    """

    def tail(t: float) -> float:
        # substituting t = sqrt(freedom) * tan(angle) makes the density a power of a cosine on a finite interval
        start, steps = math.atan(t / math.sqrt(freedom)), 2000
        width = (math.pi / 2 - start) / steps
        total = sum(
            (1 if i in (0, steps) else 4 if i % 2 else 2) * math.cos(start + i * width) ** (freedom - 1)
            for i in range(steps + 1)
        )
        scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
        return scale * total * width / 3

    low, high = 0.0, 1000.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > 0.025 else (low, middle)
    return high
