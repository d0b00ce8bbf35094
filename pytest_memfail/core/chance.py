"""Correct p-values for the number of tests."""

from __future__ import annotations

from collections.abc import Sequence


def holm(values: Sequence[float]) -> list[float]:
    """Return the p-values corrected for multiple tests (Holm's step-down method), in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(values)
    highest = 0.0
    for i, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        highest = max(highest, min(1.0, values[index] * (len(values) - i)))
        corrected[index] = highest
    return corrected
