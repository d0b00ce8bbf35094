"""Intervals for rates (paper, figure 1: 95 % Wilson score intervals)."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with what it is a share of, and its Wilson interval."""

    count: int
    n: int
    low: float
    high: float

    @property
    def value(self) -> float | None:
        """The share between 0 and 1; None of nothing."""
        return self.count / self.n if self.n else None


def wilson(count: int, n: int, confidence: float = 0.95) -> Rate:
    """The Wilson score interval of count out of n, between 0 and 1; (0, 1) of nothing.

    In closed form: importing scipy.stats for it would cost every run about a second (a test compares the two).

    Raises `ValueError` unless 0 <= count <= n.
    """
    if not 0 <= count <= n:
        raise ValueError(f"got {count} of {n}, expected 0 <= count <= n")
    if n == 0:
        return Rate(0, 0, 0.0, 1.0)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = count / n
    centre = share + z * z / (2 * n)
    spread = z * ((share * (1 - share) + z * z / (4 * n)) / n) ** 0.5
    scale = 1 + z * z / n
    return Rate(
        count,
        n,
        0.0 if count == 0 else max(0.0, (centre - spread) / scale),
        1.0 if count == n else min(1.0, (centre + spread) / scale),
    )
