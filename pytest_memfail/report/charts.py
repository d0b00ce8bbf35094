"""Lay out the plots of the page, each with its numbers as text for readers who cannot see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pytest_memfail.core import CORRECT, ERROR, FAILURES, UNGRADED, VACUOUS
from pytest_memfail.records import Rate
from pytest_memfail.results import HELD, SideBySide, Summary, Tally

COLOURS: Final = tuple(f"s{i}" for i in range(6))
"""The colours of records; verdicts have others."""

DASHES: Final = ("none", "6 4", "2 3", "10 3 2 3")
BAR: Final = 600
WIDTH: Final = 420
HEIGHT: Final = 260
LEFT, RIGHT, TOP, BOTTOM = 44, 20, 14, 40


def segments(tally: Tally, *, answered: bool) -> Iterator[tuple[str, str, int]]:
    """Yield the colour, name and count of each part of a task's bar, in order; the counts add up to n."""
    if answered:
        parts = [(name, name.replace("_", " "), tally.verdicts[name]) for name in (CORRECT, *FAILURES, UNGRADED, ERROR)]
    else:
        failures = [(name, name.replace("_", " "), tally.verdicts[name]) for name in (*FAILURES, ERROR)]
        left = tally.n - tally.held - tally.vacuous - sum(count for _, _, count in failures)
        held = [("held", HELD, tally.held), (VACUOUS, "vacuous pass", tally.vacuous)]
        parts = [*held, *failures[:-1], (UNGRADED, UNGRADED, left), failures[-1]]
    yield from (part for part in parts if part[2])


def colours(summaries: Sequence[Summary]) -> list[tuple[str, str]]:
    """Return each colour that occurs in the bars, with its meaning."""
    seen = {
        colour: name
        for summary in summaries
        for tally in summary.tasks
        for colour, name, _ in segments(tally, answered=summary.answered)
    }
    order = ("held", CORRECT, VACUOUS, *FAILURES, UNGRADED, ERROR)
    return [(colour, seen[colour]) for colour in order if colour in seen]


def bar(tally: Tally, *, answered: bool) -> dict[str, Any]:
    """Return a task's verdicts as one stacked bar."""
    x = 0.0
    parts = []
    for colour, name, count in segments(tally, answered=answered):
        width = BAR * count / tally.n
        parts.append({"x": x, "width": width, "colour": colour, "name": name, "count": count})
        x += width
    said = ", ".join(f"{part['name']} {part['count']}" for part in parts)
    return {"name": tally.name, "label": f"{tally.name}: {said}", "width": BAR, "parts": parts}


def by_k(found: SideBySide) -> dict[str, Any] | None:
    """Return the plot of success against k, a line for each record; None if there is only one k."""
    if not found.by_k:
        return None
    ks = sorted({k for _, k, _ in found.by_k})
    place = {k: LEFT + (WIDTH - LEFT - RIGHT) * (i + 0.5) / len(ks) for i, k in enumerate(ks)}
    series, said = [], []
    for record, label in enumerate(found.labels):
        rates = [(k, rate) for i, k, rate in found.by_k if i == record]
        points = [_point(place[k], rate) for k, rate in rates if rate.value is not None]
        series.append(_series(record, label, points) | {"joined": True})
        said += [f"{label} k={k} {_said(rate)}" for k, rate in rates]
    return _plot(f"{found.measure} % against k", "k", [(place[k], str(k)) for k in ks], series, said, found)


def by_tokens(found: SideBySide) -> dict[str, Any] | None:
    """Return the plot of success against tokens per memory, a point for each record; None for one record."""
    totals = {row.record: row for row in found.rows if row.task == "all"} or {row.record: row for row in found.rows}
    points = [(row.tokens, row) for row in totals.values() if row.tokens is not None and row.success.value is not None]
    if len(found.labels) < 2 or not points:
        return None
    most = max(tokens for tokens, _ in points) * 1.1 or 1.0
    ticks = [(LEFT + (WIDTH - LEFT - RIGHT) * step / 4, f"{most * step / 4:.0f}") for step in range(5)]
    series, said = [], []
    for tokens, row in points:
        label = found.labels[row.record]
        x = LEFT + (WIDTH - LEFT - RIGHT) * tokens / most
        series.append(_series(row.record, label, [_point(x, row.success)]))
        said.append(f"{label}: {'≈' if row.approximate else ''}{tokens:.1f} tokens, {_said(row.success)}")
    return _plot(f"{found.measure} % against tokens per memory", "tokens per memory", ticks, series, said, found)


def _y(value: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value)


def _said(rate: Rate) -> str:
    return "-" if rate.value is None else f"{100 * rate.value:.1f} % [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"


def _point(x: float, rate: Rate) -> dict[str, Any]:
    return {"x": x, "y": _y(rate.value or 0), "low": _y(rate.low), "high": _y(rate.high), "said": _said(rate)}


def _series(record: int, label: str, points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    colour, dash = COLOURS[record % len(COLOURS)], DASHES[record % len(DASHES)]
    return {"name": label, "colour": colour, "dash": dash, "joined": False, "points": points}


def _plot(
    title: str,
    x_name: str,
    ticks: Sequence[tuple[float, str]],
    series: Sequence[dict[str, Any]],
    said: Sequence[str],
    found: SideBySide,
) -> dict[str, Any]:
    return {
        "title": title,
        "x_name": x_name,
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "grid": [(_y(share), f"{100 * share:.0f}") for share in (0, 0.25, 0.5, 0.75, 1)],
        "ticks": ticks,
        "series": series,
        "said": said,
        "key": [(COLOURS[i % len(COLOURS)], label) for i, label in enumerate(found.labels)],
    }
