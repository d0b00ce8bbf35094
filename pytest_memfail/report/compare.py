"""Several records as plain text."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_memfail.core import one_line
from pytest_memfail.results import Comparison, Rate


def comparison(found: Comparison) -> Iterator[str]:
    """The tables: verdict rates, paired tests, success by k."""
    letters = [chr(ord("A") + i) for i in range(len(found.labels))]
    for letter, label in zip(letters, found.labels, strict=True):
        yield f"{letter}  {one_line(label, 96)}"
    for note in found.notes:
        yield f"note: {note}"
    yield ""
    columns = list(found.rows[0].failures) if found.rows else []
    yield (
        f"{'% [95 % interval]':<25}{'n':>5} {found.measure:<15}"
        + "".join(f"{name.replace('_', ' '):<15}" for name in columns)
        + "tokens each"
    )
    for row in found.rows:
        cells = "".join(f"{percent(row.failures[name]):<15}" for name in columns)
        tokens = "-" if row.tokens is None else f"{row.tokens:.1f}"
        name = row.task if row.record == 0 else ""
        yield f"{name:<23}{letters[row.record]:<2}{row.n:>5} {percent(row.success):<15}{cells}{tokens:>11}"
    yield ""
    yield f"{'paired, ' + found.measure:<25}{'n':>5}{'better':>9}{'worse':>8}{'p (exact McNemar)':>20}"
    for flips in found.flips:
        name = flips.task if flips.record == 1 else ""
        pair = f"{letters[0]}{letters[flips.record]}"
        yield f"{name:<23}{pair:<2}{flips.n:>5}{flips.better:>9}{flips.worse:>8}{flips.p:>20.4f}"
    if not found.flips:
        yield "no question was decided in both"
    if found.by_k:
        yield ""
        yield f"{'by k':<8}{'k':>4} {found.measure} %"
        for record, k, rate in found.by_k:
            yield f"{letters[record]:<8}{k:>4} {percent(rate)}"


def percent(rate: Rate) -> str:
    """A rate and its interval."""
    if rate.value is None:
        return "-"
    return f"{100 * rate.value:.1f} [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"
